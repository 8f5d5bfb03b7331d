# The same tensors in another container: no difference.
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/legacy.pt > /dev/null 2>&1

# Other names: the status says so, and standard output.
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/gpt2.pt | grep -o -E 'encoder\.bias|ln_f\.bias'
encoder.bias
ln_f.bias
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/gpt2.pt > /dev/null 2>&1
[1]

# PyTorch and burn: compared as convert would convert.
$ ckpt convert --quiet testdata/pytorch/net.pt net.bpk --remap testdata/rules/net.rules
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: embedding (Embedding); --explain shows all, --module settles them
$ ckpt diff testdata/pytorch/net.pt net.bpk --remap testdata/rules/net.rules > /dev/null 2>&1

# A file that cannot be read is trouble, not a difference.
$ ckpt diff testdata/pytorch/net.pt none.pt
ckpt: none\.pt: .+ (re)
...
[2]
