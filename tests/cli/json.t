# Every --json is one document on standard output, whatever is said on standard error.
$ cat > is_json.py <<'EOF'
> import json, sys
> json.loads(sys.stdin.buffer.read().decode("utf-8"), parse_constant=lambda name: sys.exit("not JSON: " + name))
> EOF
$ T=testdata/pytorch
$ for command in \
>   "inspect testdata/pytorch/net.pt" "inspect testdata/pytorch/whole_model.pt --sha256" \
>   "inspect testdata/pytorch/net.pt testdata/burnpack/net.bpk" "inspect testdata/pytorch/two_roots.pt" \
>   "convert testdata/pytorch/net.pt a.bpk" "convert testdata/pytorch/net.pt b.bpk --dry-run" \
>   "convert testdata/pytorch/net.pt c.bpk --explain" \
>   "remap testdata/pytorch/net.pt --rename ^fc=>x" "remap testdata/safetensors/linear.safetensors d.safetensors" \
>   "diff testdata/pytorch/net.pt testdata/pytorch/gpt2.pt" "diff testdata/pytorch/net.pt testdata/pytorch/legacy.pt" \
>   "diff --names-only testdata/pytorch/net.pt testdata/pytorch/gpt2.pt" "lock testdata/pytorch/tied.pt" \
>   "inspect testdata/pytorch/all_dtypes.pt --id --stats" "inspect testdata/pytorch/all_dtypes.pt --tensor special" \
>   "remap testdata/pytorch/net.pt --infer testdata/pytorch/gpt2.pt" \
>   "check testdata/pytorch/net.pt" "check testdata/burnpack/net.bpk"; do
>   ckpt $command --json > out.json 2> /dev/null || test $? = 1 || echo "$command: status $?"
>   python3 is_json.py < out.json || echo "$command"
> done

# An infinite or missing distance is a string: JSON has no such numbers.
$ cat > make.py <<'EOF'
> import struct
> def write(name, *values):
>     header = b'{"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}'
>     header += b" " * (-len(header) % 8)
>     open(name, "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<3f", *values))
> write("nan.safetensors", 1, float("nan"), float("inf"))
> write("inf.safetensors", 1, 2, float("inf"))
> write("far.safetensors", 1, 2, -float("inf"))
> EOF
$ python3 make.py
$ ckpt diff --json nan.safetensors inf.safetensors > out.json
[1]
$ python3 is_json.py < out.json && grep max_abs out.json
   "max_abs": "NaN",
 "max_abs": "NaN"
$ ckpt diff --json inf.safetensors far.safetensors | python3 is_json.py
$ ckpt diff inf.safetensors far.safetensors
w: values: max |a-b| inf at [2], 1 of 3 elements differ (33 %), mean |a-b| inf
0 equal, 1 different, 0 only in A, 0 only in B; worst=inf atol=0 rtol=0 DIFFERENT
[1]

# Trouble is told on standard error only; a refusal is a document as well.
$ ckpt diff --json nan.safetensors none 2> /dev/null
[2]
$ ckpt convert --json testdata/pytorch/two_roots.pt x.bpk 2> /dev/null
{
 "schema": 1,
 "error": {
  "kind": "refused",
  "text": "2 places hold tensors of a model: state_dict (2 tensors, 60 B), state_dict_ema (2 tensors, 60 B)",
  "file": "testdata/pytorch/two_roots.pt",
  "hint": "--top-level-key state_dict takes one of them, --top-level-key . all"
 }
}
[1]
$ ckpt remap --json nan.safetensors --rename '( => x' 2> /dev/null
[2]
