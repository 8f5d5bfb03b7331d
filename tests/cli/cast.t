# A cast is asked for, reported, and lossy only where that is allowed.
$ ckpt convert testdata/pytorch/gpt2.pt a.safetensors --dtype bf16
testdata/pytorch/gpt2.pt -> a.safetensors: pytorch to safetensors, 3.35 KiB
adapter: none (by the two formats)
16 read = 16 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 16 cast; nothing else changed
cast 1,112 elements of 16 tensors: 0 overflowed, 0 became zero, relative error up to 0.00389
$ ckpt convert --quiet testdata/pytorch/gpt2.pt b.safetensors --dtype f64 --require lossless
$ ckpt diff --quiet testdata/pytorch/gpt2.pt b.safetensors | tail -1
0 equal, 16 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 DIFFERENT
$ ckpt convert testdata/pytorch/gpt2.pt c.safetensors --dtype '^wte=f16' --require lossless
ckpt: testdata/pytorch/gpt2.pt: tensor wte.weight: the cast from F32 to F16 may change its numbers, and --require lossless forbids that
hint: leave out --dtype or --half for it, or leave out --require lossless
[1]
$ ckpt convert testdata/pytorch/gpt2.pt c.safetensors --dtype i32
ckpt: --dtype: `i32` is not a type that numbers can be cast to
hint: one of F64, F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, or REGEX=TYPE
[2]
$ ls c.safetensors 2>/dev/null
[2]

# Half precision as burn stores it: BatchNorm stays.
$ ckpt convert --quiet testdata/pytorch/net.pt half.bpk --half
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
$ ckpt inspect half.bpk | grep -E 'fc|bn'
bn.gamma         F32    [8]            32 B
bn.beta          F32    [8]            32 B
bn.running_mean  F32    [8]            32 B
bn.running_var   F32    [8]            32 B
fc.weight        F16    [8, 4]         64 B
fc.bias          F16    [4]             8 B
  ckpt.kinds   tok_emb => Embedding\nencoder => Linear\nnorm => LayerNorm\nconv => Conv\nbn => BatchNorm\nfc => Linear\n

# A rule that names tensors wins; one for all would contradict.
$ ckpt convert --quiet testdata/pytorch/net.pt ruled.safetensors --half --dtype '^bn=bf16'
$ ckpt inspect ruled.safetensors | grep -E 'fc|bn'
bn.num_batches_tracked  I64    []              8 B
bn.bias                 BF16   [8]            16 B
bn.running_mean         BF16   [8]            16 B
bn.running_var          BF16   [8]            16 B
bn.weight               BF16   [8]            16 B
fc.bias                 F16    [4]             8 B
fc.weight               F16    [4, 8]         64 B
$ ckpt convert testdata/pytorch/net.pt other.safetensors --half --dtype bf16
ckpt: --half and --dtype bf16 both say what every tensor becomes
hint: leave out one of the two, or name tensors with --dtype 'REGEX=TYPE'; --half --dtype f32 is the way back
[2]

# What a type has no place for is refused: infinities in a type without.
$ ckpt convert testdata/safetensors/special_floats.safetensors zero.safetensors --dtype f8_e4m3
ckpt: testdata/safetensors/special_floats.safetensors: numbers of 2 tensors have no place in the new type: a (2 of 5 elements), b (2 of 3 elements)
hint: cast to a type of wider range (BF16 has that of F32, infinities and zero), leave these tensors out of --dtype, or give --allow-overflow
[1]

# The output is read back and compared with the source.
$ ckpt convert testdata/pytorch/net.pt v.bpk --verify | tail -1
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
testdata/pytorch/net.pt -> v.bpk: pytorch to burnpack, 4.27 KiB
adapter: pytorch-to-burn (by the two formats)
14 read = 13 written + 0 merged - 0 split + 1 dropped; 4 renamed, 2 transposed, 0 cast; nothing else changed
dropped: bn.num_batches_tracked
verified: 13 of 13 tensors bit-exact

# What belongs to no layer keeps its type under --half, as in burn, and is told.
$ ckpt convert --quiet testdata/safetensors/linear.safetensors loose.safetensors --rename '^fc\.weight$ => scale'
$ ckpt convert --quiet loose.safetensors loose-half.safetensors --half --adapter none && ckpt inspect loose-half.safetensors | grep F
ckpt: loose.safetensors: warning: --half leaves 2 tensors alone that belong to no layer it knows, as burn does: fc.bias, scale; --dtype 'REGEX=TYPE' casts them
3 tensors, 21 parameters, 72 B of data (F32 60 B, F16 12 B)
fc.bias      F32    [3]     12 B
scale        F32    [3, 4]  48 B
head.weight  F16    [2, 3]  12 B
