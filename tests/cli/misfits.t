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

# A rule that is hinted at takes nothing away that fits.
$ python3 make.py layers.safetensors F32 '[2,3]' layers.0.gate_proj.weight layers.1.gate_proj.weight layers.2.gate_proj.weight
$ python3 make.py gateproj.safetensors F32 '[2,3]' layers.0.gateproj.weight layers.1.gate_proj.weight layers.2.gate_proj.weight
$ ckpt convert layers.safetensors out.safetensors --like gateproj.safetensors
ckpt: layers.safetensors: the result does not fit gateproj.safetensors: 1 missing: layers.0.gateproj.weight; 1 unused: layers.0.gate_proj.weight; 66.6 % of its parameters are covered
hint: --rename '^layers\.0\.gate_proj\. => layers.0.gateproj.' explains 1 of 1; layers.0.gateproj.weight may be layers.0.gate_proj.weight
[1]

# Names that have nothing in common are not all held against each other.
$ cat > many.py <<'END'
> import random, subprocess, sys
> random.seed(1)
> word = lambda: "".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12))
> for file in ["many.safetensors", "others.safetensors"]:
>     subprocess.run([sys.executable, "make.py", file, "F32", "[2]", *[word() for _ in range(2000)]], check=True)
> END
$ python3 many.py
$ timeout 30 ckpt check many.safetensors --like others.safetensors | tail -n 3
too many names to compare: suggestions are left out

many.safetensors for others.safetensors: 0 of 2,000 tensors fit, 2,000 missing, 2,000 unused, 0 mismatched; 0.0 % of the parameters: DOES NOT FIT
$ timeout 30 ckpt check many.safetensors --like others.safetensors --json | grep too_many
 "too_many_names": true,
$ timeout 30 ckpt remap many.safetensors --infer others.safetensors | grep -v -e left -e partner
\# too many names to compare: only equal ones are paired

# One name among thousands, and thousands of names by one rule, take no time.
$ cat > layers.py <<'END'
> import subprocess, sys
> def make(file, form):
>     names = [form.format(i // 10, i % 10) for i in range(3000)]
>     subprocess.run([sys.executable, "make.py", file, "F32", "[2]", *names], check=True)
> make("blocks.safetensors", "model.layers.{}.block.{}.weight")
> make("units.safetensors", "net.stages.{}.unit.{}.weight")
> END
$ python3 layers.py
$ timeout 30 ckpt remap blocks.safetensors --infer units.safetensors
\# 1 rule explains 3000 of 3000
^model\.layers\.(\d+)\.block\. => net.stages.${1}.unit.

# One odd name leaves the others their own.
$ for i in 0 1 2; do for j in 0 1 2 3; do echo l.$i.b.$j.weight; done; done > nest.txt
$ python3 make.py nest.safetensors F32 '[2]' $(cat nest.txt)
$ python3 make.py odd.safetensors F32 '[2]' $(sed s/1.b.0.weight/1.b.0.wait/ nest.txt)
$ ckpt remap nest.safetensors --infer odd.safetensors
\# 0 rules explain 11 of 12; left: l.1.b.0.weight
\# without a partner in odd.safetensors: l.1.b.0.wait
[1]

# What a missing name may be is what the rules carry to it, where there are any.
$ python3 make.py gaps.safetensors F32 '[2,3]' net.0.weight net.2.weight net.4.weight
$ python3 make.py counted.safetensors F32 '[2,3]' net.0.weight net.1.weight net.2.weight
$ ckpt check gaps.safetensors --like counted.safetensors
misfit   name          file        target      did you mean
missing  net.1.weight              F32 [2, 3]  net.2.weight
unused   net.4.weight  F32 [2, 3]

2 rules supply 1 of 1 missing tensor:
  --rename '^net\.2\. => net.1.'
  --rename '^net\.4\. => net.2.'

gaps.safetensors for counted.safetensors: 2 of 3 tensors fit, 1 missing, 1 unused, 0 mismatched; 66.6 % of the parameters: DOES NOT FIT
[1]
$ ckpt check gaps.safetensors --like counted.safetensors --json | python3 -c '
> import json, sys
> answer = json.load(sys.stdin)
> print(answer["did_you_mean"], [finding["text"] for finding in answer["findings"] if finding["code"] == "CK030"])'
{'net.1.weight': 'net.2.weight'} ['net.1.weight: the target has it, the file does not; it may be net.2.weight']
