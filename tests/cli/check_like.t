# What fits is said in one line, and only headers are read.
$ ckpt check testdata/burnpack/net.bpk --like testdata/burnpack/net.bpk
testdata/burnpack/net.bpk for testdata/burnpack/net.bpk: 3 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt convert --quiet testdata/pytorch/net.pt net.bpk --remap testdata/rules/net.rules 2> /dev/null
$ ckpt check testdata/pytorch/net.pt --like net.bpk --remap testdata/rules/net.rules --module '^embedding$ => Embedding'
adapter: pytorch-to-burn (by the two formats)
testdata/pytorch/net.pt for net.bpk: 13 of 13 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# What does not fit is told at once, with rules that were tried.
$ ckpt check --quiet testdata/pytorch/net.pt --like net.bpk --module '^tok_emb$ => Embedding'
misfit   name                    file         target       did you mean
missing  embedding.weight                     F32 [12, 6]  tok_emb.weight
missing  head.bias                            F32 [4]      fc.bias
missing  head.weight                          F32 [8, 4]   fc.weight
missing  hidden.bias                          F32 [8]      encoder.bias
missing  hidden.weight                        F32 [6, 8]   encoder.weight
missing  hidden_bn.beta                       F32 [8]      bn.beta
missing  hidden_bn.gamma                      F32 [8]      bn.gamma
missing  hidden_bn.running_mean               F32 [8]      bn.running_mean
missing  hidden_bn.running_var                F32 [8]      bn.running_var
missing  hidden_norm.beta                     F32 [8]      norm.beta
missing  hidden_norm.gamma                    F32 [8]      norm.gamma
unused   bn.beta                 F32 [8]
unused   bn.gamma                F32 [8]
unused   bn.running_mean         F32 [8]
unused   bn.running_var          F32 [8]
unused   encoder.bias            F32 [8]
unused   encoder.weight          F32 [6, 8]
unused   fc.bias                 F32 [4]
unused   fc.weight               F32 [8, 4]
unused   norm.beta               F32 [8]
unused   norm.gamma              F32 [8]
unused   tok_emb.weight          F32 [12, 6]

4 rules supply 11 of 11 missing tensors:
  --rename '^(bn|norm)\. => hidden_${1}.'
  --rename '^fc\. => head.'
  --rename '^encoder\. => hidden.'
  --rename '^tok_emb\. => embedding.'

testdata/pytorch/net.pt for net.bpk: 2 of 13 tensors fit, 11 missing, 11 unused, 0 mismatched; 21.1 % of the parameters: DOES NOT FIT
[1]
$ ckpt check --quiet testdata/pytorch/net.pt --like net.bpk --module '^tok_emb$ => Embedding' | sed -n "s/^  --rename '\(.*\)'/\1/p" > found.rules
$ ckpt check --quiet testdata/pytorch/net.pt --like net.bpk --remap found.rules --module '^embedding$ => Embedding'
testdata/pytorch/net.pt for net.bpk: 13 of 13 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# A lock file is a target as well, and knows whose layout it describes.
$ ckpt lock net.bpk > net.lock
$ head -n 1 net.lock
\# ckpt lock 1 layout=burn
$ ckpt check testdata/pytorch/net.pt --like net.lock --remap testdata/rules/net.rules
adapter: pytorch-to-burn (by the two formats)
testdata/pytorch/net.pt for net.lock: 13 of 13 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check net.bpk --like net.lock
net.bpk for net.lock: 13 of 13 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt lock testdata/pytorch/net.pt > torch.lock
$ ckpt check testdata/pytorch/legacy.pt --like torch.lock
testdata/pytorch/legacy.pt for torch.lock: 14 of 14 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check net.bpk --like torch.lock --rename '^embedding => tok_emb' --rename '^hidden_ => ' --rename '^hidden => encoder' --rename '^head => fc' --allow-missing='num_batches_tracked$'
adapter: burn-to-pytorch (by the two formats)
added: 1 num_batches_tracked (I64 0) that the target has
net.bpk for torch.lock: 14 of 14 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# Where the formats do not say whose layout they hold, the adapter is suggested.
$ ckpt check testdata/safetensors/linear.safetensors --like testdata/burnpack/net.bpk
misfit  name         file        target      did you mean
shape   fc.weight    F32 [3, 4]  F32 [4, 3]
shape   head.weight  F32 [2, 3]  F32 [3, 2]

--adapter pytorch-to-burn supplies 100.0 % of the parameters

testdata/safetensors/linear.safetensors for testdata/burnpack/net.bpk: 1 of 3 tensors fit, 0 missing, 0 unused, 2 mismatched; 14.2 % of the parameters: DOES NOT FIT
[1]
$ ckpt check --quiet testdata/safetensors/linear.safetensors --like testdata/burnpack/net.bpk --adapter pytorch-to-burn
testdata/safetensors/linear.safetensors for testdata/burnpack/net.bpk: 3 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# Shapes and types, and what may be.
$ cat > make.py <<'END'
> import json, struct
> def write(file, *tensors):
>     header, data = {}, b""
>     for name, dtype, shape, values in tensors:
>         body = struct.pack("<%d%s" % (len(values), {"F32": "f", "F16": "e"}[dtype]), *values)
>         header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(body)]}
>         data += body
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + data)
> head, body, norm = range(12), range(8), range(2)
> write("target.safetensors", ("body.weight", "F32", [4, 2], body), ("norm.weight", "F32", [2], norm),
>       ("head.weight", "F32", [4, 2], body))
> write("source.safetensors", ("body.weight", "F16", [4, 2], body), ("head.weight", "F32", [6, 2], head),
>       ("extra.weight", "F32", [1], [1]))
> write("tied.safetensors", ("body.weight", "F32", [4, 2], body))
> write("untied.safetensors", ("body.weight", "F32", [4, 2], body), ("head.weight", "F32", [4, 2], [*reversed(body)]))
> write("copied.safetensors", ("body.weight", "F32", [4, 2], body), ("head.weight", "F32", [4, 2], body))
> END
$ python3 make.py
$ ckpt check source.safetensors --like target.safetensors
misfit   name          file        target      did you mean
missing  norm.weight               F32 [2]
unused   extra.weight  F32 [1]
shape    head.weight   F32 [6, 2]  F32 [4, 2]
dtype    body.weight   F16 [4, 2]  F32 [4, 2]

source.safetensors for target.safetensors: 0 of 3 tensors fit, 1 missing, 1 unused, 2 mismatched; 44.4 % of the parameters: DOES NOT FIT
[1]
$ ckpt check source.safetensors --like target.safetensors --json
{
 "schema": 1,
 "file": "source.safetensors",
 "like": "target.safetensors",
 "ok": false,
 "adapter": "none",
 "fitting": 0,
 "coverage": 0.4444444444444444,
 "missing": [
  "norm.weight"
 ],
 "unused": [
  "extra.weight"
 ],
 "mismatched": [
  {
   "name": "body.weight",
   "what": "dtype",
   "file": "F16",
   "target": "F32"
  },
  {
   "name": "head.weight",
   "what": "shape",
   "file": [6, 2],
   "target": [4, 2]
  }
 ],
 "missing_allowed": [],
 "unused_allowed": [],
 "did_you_mean": {},
 "rules": [],
 "findings": [
  {
   "code": "CK030",
   "level": "error",
   "tensor": "norm.weight",
   "text": "norm.weight: the target has it, the file does not"
  },
  {
   "code": "CK031",
   "level": "error",
   "tensor": "extra.weight",
   "text": "extra.weight: the target does not know it"
  },
  {
   "code": "CK033",
   "level": "error",
   "tensor": "body.weight",
   "text": "body.weight is F16, and F32 in the target"
  },
  {
   "code": "CK032",
   "level": "error",
   "tensor": "head.weight",
   "text": "head.weight is [6, 2], and [4, 2] in the target"
  }
 ]
}
[1]
$ ckpt check source.safetensors --like target.safetensors --allow-missing=norm --allow-unused --ignore CK032 --ignore CK033
misfit            name          file        target      did you mean
shape             head.weight   F32 [6, 2]  F32 [4, 2]
dtype             body.weight   F16 [4, 2]  F32 [4, 2]
missing, allowed  norm.weight               F32 [2]
unused, allowed   extra.weight  F32 [1]

source.safetensors for target.safetensors: 0 of 3 tensors fit, 0 missing, 0 unused, 2 mismatched; 44.4 % of the parameters: fits
$ ckpt check target.safetensors --like target.safetensors --exclude norm --min-coverage 88.8%
misfit            name         file  target   did you mean
missing, allowed  norm.weight        F32 [2]

target.safetensors for target.safetensors: 2 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 88.8 % of the parameters: fits
$ ckpt check target.safetensors --like target.safetensors --exclude norm --min-coverage 99.5%
CK034 error   88.8 % of the target's parameters are supplied, and 99.5 % are wanted

misfit            name         file  target   did you mean
missing, allowed  norm.weight        F32 [2]

target.safetensors for target.safetensors: 2 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 88.8 % of the parameters: DOES NOT FIT
[1]
$ ckpt check target.safetensors --like target.safetensors --exclude norm --min-coverage 0.5 --allow-missing=head
misfit   name         file  target   did you mean
missing  norm.weight        F32 [2]

target.safetensors for target.safetensors: 2 of 3 tensors fit, 1 missing, 0 unused, 0 mismatched; 88.8 % of the parameters: DOES NOT FIT
[1]
$ ckpt check target.safetensors --like target.safetensors --min-coverage 50
ckpt: --min-coverage: `50` is no share
hint: give it as 99.5% or as 0.995
[2]
$ ckpt check target.safetensors --like target.safetensors --min-coverage 100%
target.safetensors for target.safetensors: 3 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# A tensor that is tied to another comes back, as in convert; where both are there, their values are compared.
$ printf '# ckpt lock 1\nbody.weight F32 [4,2]\nhead.weight F32 [4,2] tied-to=body.weight\n' > tied.lock
$ ckpt check tied.safetensors --like tied.lock
added: 1 tensor tied to another name in the target (head.weight = body.weight)
tied.safetensors for tied.lock: 2 of 2 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check copied.safetensors --like tied.lock
copied.safetensors for tied.lock: 2 of 2 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check untied.safetensors --like tied.lock
CK035 warning head.weight is tied to body.weight in the target and differs from it in the file

untied.safetensors for tied.lock: 2 of 2 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check --strict untied.safetensors --like tied.lock
CK035 warning head.weight is tied to body.weight in the target and differs from it in the file

untied.safetensors for tied.lock: 2 of 2 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: DOES NOT FIT
[1]

# A layout that nothing decides is told, and names are held against each other as they are.
$ ckpt check testdata/pytorch/whole_model.pt --like testdata/burnpack/net.bpk --exclude '^[123]' 2>&1 | head -n 1
adapter: pytorch-to-burn (by the two formats)
$ printf '# ckpt lock 1 layout=burn\nproj.weight F32 [2,2]\n' > square.lock
$ cat > square.py <<'END'
> import json, struct
> header = json.dumps({"proj.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}).encode()
> header += b" " * (-len(header) % 8)
> open("square.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(16))
> END
$ python3 square.py
$ ckpt check square.safetensors --like square.lock --adapter pytorch-to-burn
adapter: pytorch-to-burn
CK036 error   the layout of 1 tensor is undecided: proj.weight [2, 2] (a square matrix: its shape cannot tell); say what they are (Linear is transposed; Embedding and Conv1D are not; none is left alone): --module '^proj$ => Linear'

square.safetensors for square.lock: 1 of 1 tensor fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: DOES NOT FIT
[1]
$ ckpt check square.safetensors --like square.lock --adapter pytorch-to-burn --module 'proj => Linear'
adapter: pytorch-to-burn
square.safetensors for square.lock: 1 of 1 tensor fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ sed 's/$/ kind=Linear/; 1s/ kind.*//' square.lock > told.lock
$ ckpt check square.safetensors --like told.lock --adapter pytorch-to-burn
adapter: pytorch-to-burn
square.safetensors for told.lock: 1 of 1 tensor fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# A misfit of a training checkpoint: the wrappers and the place of the model.
$ ckpt lock testdata/pytorch/nested.pt 2> /dev/null > nested.lock
$ ckpt check testdata/pytorch/nested.pt --like nested.lock
testdata/pytorch/nested.pt for nested.lock: 4 of 4 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ ckpt check testdata/pytorch/two_roots.pt --like testdata/pytorch/net.pt
ckpt: testdata/pytorch/two_roots.pt: 2 places hold tensors of a model: state_dict (2 tensors, 60 B), state_dict_ema (2 tensors, 60 B)
hint: --top-level-key state_dict takes one of them, --top-level-key . all
[2]
$ ckpt check testdata/pytorch/two_roots.pt --like testdata/pytorch/two_roots.pt --top-level-key ema
ckpt: testdata/pytorch/two_roots.pt: there are no tensors under ema
hint: tensors lie under state_dict (2 tensors, 60 B), state_dict_ema (2 tensors, 60 B)
[2]

# Mistakes.
$ ckpt check testdata/pytorch/net.pt --allow-missing
ckpt: --allow-missing requires --like
hint: ckpt check --help
[2]
$ ckpt check testdata/pytorch/net.pt --rename 'a => b'
ckpt: --rename requires --like
hint: ckpt check --help
[2]
$ ckpt check testdata/pytorch/net.pt --like none.lock
ckpt: none.lock: No such file or directory
[2]
$ printf '# ckpt lock 1\nw F32\n' > bad.lock
$ ckpt check testdata/pytorch/net.pt --like bad.lock
ckpt: bad.lock: line 2: `` does not begin with a shape like [3,4]
[2]
$ printf '# ckpt lock 1\nw F32 [4611686018427387904]\n' > huge.lock
$ ckpt check testdata/pytorch/net.pt --like huge.lock
ckpt: huge.lock: w: F32 elements of shape [4611686018427387904] fill no number of whole bytes that can be counted
[2]
