# A sound file.
$ ckpt check testdata/burnpack/net.bpk
testdata/burnpack/net.bpk: 3 tensors, 0 errors, 0 warnings: sound

# A whole model names classes that PyTorch ships: they are known.
$ ckpt check testdata/pytorch/whole_model.pt
testdata/pytorch/whole_model.pt: 10 tensors, 0 errors, 0 warnings: sound
$ ckpt check --json testdata/safetensors/linear.safetensors
{
 "schema": 1,
 "file": "testdata/safetensors/linear.safetensors",
 "ok": true,
 "findings": []
}

# NaN and infinities are errors, a tensor of zeros is a warning.
$ ckpt check testdata/pytorch/all_dtypes.pt
CK010 error   special: 1 of 4 elements is NaN
CK011 error   special: 2 of 4 elements are infinite
testdata/pytorch/all_dtypes.pt: 13 tensors, 2 errors, 0 warnings: NOT SOUND
[1]

# Findings can be silenced by their code, and warnings can be made to count.
$ ckpt check testdata/pytorch/all_dtypes.pt --ignore CK010 --ignore ck011
testdata/pytorch/all_dtypes.pt: 13 tensors, 0 errors, 0 warnings: sound
$ ckpt check testdata/pytorch/net.pt --ignore CK999
ckpt: --ignore: CK999 is no code of a finding
hint: codes stand before each finding, as in CK013
[2]

# A choice of the tensors can be checked.
$ ckpt check testdata/pytorch/all_dtypes.pt --exclude '^special$'
testdata/pytorch/all_dtypes.pt: 12 tensors, 0 errors, 0 warnings: sound
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
>     assert run["artifacts"][artifact["index"]]["location"]["uri"] == artifact["uri"]
>     print(result["ruleId"], result["level"], artifact["uri"], place["logicalLocations"][0]["fullyQualifiedName"],
>           result["message"]["text"], sep=" | ")'
https://json.schemastore.org/sarif-2.1.0.json 2.1.0 ckpt
CK010 | error | testdata/pytorch/all_dtypes.pt | special | special: 1 of 4 elements is NaN
CK011 | error | testdata/pytorch/all_dtypes.pt | special | special: 2 of 4 elements are infinite
$ cp testdata/burnpack/net.bpk 'a file:1%.bpk' && ckpt check 'a file:1%.bpk' --sarif | grep uri
      "uri": "a%20file%3A1%25.bpk"
$ ckpt check testdata/burnpack/net.bpk --sarif --json
ckpt: --json excludes --sarif
hint: ckpt check --help
[2]
