# Whoever reads the data compares the checksums that the file states: one bit is flipped in a storage of each copy.
$ cat > flip.py <<'END'
> import struct, sys, zipfile
> source, member, target = sys.argv[1:]
> data = bytearray(open(source, "rb").read())
> at = next(i.header_offset for i in zipfile.ZipFile(source).infolist() if i.filename.endswith(member))
> name, extra = struct.unpack_from("<HH", data, at + 26)
> data[at + 30 + name + extra] ^= 1
> open(target, "wb").write(data)
> END
$ python3 flip.py testdata/pytorch/net.pt /data/0 flipped.pt
$ ckpt inspect flipped.pt --stats
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt inspect flipped.pt --sha256 --json
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt inspect flipped.pt --id
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt diff testdata/pytorch/net.pt flipped.pt
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt diff flipped.pt testdata/pytorch/net.pt --atol 100 --json
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt inspect flipped.pt --json | grep '"name"' | head -2
   "name": "tok_emb.weight",
   "name": "encoder.weight",

# Only what is read: the other tensors, names, and what the shapes have answered.
$ ckpt diff flipped.pt flipped.pt --names-only
14 equal, 0 different, 0 only in A, 0 only in B; values not compared OK
$ ckpt diff flipped.pt testdata/pytorch/net.pt --summary --exclude '^tok_emb'
13 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt inspect flipped.pt --tensor tok_emb.weight
ckpt: flipped.pt: member data/0: the data's CRC-32 is a59faa67, but the file states 89cc2c5e: the data have been damaged
hint: fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT
[2]
$ ckpt inspect flipped.pt --tensor encoder.bias | head -1
encoder.bias
$ ckpt diff flipped.pt testdata/pytorch/net.pt --summary --left-rename '^tok_emb => gone' --right-exclude '^tok_emb'
13 equal, 0 different, 1 only in A, 0 only in B; worst=0 atol=0 rtol=0 DIFFERENT
[1]
