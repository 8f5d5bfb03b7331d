# A record of burn before 0.22 becomes a burnpack with its ids, whichever way it was encoded.
$ ckpt convert --quiet testdata/burn-record/net.mpk a.bpk
$ ckpt convert --quiet testdata/burn-record/net.mpk.gz b.bpk
ckpt: testdata/burn-record/net.mpk.gz: warning: the record is gzipped: it was unfolded to be read
$ ckpt convert --quiet testdata/burn-record/net.json c.bpk
$ cmp a.bpk c.bpk
a.bpk c.bpk differ: byte 7, line 1
[1]
$ ckpt diff a.bpk b.bpk
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt diff a.bpk testdata/burnpack/net.bpk
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt inspect testdata/burn-record/net.mpk
testdata/burn-record/net.mpk: burn-record (mpk), 415 B
3 tensors, 21 parameters, 84 B of data (F32 84 B)

name         dtype  shape   size  param id
fc.weight    F32    [4, 3]  48 B  avq43klip2pc6
fc.bias      F32    [3]     12 B  edntuk51pn2co
head.weight  F32    [3, 2]  24 B  22h48qbgpqs2o

metadata
  float     f32
  format    burn_core::record::file::NamedMpkFileRecorder
  int       i32
  settings  FullPrecisionSettings
  version   0.16.1

# Of the files beside a record, none is part of it.
$ cp testdata/burn-record/net.json record.json && ckpt convert --quiet record.json beside.bpk
$ ckpt convert --quiet record.json beside.bpk --force
