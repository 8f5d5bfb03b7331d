# What an earlier conversion decided is noted in the file: the way back needs no flags, and is exact.
$ ckpt convert --quiet testdata/pytorch/gpt2.pt a.bpk
$ ckpt convert a.bpk b.safetensors --adapter burn-to-pytorch
a.bpk -> b.safetensors: burnpack to safetensors, 5.77 KiB
adapter: burn-to-pytorch
16 read = 16 written + 0 merged - 0 split + 0 dropped; 6 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff testdata/pytorch/gpt2.pt b.safetensors
16 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert b.safetensors c.bpk
b.safetensors -> c.bpk: safetensors to burnpack, 7.75 KiB
adapter: pytorch-to-burn (by the two formats)
16 read = 16 written + 0 merged - 0 split + 0 dropped; 6 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff a.bpk c.bpk
16 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Decisions can be saved, edited and given back.
$ ckpt convert --quiet testdata/pytorch/net.pt d.bpk --write-modules kinds.txt
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
$ cat kinds.txt
\# Kinds of the modules of testdata/pytorch/net.pt: PATTERN of the path => KIND; the first match wins.
\# by its name alone (an embedding)
^tok_emb$ => Embedding
^encoder$ => Linear
^norm$ => LayerNorm
^conv$ => Conv
^bn$ => BatchNorm
^fc$ => Linear
$ ckpt convert testdata/pytorch/net.pt e.bpk --modules kinds.txt
testdata/pytorch/net.pt -> e.bpk: pytorch to burnpack, 4.27 KiB
adapter: pytorch-to-burn (by the two formats)
14 read = 13 written + 0 merged - 0 split + 1 dropped; 4 renamed, 2 transposed, 0 cast; nothing else changed
dropped: bn.num_batches_tracked

# A result has the names, shapes and param ids of its target; everything that does not fit is told at once.
$ ckpt convert testdata/pytorch/net.pt f.bpk --like testdata/burnpack/net.bpk
ckpt: testdata/pytorch/net.pt: the result does not fit testdata/burnpack/net.bpk: 1 missing: head.weight; 2 of another shape: fc.weight is [8, 4], not [4, 3], fc.bias is [4], not [3]; 11 unused: tok_emb.weight, encoder.weight, encoder.bias, norm.gamma, norm.beta, conv.weight, conv.bias, bn.gamma, bn.beta, bn.running_mean, and 1 more; 0.0 % of its parameters are covered
hint: --allow-missing lets tensors be absent
[1]
$ ckpt convert --quiet testdata/safetensors/linear.safetensors f.bpk --like testdata/burnpack/net.bpk --adapter pytorch-to-burn
$ cmp f.bpk testdata/burnpack/net.bpk; ckpt inspect f.bpk
f.bpk testdata/burnpack/net.bpk differ: byte 7, line 1
f.bpk: burnpack, 1.02 KiB
3 tensors, 21 parameters, 84 B of data (F32 84 B)

name         dtype  shape   size  param id
fc.weight    F32    [4, 3]  48 B  avq43klip2pc6
fc.bias      F32    [3]     12 B  edntuk51pn2co
head.weight  F32    [3, 2]  24 B  22h48qbgpqs2o

metadata
  ckpt.kinds   fc => Linear\nhead => Linear\n
  ckpt.layout  burn
  format       pt
$ ckpt convert testdata/safetensors/linear.safetensors g.bpk --rename '^fc => fc1' --like testdata/burnpack/net.bpk --adapter pytorch-to-burn
ckpt: testdata/safetensors/linear.safetensors: the result does not fit testdata/burnpack/net.bpk: 2 missing: fc.weight, fc.bias; 2 unused: fc1.weight, fc1.bias; 28.5 % of its parameters are covered
hint: --rename '^fc1\. => fc.' explains 2 of 2; fc.weight may be fc1.weight; fc.bias may be fc1.bias
[1]
$ ckpt convert testdata/safetensors/linear.safetensors g.bpk --exclude head --like testdata/burnpack/net.bpk --adapter pytorch-to-burn --allow-missing=head
testdata/safetensors/linear.safetensors -> g.bpk: safetensors to burnpack, 524 B
adapter: pytorch-to-burn
3 read = 2 written + 0 merged - 0 split + 1 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
dropped: head.weight

# Indices with gaps close on request.
$ ckpt remap testdata/pytorch/whole_model.pt --exclude '^1' --renumber
ckpt: testdata/pytorch/whole_model.pt: warning: 1 tensor of modules left out: it is no part of state_dict(), but is held by plain attributes or by buffers that are not persistent (first: 1.mask)
old                    new                    rules
0.weight               =
2.weight               1.weight
2.bias                 1.bias
3.weight               2.weight
3.bias                 2.bias
3.running_mean         2.running_mean
3.running_var          2.running_var
3.num_batches_tracked  2.num_batches_tracked

7 of 8 names renamed

# A name that is tied to another in the target comes back with it, in the target's layout or in the other one.
$ ckpt convert --quiet testdata/pytorch/tied.pt one.safetensors --exclude decoder.weight
$ ckpt convert one.safetensors two.pt --like testdata/pytorch/tied.pt --explain
one.safetensors -> two.pt: safetensors to pytorch, 1.20 KiB
adapter: none (by the two formats)
tok_emb.weight -> tok_emb.weight: unchanged
tok_emb.weight -> decoder.weight: tied to tok_emb.weight, as in the target
decoder.bias -> decoder.bias: unchanged
added: 1 tensor tied to another name in the target (decoder.weight = tok_emb.weight)
2 read + 1 added = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff two.pt testdata/pytorch/tied.pt && ckpt lock two.pt | grep tied-to
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
\# name dtype shape [kind=KIND] [tied-to=NAME]
tok_emb.weight F32 [10,4] tied-to=decoder.weight
$ ckpt convert one.safetensors two.bpk --like testdata/pytorch/tied.pt --adapter pytorch-to-burn --explain
one.safetensors -> two.bpk: safetensors to burnpack, 1.04 KiB
adapter: pytorch-to-burn
tok_emb.weight -> tok_emb.weight: unchanged; Embedding (the target's weight is [10, 4], this one [10, 4])
tok_emb.weight -> decoder.weight: tied to tok_emb.weight, as in the target, transposed; Linear (the target's weight is [4, 10], this one [10, 4])
decoder.bias -> decoder.bias: unchanged; Linear (the target's weight is [4, 10], this one [10, 4])
added: 1 tensor tied to another name in the target (decoder.weight = tok_emb.weight)
2 read + 1 added = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
$ ckpt diff testdata/pytorch/tied.pt two.bpk
adapter: pytorch-to-burn on testdata/pytorch/tied.pt
ckpt: testdata/pytorch/tied.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt lock testdata/pytorch/tied.pt > tied.lock && ckpt convert --quiet one.safetensors three.safetensors --like tied.lock
$ ckpt diff three.safetensors testdata/pytorch/tied.pt
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# A lock file settles kinds that its source proved, and those of squares that nobody else can tell.
$ printf '%s\n' '# ckpt lock 1' 'fc.weight F32 [4,3] kind=Linear' 'fc.bias F32 [3] kind=Linear' 'head.weight F32 [3,2] kind=Linear' > net.lock
$ ckpt convert testdata/safetensors/linear.safetensors four.bpk --like net.lock --adapter pytorch-to-burn --explain
testdata/safetensors/linear.safetensors -> four.bpk: safetensors to burnpack, 792 B
adapter: pytorch-to-burn
fc.weight -> fc.weight: transposed; Linear (as the target notes it)
fc.bias -> fc.bias: unchanged; Linear (as the target notes it)
head.weight -> head.weight: transposed; Linear (as the target notes it)
3 read = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 2 transposed, 0 cast; nothing else changed

# burn writes the variants of its enums into the names.
$ printf '%s\n' '# ckpt lock 1' 'fc.Dense.weight F32 [4,3]' 'fc.Dense.bias F32 [3]' 'head.weight F32 [3,2]' > enum.lock
$ ckpt convert testdata/safetensors/linear.safetensors five.bpk --like enum.lock --adapter pytorch-to-burn --explain
testdata/safetensors/linear.safetensors -> five.bpk: safetensors to burnpack, 1.02 KiB
adapter: pytorch-to-burn
fc.weight -> fc.Dense.weight: named after an enum's variant, as in the target, transposed; Linear (the target's weight is [4, 3], this one [3, 4])
fc.bias -> fc.Dense.bias: named after an enum's variant, as in the target; Linear (the target's weight is [4, 3], this one [3, 4])
head.weight -> head.weight: transposed; Linear (the target's weight is [3, 2], this one [2, 3])
enum variants: 2 tensors named as in the target (fc.weight -> fc.Dense.weight, …)
3 read = 3 written + 0 merged - 0 split + 0 dropped; 2 renamed, 2 transposed, 0 cast; nothing else changed
$ ckpt convert five.bpk six.pt --like testdata/safetensors/linear.safetensors
ckpt: five.bpk: warning: pytorch has no place for 1 metadata text (format): left behind
five.bpk -> six.pt: burnpack to pytorch, 1.26 KiB
adapter: burn-to-pytorch (by the two formats)
enum variants: 2 tensors named as in the target (fc.Dense.weight -> fc.weight, …)
3 read = 3 written + 0 merged - 0 split + 0 dropped; 2 renamed, 2 transposed, 0 cast; nothing else changed
$ ckpt diff six.pt testdata/safetensors/linear.safetensors
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt check testdata/safetensors/linear.safetensors --like enum.lock --adapter pytorch-to-burn
adapter: pytorch-to-burn
enum variants: 2 tensors named as in the target (fc.weight -> fc.Dense.weight, …)
testdata/safetensors/linear.safetensors for enum.lock: 3 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# A result has its target's layout, also where no shape would tell: of a square weight only the layout says which way round
# it is. `square.pt` is PyTorch's, burn.safetensors is burn's.
$ ckpt convert --quiet testdata/modules/torch.pt square.pt --include linear_square && ckpt lock square.pt > square.lock
$ ckpt convert --quiet square.pt square.bpk --module 'linear_square => Linear'
$ ckpt convert square.bpk square.safetensors --like square.pt
square.bpk -> square.safetensors: burnpack to safetensors, 320 B
adapter: burn-to-pytorch (by the input and the target)
2 read = 2 written + 0 merged - 0 split + 0 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
$ ckpt diff square.safetensors square.pt --adapter none
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet square.bpk locked.safetensors --like square.lock && ckpt diff locked.safetensors square.pt --adapter none
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ printf '%s\n' '# ckpt lock 1 layout=burn' 'linear_square.weight F32 [4,4]' 'linear_square.bias F32 [4]' > burn.lock
$ ckpt convert square.pt burn.safetensors --like burn.lock
ckpt: square.pt: warning: the kind of 1 module rests on its name alone: linear_square (Linear); --explain shows all, --module settles them
square.pt -> burn.safetensors: pytorch to safetensors, 320 B
adapter: pytorch-to-burn (by the input and the target)
2 read = 2 written + 0 merged - 0 split + 0 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
$ ckpt diff burn.safetensors testdata/modules/burn.safetensors --include linear_square --adapter none
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet square.bpk none.safetensors --like square.pt --adapter none && ckpt diff none.safetensors square.bpk --adapter none
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt check square.bpk --like square.pt
adapter: burn-to-pytorch (by the two formats)
square.bpk for square.pt: 2 of 2 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt diff square.bpk square.safetensors --left-like square.pt
adapter: burn-to-pytorch on square.bpk
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff square.pt square.bpk --right-like square.pt
adapter: burn-to-pytorch on square.bpk
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff square.bpk square.pt --adapter burn-to-pytorch --right-like square.bpk
adapter: burn-to-pytorch on square.bpk
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Where the output's format calls for a layout that the target does not have, the target is laid out like it.
$ ckpt convert square.bpk again.bpk --like square.lock --module 'linear_square => Linear'
square.bpk -> again.bpk: burnpack to burnpack, 576 B
adapter: none (by the two formats)
adapter: pytorch-to-burn on square.lock, so that it is as the result
2 read = 2 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff again.bpk testdata/modules/burn.safetensors --include linear_square --adapter none
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet square.pt again.pt --like burn.lock && ckpt diff again.pt square.pt
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ printf '%s\n' '# ckpt lock 1 layout=pytorch' 'fc.weight F32 [3,4]' 'fc.bias F32 [3]' 'head.weight F32 [2,3] kind=Linear' > torch.lock
$ ckpt convert testdata/safetensors/linear.safetensors unknown.bpk --like torch.lock
ckpt: testdata/safetensors/linear.safetensors: the result does not fit torch.lock: 2 of another shape: fc.weight is [3, 4], not [4, 3], head.weight is [2, 3], not [3, 2]; 14.2 % of its parameters are covered
hint: --adapter pytorch-to-burn where the file is in the layout of torch.lock
[1]
$ ckpt convert --quiet testdata/safetensors/linear.safetensors unknown.bpk --like torch.lock --adapter pytorch-to-burn

# What is tied in the one layout is not in the other, where one of the two is transposed.
$ (cat square.lock; echo 'emb.weight F32 [4,4] kind=Embedding tied-to=linear_square.weight') > tied-square.lock
$ ckpt convert --quiet square.bpk both.pt --like tied-square.lock && ckpt diff both.pt square.pt --left-include emb --rename 'emb => linear_square' --right-exclude bias
1 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert square.bpk both.bpk --like tied-square.lock
ckpt: square.bpk: the result does not fit tied-square.lock: 1 missing: emb.weight; 55.5 % of its parameters are covered
hint: emb.weight and linear_square.weight are tied in the layout of tied-square.lock: convert to a .pt with --like first, then that without
[1]
$ ckpt convert --quiet both.pt both.bpk --module 'emb => Embedding' && ckpt inspect both.bpk
ckpt: both.pt: warning: 1 tensor is tied to others (emb.weight = linear_square.weight): in burnpack each has its own bytes; --dedupe leaves them out
ckpt: both.pt: warning: the kind of 1 module rests on its name alone: linear_square (Linear); --explain shows all, --module settles them
both.bpk: burnpack, 1.06 KiB
3 tensors, 36 parameters, 144 B of data (F32 144 B)

name                  dtype  shape   size
linear_square.bias    F32    [4]     16 B
linear_square.weight  F32    [4, 4]  64 B
emb.weight            F32    [4, 4]  64 B

metadata
  ckpt.kinds   linear_square => Linear\nemb => Embedding\n
  ckpt.layout  burn

# A tensor may have an empty name.
$ printf '\70\0\0\0\0\0\0\0{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}    %s' x > unnamed.safetensors
$ ckpt convert unnamed.safetensors named.safetensors --like unnamed.safetensors
unnamed.safetensors -> named.safetensors: safetensors to safetensors, 65 B
adapter: none (by the input and the target)
1 read = 1 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt convert unnamed.safetensors stacked.safetensors --rename '^$ => a.0' --stack 'a\.(\d+) => a'
unnamed.safetensors -> stacked.safetensors: safetensors to safetensors, 65 B
adapter: none (by the two formats)
stacked: 1 tensor into 1
1 read = 1 written + 0 merged - 0 split + 0 dropped; 1 renamed, 0 transposed, 0 cast; nothing else changed
