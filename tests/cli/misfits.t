# Catalogues that fit nearly, or not at all.
$ cat > make.py <<'END'
> import json, struct, sys
> def write(file, tensors):
>     header, at = {}, 0
>     for name, dtype, shape in tensors:
>         size = {"F32": 4, "F16": 2}[dtype]
>         for dimension in shape: size *= dimension
>         header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
>         at += size
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + bytes(at))
> file, dtype, shape, *names = sys.argv[1:]
> write(file, [(name, dtype, json.loads(shape)) for name in names])
> END

# Names with empty segments fit themselves.
$ python3 make.py dots.safetensors F32 '[2]' .a .. ../../etc/passwd b..c d.
$ ckpt check dots.safetensors --like dots.safetensors
dots.safetensors for dots.safetensors: 5 of 5 tensors fit, 0 missing, 0 unused, 0 mismatched; 100.0 % of the parameters: fits

# Of two files that have nothing in common, nothing is left to write.
$ python3 make.py one.safetensors F32 '[2]' a b
$ python3 make.py other.safetensors F32 '[2]' x y
$ ckpt convert one.safetensors out.safetensors --like other.safetensors --allow-missing --allow-unused
ckpt: one.safetensors: no tensor is left: other.safetensors knows none of them
hint: ckpt check one.safetensors --like other.safetensors tells what does not fit
[1]
$ test -e out.safetensors
[1]

# Another shape does not hide another type.
$ python3 make.py wide.safetensors F32 '[2,3]' w
$ python3 make.py tall.safetensors F16 '[3,3]' w
$ ckpt check wide.safetensors --like tall.safetensors
misfit  name  file        target      did you mean
shape   w     F32 [2, 3]  F16 [3, 3]
dtype   w     F32 [2, 3]  F16 [3, 3]

wide.safetensors for tall.safetensors: 0 of 1 tensor fit, 0 missing, 0 unused, 1 mismatched; 0.0 % of the parameters: DOES NOT FIT
[1]
$ ckpt check wide.safetensors --like tall.safetensors --ignore CK032 > /dev/null
[1]
$ ckpt check wide.safetensors --like tall.safetensors --json | grep -A 30 mismatched
 "mismatched": [
  {
   "name": "w",
   "what": "shape",
   "file": [2, 3],
   "target": [3, 3]
  },
  {
   "name": "w",
   "what": "dtype",
   "file": "F32",
   "target": "F16"
  }
 ],
 "missing_allowed": [],
 "unused_allowed": [],
 "did_you_mean": {},
 "rules": [],
 "findings": [
  {
   "code": "CK032",
   "level": "error",
   "tensor": "w",
   "text": "w is [2, 3], and [3, 3] in the target"
  },
  {
   "code": "CK033",
   "level": "error",
   "tensor": "w",
   "text": "w is F32, and F16 in the target"
  }
$ ckpt diff wide.safetensors tall.safetensors
w: shape [2, 3] and [3, 3]; dtype F32 and F16
0 equal, 1 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt diff wide.safetensors tall.safetensors --json | grep -A 24 different
 "different": [
  {
   "name": "w",
   "what": "shape",
   "a": [2, 3],
   "b": [3, 3],
   "dtypes": {
    "a": "F32",
    "b": "F16"
   }
  }
 ],
 "equal_count": 0,
 "max_abs": 0.0
}
