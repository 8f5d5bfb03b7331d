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
