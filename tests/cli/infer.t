# Two files whose names follow different conventions.
$ cat > make.py <<'END'
> import json, struct
> def write(file, tensors):
>     header, at = {}, 0
>     for name, shape in tensors:
>         size = 4
>         for n in shape: size *= n
>         header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
>         at += size
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + bytes(at))
> parts = [("self_attn.q_proj", "attention.wq", [8, 8]), ("self_attn.k_proj", "attention.wk", [4, 8]),
>          ("self_attn.v_proj", "attention.wv", [4, 8]), ("self_attn.o_proj", "attention.wo", [8, 8]),
>          ("mlp.gate_proj", "feed_forward.w1", [16, 8]), ("mlp.up_proj", "feed_forward.w3", [16, 8]),
>          ("mlp.down_proj", "feed_forward.w2", [8, 16]), ("input_layernorm", "attention_norm", [8]),
>          ("post_attention_layernorm", "ffn_norm", [8])]
> hf = [("model.embed_tokens.weight", [32, 8])]
> meta = [("tok_embeddings.weight", [32, 8])]
> for i in range(3):
>     hf += [(f"model.layers.{i}.{a}.weight", shape) for a, b, shape in parts]
>     meta += [(f"layers.{i}.{b}.weight", shape) for a, b, shape in parts]
> hf += [("model.norm.weight", [8]), ("lm_head.weight", [32, 8])]
> meta += [("norm.weight", [8]), ("output.weight", [32, 8])]
> write("hf.safetensors", hf)
> write("meta.safetensors", meta)
> write("more.safetensors", meta + [("rope.freqs", [4])])
> END
$ python3 make.py

# The rules are a rules file, and carry every name.
$ ckpt remap hf.safetensors --infer meta.safetensors > rules.txt; echo "status $?"; cat rules.txt
status 0
\# 11 rules explain 30 of 30
^model\. => 
^(layers\.\d+)\.self_attn\. => ${1}.attention.
^(layers\.\d+)\.mlp\. => ${1}.feed_forward.
^(layers\.\d+\.attention)\.(k|o|q|v)_proj\. => ${1}.w${2}.
^(layers\.\d+\.feed_forward)\.up_proj\. => ${1}.w3.
^(layers\.\d+\.feed_forward)\.down_proj\. => ${1}.w2.
^(layers\.\d+\.feed_forward)\.gate_proj\. => ${1}.w1.
^(layers\.\d+)\.input_layernorm\. => ${1}.attention_norm.
^(layers\.\d+)\.post_attention_layernorm\. => ${1}.ffn_norm.
^lm_head\. => output.
^embed_tokens\. => tok_embeddings.
$ ckpt remap hf.safetensors as_meta.safetensors --remap rules.txt --quiet
$ ckpt diff --names-only as_meta.safetensors meta.safetensors
30 equal, 0 different, 0 only in A, 0 only in B; values not compared OK
$ ckpt remap meta.safetensors --infer hf.safetensors > back.txt
$ ckpt remap as_meta.safetensors again.safetensors --remap back.txt --quiet
$ ckpt diff --summary again.safetensors hf.safetensors
30 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# A lock file will do for a target.
$ ckpt lock meta.safetensors > meta.lock
$ ckpt remap hf.safetensors --infer meta.lock | cmp - rules.txt

# What is left over is said, and the status is 1.
$ ckpt remap hf.safetensors --infer more.safetensors | head -2
\# 11 rules explain 30 of 30
\# without a partner in more.safetensors: rope.freqs
$ ckpt remap hf.safetensors --infer more.safetensors > out.txt
[1]
$ ckpt remap hf.safetensors --infer more.safetensors --json | python3 -c '
> import json, sys
> found = json.load(sys.stdin)
> for key in "schema", "complete", "names", "explained", "left_in_source", "left_in_target":
>     print(key, found[key])
> print(found["pairs"][0], found["rules"][0])'
schema 1
complete False
names 30
explained 30
left_in_source []
left_in_target ['rope.freqs']
{'old': 'model.embed_tokens.weight', 'new': 'tok_embeddings.weight'} {'rule': '^model\\. => ', 'names': 29}

# What a prefix rule explains.
$ ckpt remap testdata/safetensors/linear.safetensors wrapped.safetensors --rename '^ => module.' --quiet 2> /dev/null
$ ckpt remap wrapped.safetensors --infer testdata/safetensors/linear.safetensors
\# 1 rule explains 3 of 3
^module\. => 

# PyTorch's names are inferred for a burnpack as convert takes them: before the adapter.
$ ckpt convert --quiet testdata/pytorch/net.pt net.bpk --remap testdata/rules/net.rules 2> /dev/null
$ ckpt remap testdata/pytorch/net.pt --infer net.bpk
adapter: burn-to-pytorch on net.bpk, as convert turns it back after the rules
\# 4 rules explain 13 of 13
^(bn|norm)\. => hidden_${1}.
^fc\. => head.
^encoder\. => hidden.
^tok_emb\. => embedding.

# Exact lists instead of rules, and back.
$ ckpt remap hf.safetensors as_meta2.safetensors --remap rules.txt --map-out names.map --quiet
$ sed -n 1,3p names.map
\# names of hf.safetensors
model.embed_tokens.weight => tok_embeddings.weight
model.layers.0.self_attn.q_proj.weight => layers.0.attention.wq.weight
$ ckpt remap as_meta2.safetensors hf2.safetensors --map names.map --invert --quiet
$ ckpt diff --summary hf.safetensors hf2.safetensors
30 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt remap hf.safetensors mapped.safetensors --map names.map --quiet && cmp mapped.safetensors as_meta.safetensors
$ printf 'lm_head.weight => "my head"\nnothing => x\n' > small.map
$ ckpt remap hf.safetensors --map small.map 2>&1 >out.txt | cut -c 1-110
ckpt: hf.safetensors: warning: small.map: 1 name on its left matches no name: nothing
ckpt: hf.safetensors: warning: 29 names are not in small.map and kept: model.embed_tokens.weight, model.layers
$ grep 'my head' out.txt
lm_head.weight                                  my head
$ ckpt remap hf.safetensors --map small.map --strict-rules
ckpt: small.map: 1 name on its left matches no name: nothing
hint: names are listed by: ckpt inspect hf.safetensors
[2]
$ printf 'a => c\nb => c\n' > two.map
$ ckpt remap hf.safetensors --map two.map --invert
ckpt: two.map: has no inverse: a and b both become c
[2]
$ printf 'a => b\na => c\n' > twice.map
$ ckpt remap hf.safetensors --map twice.map
ckpt: twice.map: line 2: a stands in line 1 already
[2]
$ printf 'a b => c\n' > blank.map
$ ckpt remap hf.safetensors --map blank.map
ckpt: blank.map: line 1: `a b => c` is not OLD => NEW
hint: names with blanks are JSON strings; rules go to --remap
[2]
$ ckpt remap hf.safetensors --invert
ckpt: --invert requires --map
hint: ckpt remap --help
[2]

# A gap may be a tensor that is missing: nothing is paired, and a hint says what renumbering would do.
$ cat > make_lists.py <<'END'
> import json, struct
> def write(file, names):
>     header = {n: {"dtype": "F32", "shape": [2, 2], "data_offsets": [16 * i, 16 * i + 16]} for i, n in enumerate(names)}
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + bytes(16 * len(names)))
> write("with_gap.safetensors", [f"l.{i}.w" for i in (0, 1, 2, 4)])
> write("without.safetensors", [f"m.{i}.w" for i in (0, 1, 2, 3)])
> END
$ python3 make_lists.py
$ ckpt remap with_gap.safetensors --infer without.safetensors
hint: with --renumber 4 of 4 are explained, if the lists are in one order
\# 0 rules explain 0 of 4; left: l.0.w, l.1.w, l.2.w, l.4.w
\# without a partner in without.safetensors: m.0.w, m.1.w, m.2.w, m.3.w
[1]
$ ckpt remap with_gap.safetensors --infer without.safetensors --renumber
\# 1 rule explains 4 of 4
^l\. => m.

# Rules are printed; a checkpoint is not written.
$ ckpt remap with_gap.safetensors out.safetensors --infer without.safetensors
ckpt: out.safetensors: --infer prints rules and writes no checkpoint
hint: save what it prints, without OUT, as rules.txt; then: ckpt remap IN OUT --remap rules.txt
[2]
