# Tied tensors are shown; a format without ties gives each name its own bytes, and says so.
$ ckpt inspect testdata/pytorch/tied.pt
testdata/pytorch/tied.pt: pytorch (zip), 1.15 KiB
3 tensors, 90 parameters, 360 B of data (F32 360 B)

name            dtype  shape     size
tok_emb.weight  F32    [10, 4]  160 B
decoder.weight  F32    [10, 4]  160 B  = tok_emb.weight
decoder.bias    F32    [10]      40 B
$ ckpt convert testdata/pytorch/tied.pt a.safetensors
ckpt: testdata/pytorch/tied.pt: warning: 1 tensor is tied to others (decoder.weight = tok_emb.weight): in safetensors each has its own bytes; --dedupe leaves them out
testdata/pytorch/tied.pt -> a.safetensors: pytorch to safetensors, 584 B
adapter: none (by the two formats)
3 read = 3 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
$ ckpt convert testdata/pytorch/tied.pt b.safetensors --dedupe
testdata/pytorch/tied.pt -> b.safetensors: pytorch to safetensors, 352 B
adapter: none (by the two formats)
3 read = 2 written + 0 merged - 0 split + 1 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
dropped: decoder.weight (= tok_emb.weight)
$ ckpt convert --quiet testdata/pytorch/tied.pt c.pt && ckpt inspect c.pt
c.pt: pytorch (zip), 1.20 KiB
3 tensors, 90 parameters, 360 B of data (F32 360 B)

name            dtype  shape     size
tok_emb.weight  F32    [10, 4]  160 B
decoder.weight  F32    [10, 4]  160 B  = tok_emb.weight
decoder.bias    F32    [10]      40 B

# Where a target wants a name, that is the one which stays.
$ printf '# ckpt lock 1\ndecoder.bias F32 [10]\ndecoder.weight F32 [10,4]\n' > decoder.lock
$ ckpt convert testdata/pytorch/tied.pt d.safetensors --dedupe --like decoder.lock
testdata/pytorch/tied.pt -> d.safetensors: pytorch to safetensors, 352 B
adapter: none (by the input and the target)
3 read = 2 written + 0 merged - 0 split + 1 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
dropped: tok_emb.weight (= decoder.weight)
$ ckpt diff d.safetensors testdata/pytorch/tied.pt --right-include decoder
2 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
$ ckpt convert --quiet testdata/pytorch/tied.pt e.safetensors --dedupe --like a.safetensors && ckpt diff e.safetensors a.safetensors
3 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK
