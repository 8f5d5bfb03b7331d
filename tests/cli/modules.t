# Every kind of module, from PyTorch to burn: testdata/modules/table.tsv says what must become of each parameter.
$ ckpt convert --quiet --verify testdata/modules/torch.pt a.bpk --modules testdata/modules/kinds.txt
$ ckpt diff a.bpk testdata/modules/burn.safetensors --adapter none
281 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# Back by the notes in the file, and without them from what burn holds. burn keeps no counters of batches, and no
# statistics of an InstanceNorm.
$ ckpt convert --quiet a.bpk b.pt
$ ckpt diff testdata/modules/torch.pt b.pt
only in A: batch_norm1d.num_batches_tracked  I64 []
only in A: batch_norm2d.num_batches_tracked  I64 []
only in A: batch_norm3d.num_batches_tracked  I64 []
only in A: sync_batch_norm.num_batches_tracked  I64 []
only in A: batch_norm_not_affine.num_batches_tracked  I64 []
only in A: instance_norm_tracking.running_mean  F32 [3]
only in A: instance_norm_tracking.running_var  F32 [3]
only in A: instance_norm_tracking.num_batches_tracked  I64 []
171 equal, 0 different, 8 only in A, 0 only in B; worst=0 atol=0 rtol=0 DIFFERENT
[1]
$ ckpt convert --quiet testdata/modules/burn.safetensors c.pt --adapter burn-to-pytorch --modules testdata/modules/kinds.txt
$ ckpt diff b.pt c.pt
171 equal, 0 different, 0 only in A, 0 only in B; worst=0 atol=0 rtol=0 OK

# A target that counts batches gets its counters, from 0.
$ ckpt convert a.bpk d.pt --like testdata/modules/torch.pt --exclude instance_norm --allow-missing=instance_norm --explain 2>&1 | grep -E 'added|made'
(nothing) -> batch_norm1d.num_batches_tracked: made: the target counts batches, from 0
(nothing) -> batch_norm2d.num_batches_tracked: made: the target counts batches, from 0
(nothing) -> batch_norm3d.num_batches_tracked: made: the target counts batches, from 0
(nothing) -> sync_batch_norm.num_batches_tracked: made: the target counts batches, from 0
(nothing) -> batch_norm_not_affine.num_batches_tracked: made: the target counts batches, from 0
added: 5 num_batches_tracked (I64 0) that the target has
281 read + 5 added = 168 written + 110 merged - 0 split + 8 dropped; 85 renamed, 53 transposed, 0 cast; nothing else changed
$ ckpt inspect d.pt --tensor batch_norm1d.num_batches_tracked | grep -E 'dtype|shape'
  dtype      I64
  shape      []
$ ckpt convert --json a.bpk e.pt --like testdata/modules/torch.pt --exclude instance_norm --allow-missing=instance_norm | grep -E '"(read|added|written)"|tracked'
 "read": 281,
 "added": 5,
 "written": 168,
  "added: 5 num_batches_tracked (I64 0) that the target has"

# Which norms a transformer layer has where depends on norm_first, and no file tells.
$ ckpt convert testdata/modules/torch.pt f.bpk --include coder_layer
ckpt: testdata/modules/torch.pt: the layout of 4 tensors is undecided: decoder_layer.norm1.weight [4] (norm_first=True gives its norms other places, and neither names nor shapes tell); decoder_layer_norm_first.norm1.weight [4] (norm_first=True gives its norms other places, and neither names nor shapes tell); encoder_layer.norm1.weight [4] (norm_first=True gives its norms other places, and neither names nor shapes tell); encoder_layer_norm_first.norm1.weight [4] (norm_first=True gives its norms other places, and neither names nor shapes tell)
hint: say what they are (KIND(norm_first) is a layer with norm_first=True; Linear is transposed; Embedding and Conv1D are not; none is left alone): --module '^decoder_layer$ => TransformerDecoderLayer' --module '^decoder_layer_norm_first$ => TransformerDecoderLayer' --module '^encoder_layer$ => TransformerEncoderLayer' --module '^encoder_layer_norm_first$ => TransformerEncoderLayer'
[1]
$ ckpt convert testdata/modules/torch.pt f.bpk --include '^encoder_layer\.' --module 'layer$ => none' --module 'norm. => LayerNorm' --explain
testdata/modules/torch.pt -> f.bpk: pytorch to burnpack, 5.27 KiB
adapter: pytorch-to-burn (by the two formats)
encoder_layer.self_attn.in_proj_weight -> encoder_layer.self_attn.query.weight: rows 0 to 4 of 12, transposed, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.in_proj_weight -> encoder_layer.self_attn.key.weight: rows 4 to 8 of 12, transposed, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.in_proj_weight -> encoder_layer.self_attn.value.weight: rows 8 to 12 of 12, transposed, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.in_proj_bias -> encoder_layer.self_attn.query.bias: rows 0 to 4 of 12, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.in_proj_bias -> encoder_layer.self_attn.key.bias: rows 4 to 8 of 12, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.in_proj_bias -> encoder_layer.self_attn.value.bias: rows 8 to 12 of 12, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.out_proj.weight -> encoder_layer.self_attn.output.weight: transposed, renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.self_attn.out_proj.bias -> encoder_layer.self_attn.output.bias: renamed; MultiheadAttention (in_proj_weight stands below it)
encoder_layer.linear1.weight -> encoder_layer.linear1.weight: transposed; Linear (bias [6] is as long as the first dimension of weight [6, 4])
encoder_layer.linear1.bias -> encoder_layer.linear1.bias: unchanged; Linear (bias [6] is as long as the first dimension of weight [6, 4])
encoder_layer.linear2.weight -> encoder_layer.linear2.weight: transposed; Linear (bias [4] is as long as the first dimension of weight [4, 6])
encoder_layer.linear2.bias -> encoder_layer.linear2.bias: unchanged; Linear (bias [4] is as long as the first dimension of weight [4, 6])
encoder_layer.norm1.weight -> encoder_layer.norm1.gamma: renamed; LayerNorm (given by `norm. => LayerNorm`)
encoder_layer.norm1.bias -> encoder_layer.norm1.beta: renamed; LayerNorm (given by `norm. => LayerNorm`)
encoder_layer.norm2.weight -> encoder_layer.norm2.gamma: renamed; LayerNorm (given by `norm. => LayerNorm`)
encoder_layer.norm2.bias -> encoder_layer.norm2.beta: renamed; LayerNorm (given by `norm. => LayerNorm`)
179 read = 16 written + 0 merged - 4 split + 167 dropped; 12 renamed, 6 transposed, 0 cast; nothing else changed
dropped: linear.weight, linear.bias, linear_square.weight, linear_square.bias, linear_without_bias.weight, embedding.weight, embedding_bag.weight, conv1d.weight, conv1d.bias, conv2d.weight, and 157 more (--verbose lists all)
$ ckpt convert testdata/modules/torch.pt f.bpk --include '^encoder_layer\.' --module 'layer$ => TransformerEncoderLayer(norm_first=True)' --force --explain 2>&1 | grep 'norm[12]'
encoder_layer.norm1.weight -> encoder_layer.norm_2.gamma: renamed; TransformerEncoderLayer(norm_first) (given by `layer$ => TransformerEncoderLayer(norm_first=True)`)
encoder_layer.norm1.bias -> encoder_layer.norm_2.beta: renamed; TransformerEncoderLayer(norm_first) (given by `layer$ => TransformerEncoderLayer(norm_first=True)`)
encoder_layer.norm2.weight -> encoder_layer.norm_1.gamma: renamed; TransformerEncoderLayer(norm_first) (given by `layer$ => TransformerEncoderLayer(norm_first=True)`)
encoder_layer.norm2.bias -> encoder_layer.norm_1.beta: renamed; TransformerEncoderLayer(norm_first) (given by `layer$ => TransformerEncoderLayer(norm_first=True)`)

# A line without its arrow is told what to be.
$ printf 'encoder Linear\n' > bad.txt
$ ckpt convert testdata/modules/torch.pt g.bpk --modules bad.txt
ckpt: bad.txt: line 1: `encoder Linear` has no arrow
hint: write REGEX => KIND
[2]

# A kind that is given has to fit what the module holds.
$ ckpt convert testdata/modules/torch.pt g.bpk --include '^lstm\.' --module '^lstm$ => RNN'
ckpt: testdata/modules/torch.pt: module lstm cannot be RNN (given by `^lstm$ => RNN`): weight_hh_l0 [8, 2] stacks 4 gates, as of LSTM
hint: narrow the pattern, or leave the module alone with --module '^lstm$ => none'
[1]
$ ckpt convert testdata/modules/torch.pt g.bpk --include '^linear\.' --module '^linear$ => LayerNorm'
ckpt: testdata/modules/torch.pt: module linear cannot be LayerNorm (given by `^linear$ => LayerNorm`): weight [5, 3] is no vector
hint: narrow the pattern, or leave the module alone with --module '^linear$ => none'
[1]
$ ckpt convert testdata/modules/torch.pt g.bpk --include '^batch_norm1d\.' --module '^batch => LayerNorm'
ckpt: testdata/modules/torch.pt: module batch_norm1d cannot be LayerNorm (given by `^batch => LayerNorm`): running_mean stands beside it
hint: narrow the pattern, or leave the module alone with --module '^batch_norm1d$ => none'
[1]

# Where no adapter runs there is no decision to save.
$ ckpt convert a.bpk h.bpk --write-modules none.txt
ckpt: a.bpk: warning: --write-modules: no adapter runs, so no kind was decided
a.bpk -> h.bpk: burnpack to burnpack, 93.0 KiB
adapter: none (by the two formats)
281 read = 281 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
