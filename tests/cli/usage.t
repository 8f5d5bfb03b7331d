# Help, version and bad usage.

$ ckpt --help | grep -o -w -E 'inspect|convert|remap|diff' | sort -u
convert
diff
inspect
remap

$ ckpt --version
(ckpt )?\d+\.\d+\.\d+ (re)

# Every command has help with examples.
$ for command in inspect convert remap diff; do
>   ckpt $command --help | grep -q -i example || echo "$command: no example"
> done

# Without a command, with one that does not exist, with an option that does not: trouble.
$ ckpt
...
[2]

$ ckpt inspct testdata/pytorch/net.pt
...
.*\binspect\b.* (re)
...
[2]

$ ckpt convert --no-such testdata/pytorch/net.pt net.bpk
...
.*--no-such.* (re)
...
[2]

# A file that is not there: one line, and nothing on standard output.
$ ckpt inspect none.pt
ckpt: none\.pt: .+ (re)
...
[2]

$ ckpt inspect --json none.pt 2>/dev/null
[2]

# A mistyped command is guessed; one that is nothing like any is not.
$ ckpt inspct testdata/pytorch/net.pt
ckpt: `inspct` is not a command
hint: did you mean: ckpt inspect
[2]
$ ckpt covnert a b
ckpt: `covnert` is not a command
hint: did you mean: ckpt convert
[2]
$ ckpt transmogrify
ckpt: `transmogrify` is not a command
hint: ckpt --help lists the commands
[2]

# Missing and surplus arguments.
$ for command in inspect convert remap diff check; do ckpt $command; echo "status $?"; done
ckpt: FILE is required
hint: ckpt inspect --help
status 2
ckpt: IN is required
hint: ckpt convert --help
status 2
ckpt: IN is required
hint: ckpt remap --help
status 2
ckpt: A is required
hint: ckpt diff --help
status 2
ckpt: FILE is required
hint: ckpt check --help
status 2
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/net.pt testdata/pytorch/net.pt
ckpt: The following argument was not expected: testdata/pytorch/net.pt
hint: ckpt diff --help
[2]
$ ckpt inspect testdata/pytorch/net.pt --color=sometimes
ckpt: --color: sometimes not in {auto,always,never}
hint: ckpt inspect --help
[2]

# Files of every command that are not there.
$ for command in 'inspect none' 'convert none a.bpk' 'remap none' 'remap none a.bpk' 'diff none none' 'check none'; do
>   ckpt $command; echo "status $?"
> done
ckpt: none: No such file or directory
status 2
ckpt: none: No such file or directory
status 2
ckpt: none: No such file or directory
status 2
ckpt: none: No such file or directory
status 2
ckpt: none: No such file or directory
status 2
ckpt: none: No such file or directory
status 2
$ test -e a.bpk
[1]
