# Choice: --include keeps, --exclude drops, both search anywhere in the name.
$ ckpt inspect testdata/burnpack/net.bpk --include '^fc' | grep -c '^fc'
2
$ ckpt inspect testdata/burnpack/net.bpk --include weight --exclude '^head' | grep -o '^[a-z]*\.weight'
fc.weight
$ ckpt convert testdata/burnpack/net.bpk chosen.bpk --include '^fc' --include '^head' --exclude 'bias$'
testdata/burnpack/net.bpk -> chosen.bpk: burnpack to burnpack, 536 B
adapter: none (by the two formats)
3 read = 2 written + 0 merged - 0 split + 1 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
dropped: fc.bias

# --quiet leaves out what was done, not what may be wrong.
$ ckpt convert --quiet testdata/burnpack/net.bpk quiet.bpk
$ ckpt convert -q testdata/burnpack/net.bpk quiet.safetensors
ckpt: testdata/burnpack/net.bpk: warning: safetensors has no place for 3 param ids (of fc.weight, …): left behind

# One place of a nested checkpoint.
$ ckpt inspect testdata/pytorch/two_roots.pt --top-level-key state_dict | grep -c '^state_dict'
\0
[1]
$ ckpt inspect testdata/pytorch/two_roots.pt --top-level-key nothing
ckpt: testdata/pytorch/two_roots.pt: there are no tensors under nothing
hint: .*state_dict.*state_dict_ema.* (re)
[2]
$ ckpt convert --quiet testdata/pytorch/two_roots.pt all.safetensors --top-level-key . 2> /dev/null
$ ckpt inspect all.safetensors | grep -c '^state_dict'
\4

# Wrappers go from every name, and the report says so.
$ ckpt remap testdata/burnpack/net.bpk wrapped.bpk --rename '^ => module._orig_mod.' --quiet 2> /dev/null
$ ckpt remap wrapped.bpk bare.bpk --strip-wrappers --explain
wrapped.bpk -> bare.bpk: burnpack, 792 B
module._orig_mod.fc.weight -> fc.weight: unchanged
module._orig_mod.fc.bias -> fc.bias: unchanged
module._orig_mod.head.weight -> head.weight: unchanged
3 read = 3 written + 0 merged - 0 split + 0 dropped; 3 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt diff bare.bpk testdata/burnpack/net.bpk > /dev/null 2>&1
$ ckpt remap wrapped.bpk --strip-wrappers --rename '^fc => x' --json | grep -A1 '"old": "module._orig_mod.fc.bias"'
   "old": "module._orig_mod.fc.bias",
   "new": "x.bias",

# --dry-run plans and checks, and writes nothing.
$ ckpt convert testdata/pytorch/net.pt dry.bpk --dry-run 2>&1 | grep -c 'dry run: nothing was written'
1
$ ckpt remap testdata/burnpack/net.bpk dry.bpk --rename '^fc => x' --dry-run --quiet
$ ckpt convert testdata/pytorch/net.pt dry.bpk --dry-run --rename '^(encoder|fc)\. => x.' > /dev/null 2>&1
[1]
$ ls dry.bpk
ls: .* (re)
[2]

# Rules: from files, from the command line, in its order; faults name the file and the line.
$ printf '# comment\r\n\r\n^fc => first\r\n' > one.rules
$ ckpt remap testdata/burnpack/net.bpk --rename '^head => fc.2' --remap one.rules --rename '^first => second' | head -4
old          new              rules
fc.weight    second.weight    2, 3
fc.bias      second.bias      2, 3
head.weight  second.2.weight  1, 2, 3
$ ckpt remap testdata/burnpack/net.bpk --remap one.rules --rename '^first => second' | head -4
old          new            rules
fc.weight    second.weight  1, 2
fc.bias      second.bias    1, 2
head.weight  =
$ echo '^fc => piped' | ckpt remap testdata/burnpack/net.bpk --remap - | grep -c piped
3
$ printf '# comment\n^fc = x\n' > bad.rules
$ ckpt remap testdata/burnpack/net.bpk --remap bad.rules
ckpt: bad.rules: line 2: `^fc = x` has no arrow
hint: write PATTERN => REPLACEMENT
[2]
$ printf '(a) => $2\n' > bad.rules
$ ckpt remap testdata/burnpack/net.bpk --remap bad.rules
ckpt: bad.rules: line 1: the pattern `(a)` has no group `2`
hint: it has 1 group; write $$ for a dollar
[2]
$ ckpt remap testdata/burnpack/net.bpk --remap none.rules
ckpt: none.rules: No such file or directory
[2]
$ ckpt remap testdata/burnpack/net.bpk --remap .
ckpt: .: is a directory
[2]
$ ckpt remap testdata/burnpack/net.bpk --rename '^(fc|head)\.weight$ =>' --exclude 'head'
ckpt: testdata/burnpack/net.bpk: nothing is left of fc.weight by `^(fc|head)\.weight$ => `
hint: narrow the rule, or drop the tensor with --exclude
[1]

# Kinds of modules.
$ ckpt convert testdata/pytorch/net.pt x.bpk --module 'fc => Lineal'
ckpt: `Lineal` is not a kind of module
hint: one of Linear, .* (re)
[2]
$ ckpt convert testdata/pytorch/net.pt x.bpk --module ' => Linear'
ckpt: the rule ` => Linear` has no pattern
hint: write REGEX => KIND; ^$ is the module at the top level
[2]
$ ckpt convert testdata/pytorch/net.pt x.bpk --adapter sideways 2>&1 | head -1
ckpt: .*sideways.* (re)

# Tolerances are numbers of 0 or more.
$ for tolerance in -1 x nan '' 1e; do ckpt diff testdata/pytorch/net.pt testdata/pytorch/net.pt --atol "$tolerance"; done 2>&1 | sort -u
ckpt: --atol: `-1` is not a number of 0 or more
...
$ ckpt diff testdata/pytorch/net.pt testdata/pytorch/net.pt --rtol=-1
ckpt: --rtol: `-1` is not a number of 0 or more
[2]

# An argument that is empty, as an unset variable leaves it, is not an option that was not given.
$ ckpt convert testdata/pytorch/net.pt x.bpk --like ""
ckpt: the argument of --like is empty
hint: a variable that it comes from may be unset
[2]
$ ckpt remap testdata/pytorch/net.pt ""
ckpt: argument 3 is empty
hint: a variable that it comes from may be unset
[2]
$ ckpt check testdata/pytorch/net.pt --like testdata/pytorch/net.pt --allow-missing=
ckpt: the argument of --allow-missing is empty
hint: a variable that it comes from may be unset
[2]
$ ckpt inspect ""
ckpt: argument 2 is empty
hint: a variable that it comes from may be unset
[2]
$ ckpt inspect -- --tensor=
ckpt: --tensor=: No such file or directory
[2]
$ ls x.bpk 2> /dev/null
[2]
