# FP8 weights become the numbers that they stand for; the scales are used up.
$ ckpt convert testdata/safetensors/fp8.safetensors a.safetensors --dequantize --dtype '^down_proj=bf16' --explain --verify
testdata/safetensors/fp8.safetensors -> a.safetensors: safetensors to safetensors, 51.3 KiB
adapter: none (by the two formats)
down_proj.weight + down_proj.weight_scale_inv -> down_proj.weight: dequantized to F32 (F8_E4M3, blocks of 128x128), cast from F32 to BF16
fc1.weight + fc1.weight_scale -> fc1.weight: dequantized to F32 (F8_E4M3, a scale a row)
fc2.weight + fc2.weight_scale -> fc2.weight: dequantized to F32 (F8_E4M3, one scale)
norm.weight -> norm.weight: unchanged
dequantized: 3 weights to F32 (1 of F8_E4M3, a scale a row; 1 of F8_E4M3, blocks of 128x128; 1 of F8_E4M3, one scale)
8 read = 4 written + 3 merged - 0 split + 1 dropped; 0 renamed, 0 transposed, 1 cast; nothing else changed
dropped: fc1.input_scale
cast 26,000 elements of 1 tensor: 0 overflowed, 0 became zero, relative error up to 0.00253
verified: 4 of 4 tensors bit-exact (1 after their cast)
$ ckpt diff a.safetensors testdata/safetensors/fp8_plain.safetensors
4 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert testdata/safetensors/fp8.safetensors a.bpk --dequantize --dtype '^down_proj=bf16' --adapter pytorch-to-burn --module 'norm => RmsNorm' --module 'fc|proj => Linear'
testdata/safetensors/fp8.safetensors -> a.bpk: safetensors to burnpack, 52.0 KiB
adapter: pytorch-to-burn
dequantized: 3 weights to F32 (1 of F8_E4M3, a scale a row; 1 of F8_E4M3, blocks of 128x128; 1 of F8_E4M3, one scale)
8 read = 4 written + 3 merged - 0 split + 1 dropped; 1 renamed, 3 transposed, 1 cast; nothing else changed
dropped: fc1.input_scale
cast 26,000 elements of 1 tensor: 0 overflowed, 0 became zero, relative error up to 0.00253
$ ckpt convert --quiet a.bpk b.safetensors --adapter burn-to-pytorch
$ ckpt diff b.safetensors testdata/safetensors/fp8_plain.safetensors
4 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert testdata/safetensors/fp8.safetensors c.safetensors --dequantize --block-size 64x64
ckpt: testdata/safetensors/fp8.safetensors: the scales down_proj.weight_scale_inv [2, 2] do not fit the weight down_proj.weight [200, 130] in blocks of 64x64
hint: say how large a block is with --block-size ROWSxCOLUMNS
[1]
$ ckpt convert testdata/safetensors/fp8.safetensors c.safetensors --dequantize --block-size 64
ckpt: --block-size: `64` is not ROWSxCOLUMNS, as in 128x128
[2]
$ ckpt convert testdata/safetensors/linear.safetensors c.safetensors --dequantize
testdata/safetensors/linear.safetensors -> c.safetensors: safetensors to safetensors, 316 B
adapter: none (by the two formats)
dequantized: nothing; no weight has scales beside it
3 read = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt convert testdata/safetensors/fp8.safetensors d.safetensors --rename 'fc1.weight_scale => fc1.SCB' --dequantize
ckpt: testdata/safetensors/fp8.safetensors: fc1.weight, fc1.SCB, fc1.input_scale: only FP8 weights with weight_scale or weight_scale_inv can be dequantized
hint: leave out --dequantize to copy it byte for byte, or leave it out with --exclude
[1]
$ ckpt convert testdata/safetensors/fp8.safetensors d.safetensors --block-size 64x64
ckpt: --block-size requires --dequantize
hint: ckpt convert --help
[2]

# Rotary rows are put into the order of the other world, and back.
$ ckpt convert testdata/safetensors/rope_pairs.safetensors e.safetensors --permute-rope '\.(q|k)_proj\.' --heads 4 --kv-heads 2 --explain --verify
testdata/safetensors/rope_pairs.safetensors -> e.safetensors: safetensors to safetensors, 1.35 KiB
adapter: none (by the two formats)
layers.0.q_proj.weight -> layers.0.q_proj.weight: rows of 4 heads of 6 permuted from pairs to halves
layers.0.q_proj.bias -> layers.0.q_proj.bias: rows of 4 heads of 6 permuted from pairs to halves
layers.0.k_proj.weight -> layers.0.k_proj.weight: rows of 2 heads of 6 permuted from pairs to halves
layers.0.v_proj.weight -> layers.0.v_proj.weight: unchanged
rotary rows: 3 tensors permuted from interleaved pairs to halves
4 read = 4 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
verified: 4 of 4 tensors bit-exact
$ ckpt diff e.safetensors testdata/safetensors/rope_halves.safetensors
4 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert e.safetensors f.safetensors --permute-rope '\.(q|k)_proj\.' --heads 4 --kv-heads 2 --inverse
e.safetensors -> f.safetensors: safetensors to safetensors, 1.35 KiB
adapter: none (by the two formats)
rotary rows: 3 tensors permuted from halves to interleaved pairs
4 read = 4 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff f.safetensors testdata/safetensors/rope_pairs.safetensors
4 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert testdata/safetensors/rope_pairs.safetensors g.bpk --permute-rope '\.(q|k)_proj\.' --heads 4 --kv-heads 2 --adapter pytorch-to-burn --module 'proj => Linear' --verify
testdata/safetensors/rope_pairs.safetensors -> g.bpk: safetensors to burnpack, 1.73 KiB
adapter: pytorch-to-burn
rotary rows: 3 tensors permuted from interleaved pairs to halves
4 read = 4 written + 0 merged - 0 split + 0 dropped; 0 renamed, 3 transposed, 0 cast; nothing else changed
verified: 4 of 4 tensors bit-exact
$ ckpt convert --quiet g.bpk h.safetensors --adapter burn-to-pytorch
$ ckpt diff h.safetensors testdata/safetensors/rope_halves.safetensors
4 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
# In burn's layout the rows of a matrix are inputs, which have no heads.
$ ckpt convert g.bpk i.pt --permute-rope 'q_proj' --heads 4
ckpt: g.bpk: --permute-rope: tensor layers.0.q_proj.weight [5, 24]: burn keeps [in, out], so its rows are inputs, not those of heads
hint: convert the file to PyTorch's layout first (--adapter burn-to-pytorch), then permute the result
[1]
$ ckpt convert g.bpk i.bpk --permute-rope 'q_proj' --heads 4
ckpt: g.bpk: --permute-rope: tensor layers.0.q_proj.weight [5, 24]: burn keeps [in, out], so its rows are inputs, not those of heads
hint: convert the file to PyTorch's layout first (--adapter burn-to-pytorch), then permute the result
[1]
$ ckpt convert testdata/safetensors/rope_pairs.safetensors i.safetensors --permute-rope proj --heads 4 --kv-heads 2
ckpt: testdata/safetensors/rope_pairs.safetensors: --permute-rope: tensor layers.0.v_proj.weight [12, 5]: its name says neither query nor key
hint: match just these, as in '\.(q|k)_proj\.'; values are not rotated
[1]
$ ckpt convert testdata/safetensors/rope_pairs.safetensors i.safetensors --permute-rope '\.(q|k)_proj\.' --heads 4
ckpt: testdata/safetensors/rope_pairs.safetensors: --permute-rope: tensor layers.0.k_proj.weight [12, 5]: 12 rows are not 4 heads of an even size
hint: --heads counts the heads of queries, --kv-heads those of keys: config.json has both
[1]
$ ckpt convert testdata/safetensors/rope_pairs.safetensors i.safetensors --permute-rope '\.(q|k)_proj\.' --heads 5 --kv-heads 2
ckpt: testdata/safetensors/rope_pairs.safetensors: --permute-rope: tensor layers.0.q_proj.weight [24, 5]: 24 rows are not 5 heads of an even size
hint: --heads counts the heads of queries, --kv-heads those of keys: config.json has both
[1]
$ ckpt convert testdata/safetensors/rope_pairs.safetensors i.safetensors --permute-rope q_lin --heads 4
ckpt: testdata/safetensors/rope_pairs.safetensors: --permute-rope 'q_lin' matched no tensor
hint: names are matched after --rename
[1]
$ ckpt convert testdata/safetensors/rope_pairs.safetensors i.safetensors --permute-rope q_proj
ckpt: --permute-rope needs --heads
hint: and --kv-heads where keys have fewer: config.json has both
[2]

# Experts become one tensor, in the order of their numbers, and many again.
$ ckpt convert testdata/safetensors/experts.safetensors j.safetensors --stack 'experts\.(\d+)\.w1 => experts.w1' --explain --verify
testdata/safetensors/experts.safetensors -> j.safetensors: safetensors to safetensors, 352 B
adapter: none (by the two formats)
experts.0.w1.weight + experts.1.w1.weight + experts.2.w1.weight + experts.3.w1.weight + experts.4.w1.weight + experts.5.w1.weight + experts.6.w1.weight + experts.7.w1.weight + experts.8.w1.weight + experts.9.w1.weight + experts.10.w1.weight -> experts.w1.weight: stacked from 11
stacked: 11 tensors into 1
11 read = 1 written + 10 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
verified: 1 of 1 tensors bit-exact
$ ckpt convert j.safetensors k.safetensors --unstack 'experts\.w1 => experts.#.w1'
j.safetensors -> k.safetensors: safetensors to safetensors, 1.09 KiB
adapter: none (by the two formats)
unstacked: 1 tensor into 11
1 read = 11 written + 0 merged - 10 split + 0 dropped; 11 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff k.safetensors testdata/safetensors/experts.safetensors
11 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet testdata/safetensors/experts.safetensors l.safetensors --rename 'experts\.10 => experts.11' --stack 'experts\.(\d+)\.w1 => experts.w1'
ckpt: testdata/safetensors/experts.safetensors: --stack: experts.w1.weight lacks index 10 of 0 to 11
hint: a stack with a hole would give every later part another index
[1]
$ ckpt convert testdata/safetensors/experts.safetensors l.safetensors --stack 'experts\.\d+\.w1 => experts.w1'
ckpt: --stack: `experts\.\d+\.w1 => experts.w1` has no group for the index
hint: as in --stack 'experts\.(\d+)\.w1 => experts.w1'
[2]
$ ckpt convert testdata/safetensors/experts.safetensors l.safetensors --stack 'mlp\.(\d+)\.w1 => experts.w1'
ckpt: testdata/safetensors/experts.safetensors: --stack 'mlp\.(\d+)\.w1 => experts.w1' matched no tensor
hint: names are matched as the result has them
[1]
$ ckpt convert j.safetensors l.safetensors --unstack 'experts\.w1 => experts.w1'
ckpt: --unstack: `experts\.w1 => experts.w1` has no # for the index
hint: as in --unstack 'experts\.w1 => experts.#.w1'
[2]
$ ckpt convert --json j.safetensors l.safetensors --unstack 'experts\.w1 => experts.#.w1' --dry-run | grep -A 2 -E 'operations|"split"'
 "split": 10,
 "dropped": [],
 "renamed": 11,
--
 "operations": [
  "unstacked: 1 tensor into 11"
 ],

# Two names that become one are told apart.
$ ckpt convert testdata/safetensors/experts.safetensors collide.safetensors --unstack 'experts\.1\.w1\.weight => experts.#.w1.weight'
ckpt: testdata/safetensors/experts.safetensors: two tensors become experts.0.w1.weight: experts.0.w1.weight and experts.1.w1.weight by --unstack 'experts\.1\.w1\.weight => experts.#.w1.weight'
hint: narrow a rule, or drop one of the two with --exclude
[1]

# What a part of a stack is decides what the layout does to it: stacking before or after gives the same.
$ ckpt convert --quiet testdata/safetensors/experts.safetensors parts.bpk --adapter pytorch-to-burn --module 'w1 => Linear'
$ ckpt convert --quiet parts.bpk after.bpk --stack 'experts\.(\d+)\.w1 => experts.w1'
$ ckpt convert testdata/safetensors/experts.safetensors before.bpk --adapter pytorch-to-burn --module 'w1 => Linear' --stack 'experts\.(\d+)\.w1 => experts.w1' --verify
testdata/safetensors/experts.safetensors -> before.bpk: safetensors to burnpack, 776 B
adapter: pytorch-to-burn
stacked: 11 tensors into 1
11 read = 1 written + 10 merged - 0 split + 0 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
verified: 1 of 1 tensors bit-exact
$ ckpt diff before.bpk after.bpk
1 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert before.bpk back.safetensors --adapter burn-to-pytorch --unstack 'experts\.w1 => experts.#.w1'
before.bpk -> back.safetensors: burnpack to safetensors, 1.41 KiB
adapter: burn-to-pytorch
unstacked: 1 tensor into 11
1 read = 11 written + 0 merged - 10 split + 0 dropped; 11 renamed, 11 transposed, 0 cast; nothing else changed
$ ckpt diff back.safetensors testdata/safetensors/experts.safetensors
11 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert before.bpk whole.safetensors --adapter burn-to-pytorch
before.bpk -> whole.safetensors: burnpack to safetensors, 432 B
adapter: burn-to-pytorch
1 read = 1 written + 0 merged - 0 split + 0 dropped; 0 renamed, 1 transposed, 0 cast; nothing else changed
$ ckpt diff whole.safetensors j.safetensors
1 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
# Of a part that nothing is noted of, nothing tells which way it lies.
$ ckpt convert j.safetensors k.bpk --adapter pytorch-to-burn --unstack 'experts\.w1 => experts.#.gate_proj' 2>&1 | cut -c 1-170
ckpt: j.safetensors: the layout of 11 tensors is undecided: experts.0.gate_proj.weight [3, 2] (cut from a stack: nothing tells whether its rows are inputs or outputs); ex
hint: say what they are (Linear is transposed; Embedding and Conv1D are not; none is left alone): --module '^experts\.0\.gate_proj$ => Linear' --module '^experts\.1\.gate
$ ckpt convert --quiet j.safetensors k.bpk --adapter pytorch-to-burn --unstack 'experts\.w1 => experts.#.gate_proj' --module 'gate_proj => Linear'
