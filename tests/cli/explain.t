# One tensor's whole way: its place in the file, the names it had, its layout, its cast, its bytes in the output.
$ ckpt convert testdata/pytorch/net.pt net.bpk --remap testdata/rules/net.rules --module '^embedding$ => Embedding' --dtype '^hidden=F16' --explain=encoder.weight
testdata/pytorch/net.pt -> net.bpk: pytorch to burnpack, 4.27 KiB
adapter: pytorch-to-burn (by the two formats)
hidden.weight
  file    encoder.weight F32 [8, 6], 192 B at offset 1792
  name    hidden.weight, by rule 2 `^encoder\. => hidden.`
  layout  transposed, cast from F32 to F16; Linear (bias [8] is as long as the first dimension of weight [8, 6])
  cast    F32 to F16
  output  hidden.weight F16 [6, 8], 96 B, bytes 1536 to 1632
14 read = 13 written + 0 merged - 0 split + 1 dropped; 11 renamed, 2 transposed, 8 cast; nothing else changed
dropped: bn.num_batches_tracked
cast 104 elements of 8 tensors: 0 overflowed, 0 became zero, relative error up to 0
$ python3 -c '
> data = open("net.bpk", "rb").read()
> import struct
> print(struct.unpack("<4e", data[1536:1544]))'
(0.5, 1.25, 2.0, 2.75)
$ ckpt inspect testdata/pytorch/net.pt --tensor encoder.weight | grep first
  first      0.5 0.625 0.75 0.875 1.0 1.125

# It may be named by its name in the output, or by the whole path in the file.
$ ckpt convert testdata/pytorch/net.pt a.bpk --dry-run --explain=bn.gamma --quiet
ckpt: testdata/pytorch/net.pt: warning: the kind of 1 module rests on its name alone: tok_emb (Embedding); --explain shows all, --module settles them
$ ckpt convert testdata/pytorch/net.pt a.bpk --dry-run --explain=bn.gamma 2>&1 | grep -A 4 '^bn'
bn.gamma
  file    bn.weight F32 [8], 32 B at offset 3456
  layout  renamed; BatchNorm (running_mean and running_var stand beside it)
  output  bn.gamma F32 [8], 32 B, bytes 3072 to 3104
14 read = 13 written + 0 merged - 0 split + 1 dropped; 4 renamed, 2 transposed, 0 cast; nothing else changed
$ ckpt convert testdata/pytorch/net.pt a.bpk --dry-run --explain=bn.num_batches_tracked 2>&1 | grep -A 4 nothing
testdata/pytorch/net.pt -> a.bpk: pytorch to burnpack, 4.27 KiB (dry run: nothing was written)
adapter: pytorch-to-burn (by the two formats)
(nothing)
  file    bn.num_batches_tracked I64 [], 8 B at offset 2176
  layout  dropped: burn has no such tensor; BatchNorm (running_mean and running_var stand beside it)
14 read = 13 written + 0 merged - 0 split + 1 dropped; 4 renamed, 2 transposed, 0 cast; nothing else changed
dropped: bn.num_batches_tracked
$ ckpt convert testdata/pytorch/two_roots.pt a.safetensors --dry-run --top-level-key state_dict --strip-wrappers --rename '^ => m.' --explain=state_dict.0.weight
ckpt: testdata/pytorch/two_roots.pt: warning: applied twice, the rules would change 2 names again, m.0.weight first: anchor them with ^
ckpt: testdata/pytorch/two_roots.pt: warning: safetensors has no place for 1 value (global_step): left behind
testdata/pytorch/two_roots.pt -> a.safetensors: pytorch to safetensors, 196 B (dry run: nothing was written)
adapter: none (by the two formats)
m.0.weight
  file    state_dict.0.weight F32 [3, 4], 48 B at offset 576
  root    state_dict
  name    m.0.weight, by rule 1 `^ => m.`
  layout  unchanged
  output  m.0.weight F32 [3, 4], 48 B, bytes 148 to 196
4 read = 2 written + 0 merged - 0 split + 2 dropped; 2 renamed, 0 transposed, 0 cast; nothing else changed
dropped: state_dict_ema.0.weight, state_dict_ema.0.bias
$ ckpt convert testdata/pytorch/nested.pt a.safetensors --dry-run --explain=optimizer.state.0.exp_avg 2>&1 | head -n 4
ckpt: testdata/pytorch/nested.pt: warning: safetensors has no place for 2 values (epoch, …): left behind
testdata/pytorch/nested.pt -> a.safetensors: pytorch to safetensors, 304 B (dry run: nothing was written)
adapter: none (by the two formats)
(nothing)
$ ckpt convert testdata/pytorch/tied.pt a.pt --dry-run --explain=tok_emb.weight 2>&1 | head -n 5
testdata/pytorch/tied.pt -> a.pt: pytorch to pytorch, 1.20 KiB (dry run: nothing was written)
adapter: none (by the two formats)
tok_emb.weight
  file    tok_emb.weight F32 [10, 4], 160 B at offset 448
  layout  unchanged

# As a document.
$ ckpt convert testdata/burnpack/net.bpk b.pt --explain=fc.weight --module 'head => Linear' --json --dry-run 2> /dev/null | python3 -c '
> import json, sys
> print(json.dumps(json.load(sys.stdin)["explained"], indent=1))'
[
 {
  "from": [
   {
    "name": "fc.weight",
    "dtype": "F32",
    "shape": [
     4,
     3
    ],
    "bytes": 48,
    "offset": 256,
    "strides": [
     3,
     1
    ],
    "root": "",
    "renames": []
   }
  ],
  "what": "transposed",
  "kind": "Linear",
  "evidence": "bias [3] is as long as the second dimension of weight [4, 3]",
  "to": {
   "name": "fc.weight",
   "dtype": "F32",
   "shape": [
    3,
    4
   ],
   "bytes": 48,
   "param_id": "avq43klip2pc6",
   "range": [
    512,
    560
   ]
  }
 }
]
$ ckpt convert testdata/pytorch/net.pt a.bpk --explain=fc.wieght
ckpt: testdata/pytorch/net.pt: has no tensor fc.wieght
hint: did you mean: fc.weight
[2]
$ ckpt convert - a.bpk --explain=fc.weight
ckpt: --explain=NAME wants a file: standard input is read once
[2]
