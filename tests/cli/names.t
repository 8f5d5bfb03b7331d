# Names and texts that would command the terminal are shown escaped, wherever they appear.
$ cat > make.py <<'EOF'
> import json, struct
> names = ["a\x1b[31mred", "b\u202egnp", "c\nd"]
> header = {"__metadata__": {"k\x07": "v\x1b]0;title\x07"}}
> for i, name in enumerate(names):
>     header[name] = {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]}
> text = json.dumps(header).encode()
> text += b" " * (-len(text) % 8)
> open("hostile.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(12))
> EOF
$ python3 make.py
$ ckpt inspect hostile.safetensors
hostile.safetensors: safetensors, 284 B
3 tensors, 3 parameters, 12 B of data (F32 12 B)

name          dtype  shape  size
a\x1b[31mred  F32    [1]     4 B
b\u202egnp    F32    [1]     4 B
c\nd          F32    [1]     4 B

metadata
  k\x07  v\x1b]0;title\x07
$ ckpt remap hostile.safetensors --rename '^[ab].* => x'
ckpt: hostile.safetensors: two tensors become x: a\x1b[31mred by `^[ab].* => x` and b\u202egnp by `^[ab].* => x`
hint: narrow a rule, or drop one of the two with --exclude
[1]
$ ckpt convert hostile.safetensors out.bpk --explain | cat
hostile.safetensors -> out.bpk: safetensors to burnpack, 772 B
adapter: none (by the two formats)
a\x1b[31mred -> a\x1b[31mred: unchanged
b\u202egnp -> b\u202egnp: unchanged
c\nd -> c\nd: unchanged
3 read = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff hostile.safetensors testdata/safetensors/linear.safetensors | grep '^only in A'
only in A: a\x1b[31mred  F32 [1]
only in A: b\u202egnp  F32 [1]
only in A: c\nd  F32 [1]

# What the command line says is escaped too.
$ ckpt "$(printf 'insp\033[31m')"
ckpt: `insp\x1b[31m` is not a command
hint: ckpt --help lists the commands
[2]
$ ckpt inspect out.bpk "$(printf -- '--x\033[31m')"
ckpt: The following argument was not expected: --x\x1b[31m
hint: ckpt inspect --help
[2]
$ ckpt inspect "$(printf 'no\033[31mne')"
ckpt: no\x1b[31mne: No such file or directory
[2]
$ ckpt inspect out.bpk --include "$(printf '(\033[31m')"
ckpt: the pattern `(\x1b[31m` is not a regular expression: missing terminating ] for character class at column 7
[2]

# In JSON they are what JSON makes of them.
$ ckpt inspect --json hostile.safetensors | python3 -c '
> import json, sys
> print([tensor["name"] for tensor in json.load(sys.stdin)["tensors"]] == ["a\x1b[31mred", "b\u202egnp", "c\nd"])'
True
