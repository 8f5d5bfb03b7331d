# One file becomes a set with an index, and comes back as the same file.
$ ckpt convert --quiet testdata/pytorch/net.pt whole.safetensors
$ ckpt convert whole.safetensors set --shard-size 500
whole.safetensors -> set: safetensors to safetensors, 2.84 KiB
adapter: none (by the two formats)
14 read = 14 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ls set
model-00001-of-00003.safetensors
model-00002-of-00003.safetensors
model-00003-of-00003.safetensors
model.safetensors.index.json
$ ckpt diff whole.safetensors set
14 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet set back.safetensors && cmp whole.safetensors back.safetensors

# A set that is there stays, unless --force is given; shards that the new one does not need go.
$ ckpt convert --quiet whole.safetensors set --shard-size 800
ckpt: set: already holds model-00001-of-00003.safetensors; nothing was changed
hint: --force replaces the set
[2]
$ ckpt convert --quiet whole.safetensors set --shard-size 800 --force && ls set
model-00001-of-00002.safetensors
model-00002-of-00002.safetensors
model.safetensors.index.json
$ ckpt diff whole.safetensors set/model.safetensors.index.json
14 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Small enough for one file: no index is needed.
$ ckpt convert --quiet whole.safetensors one --shard-size 5GB && ls one
model.safetensors

# PyTorch's sets have their own names.
$ ckpt convert --quiet whole.safetensors torch --to pytorch --shard-size 800 && ls torch
pytorch_model-00001-of-00002.bin
pytorch_model-00002-of-00002.bin
pytorch_model.bin.index.json
$ ckpt diff whole.safetensors torch
14 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# A shard that is missing is an error before anything is read.
$ rm set/model-00002-of-00002.safetensors && ckpt convert --quiet set back.safetensors --force
ckpt: set/model.safetensors.index.json: the shard model-00002-of-00002.safetensors is missing: the index model.safetensors.index.json names it
hint: download it and put it beside the others
[2]
$ ckpt convert --quiet whole.safetensors other --shard-size many
ckpt: --shard-size: `many` is not a size
hint: write 5GB, 500MiB or a number of bytes
[2]
$ ckpt convert --quiet whole.safetensors other --shard-size 5GB --to burnpack
ckpt: there are no sharded sets of burnpack
hint: write --to safetensors or --to pytorch, or a single file without --shard-size
[2]
$ ls
back.safetensors
one
set
testdata
torch
whole.safetensors

# While a set of the same names is being replaced, its index names no shard: old and new ones are never one checkpoint.
$ ckpt convert --quiet whole.safetensors set --shard-size 800 --force
$ echo '{"metadata": {"incomplete": "", "files": ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]}, "weight_map": {}}' > set/model.safetensors.index.json
$ ckpt inspect set
ckpt: set/model.safetensors.index.json: the set is incomplete: a conversion is writing it, or was killed at it
hint: run that conversion again
[2]
$ ckpt convert --quiet whole.safetensors set --shard-size 400 && ls set && ckpt convert --quiet whole.safetensors set --shard-size 800 --force && ckpt diff whole.safetensors set
model-00001-of-00003.safetensors
model-00002-of-00003.safetensors
model-00003-of-00003.safetensors
model.safetensors.index.json
14 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# A name that calls for one file of another format is no folder's.
$ ckpt convert whole.safetensors model.bpk --shard-size 1GB
ckpt: model.bpk: --shard-size writes a folder of safetensors files, but the name calls for burnpack
hint: name a folder, or leave out --shard-size
[2]

# What is read of a set is not written to; what lies beside it may be.
$ cp whole.safetensors set/beside.safetensors
$ ckpt convert --quiet set/model.safetensors.index.json set/beside.safetensors --force && cmp set/beside.safetensors whole.safetensors
$ ckpt convert --quiet set/model.safetensors.index.json set/model-00002-of-00002.safetensors --force
ckpt: set/model-00002-of-00002.safetensors: the output is the same file as set/model-00002-of-00002.safetensors, which is part of the input
hint: write to another name, then rename it
[2]
$ ckpt convert --quiet set set/model-00002-of-00002.safetensors --force
ckpt: set/model-00002-of-00002.safetensors: the output is the same file as set/model-00002-of-00002.safetensors, which is part of the input
hint: write to another name, then rename it
[2]
$ ckpt convert --quiet set set/model.safetensors.index.json --to safetensors --force
ckpt: set/model.safetensors.index.json: the output is the same file as set/model.safetensors.index.json, which is part of the input
hint: write to another name, then rename it
[2]

# What a set takes the place of is told, and only what is known to be of it goes: a file that the index does not
# name may be anybody's, and one that is read stays.
$ mkdir room && cp whole.safetensors room/model.safetensors
$ ckpt convert whole.safetensors room --shard-size 800 --force --dry-run
whole.safetensors -> room: safetensors to safetensors, 2.83 KiB (dry run: nothing was written)
of the set that is there, model.safetensors would be removed
adapter: none (by the two formats)
14 read = 14 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt convert whole.safetensors room --shard-size 800 --force --like room/model.safetensors
ckpt: room/model.safetensors: the output is the same file as the input room/model.safetensors
hint: write to another name, then rename it
[2]
$ ln -sf ../whole.safetensors room/model.safetensors && ckpt convert whole.safetensors room --shard-size 800 --force
ckpt: room: holds model.safetensors, which is a link; nothing was changed
hint: move it away, or write the set into another folder
[2]
$ cp --remove-destination whole.safetensors room/model.safetensors
$ ckpt convert whole.safetensors room --shard-size 800 --force && ls room
whole.safetensors -> room: safetensors to safetensors, 2.83 KiB
of the set that was there, model.safetensors removed
adapter: none (by the two formats)
14 read = 14 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
model-00001-of-00002.safetensors
model-00002-of-00002.safetensors
model.safetensors.index.json
$ cp whole.safetensors room/model-00001-of-00009.safetensors && ckpt convert whole.safetensors room --shard-size 500 --force
ckpt: room: holds model-00001-of-00009.safetensors, which the index there does not name; nothing was changed
hint: move it away, or write the set into another folder
[2]
$ rm room/model-00001-of-00009.safetensors && ckpt convert whole.safetensors room --shard-size 5GB --force --json | grep -A4 removed
 "removed": [
  "model-00001-of-00002.safetensors",
  "model-00002-of-00002.safetensors",
  "model.safetensors.index.json"
 ],
$ ls room
model.safetensors

# A set of one file has no index: beside another checkpoint nobody could tell which is meant. An output beside a set is
# none of its files.
$ mkdir beside && cp whole.safetensors beside/other.safetensors
$ ckpt convert whole.safetensors beside --shard-size 1GB
ckpt: beside: holds other.safetensors; beside it a set of one file, which has no index, could not be told by its folder; nothing was changed
hint: move it away, or write the set into another folder
[2]
$ ckpt convert whole.safetensors set --to safetensors --shard-size 800 --force --write-modules set/model.safetensors
ckpt: set/model.safetensors: would be taken for a file of the set
hint: give it another name or folder
[2]
