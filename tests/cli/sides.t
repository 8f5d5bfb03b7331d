# Options of one side: names.
$ ckpt remap --quiet testdata/safetensors/linear.safetensors wrapped.safetensors --rename '^ => module.' 2> /dev/null
$ ckpt diff testdata/safetensors/linear.safetensors wrapped.safetensors --right-strip-wrappers
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff wrapped.safetensors testdata/safetensors/linear.safetensors --left-strip-wrappers
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff wrapped.safetensors testdata/safetensors/linear.safetensors --left-rename '^module\. => m.' --right-rename '^ => m.' 2> /dev/null
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ printf '^module\\. =>\n' > strip.rules
$ ckpt diff testdata/safetensors/linear.safetensors wrapped.safetensors --right-remap strip.rules --rename '^fc => a' --right-rename '^fc => a'
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Rules that name no side are A's; filters are for both.
$ ckpt diff wrapped.safetensors testdata/safetensors/linear.safetensors --rename '^module\. =>' --include weight
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff wrapped.safetensors testdata/safetensors/linear.safetensors --left-include '^module.fc' --right-exclude head --strip-wrappers
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Where the model lies.
$ ckpt diff testdata/pytorch/two_roots.pt testdata/pytorch/two_roots.pt --left-top-level-key state_dict --right-top-level-key state_dict_ema --names-only
2 equal, 0 different, 0 only in A, 0 only in B; values not compared OK
$ ckpt diff testdata/pytorch/two_roots.pt testdata/pytorch/two_roots.pt --top-level-key state_dict --right-top-level-key state_dict
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# The layout of one side, or of both.
$ ckpt convert --quiet testdata/pytorch/net.pt net.bpk --module '^tok_emb$ => Embedding'
$ ckpt diff testdata/pytorch/net.pt net.bpk --right-adapter burn-to-pytorch --left-exclude num_batches --module '^tok_emb$ => Embedding'
adapter: burn-to-pytorch on net.bpk
13 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff testdata/pytorch/net.pt net.bpk --left-adapter pytorch-to-burn --left-module '^tok_emb$ => Embedding'
adapter: pytorch-to-burn on testdata/pytorch/net.pt
13 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/legacy.pt --left-adapter pytorch-to-burn --right-adapter pytorch-to-burn --module '^tok_emb$ => Embedding'
adapter: pytorch-to-burn on testdata/pytorch/net.pt
adapter: pytorch-to-burn on testdata/pytorch/legacy.pt
13 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff testdata/pytorch/net.pt net.bpk --adapter none --left-adapter pytorch-to-burn
ckpt: --adapter excludes --left-adapter
hint: ckpt diff --help
[2]

# Only what a target knows.
$ printf '# ckpt lock 1\nfc.weight F32 [3,4]\n' > fc.lock
$ ckpt diff testdata/safetensors/linear.safetensors testdata/safetensors/linear.safetensors --left-like fc.lock
only in B: fc.bias  F32 [3]
only in B: head.weight  F32 [2, 3]
1 equal, 0 different, 0 only in A, 2 only in B; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff testdata/safetensors/linear.safetensors testdata/safetensors/linear.safetensors --left-like fc.lock --right-like fc.lock
1 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ printf '# ckpt lock 1\nfc.weight F32 [4,3]\n' > other.lock
$ ckpt diff testdata/safetensors/linear.safetensors testdata/safetensors/linear.safetensors --right-like other.lock
ckpt: testdata/safetensors/linear.safetensors: the result does not fit other.lock: 1 of another shape: fc.weight is [3, 4], not [4, 3]; 2 unused: fc.bias, head.weight; 0.0 % of its parameters are covered
[2]
