# A lock names every tensor once, in the order of numbers, and what it is tied to.
$ ckpt lock testdata/burnpack/net.bpk
\# ckpt lock 1 layout=burn
\# made from testdata/burnpack/net.bpk: 3 tensors, 21 parameters
\# name dtype shape [kind=KIND] [tied-to=NAME]
fc.bias F32 [3] kind=Linear
fc.weight F32 [4,3] kind=Linear
head.weight F32 [3,2]
$ ckpt lock testdata/pytorch/tied.pt --json
{
 "schema": 1,
 "file": "testdata/pytorch/tied.pt",
 "layout": "pytorch",
 "tensors": [
  {
   "name": "decoder.bias",
   "dtype": "F32",
   "shape": [10],
   "kind": "Linear"
  },
  {
   "name": "decoder.weight",
   "dtype": "F32",
   "shape": [10, 4],
   "kind": "Linear"
  },
  {
   "name": "tok_emb.weight",
   "dtype": "F32",
   "shape": [10, 4],
   "tied_to": "decoder.weight"
  }
 ]
}
$ cat > make.py <<'END'
> import json, struct
> names = ["layers.10.w", "layers.2.w", "a b", "tab\there", "größe", "#x"]
> header = {name: {"dtype": "BF16", "shape": [1, 2], "data_offsets": [4 * i, 4 * i + 4]} for i, name in enumerate(names)}
> text = json.dumps(header).encode()
> text += b" " * (-len(text) % 8)
> open("names.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(24))
> END
$ python3 make.py
$ ckpt lock names.safetensors
\# ckpt lock 1
\# made from names.safetensors: 6 tensors, 12 parameters
\# name dtype shape [kind=KIND] [tied-to=NAME]
"#x" BF16 [1,2]
"a b" BF16 [1,2]
größe BF16 [1,2]
layers.2.w BF16 [1,2]
layers.10.w BF16 [1,2]
"tab\there" BF16 [1,2]

# Of a training checkpoint the model is locked.
$ ckpt lock testdata/pytorch/nested.pt
left out: optimizer.state.0.step, optimizer.state.0.exp_avg, optimizer.state.0.exp_avg_sq, optimizer.state.1.step, optimizer.state.1.exp_avg, optimizer.state.1.exp_avg_sq, optimizer.state.2.step, optimizer.state.2.exp_avg, optimizer.state.2.exp_avg_sq, optimizer.state.3.step, and 2 more (--verbose lists all)
\# ckpt lock 1 layout=pytorch
\# made from testdata/pytorch/nested.pt: 4 tensors, 12 parameters
\# name dtype shape [kind=KIND] [tied-to=NAME]
0.bias F32 [2] kind=Linear
0.weight F32 [2,3] kind=Linear
1.bias F32 [2] kind=LayerNorm
1.weight F32 [2] kind=LayerNorm

# Names can be chosen and changed.
$ ckpt lock testdata/burnpack/net.bpk --include '^fc' --rename '^fc => head' | grep -v '^#'
left out: head.weight
head.bias F32 [3] kind=Linear
head.weight F32 [4,3] kind=Linear
$ ckpt lock none.pt
ckpt: none.pt: No such file or directory
[2]

# A lock edited by hand is checked to the line: kinds that nobody knows, ties that end nowhere or at another tensor.
$ printf '# ckpt lock 1\nfc.weight F32 [4,3] kind=Linaer\n' > kind.lock
$ ckpt check testdata/burnpack/net.bpk --like kind.lock
ckpt: kind.lock: line 2: `Linaer` is not a kind of module
hint: leave kind= out where the kind is not known
[2]
$ printf '# ckpt lock 1\nfc.weight F32 [4,3] kind=none\n' > kind.lock
$ ckpt check testdata/burnpack/net.bpk --like kind.lock
ckpt: kind.lock: line 2: `none` is not a kind of module
hint: leave kind= out where the kind is not known
[2]
$ printf '# ckpt lock 1\nfc.weight F32 [4,3] kind=linear\nfc.bias F32 [3]\nhead.weight F32 [3,2]\n' > kind.lock
$ ckpt check --quiet testdata/burnpack/net.bpk --like kind.lock
testdata/burnpack/net.bpk for kind.lock: 3 of 3 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits
$ printf '# ckpt lock 1\na F32 [3] tied-to=q\nq F32 [3] tied-to=a\n' > tie.lock
$ ckpt check testdata/burnpack/net.bpk --like tie.lock
ckpt: tie.lock: line 2: a is tied to q, which is tied to a itself: name the entry that is not tied
[2]
$ printf '# ckpt lock 1\na F32 [3] tied-to=q\nq F32 [4]\n' > tie.lock
$ ckpt remap testdata/burnpack/net.bpk --infer tie.lock
ckpt: tie.lock: line 2: a, F32 [3], is tied to q, which is F32 [4]: one tensor has one type and shape
[2]
