# A pipe is read as a file is.
$ for file in testdata/pytorch/net.pt testdata/pytorch/legacy.pt testdata/burnpack/net.bpk testdata/safetensors/llama_names.safetensors; do
>   ckpt inspect --json --sha256 $file | grep -v -E '"(file|size)"' > file.json
>   cat $file | ckpt inspect --json --sha256 - | grep -v -E '"(file|size)"' > pipe.json
>   cmp file.json pipe.json
> done
$ cat testdata/pytorch/net.pt | ckpt convert --quiet - piped.bpk 2> /dev/null
$ ckpt convert --quiet testdata/pytorch/net.pt direct.bpk 2> /dev/null
$ cmp piped.bpk direct.bpk

# Only the header of a safetensors file is needed to list it.
$ head -c 5000 testdata/safetensors/llama_names.safetensors > head; stat -c %s testdata/safetensors/llama_names.safetensors > size
$ cat testdata/safetensors/linear.safetensors | ckpt inspect - | grep -c weight
2

# A pipe that ends too early, one that is empty, one that holds something else.
$ head -c 100 testdata/safetensors/llama_names.safetensors | ckpt inspect -
ckpt: .+ (re)
...
[2]
$ printf '' | ckpt inspect -
ckpt: .+ (re)
...
[2]
$ echo nonsense | ckpt inspect -
ckpt: .+ (re)
...
[2]

# Standard output that cannot be written is trouble.
$ ckpt inspect testdata/pytorch/net.pt > /dev/full
ckpt: standard output: cannot be written
[2]
$ ckpt inspect --json testdata/pytorch/net.pt > /dev/full
ckpt: standard output: cannot be written
[2]
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/net.pt > /dev/full
ckpt: standard output: cannot be written
[2]
$ ckpt --help > /dev/full
ckpt: standard output: cannot be written
[2]
$ ckpt --version > /dev/full
ckpt: standard output: cannot be written
[2]

# An output may be a device or a pipe.
$ ckpt convert --quiet testdata/burnpack/net.bpk /dev/null --to burnpack
$ ckpt convert --quiet testdata/burnpack/net.bpk /dev/full --to burnpack
ckpt: /dev/full: cannot be written: No space left on device
[2]
$ ckpt convert --quiet testdata/burnpack/net.bpk /dev/stdout --to burnpack | cmp - testdata/burnpack/net.bpk

# Outputs that cannot be: nothing is left behind.
$ ckpt convert --quiet testdata/burnpack/net.bpk none/out.bpk
ckpt: none/out.bpk: the folder none: No such file or directory
[2]
$ mkdir folder.bpk && ckpt convert --quiet --force testdata/burnpack/net.bpk folder.bpk
ckpt: folder.bpk: is a directory
[2]
$ ckpt convert --quiet testdata/burnpack/net.bpk out.unknown
ckpt: out.unknown: the name does not say which format to write
hint: the extension of OUT says it, as --to of `convert` does; what can be written: .* (re)
[2]
$ ckpt convert --quiet testdata/burnpack/net.bpk out.bpk --to onnx
ckpt: --to: `onnx` is not a format
hint: what can be written: .* (re)
[2]
$ ls -A
direct.bpk
file.json
folder.bpk
head
pipe.json
piped.bpk
size
testdata

# With a standard stream closed, the first file that is opened does not become that stream: what is printed does not go
# into it, and /dev/stdout does not name it.
$ cp testdata/burnpack/net.bpk mine.bpk
$ ckpt convert mine.bpk /dev/stdout --to burnpack --force >&-
ckpt: /dev/stdout: cannot be written: it is closed
[2]
$ ckpt convert mine.bpk /dev/fd/3 --to burnpack --force
ckpt: /dev/fd/3: cannot be written: no descriptor 3 was handed over
[2]
$ ckpt inspect mine.bpk >&-
ckpt: standard output: cannot be written
[2]
$ ckpt convert mine.bpk noted.bpk --rename 'nothing => is.named.so' 2>&-
$ ckpt inspect - <&-
ckpt: standard input: cannot be read: Bad file descriptor
[2]
$ cmp mine.bpk testdata/burnpack/net.bpk && ckpt diff mine.bpk noted.bpk && rm mine.bpk noted.bpk
.* (re)
# What goes into a device or a pipe cannot be read back.
$ ckpt convert testdata/burnpack/net.bpk /dev/stdout --to burnpack --verify | wc -c
ckpt: /dev/stdout: --verify reads the output back, which a device or a pipe cannot give
hint: leave out --verify, or write to a file
0
$ mkfifo pipe && ckpt convert testdata/burnpack/net.bpk pipe --to burnpack --verify
ckpt: pipe: --verify reads the output back, which a device or a pipe cannot give
hint: leave out --verify, or write to a file
[2]

# Two outputs may be one file through a link that dangles yet; what is read for a conversion is not its output; messages
# have standard error for themselves.
$ ln -s later.bpk link.bpk
$ ckpt convert testdata/pytorch/training.pt link.bpk --optimizer-out later.bpk --force
ckpt: later.bpk: would be written twice, as link.bpk too
hint: give each output a name of its own
[2]
$ ln -s circle circle
$ ckpt convert testdata/pytorch/training.pt model.bpk --optimizer-out circle
ckpt: circle: cannot be written: Too many levels of symbolic links
[2]
$ echo '^a => b' > some.rules
$ ckpt convert testdata/pytorch/net.pt some.rules --to safetensors --remap some.rules --force
ckpt: some.rules: the output is the same file as the input some.rules
hint: write to another name, then rename it
[2]
$ ckpt convert testdata/pytorch/net.pt /dev/stderr --to safetensors 2> messages; cat messages
ckpt: /dev/stderr: messages go to standard error, so that both would be mixed
hint: write to a file
$ ckpt convert testdata/pytorch/net.pt net.bpk --threads 0x4
ckpt: --threads: `0x4` is no whole number from 1 to 1024
hint: ckpt convert --help
[2]
