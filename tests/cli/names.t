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

# Names that the file spells alike are told apart by numbers; those are read and not written.
$ cat > make_alike.py <<'END'
> import struct
> def array(x):
>     return (b'cnumpy.core.numeric\n_frombuffer\n(C\x04' + struct.pack('<f', x) + b'cnumpy\ndtype\n(X\x02\0\0\0f4\x89\x88tR'
>             b'(K\x03X\x01\0\0\0<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tbK\x01\x85X\x01\0\0\0CtR')
> text = lambda s: b'X' + struct.pack('<I', len(s)) + s
> open('alike.pt', 'wb').write(b'\x80\x03}(K\x01' + array(1) + text(b'1') + array(2) + text(b'1#2') + array(3) + b'u.')
> END
$ python3 make_alike.py && ckpt inspect alike.pt --stats
ckpt: alike.pt: warning: 2 names are those of more than one tensor (1 is the first); the others are listed with `#2` and so on behind
alike.pt: pytorch (pickle), 325 B
3 tensors, 3 parameters, 12 B of data (F32 12 B)

F32  12 B  ████████████████████████████████████████

name   dtype  shape  min  max  mean  std  zeros  NaN  infinite
1      F32    [1]    1.0  1.0     1    0
1#2    F32    [1]    2.0  2.0     2    0
1#2#2  F32    [1]    3.0  3.0     3    0
$ ckpt inspect alike.pt --tensor '1#2'
ckpt: alike.pt: warning: 2 names are those of more than one tensor (1 is the first); the others are listed with `#2` and so on behind
1#2
  file       alike.pt
  container  pytorch (pickle)
  dtype      F32
  shape      [1]
  size       4 B (1 element)
  offset     148
  strides    [1] (contiguous)
  storage    4 B
  min        2.0
  max        2.0
  mean       2.0
  std        0.0
  zeros      0
  NaN        0
  infinite   0
  values     2.0
$ ckpt convert alike.pt alike.safetensors
ckpt: alike.pt: the file spells names of different tensors alike; 2 are listed with a number behind: 1#2, 1#2#2
hint: --rename '^1\#2$ => NAME' names it otherwise, --exclude '^1\#2$' leaves it out
[1]
$ ckpt remap alike.pt renamed.pt --rename '1 => w'
ckpt: alike.pt: the file spells names of different tensors alike; 2 are listed with a number behind: w#2, w#2#2
hint: --rename '^w\#2$ => NAME' names it otherwise, --exclude '^w\#2$' leaves it out
[1]
$ ckpt convert --quiet alike.pt alike.safetensors --rename '^1#2$ => 1.text' --rename '^1#2#2$ => 1#2' && ckpt inspect alike.safetensors
ckpt: alike.pt: warning: 2 names are those of more than one tensor (1 is the first); the others are listed with `#2` and so on behind
ckpt: alike.pt: warning: applied twice, the rules would change 1 name again, 1#2 first: anchor them with ^
alike.safetensors: safetensors, 188 B
3 tensors, 3 parameters, 12 B of data (F32 12 B)

name    dtype  shape  size
1       F32    [1]     4 B
1#2     F32    [1]     4 B
1.text  F32    [1]     4 B
$ ckpt convert --quiet alike.pt first.safetensors --exclude '#2$' && ckpt inspect first.safetensors
ckpt: alike.pt: warning: 2 names are those of more than one tensor (1 is the first); the others are listed with `#2` and so on behind
first.safetensors: safetensors, 68 B
1 tensor, 1 parameter, 4 B of data (F32 4 B)

name  dtype  shape  size
1     F32    [1]     4 B
