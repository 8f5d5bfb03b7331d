# A sound file.
$ ckpt check testdata/burnpack/net.bpk
testdata/burnpack/net.bpk: 3 tensors, 0 errors, 0 warnings: sound

# A whole model names classes that PyTorch ships: they are known. Readers that refuse such a file are named.
$ ckpt check testdata/pytorch/whole_model.pt
CK020 warning 1 tensor of modules left out: it is no part of state_dict(), but is held by plain attributes or by buffers that are not persistent (first: 1.mask)
CK023 warning PyTorch would refuse it: it names torch.nn.modules.container.Sequential and 4 more globals: from 2.6 on torch.load wants weights_only=False
testdata/pytorch/whole_model.pt: 10 tensors, 0 errors, 2 warnings: sound
$ ckpt check --json testdata/safetensors/linear.safetensors
{
 "schema": 1,
 "file": "testdata/safetensors/linear.safetensors",
 "ok": true,
 "findings": []
}

# NaN and infinities are errors, a tensor of zeros is a warning.
$ ckpt check testdata/pytorch/all_dtypes.pt
CK021 warning burn 0.22 would refuse it: it cannot read the type of complex64 (C64), complex128 (C128)
CK010 error   special: 1 of 4 elements is NaN
CK011 error   special: 2 of 4 elements are infinite
testdata/pytorch/all_dtypes.pt: 13 tensors, 2 errors, 1 warning: NOT SOUND
[1]

# Findings can be silenced by their code, and warnings can be made to count.
$ ckpt check testdata/pytorch/all_dtypes.pt --ignore CK010 --ignore ck011
CK021 warning burn 0.22 would refuse it: it cannot read the type of complex64 (C64), complex128 (C128)
testdata/pytorch/all_dtypes.pt: 13 tensors, 0 errors, 1 warning: sound
$ ckpt check testdata/pytorch/net.pt --ignore CK999
ckpt: --ignore: CK999 is no code of a finding
hint: codes stand before each finding, as in CK013
[2]

# A choice of the tensors can be checked.
$ ckpt check testdata/pytorch/all_dtypes.pt --exclude '^special$'
CK021 warning burn 0.22 would refuse it: it cannot read the type of complex64 (C64), complex128 (C128)
testdata/pytorch/all_dtypes.pt: 12 tensors, 0 errors, 1 warning: sound
$ ckpt check testdata/pytorch/two_roots.pt --top-level-key state_dict
testdata/pytorch/two_roots.pt: 2 tensors, 0 errors, 0 warnings: sound

# A SARIF log, for code scanning: every code is a rule, every finding a result.
$ ckpt check testdata/pytorch/all_dtypes.pt --sarif > log.sarif
[1]
$ python3 -c '
> import json
> log = json.load(open("log.sarif"))
> run, = log["runs"]
> rules = run["tool"]["driver"]["rules"]
> print(log["$schema"], log["version"], run["tool"]["driver"]["name"])
> for result in run["results"]:
>     place = result["locations"][0]
>     artifact = place["physicalLocation"]["artifactLocation"]
>     assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
>     print(result["ruleId"], result["level"], artifact["uri"], place.get("logicalLocations", [{"fullyQualifiedName": ""}])[0]["fullyQualifiedName"],
>           result["message"]["text"], sep=" | ")'
https://json.schemastore.org/sarif-2.1.0.json 2.1.0 ckpt
CK021 | warning | testdata/pytorch/all_dtypes.pt |  | burn 0.22 would refuse it: it cannot read the type of complex64 (C64), complex128 (C128)
CK010 | error | testdata/pytorch/all_dtypes.pt | special | special: 1 of 4 elements is NaN
CK011 | error | testdata/pytorch/all_dtypes.pt | special | special: 2 of 4 elements are infinite
$ cp testdata/burnpack/net.bpk 'a file:1%.bpk' && ckpt check 'a file:1%.bpk' --sarif | grep uri
      "uri": "a%20file%3A1%25.bpk"
$ ckpt check testdata/burnpack/net.bpk --sarif --json
ckpt: --json excludes --sarif
hint: ckpt check --help
[2]

# A shell that ZeRO-3 left behind, and a file that transformers refuses.
$ cat > make.py <<'END'
> import json, struct
> def write(file, metadata, *tensors):
>     header, at = {"__metadata__": metadata} if metadata else {}, 0
>     for name, dtype, shape, size in tensors:
>         header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
>         at += size
>     text = json.dumps(header).encode()
>     text += b" " * (-len(text) % 8)
>     open(file, "wb").write(struct.pack("<Q", len(text)) + text + bytes(range(at)))
> write("zero3.safetensors", {}, *[(f"layers.{i}.weight", "BF16", [0], 0) for i in range(5)], ("ids", "U8", [2], 2))
> write("burn.safetensors", {"format": "safetensors"}, ("w", "F8_E4M3", [4], 4))
> END
$ python3 make.py
$ ckpt check zero3.safetensors
CK015 warning 5 of 6 tensors are empty: this looks like the shell that ZeRO-3 saves; the weights are in its zero_pp_rank files
zero3.safetensors: 6 tensors, 0 errors, 1 warning: sound
$ ckpt check burn.safetensors
CK021 warning burn 0.22 would refuse it: it cannot read the type of w (F8_E4M3)
CK022 warning transformers would refuse it: its metadata says format `safetensors`, which is none of pt, tf, flax and mlx
burn.safetensors: 1 tensor, 0 errors, 2 warnings: sound
$ ckpt check --strict --ignore CK021 burn.safetensors
CK022 warning transformers would refuse it: its metadata says format `safetensors`, which is none of pt, tf, flax and mlx
burn.safetensors: 1 tensor, 0 errors, 1 warning: NOT SOUND
[1]
$ ckpt check --strict --ignore CK021 --ignore CK022 burn.safetensors
burn.safetensors: 1 tensor, 0 errors, 0 warnings: sound

# What cannot be read is told in the log too.
$ ckpt check none.pt --sarif > log.sarif
ckpt: none.pt: No such file or directory
[2]
$ python3 -c '
> import json
> run, = json.load(open("log.sarif"))["runs"]
> print(run["invocations"], run["results"])'
[{'executionSuccessful': False, 'toolExecutionNotifications': [{'level': 'error', 'message': {'text': 'No such file or directory'}, 'locations': [{'physicalLocation': {'artifactLocation': {'uri': 'none.pt'}}}]}]}] []

# Where the filters leave nothing, nothing is sound.
$ ckpt check testdata/pytorch/net.pt --include nope
ckpt: testdata/pytorch/net.pt: no tensor is left: --include and --exclude drop every one
hint: names are listed by: ckpt inspect testdata/pytorch/net.pt
[2]
