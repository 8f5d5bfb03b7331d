# A copy of a burnpack is the same file, byte for byte.
$ ckpt convert --quiet testdata/burnpack/net.bpk copy.bpk && cmp copy.bpk testdata/burnpack/net.bpk

# An existing output stays, unless --force is given.
$ ckpt convert --quiet testdata/pytorch/gpt2.pt copy.bpk
ckpt: copy\.bpk: .+ (re)
hint: .*--force.* (re)
[2]
$ cmp copy.bpk testdata/burnpack/net.bpk
$ ckpt convert --quiet --force testdata/pytorch/gpt2.pt copy.bpk && cmp -s copy.bpk testdata/burnpack/net.bpk
[1]

# Input and output may not be the same file.
$ cp testdata/burnpack/net.bpk same.bpk && ln -s same.bpk other.bpk
$ ckpt convert --quiet --force same.bpk other.bpk
ckpt: .+ (re)
...
[2]
$ cmp same.bpk testdata/burnpack/net.bpk

# PyTorch's layout becomes burn's, and the other way round.
$ ckpt convert --quiet --adapter pytorch-to-burn testdata/safetensors/linear.safetensors linear.bpk
ckpt: testdata/safetensors/linear.safetensors: warning: the kind of 1 module rests on its name alone: head (Linear); --explain shows all, --module settles them
$ ckpt convert --quiet testdata/burnpack/net.bpk net.safetensors --adapter none
ckpt: testdata/burnpack/net.bpk: warning: safetensors has no place for 3 param ids (of fc.weight, …): left behind
$ ckpt convert --quiet linear.bpk linear.safetensors --adapter none
$ ckpt diff net.safetensors linear.safetensors > /dev/null 2>&1
$ ckpt convert --quiet --adapter burn-to-pytorch linear.bpk back.safetensors
$ ckpt diff testdata/safetensors/linear.safetensors back.safetensors > /dev/null 2>&1

# Two places that hold a model: nothing is written, both are named.
$ ckpt convert testdata/pytorch/two_roots.pt out.safetensors
...
.*state_dict_ema.* (re)
...
[1]
$ test -e out.safetensors
[1]
$ ckpt convert --quiet --top-level-key state_dict_ema testdata/pytorch/two_roots.pt out.safetensors
ckpt: testdata/pytorch/two_roots.pt: warning: safetensors has no place for 1 value (global_step): left behind

# --dry-run writes nothing.
$ ckpt convert --quiet --dry-run testdata/pytorch/net.pt dry.bpk && test -e dry.bpk
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
[1]

# Nothing else is left behind.
$ ls | grep -v testdata
back.safetensors
copy.bpk
linear.bpk
linear.safetensors
net.safetensors
other.bpk
out.safetensors
same.bpk

# No file is written that is read or written already, whatever --force says.
$ cp testdata/pytorch/training.pt train.pt
$ ckpt convert train.pt m.bpk --top-level-key model --optimizer-out ./train.pt --force
ckpt: ./train.pt: the output is the same file as the input train.pt
hint: write to another name, then rename it
[2]
$ ckpt convert train.pt m.bpk --optimizer-out x.bpk --scheduler-out ./x.bpk --force
ckpt: ./x.bpk: would be written twice, as x.bpk too
hint: give each output a name of its own
[2]
$ ckpt convert train.pt m.bpk --write-modules m.bpk
ckpt: m.bpk: would be written twice, as m.bpk too
hint: give each output a name of its own
[2]
$ ckpt convert train.pt - --to safetensors
ckpt: an output is named; `-` is standard input only
hint: /dev/stdout is standard output
[2]
$ ckpt remap testdata/safetensors/linear.safetensors r.safetensors --rename '^fc => f' --map-out r.safetensors
ckpt: r.safetensors: would be written twice, as r.safetensors too
hint: give each output a name of its own
[2]
$ ckpt convert testdata/safetensors/linear.safetensors r.safetensors --adapter none --write-modules /dev/full
ckpt: /dev/full: cannot be written: No space left on device
[2]
$ ls
back.safetensors
copy.bpk
linear.bpk
linear.safetensors
net.safetensors
other.bpk
out.safetensors
same.bpk
testdata
train.pt
# A format that does not say whose layout it holds goes into burn's as it stands, and not without a word.
$ ckpt convert testdata/safetensors/linear.safetensors unsaid.bpk
ckpt: testdata/safetensors/linear.safetensors: warning: nothing says whose layout this is, and it is written as it stands: --adapter pytorch-to-burn where it is PyTorch's, --adapter none where it is burn's
testdata/safetensors/linear.safetensors -> unsaid.bpk: safetensors to burnpack, 792 B
adapter: none (by the two formats)
3 read = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt convert --quiet testdata/safetensors/linear.safetensors said.bpk --adapter none
