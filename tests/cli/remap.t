# The rules on their own: old and new names, nothing written.
$ ckpt remap testdata/safetensors/llama_names.safetensors --remap testdata/rules/llama.rules > names 2>/dev/null
$ grep -c -F 'layers.29.attn.k_proj.weight' names
1
$ grep -c -F 'model.layers.0.input_layernorm.weight' names
1
$ grep -c -F 'layers.0.input_norm.gamma' names
1

# A rule that matches nothing is told; with --strict-rules it is an error.
$ ckpt remap testdata/pytorch/net.pt --rename '^nowhere => x' 2>&1 >/dev/null
...
.*nowhere.* (re)
...
$ ckpt remap testdata/pytorch/net.pt --rename '^nowhere => x' --strict-rules > /dev/null 2>&1
[2]

# Two names that become one are refused, and both are named.
$ ckpt remap testdata/pytorch/net.pt --rename '^(encoder|fc)\. => x.' 2>&1 >/dev/null | grep -o -w -E 'encoder\.(bias|weight)|fc\.(bias|weight)' | sort -u | wc -l
[24] (re)
$ ckpt remap testdata/pytorch/net.pt --rename '^(encoder|fc)\. => x.' > /dev/null 2>&1
[1]

# The dollar trap: $1_x would be the group called 1_x.
$ ckpt remap testdata/pytorch/net.pt --rename '^(fc)\. => $1_x.' 2>&1 >/dev/null
ckpt: .+ (re)
hint: .*\$\{1\}_x.* (re)
[2]
$ ckpt remap testdata/pytorch/net.pt --rename '^(fc)\. => $1_x.' > /dev/null 2>&1
[2]
