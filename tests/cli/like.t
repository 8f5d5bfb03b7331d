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
ckpt: testdata/safetensors/linear.safetensors: the result does not fit testdata/burnpack/net.bpk: 2 missing: fc.weight, fc.bias; 2 unused: fc1.weight, fc1.bias; 28.6 % of its parameters are covered
hint: --rename '^fc1\. => fc.' explains 2 of 2; fc.weight may be fc1.weight; fc.bias may be fc1.bias
[1]
$ ckpt convert testdata/safetensors/linear.safetensors g.bpk --exclude head --like testdata/burnpack/net.bpk --adapter pytorch-to-burn --allow-missing=head
testdata/safetensors/linear.safetensors -> g.bpk: safetensors to burnpack, 524 B
adapter: pytorch-to-burn
3 read = 2 written + 0 merged - 0 split + 1 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
dropped: head.weight

# Indices with gaps close on request.
$ ckpt remap testdata/pytorch/whole_model.pt --exclude '^1' --renumber
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
