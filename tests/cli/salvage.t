# A sound file: every tensor is whole.
$ ckpt check testdata/pytorch/net.pt --salvage whole.safetensors
whole.safetensors: 14 of 14 tensors are whole

# An archive that is cut off has no directory; its members tell what is whole.
$ head -c 3000 testdata/pytorch/net.pt > cut.pt
$ ckpt inspect cut.pt
ckpt: cut.pt: zip: the archive has no end record; it is cut off (a download that was not finished?); the file ends at byte 3000; the last complete member is net/data/4; 9 of 14 storages are intact
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt check cut.pt --salvage rest.safetensors
ckpt: cut.pt: warning: zip: the archive has no end record; it is cut off (a download that was not finished?); the file ends at byte 3000; the last complete member is net/data/4; 9 of 14 storages are intact
lost conv.weight: its data is missing: there is no whole record data/5 in the archive
lost conv.bias: its data is missing: there is no whole record data/6 in the archive
lost bn.weight: its data is missing: there is no whole record data/7 in the archive
lost bn.bias: its data is missing: there is no whole record data/8 in the archive
lost bn.running_mean: its data is missing: there is no whole record data/9 in the archive
rest.safetensors: 9 of 14 tensors are whole; lost: conv.weight, conv.bias, bn.weight, bn.bias, bn.running_mean
[1]
$ ckpt inspect rest.safetensors
rest.safetensors: safetensors, 1.35 KiB
9 tensors, 189 parameters, 760 B of data (F32 752 B, I64 8 B)

name                    dtype  shape     size
bn.num_batches_tracked  I64    []         8 B
bn.running_var          F32    [8]       32 B
encoder.bias            F32    [8]       32 B
encoder.weight          F32    [8, 6]   192 B
fc.bias                 F32    [4]       16 B
fc.weight               F32    [4, 8]   128 B
norm.bias               F32    [8]       32 B
norm.weight             F32    [8]       32 B
tok_emb.weight          F32    [12, 6]  288 B
$ ckpt check cut.pt --salvage rest.safetensors
ckpt: rest.safetensors: already exists; nothing was changed
hint: --force replaces it
[2]
$ ckpt check cut.pt --salvage rest.pt --quiet
ckpt: cut.pt: warning: zip: the archive has no end record; it is cut off (a download that was not finished?); the file ends at byte 3000; the last complete member is net/data/4; 9 of 14 storages are intact
lost conv.weight: its data is missing: there is no whole record data/5 in the archive
lost conv.bias: its data is missing: there is no whole record data/6 in the archive
lost bn.weight: its data is missing: there is no whole record data/7 in the archive
lost bn.bias: its data is missing: there is no whole record data/8 in the archive
lost bn.running_mean: its data is missing: there is no whole record data/9 in the archive
rest.pt: 9 of 14 tensors are whole; lost: conv.weight, conv.bias, bn.weight, bn.bias, bn.running_mean
[1]
$ ckpt diff rest.safetensors rest.pt
9 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# The container from before it.
$ head -c 2600 testdata/pytorch/legacy.pt > legacy.pt
$ ckpt check legacy.pt --salvage rest.pt --force
lost tok_emb.weight: the file is cut off: it ends at byte 2600, storage 909919264 should end at byte 2604; 10 of 14 storages are intact
lost bn.bias: the file is cut off: it ends at byte 2600, storage 909919264 should end at byte 2604; 10 of 14 storages are intact
lost bn.running_var: the file is cut off: it ends at byte 2600, storage 909919264 should end at byte 2604; 10 of 14 storages are intact
lost bn.num_batches_tracked: the file is cut off: it ends at byte 2600, storage 909919264 should end at byte 2604; 10 of 14 storages are intact
rest.pt: 10 of 14 tensors are whole; lost: tok_emb.weight, bn.bias, bn.running_var, bn.num_batches_tracked
[1]

# Formats whose header comes first.
$ head -c 340 testdata/safetensors/linear.safetensors > cut.safetensors
$ ckpt check cut.safetensors
ckpt: cut.safetensors: the file has 340 bytes, its header describes 348: 8 bytes are missing
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt check cut.safetensors --salvage rest.safetensors --force --json
{
 "schema": 1,
 "file": "cut.safetensors",
 "output": "rest.safetensors",
 "size": 228,
 "whole": 2,
 "lost": [
  {
   "name": "head.weight",
   "why": "its bytes 324 to 348 go beyond the end of the file at byte 340"
  }
 ]
}
[1]
$ head -c 700 testdata/burnpack/net.bpk > cut.bpk
$ ckpt check cut.bpk
ckpt: cut.bpk: the file has 700 bytes, its metadata describes 792 (data begin at 256): 92 bytes are missing
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt check cut.bpk --salvage rest.bpk
lost head.weight: its bytes 768 to 792 go beyond the end of the file at byte 700
rest.bpk: 2 of 3 tensors are whole; lost: head.weight
[1]

# A member whose checksum is wrong is lost.
$ python3 -c "
> data = bytearray(open('testdata/pytorch/net.pt', 'rb').read())
> data[data.index(b'net/data/1FB') + 120] ^= 1
> open('flipped.pt', 'wb').write(data)" && ckpt check flipped.pt --salvage good.safetensors
lost encoder.weight: the CRC-32 of data/1 is e5b1dd71, the archive says 70e2650f
good.safetensors: 13 of 14 tensors are whole; lost: encoder.weight
[1]

# Nothing is whole, or the part is damaged that says what there is: nothing is written.
$ head -c 265 testdata/safetensors/linear.safetensors > cut.safetensors
$ ckpt check cut.safetensors --salvage none.safetensors
ckpt: cut.safetensors: none of 3 tensors is whole; fc.weight: its bytes 264 to 312 go beyond the end of the file at byte 265
[2]
$ head -c 500 testdata/pytorch/net.pt > cut.pt
$ ckpt check cut.pt --salvage none.safetensors
ckpt: cut.pt: zip: the archive has no end record; it is cut off (a download that was not finished?); the file ends at byte 500, inside its first member
[2]

# Tensors are written as they stand.
$ ckpt check testdata/pytorch/net.pt --salvage none.bpk
ckpt: none.bpk: tensors are salvaged as they stand, but pytorch and burnpack lay them out differently
hint: salvage to .safetensors or to the same format, then convert that
[2]
$ ckpt check - --salvage none.pt < cut.pt
ckpt: --salvage wants a file; where standard input ends says nothing of where it should
[2]
$ ckpt check cut.bpk --salvage cut.bpk
ckpt: cut.bpk: the output is the same file as the input cut.bpk
hint: write to another name, then rename it
[2]
$ ckpt check cut.bpk --force
ckpt: --force requires --salvage
hint: ckpt check --help
[2]
$ ckpt check testdata/pytorch --salvage none.pt
ckpt: testdata/pytorch: is a folder; one file at a time can be salvaged
hint: name the shard that is damaged
[2]
$ ls
cut.bpk
cut.pt
cut.safetensors
flipped.pt
good.safetensors
legacy.pt
rest.bpk
rest.pt
rest.safetensors
testdata
whole.safetensors

# What is salvaged is not chosen.
$ ckpt check testdata/pytorch/net.pt --salvage some.safetensors --include fc
ckpt: --salvage writes every tensor that is whole and chooses none
hint: choose with --include, --exclude or --top-level-key when converting what is salvaged
[2]
$ ckpt check testdata/pytorch/nested.pt --salvage some.safetensors --top-level-key model
ckpt: --salvage writes every tensor that is whole and chooses none
hint: choose with --include, --exclude or --top-level-key when converting what is salvaged
[2]
$ ls some.safetensors 2> /dev/null
[2]
