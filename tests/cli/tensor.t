# Everything of one tensor, numbers as NumPy prints them.
$ ckpt inspect testdata/pytorch/views.pt --tensor transposed
transposed
  file       testdata/pytorch/views.pt
  container  pytorch (zip)
  dtype      F32
  shape      [8, 6]
  size       192 B (48 elements)
  offset     896
  strides    [1, 8]
  storage    192 B
  min        0.0
  max        5.875
  mean       2.9375
  std        1.7316748876930297
  zeros      1
  NaN        0
  infinite   0
  first      0.0 1.0 2.0 3.0 4.0 5.0
  last       0.875 1.875 2.875 3.875 4.875 5.875

from, how many
       0  5  ████████████████████████████████████████
  0.5875  5  ████████████████████████████████████████
   1.175  5  ████████████████████████████████████████
   1.762  4  ████████████████████████████████
    2.35  5  ████████████████████████████████████████
   2.938  5  ████████████████████████████████████████
   3.525  4  ████████████████████████████████
   4.112  5  ████████████████████████████████████████
     4.7  5  ████████████████████████████████████████
   5.287  5  ████████████████████████████████████████
$ ckpt inspect testdata/pytorch/all_dtypes.pt --tensor special
special
  file       testdata/pytorch/all_dtypes.pt
  container  pytorch (zip)
  dtype      F32
  shape      [4]
  size       16 B (4 elements)
  offset     2240
  strides    [1] (contiguous)
  storage    16 B
  min        -0.0
  max        -0.0
  mean       0.0
  std        0.0
  zeros      1
  NaN        1
  infinite   2
  values     inf -inf nan -0.0
$ ckpt inspect testdata/pytorch/tied.pt --tensor decoder.weight --json
{
 "schema": 1,
 "file": "testdata/pytorch/tied.pt",
 "format": "pytorch",
 "container": "zip",
 "tensor": {
  "name": "decoder.weight",
  "dtype": "F32",
  "shape": [10, 4],
  "bytes": 160,
  "offset": 448,
  "strides": [4, 1],
  "storage_bytes": 160,
  "aliases": [
   "tok_emb.weight"
  ],
  "min": 0.0,
  "max": 4.875,
  "mean": 2.4375,
  "std": 1.4429245475768995,
  "zeros": 1,
  "nans": 0,
  "infinities": 0,
  "histogram": [4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
  "first": [
   "0.0",
   "0.125",
   "0.25",
   "0.375",
   "0.5",
   "0.625"
  ],
  "last": [
   "4.25",
   "4.375",
   "4.5",
   "4.625",
   "4.75",
   "4.875"
  ]
 }
}
$ ckpt inspect testdata/burnpack/net.bpk --tensor fc.bias | grep -E 'param id|values'
  param id   edntuk51pn2co
  values     1.0 2.0 3.0

# A name that is not there.
$ ckpt inspect testdata/pytorch/net.pt --tensor fc.wieght
ckpt: testdata/pytorch/net.pt: has no tensor fc.wieght
hint: did you mean: fc.weight
[2]
$ ckpt inspect testdata/pytorch/net.pt --tensor zzzzzzzzzz
ckpt: testdata/pytorch/net.pt: has no tensor zzzzzzzzzz
hint: ckpt inspect FILE lists the names
[2]
$ ckpt inspect testdata/pytorch/net.pt testdata/pytorch/tied.pt --tensor fc.weight
ckpt: --tensor looks into one file
hint: name one FILE
[2]
$ ckpt inspect testdata/pytorch/net.pt --npy x.npy
ckpt: --npy writes one tensor
hint: name it with --tensor
[2]

# As a NumPy file: the header and the values; nothing is replaced unasked.
$ ckpt inspect testdata/pytorch/views.pt --tensor transposed --npy t.npy
transposed -> t.npy: F32 [8, 6]
$ python3 -c '
> import struct
> data = open("t.npy", "rb").read()
> size, = struct.unpack("<H", data[8:10])
> print(data[:8], (10 + size) % 64, data[10:10 + size].decode().strip())
> print(struct.unpack("<6f", data[10 + size:][:24]))'
b'\x93NUMPY\x01\x00' 0 {'descr': '<f4', 'fortran_order': False, 'shape': (8, 6), }
(0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
$ ckpt inspect testdata/pytorch/views.pt --tensor row --npy t.npy
ckpt: t.npy: already exists; nothing was changed
hint: --force replaces it
[2]
$ ckpt inspect testdata/pytorch/views.pt --tensor row --npy t.npy --force --quiet
$ ckpt inspect testdata/pytorch/all_dtypes.pt --tensor bfloat16 --npy b.npy
ckpt: testdata/pytorch/all_dtypes.pt: tensor bfloat16: NumPy has no type BF16
hint: cast it first: ckpt convert IN OUT --dtype F32
[2]
$ ls
t.npy
testdata
