# The same tensors in another container: no difference.
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/legacy.pt > /dev/null 2>&1

# Other names: the status says so, and standard output.
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/gpt2.pt | grep -o -E 'encoder\.bias|ln_f\.bias'
ln_f.bias
encoder.bias
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

# Renamed tensors are found by their bytes.
$ ckpt remap --quiet testdata/safetensors/linear.safetensors renamed.safetensors --rename '^fc\. => fc1.'
$ ckpt diff testdata/safetensors/linear.safetensors renamed.safetensors
renamed: fc.weight -> fc1.weight
renamed: fc.bias -> fc1.bias
1 equal, 0 different, 0 only in A, 0 only in B, 2 renamed; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff --json testdata/safetensors/linear.safetensors renamed.safetensors | grep -A 4 renamed
 "renamed": [
  {
   "a": "fc.weight",
   "b": "fc1.weight"
  },
$ ckpt diff --summary testdata/safetensors/linear.safetensors renamed.safetensors
1 equal, 0 different, 0 only in A, 0 only in B, 2 renamed; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff --names-only testdata/safetensors/linear.safetensors renamed.safetensors
only in A: fc.weight  F32 [3, 4]
only in A: fc.bias  F32 [3]
only in B: fc1.bias  F32 [3]
only in B: fc1.weight  F32 [3, 4]
1 equal, 0 different, 2 only in A, 2 only in B; values not compared DIFFERENT
[1]

# The worst tensor first, shapes before values; new rows of a table are told.
$ cat > make.py <<'END'
> import json, struct
> def write(file, **tensors):
>     header, data = {}, b""
>     for name, (shape, values) in tensors.items():
>         part = struct.pack(f"<{len(values)}f", *values)
>         header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
>         data += part
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + data)
> write("a.safetensors", near=([4], [1, 2, 3, 4]), far=([2], [1, 2]), table=([2, 2], [1, 2, 3, 4]), same=([1], [5]))
> write("b.safetensors", near=([4], [1, 2.5, 3, 4]), far=([2], [1, 12]), table=([3, 2], [1, 2, 3, 4, 9, 9]), same=([1], [5]))
> END
$ python3 make.py
$ ckpt diff a.safetensors b.safetensors
table: shape [2, 2] and [3, 2]; first 2 rows equal, 1 new
far: values: max |a-b| 10 at [1], 1 of 2 elements differ (50 %), mean |a-b| 5, max relative 0.833
near: values: max |a-b| 0.5 at [1], 1 of 4 elements differ (25 %), mean |a-b| 0.125, max relative 0.2
1 equal, 3 different, 0 only in A, 0 only in B; worst=10 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff b.safetensors a.safetensors --include table
table: shape [3, 2] and [2, 2]; first 2 rows equal, 1 gone
0 equal, 1 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff a.safetensors b.safetensors --include near --json
{
 "schema": 1,
 "equal": false,
 "only_in_a": [],
 "only_in_b": [],
 "renamed": [],
 "different": [
  {
   "name": "near",
   "what": "values",
   "max_abs": 0.5,
   "at": [1],
   "count": 1,
   "elements": 4,
   "mean_abs": 0.125,
   "max_relative": 0.2
  }
 ],
 "equal_count": 0,
 "max_abs": 0.5
}
[1]

# Status 1 says that the two differ: what keeps them from being compared is trouble.
$ ckpt diff testdata/burnpack/net.bpk testdata/burnpack/net.bpk --include nothing
ckpt: testdata/burnpack/net.bpk: no tensor is left: --include and --exclude drop every one
hint: names are listed by: ckpt inspect testdata/burnpack/net.bpk
[2]
$ ckpt diff testdata/burnpack/net.bpk testdata/burnpack/net.bpk --rename '^.*$ => x' --json
ckpt: testdata/burnpack/net.bpk: two tensors become x: fc.weight by `^.*$ => x` and fc.bias by `^.*$ => x`
hint: narrow a rule, or drop one of the two with --exclude
[2]
$ ckpt lock testdata/burnpack/net.bpk --rename '^.*$ => x'
ckpt: testdata/burnpack/net.bpk: two tensors become x: fc.weight by `^.*$ => x` and fc.bias by `^.*$ => x`
hint: narrow a rule, or drop one of the two with --exclude
[2]
$ ckpt remap testdata/burnpack/net.bpk --rename '^.*$ => x'
ckpt: testdata/burnpack/net.bpk: two tensors become x: fc.weight by `^.*$ => x` and fc.bias by `^.*$ => x`
hint: narrow a rule, or drop one of the two with --exclude
[1]

# Of one element one differs; all are 100 %, and nothing less is.
$ cat > make_share.py <<'END'
> import json, struct
> def write(name, **tensors):
>     header, data = {}, b""
>     for key, values in tensors.items():
>         part = struct.pack(f"<{len(values)}f", *values)
>         header[key] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(part)]}
>         data += part
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
> write("zeros.safetensors", one=[0], all=[0] * 4, most=[0] * 300)
> write("ones.safetensors", one=[1], all=[1] * 4, most=[0] + [1] * 299)
> END
$ python3 make_share.py
$ ckpt diff zeros.safetensors ones.safetensors | sort
0 equal, 3 different, 0 only in A, 0 only in B; worst=1 atol=0 rtol=0 DIFFERENT
all: values: max |a-b| 1 at [0], 4 of 4 elements differ (100 %), mean |a-b| 1, max relative 1
most: values: max |a-b| 1 at [1], 299 of 300 elements differ (99 %), mean |a-b| 0.997, max relative 1
one: values: max |a-b| 1 at [0], 1 of 1 element differs, max relative 1
