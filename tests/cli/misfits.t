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
