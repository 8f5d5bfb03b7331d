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
