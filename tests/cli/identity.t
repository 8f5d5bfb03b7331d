# The same tensors have the same id in every format; other names have another, and the same weights id.
$ ckpt convert --quiet testdata/pytorch/gpt2.pt a.safetensors --adapter none
$ ckpt convert --quiet testdata/pytorch/gpt2.pt b.bpk --adapter none
$ ckpt remap --quiet a.safetensors c.safetensors --rename '^h => layers'
$ ckpt inspect --id testdata/pytorch/gpt2.pt a.safetensors b.bpk | grep -E '^id' | sort -u | wc -l
1
$ ckpt inspect --id a.safetensors c.safetensors | grep -E '^id' | sort -u | wc -l
2
$ ckpt inspect --id a.safetensors b.bpk c.safetensors | grep -E '^weights id' | sort -u | wc -l
1
$ ckpt inspect --id --json a.safetensors c.safetensors | python3 -c '
> import json, sys
> a, c = json.load(sys.stdin)
> print(a["id"] != c["id"], a["weights_id"] == c["weights_id"], a["tensors"][0]["digest"] == c["tensors"][0]["digest"])'
True True True

# One value that differs changes both.
$ python3 -c '
> data = bytearray(open("a.safetensors", "rb").read()); data[-1] ^= 1; open("d.safetensors", "wb").write(data)'
$ ckpt inspect --id a.safetensors d.safetensors | grep -E '^(weights )?id' | sort -u | wc -l
4

# Names for xargs -0.
$ ckpt inspect --names0 testdata/burnpack/net.bpk | tr '\0' '|'
fc.weight|fc.bias|head.weight|
$ ckpt inspect --names0 --json testdata/burnpack/net.bpk
ckpt: --json excludes --names0
hint: ckpt inspect --help
[2]
