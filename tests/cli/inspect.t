# Names, types, shapes and param ids.

$ ckpt inspect testdata/burnpack/net.bpk | grep -E 'F32.*[a-z0-9]{13}' | sort
.*\bfc\.bias\b.*\bF32\b.*\b3\b.*edntuk51pn2co.* (re)
.*\bfc\.weight\b.*\bF32\b.*\b4\b.*\b3\b.*avq43klip2pc6.* (re)
.*\bhead\.weight\b.*\bF32\b.*\b3\b.*\b2\b.*22h48qbgpqs2o.* (re)

# One JSON document on standard output, and nothing else there.
$ ckpt inspect --json testdata/burnpack/net.bpk 2>/dev/null | python3 -c '
> import json, sys
> found = json.load(sys.stdin)
> for key in "schema", "file", "format", "size", "tensor_count", "parameter_count", "data_bytes":
>     print(key, found[key])
> for tensor in sorted(found["tensors"], key=lambda tensor: tensor["name"]):
>     print(tensor["name"], tensor["dtype"], tensor["shape"], tensor["bytes"], tensor["param_id"])'
schema 1
file testdata/burnpack/net.bpk
format burnpack
size 792
tensor_count 3
parameter_count 21
data_bytes 84
fc.bias F32 [3] 12 edntuk51pn2co
fc.weight F32 [4, 3] 48 avq43klip2pc6
head.weight F32 [3, 2] 24 22h48qbgpqs2o

# Several files give an array.
$ ckpt inspect --json testdata/pytorch/net.pt testdata/pytorch/legacy.pt | python3 -c '
> import json, sys
> for found in json.load(sys.stdin):
>     print(found["format"], found["container"], found["tensor_count"])'
pytorch zip 14
pytorch legacy 14

# Standard input is read as far as the header.
$ ckpt inspect - < testdata/safetensors/linear.safetensors | grep -c -E '(fc|head)\.weight'
2

# A view of a large storage: what the tensors use of it is told.
$ ckpt inspect testdata/pytorch/views.pt --include '^row$'
testdata/pytorch/views.pt: pytorch (zip), 2.08 KiB
1 tensor, 8 parameters, 32 B of data (F32 32 B)
of 192 B in storages the tensors use 32 B; a conversion leaves the rest behind

name  dtype  shape  size
row   F32    [8]    32 B

# A filter that leaves nothing is a mistake.
$ ckpt inspect testdata/pytorch/net.pt --include nope
ckpt: testdata/pytorch/net.pt: no tensor is left: --include and --exclude drop every one
hint: names are listed by: ckpt inspect testdata/pytorch/net.pt
[2]
$ ckpt inspect testdata/pytorch/net.pt --exclude . --json
ckpt: testdata/pytorch/net.pt: no tensor is left: --include and --exclude drop every one
hint: names are listed by: ckpt inspect testdata/pytorch/net.pt
[2]
