# Records that burn wrote come out byte for byte.
$ for name in optim_adam optim_adam_amsgrad optim_adagrad optim_adan optim_lbfgs_fresh optim_muon optim_sgd_momentum \
>   sched_constant sched_cosine sched_cosine_fresh sched_linear sched_step sched_step_fresh sched_composed sched_two_groups; do
>   ckpt convert --quiet testdata/burnpack/$name.bpk $name.bpk && cmp $name.bpk testdata/burnpack/$name.bpk; done
ckpt: testdata/burnpack/sched_constant.bpk: warning: there are no tensors in it

# What is in them.
$ ckpt inspect --optimizer testdata/burnpack/optim_sgd_momentum.bpk testdata/burnpack/sched_two_groups.bpk testdata/burnpack/sched_step_fresh.bpk testdata/burnpack/optim_lbfgs_fresh.bpk

optimizer: SGD (its names are momentum.velocity), 4 parameters
  parameter    id                    step  |velocity|
  fc.weight    14101554053607715927     -   4.639e+35
  fc.bias      14755144371902836595     -       4.139
  head.weight  3222552515581354512      -           -
  head.bias    9007199254740993         -   4.775e+25
  burn's record holds no hyper-parameters

learning-rate schedulers
  0.remaining_iters  LinearLrSchedulerConfig  8 left
  1.iter_idx         StepLrSchedulerConfig    3 steps done

learning-rate schedulers
  0.iter_idx  StepLrSchedulerConfig  0 steps done

optimizer: LBFGS (its names are L-BFGS's), 0 parameters
  burn's record holds no hyper-parameters
$ ckpt inspect --json testdata/burnpack/optim_adagrad.bpk | sed -n '/"training"/,$p'
 "training": {
  "optimizers": [
   {
    "key": "",
    "kind": "Adagrad",
    "evidence": "its names are lr_decay.sum",
    "parameters": [
     {
      "key": "14101554053607715927",
      "name": "fc.weight",
      "step": 5,
      "norms": {
       "sum": 3.97126125691614e+36
      }
     },
     {
      "key": "14755144371902836595",
      "name": "fc.bias",
      "step": 5,
      "norms": {
       "sum": 3286262551150592.0
      }
     },
     {
      "key": "3222552515581354512",
      "name": "head.weight",
      "step": 5,
      "norms": {
       "sum": 178282905600.4861
      }
     },
     {
      "key": "9007199254740993",
      "name": "head.bias",
      "step": 5,
      "norms": {
       "sum": 6.168596220179053e+31
      }
     }
    ],
    "groups": []
   }
  ],
  "schedulers": []
 }
}

# PyTorch's state, its record, and the way back.
$ ckpt convert testdata/pytorch/training.pt model.bpk --optimizer-out optim.bpk --scheduler-out scheduler.bpk --explain
ckpt: testdata/pytorch/training.pt: warning: burnpack has no place for 1 value (epoch): left behind
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 0: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.01 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01)
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 1: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.0 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.0)
ckpt: testdata/pytorch/training.pt: warning: CosineAnnealingLR counts 3 steps here: burn's Learner makes one every iteration, PyTorch wherever the script says (often once an epoch)
testdata/pytorch/training.pt -> model.bpk: pytorch to burnpack, 1.76 KiB
adapter: pytorch-to-burn (by the two formats)
fc.weight -> fc.weight: transposed; Linear (bias [3] is as long as the first dimension of weight [3, 4])
fc.bias -> fc.bias: unchanged; Linear (bias [3] is as long as the first dimension of weight [3, 4])
norm.weight -> norm.gamma: renamed; LayerNorm (weight and bias are both [3])
norm.bias -> norm.beta: renamed; LayerNorm (weight and bias are both [3])
head.weight -> head.weight: transposed; Linear (bias [2] is as long as the first dimension of weight [2, 3])
head.bias -> head.bias: unchanged; Linear (bias [2] is as long as the first dimension of weight [2, 3])
6 read = 6 written + 0 merged - 0 split + 0 dropped; 2 renamed, 2 transposed, 0 cast; nothing else changed
position 0 -> fc.weight: step 3, exp_avg [3, 4], exp_avg_sq [3, 4]
position 1 -> head.weight: step 3, exp_avg [2, 3], exp_avg_sq [2, 3]
position 2 -> fc.bias: step 3, exp_avg [3], exp_avg_sq [3]
position 3 -> norm.weight: step 3, exp_avg [3], exp_avg_sq [3]
position 4 -> norm.bias: step 3, exp_avg [3], exp_avg_sq [3]
position 5 -> head.bias: step 3, exp_avg [2], exp_avg_sq [2]
optimizer: AdamW (its settings stand in the order of AdamW's), 6 parameters with 12 moments; joined by the only order in which the model's 6 parameters fit the 2 groups
  no shape proves the order of 3 parameters: fc.bias, norm.weight, norm.bias
  write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01), learning rate 0.008145033635316129 (initially 0.01)
  write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.0), learning rate 0.008145033635316129 (initially 0.01)
  if the training clips gradients: PyTorch's norm is of all parameters together, burn's of each
scheduler: CosineAnnealingLrSchedulerConfig::new(0.01, 10).with_min_lr(0.001)
$ ckpt check optim.bpk --model model.bpk --optimizer
AdamW at step 3: burn's bias correction is 0.202007860 in 32 bits, 0.202009255 exactly (-6.91 parts per million); PyTorch's is 0.202010597
optim.bpk: 12 tensors, 0 errors, 0 warnings: sound
$ ckpt convert model.bpk back.pt --optimizer optim.bpk --scheduler scheduler.bpk
ckpt: model.bpk: warning: pytorch has no place for 6 param ids (of fc.weight, …): left behind
model.bpk -> back.pt: burnpack to pytorch, 7.19 KiB
adapter: burn-to-pytorch (by the two formats)
6 read = 6 written + 0 merged - 0 split + 0 dropped; 2 renamed, 2 transposed, 0 cast; nothing else changed
optimizer: AdamW (noted by the conversion), 6 parameters with 12 moments; joined by the ids of the model's parameters
$ for file in testdata/pytorch/training.pt back.pt; do
>   ckpt inspect --json --sha256 $file | sed -n '/"tensors"/,/"metadata"/p' > $(basename $file).txt; done
$ cmp training.pt.txt back.pt.txt
$ ckpt inspect --optimizer back.pt

optimizer at optimizer: AdamW (its settings stand in the order of AdamW's), 6 parameters
  parameter    position  step  |exp_avg|  |exp_avg_sq|
  fc.weight           0     3      3.187         3.575
  head.weight         1     3      13.33         13.64
  fc.bias             2     3      2.604          2.82
  norm.weight         3     3      4.766         4.983
  norm.bias           4     3       6.93         7.147
  head.bias           5     3      9.104         9.281
  group 0, 2 parameters: lr 0.008145033635316129, betas [0.9,0.999], eps 1e-08, weight_decay 0.01, amsgrad false, foreach null, maximize false, capturable false, initial_lr 0.01
  group 1, 4 parameters: weight_decay 0.0, lr 0.008145033635316129, betas [0.9,0.999], eps 1e-08, amsgrad false, foreach null, maximize false, capturable false, initial_lr 0.01

learning-rate schedulers
  scheduler  CosineAnnealingLR  3 steps done

# Every element of the record is read back.
$ ckpt convert testdata/pytorch/training.pt verified.bpk --optimizer-out verified-optim.bpk --verify 2>&1 | grep verified:
verified: 6 of 6 tensors bit-exact
verified: 12 of 12 tensors bit-exact

# What --like has keeps its ids, and so do the names in the record.
$ ckpt convert --quiet testdata/pytorch/training.pt like.bpk --like model.bpk --optimizer-out like-optim.bpk 2> /dev/null
$ cmp like.bpk model.bpk && cmp like-optim.bpk optim.bpk

# Rules and filters take the state along.
$ ckpt convert --quiet testdata/pytorch/training.pt renamed.bpk --rename '^fc => first' --exclude '^norm' --optimizer-out renamed-optim.bpk
ckpt: testdata/pytorch/training.pt: warning: burnpack has no place for 2 values (epoch, …): left behind
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 0: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.01 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01)
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 1: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.0 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.0)
ckpt: testdata/pytorch/training.pt: warning: the state of 2 parameters is left out with them: norm.weight, norm.bias
$ ckpt inspect --optimizer renamed-optim.bpk

optimizer: AdamW (noted by the conversion), 4 parameters
  parameter     id                    step  |moment_1|  |moment_2|
  first.weight  8613002483565502828      3       3.187       3.575
  first.bias    11775899258441696048     3       2.604        2.82
  head.weight   7019066725330748605      3       13.33       13.64
  head.bias     778772401803708928       3       9.104       9.281
  group 0, 2 parameters: lr 0.008145033635316129, betas [0.9,0.999], eps 1e-08, weight_decay 0.01, amsgrad false, foreach null, maximize false, capturable false, initial_lr 0.01
  group 1, 2 parameters: weight_decay 0.0, lr 0.008145033635316129, betas [0.9,0.999], eps 1e-08, amsgrad false, foreach null, maximize false, capturable false, initial_lr 0.01
$ ckpt check renamed-optim.bpk --model renamed.bpk
renamed-optim.bpk: 8 tensors, 0 errors, 0 warnings: sound

# Model, optimizer and scheduler in files of their own.
$ ckpt convert --quiet testdata/pytorch/training.pt weights.pt 2> /dev/null
$ ckpt convert --quiet weights.pt apart.bpk --optimizer testdata/pytorch/training.pt --optimizer-out apart-optim.bpk --scheduler testdata/pytorch/training.pt --scheduler-out apart-scheduler.bpk 2> /dev/null
$ cmp apart-optim.bpk optim.bpk && cmp apart-scheduler.bpk scheduler.bpk

# safetensors files are sorted: the order of their tensors is no evidence.
$ ckpt convert --quiet testdata/pytorch/training.pt weights.safetensors --adapter none 2> /dev/null
$ ckpt convert weights.safetensors sorted.bpk --adapter pytorch-to-burn --optimizer testdata/pytorch/training.pt --optimizer-out sorted-optim.bpk
ckpt: testdata/pytorch/training.pt: the state of parameter 0 has the shape [3, 4], but the model's is fc.bias [3]; no order of the model's parameters fits
hint: --param-names FILE names the parameters by position, one a line
[1]
$ printf 'fc.weight\nhead.weight\nfc.bias\nnorm.weight\nnorm.bias\nhead.bias\n' > names.txt
$ ckpt convert --quiet weights.safetensors sorted.bpk --adapter pytorch-to-burn --optimizer testdata/pytorch/training.pt --optimizer-out sorted-optim.bpk --param-names names.txt 2> /dev/null
$ ckpt inspect --optimizer sorted-optim.bpk | head -n 9

optimizer: AdamW (noted by the conversion), 6 parameters
  parameter    id                    step  |moment_1|  |moment_2|
  fc.bias      15353742234573190687     3       2.604        2.82
  fc.weight    13460863479239238481     3       3.187       3.575
  head.bias    778772401803708928       3       9.104       9.281
  head.weight  7019066725330748605      3       13.33       13.64
  norm.beta    16531564337733803945     3        6.93       7.147
  norm.gamma   1696483471634668674      3       4.766       4.983

# The optimizer stays behind only with a word.
$ ckpt convert --quiet testdata/pytorch/training.pt alone.bpk
ckpt: testdata/pytorch/training.pt: warning: burnpack has no place for 3 values (epoch, …): left behind
ckpt: testdata/pytorch/training.pt: warning: the optimizer's state is left behind: --optimizer-out FILE takes it along

# Orphans: a record whose parameters were rebuilt.
$ ckpt check testdata/burnpack/optim_orphans.bpk --model testdata/burnpack/rebuilt.bpk
CK040 error   8 of 16 tensors are orphans, of 4 parameters that the model does not have (fc.weight, fc.bias, head.weight, head.bias; at step 5)
testdata/burnpack/optim_orphans.bpk: 16 tensors, 1 error, 0 warnings: NOT SOUND
[1]
$ ckpt convert testdata/burnpack/optim_orphans.bpk mended.bpk --model testdata/burnpack/rebuilt.bpk --drop-orphans
testdata/burnpack/optim_orphans.bpk -> mended.bpk: burnpack to burnpack, 2.77 KiB
adapter: none (by the two formats)
8 read = 8 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
dropped 8 orphan tensors of 4 parameters that the model does not have: 1, 2, 3, 4
$ ckpt check mended.bpk --model testdata/burnpack/rebuilt.bpk
mended.bpk: 8 tensors, 0 errors, 0 warnings: sound
$ ckpt convert testdata/burnpack/rebuilt.bpk out.pt --optimizer testdata/burnpack/optim_orphans.bpk --module 'fc|head => Linear'
ckpt: testdata/burnpack/optim_orphans.bpk: 4 of 8 parameters with state are not in the model: 1, 2, 3, 4
hint: --drop-orphans leaves them out
[1]
$ ckpt convert --quiet testdata/burnpack/rebuilt.bpk out.pt --optimizer testdata/burnpack/optim_orphans.bpk --module 'fc|head => none' --drop-orphans --hyper lr=0.05 --hyper 'betas=[0.9, 0.99]'
ckpt: testdata/burnpack/rebuilt.bpk: warning: pytorch has no place for 4 param ids (of fc.weight, …): left behind
ckpt: testdata/burnpack/rebuilt.bpk: warning: burn's record holds no hyper-parameters; written as PyTorch's rate and burn's defaults: eps=1e-05, weight_decay=0.0, amsgrad=false; --hyper KEY=VALUE sets them
ckpt: testdata/burnpack/rebuilt.bpk: warning: the optimizer counts the parameters in the order of OUT, which must be that of model.parameters()
$ ckpt inspect --optimizer out.pt

optimizer at optimizer: Adam (nothing tells it from AdamW: --optimizer-kind says so), 4 parameters
  parameter    position  step  |exp_avg|  |exp_avg_sq|
  fc.weight           0    10      205.3         205.5
  fc.bias             1    10      207.3         207.5
  head.weight         2    10      209.3         209.5
  head.bias           3    10      211.3         211.5
  group 0, 4 parameters: lr 0.05, betas [0.9,0.99], eps 1e-05, weight_decay 0.0, amsgrad false
$ ckpt convert --quiet testdata/burnpack/rebuilt.bpk out.pt --force --optimizer testdata/burnpack/optim_orphans.bpk --module 'fc|head => none' --drop-orphans --hyper momentum=0.9
ckpt: --hyper momentum=0.9: not a setting of Adam
hint: KEY=VALUE, where KEY is one of: amsgrad, betas, eps, lr, weight_decay
[2]
$ for hyper in betas=0.5 lr=-1 amsgrad=true; do
>   ckpt convert testdata/burnpack/rebuilt.bpk wrong.pt --optimizer mended.bpk --module 'fc|head => none' --hyper $hyper; done; ls wrong.pt
ckpt: --hyper betas=0.5: betas of Adam is a list of 2, each a number from 0 to below 1
hint: 0.05, true, [0.9, 0.999]
ckpt: --hyper lr=-1: lr of Adam is a number, 0 or more
hint: 0.05, true, [0.9, 0.999]
ckpt: --hyper amsgrad=true: this takes max_exp_avg_sq in the state, which has none: PyTorch would fail in the next step
hint: leave it as the state has it
ls: cannot access 'wrong.pt': No such file or directory
[2]
$ ckpt convert testdata/burnpack/rebuilt.bpk wrong.pt --optimizer mended.bpk --module 'fc|head => none' --hyper lr=1 --hyper lr=2
ckpt: --hyper sets lr twice
hint: it is set for all groups: give it once
[2]

# A record is a burnpack, whatever its name: that of another format is a slip.
$ ckpt convert testdata/pytorch/training.pt wrong.bpk --optimizer-out optim.pt
ckpt: optim.pt: burn's record is a burnpack, and this name calls for pytorch
hint: name it .bpk
[2]
$ ckpt convert testdata/pytorch/training.pt wrong.bpk --scheduler-out scheduler.safetensors
ckpt: scheduler.safetensors: burn's record is a burnpack, and this name calls for safetensors
hint: name it .bpk
[2]

# What PyTorch has no scheduler for is built anew.
$ ckpt convert model.bpk wrong.pt --optimizer optim.bpk --scheduler testdata/burnpack/sched_composed.bpk
ckpt: testdata/burnpack/sched_composed.bpk: 0.0.remaining_iters: of burn's schedulers only single ones are carried to PyTorch
hint: leave --scheduler away (of a folder, name its model and --optimizer), and build the scheduler anew
[1]

# A PyTorch checkpoint keeps its optimizer where it is asked to.
$ ckpt convert --quiet testdata/pytorch/training.pt alone.pt
ckpt: testdata/pytorch/training.pt: warning: pytorch has no place for 3 values (epoch, …): left behind
ckpt: testdata/pytorch/training.pt: warning: the optimizer's state is left behind: --optimizer IN takes it along

# An earlier checkpoint of the same training has the settings that a record of burn's lacks.
$ ckpt convert testdata/burnpack/rebuilt.bpk settings.pt --optimizer mended.bpk --module 'fc|head => none' --like out.pt --verify
ckpt: testdata/burnpack/rebuilt.bpk: warning: pytorch has no place for 4 param ids (of fc.weight, …): left behind
testdata/burnpack/rebuilt.bpk -> settings.pt: burnpack to pytorch, 4.77 KiB
adapter: burn-to-pytorch (by the two formats)
4 read = 4 written + 0 merged - 0 split + 0 dropped; 0 renamed, 0 transposed, 0 cast; nothing else changed
optimizer: Adam (its names are momentum.moment_1, momentum.moment_2), 4 parameters with 8 moments; joined by the ids of the model's parameters
  settings and order of the parameters are those of out.pt
verified: 16 of 16 tensors bit-exact
$ ckpt inspect --optimizer settings.pt | tail -n 1
  group 0, 4 parameters: lr 0.05, betas [0.9,0.99], eps 1e-05, weight_decay 0.0, amsgrad false

# PyTorch counts the parameters: a target that has parameters of one shape in another order gets the state in its own.
$ ckpt convert --quiet testdata/pytorch/training.pt swapped.pt --optimizer testdata/pytorch/training.pt --rename '^norm.weight => x' --rename '^norm.bias => norm.weight' --rename '^x => norm.bias'
ckpt: testdata/pytorch/training.pt: warning: applied twice, the rules would change 2 names again, norm.bias first: anchor them with ^
ckpt: testdata/pytorch/training.pt: warning: pytorch has no place for 2 values (epoch, …): left behind
$ ckpt convert testdata/pytorch/training.pt followed.pt --optimizer testdata/pytorch/training.pt --like swapped.pt 2>&1 | tail -n 1
  the parameters are counted in the order of swapped.pt's optimizer
$ ckpt inspect --optimizer followed.pt | grep norm
  norm.bias           3     3       6.93         7.147
  norm.weight         4     3      4.766         4.983
$ ckpt check followed.pt --optimizer | tail -n 1
followed.pt: 24 tensors, 0 errors, 0 warnings: sound
$ ckpt convert model.bpk followed.pt --force --optimizer optim.bpk --like swapped.pt 2>&1 | tail -n 1
  the parameters are counted in the order of swapped.pt's optimizer
$ ckpt inspect --optimizer followed.pt | grep norm
  norm.bias           3     3       6.93         7.147
  norm.weight         4     3      4.766         4.983

# So it does where the target is a model alone.
$ ckpt convert --quiet swapped.pt swapped-model.pt 2> /dev/null
$ ckpt convert model.bpk followed.pt --force --optimizer optim.bpk --like swapped-model.pt 2>&1 | tail -n 1
  the parameters are counted in the order of swapped-model.pt's model
$ ckpt inspect --optimizer followed.pt | grep norm
  norm.bias           3     3       6.93         7.147
  norm.weight         4     3      4.766         4.983

# A lock file is sorted, and says nothing of the order.
$ ckpt lock swapped.pt > swapped.lock 2> /dev/null; ckpt convert --quiet testdata/pytorch/training.pt locked.pt --optimizer testdata/pytorch/training.pt --like swapped.lock
ckpt: testdata/pytorch/training.pt: warning: pytorch has no place for 2 values (epoch, …): left behind
ckpt: testdata/pytorch/training.pt: warning: swapped.lock does not keep the order of model.parameters(): the optimizer counts the parameters as before, which param_names has
$ ckpt check locked.pt --optimizer | tail -n 2
CK047 warning norm.bias: by the names of the state it stands elsewhere than in the order of the model, which PyTorch counts in
locked.pt: 24 tensors, 0 errors, 1 warning: sound

# An optimizer of another kind in the target is not taken without a word.
$ ckpt convert --quiet testdata/burnpack/rebuilt.bpk of-sgd.pt --optimizer testdata/burnpack/optim_sgd_momentum.bpk --drop-orphans --module 'fc|head => none' 2> /dev/null
$ ckpt convert --quiet testdata/burnpack/rebuilt.bpk of-adam.pt --optimizer mended.bpk --module 'fc|head => none' --like of-sgd.pt
ckpt: testdata/burnpack/rebuilt.bpk: warning: pytorch has no place for 4 param ids (of fc.weight, …): left behind
ckpt: testdata/burnpack/rebuilt.bpk: warning: the optimizer of of-sgd.pt is not taken for a model: it is SGD, not Adam
ckpt: testdata/burnpack/rebuilt.bpk: warning: burn's record holds no hyper-parameters; written as PyTorch's rate and burn's defaults: lr=0.001, betas=[0.9,0.999], eps=1e-05, weight_decay=0.0, amsgrad=false; --hyper KEY=VALUE sets them
ckpt: testdata/burnpack/rebuilt.bpk: warning: the optimizer counts the parameters in the order of OUT, which must be that of model.parameters()

# Settings that are tensors, infinite, or too large for JSON; rates that differ by group.
$ ckpt inspect --optimizer testdata/pytorch/settings.pt | tail -n 6
  ?                 3     2      5.569         5.746
  group 0, 2 parameters: lr 0.0625, betas [0.9,0.999], eps 1e-08, amsgrad false, maximize false, foreach null, capturable false, differentiable false, fused false, initial_lr 0.25, max_norm "Infinity", lowest "NaN", seed -1180591620717411303424, cast "torch.float16", pair [1,2], weight_decay 0.125
  group 1, 2 parameters: betas [0.9,0.999], eps 1e-08, weight_decay 0, amsgrad false, maximize false, foreach null, capturable false, differentiable false, fused false, initial_lr 0.5, lr 0.125

learning-rate schedulers
  scheduler  ExponentialLR  2 steps done
$ printf 'fc.weight\nfc.bias\nhead.weight\nhead.bias\n' > names.txt
$ ckpt convert testdata/pytorch/settings.pt settings.bpk --optimizer-out settings-optim.bpk --scheduler-out settings-scheduler.bpk --module 'fc|head => Linear' --param-names names.txt
ckpt: testdata/pytorch/settings.pt: warning: hyper-parameters do not travel in burn's record for group 0: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.125 (burn's default: 0.0); write AdamConfig::new().with_epsilon(1e-8).with_weight_decay(Some(WeightDecayConfig::new(0.125)))
ckpt: testdata/pytorch/settings.pt: warning: max_norm is "Infinity": burn's AdamConfig has no such setting
ckpt: testdata/pytorch/settings.pt: warning: lowest is "NaN": burn's AdamConfig has no such setting
ckpt: testdata/pytorch/settings.pt: warning: seed is -1180591620717411303424: burn's AdamConfig has no such setting
ckpt: testdata/pytorch/settings.pt: warning: cast is "torch.float16": burn's AdamConfig has no such setting
ckpt: testdata/pytorch/settings.pt: warning: pair is [1,2]: burn's AdamConfig has no such setting
ckpt: testdata/pytorch/settings.pt: warning: hyper-parameters do not travel in burn's record for group 1: epsilon is 1e-8 (burn's default: 1e-5); write AdamConfig::new().with_epsilon(1e-8)
ckpt: testdata/pytorch/settings.pt: warning: 2 settings of the optimizer are each a tensor; the number is taken, and written as one: optimizer.param_groups.0.weight_decay, optimizer.param_groups.1.lr
ckpt: testdata/pytorch/settings.pt: warning: rates of the scheduler are tensors; their numbers are taken, and written as such
ckpt: testdata/pytorch/settings.pt: warning: ExponentialLR counts 2 steps here: burn's Learner makes one every iteration, PyTorch wherever the script says (often once an epoch)
testdata/pytorch/settings.pt -> settings.bpk: pytorch to burnpack, 1.26 KiB
adapter: pytorch-to-burn (by the two formats)
4 read = 4 written + 0 merged - 0 split + 0 dropped; 0 renamed, 2 transposed, 0 cast; nothing else changed
optimizer: Adam (its settings stand in the order of Adam's), 4 parameters with 8 moments; joined by the names of --param-names
  write AdamConfig::new().with_epsilon(1e-8).with_weight_decay(Some(WeightDecayConfig::new(0.125))), learning rate 0.0625 (initially 0.25)
  write AdamConfig::new().with_epsilon(1e-8), learning rate 0.125 (initially 0.5)
  if the training clips gradients: PyTorch's norm is of all parameters together, burn's of each
scheduler: ExponentialLrSchedulerConfig::new(0.25, 0.5); ExponentialLrSchedulerConfig::new(0.5, 0.5)
$ ckpt convert --quiet settings.bpk settings-back.pt --optimizer settings-optim.bpk --scheduler settings-scheduler.bpk
ckpt: settings.bpk: warning: pytorch has no place for 4 param ids (of fc.weight, …): left behind
ckpt: settings.bpk: warning: 2 settings may get another type in Python (a list becomes a tuple, a type its name): cast, pair
$ ckpt inspect --optimizer settings-back.pt | tail -n 6
  head.bias           3     2      5.569         5.746
  group 0, 2 parameters: lr 0.0625, betas [0.9,0.999], eps 1e-08, amsgrad false, maximize false, foreach null, capturable false, differentiable false, fused false, initial_lr 0.25, max_norm "Infinity", lowest "NaN", seed -1180591620717411303424, cast "torch.float16", pair [1,2], weight_decay 0.125
  group 1, 2 parameters: betas [0.9,0.999], eps 1e-08, weight_decay 0, amsgrad false, maximize false, foreach null, capturable false, differentiable false, fused false, initial_lr 0.5, lr 0.125

learning-rate schedulers
  scheduler  ExponentialLR  2 steps done

# Groups of equal layers may be in any order: `Adam([{head}, {fc}])` would be the same file.
$ ckpt convert testdata/pytorch/settings.pt open.bpk --optimizer-out open-optim.bpk --module 'fc|head => Linear'
ckpt: testdata/pytorch/settings.pt: the 4 parameters of the optimizer fit the 4 of the model in several orders
hint: --param-names FILE names the parameters by position, one a line
[1]
$ ckpt check testdata/pytorch/settings.pt --optimizer | tail -n 2
CK048 warning the 4 parameters of the optimizer fit the 4 of the model in several orders
testdata/pytorch/settings.pt: 19 tensors, 0 errors, 1 warning: sound

# Of two states for one name one would be lost.
$ printf 'fc.weight\nfc.bias\nfc.weight\nhead.bias\n' > twice.txt
$ ckpt convert testdata/pytorch/settings.pt twice.bpk --optimizer-out twice-optim.bpk --module 'fc|head => Linear' --param-names twice.txt --drop-orphans; ls twice.bpk
ckpt: testdata/pytorch/settings.pt: the names of --param-names: fc.weight stands twice, at the positions 0 and 2 (counted from 0)
hint: --param-names FILE names every parameter once, by position, one a line
ls: cannot access 'twice.bpk': No such file or directory
[2]

# Moments are in their file's layout, which must be the model's: a square matrix has one shape in both.
$ ckpt convert settings.bpk mixed.bpk --optimizer testdata/pytorch/settings.pt --optimizer-out mixed-optim.bpk --param-names names.txt
ckpt: testdata/pytorch/settings.pt: the moments are in PyTorch's layout, but the model settings.bpk is in burn's
hint: first convert the model alone: ckpt convert settings.bpk in-pytorch.pt; then give in-pytorch.pt in its place
[1]
$ ckpt convert settings.bpk mixed.pt --optimizer testdata/pytorch/settings.pt --param-names names.txt 2>&1 | head -n 1
ckpt: testdata/pytorch/settings.pt: the moments are in PyTorch's layout, but the model settings.bpk is in burn's
$ ckpt check testdata/pytorch/settings.pt --model settings.bpk
CK041 error   the moments are in PyTorch's layout, but the model settings.bpk is in burn's
testdata/pytorch/settings.pt: 19 tensors, 1 error, 0 warnings: NOT SOUND
[1]
$ ckpt convert --quiet settings.bpk in-pytorch.pt 2> /dev/null
$ ckpt convert --quiet in-pytorch.pt mixed.bpk --optimizer testdata/pytorch/settings.pt --optimizer-out mixed-optim.bpk --param-names names.txt --module 'fc|head => Linear' 2> /dev/null
$ ckpt inspect mixed-optim.bpk --tensor "$(ckpt inspect mixed-optim.bpk | sed -n 's/^  \([0-9]*\)  fc.weight$/\1/p').momentum.moment_1" | grep values
  values     0.125 0.375 0.25 0.5
$ ckpt convert --quiet in-pytorch.pt mixed.pt --optimizer testdata/pytorch/settings.pt --param-names names.txt 2> /dev/null
$ ckpt inspect mixed.pt --tensor optimizer.state.0.exp_avg | grep values
  values     0.125 0.25 0.375 0.5

# The same the other way. The ids by which the record names its parameters are those of its own model.
$ ckpt convert in-pytorch.pt mixed.pt --force --optimizer settings-optim.bpk
ckpt: settings-optim.bpk: the moments are in burn's layout, but the model in-pytorch.pt is in PyTorch's
hint: first convert the model alone: ckpt convert in-pytorch.pt in-burn.bpk --like MODEL (the record's own model, for its ids); then give in-burn.bpk in its place
[1]
$ ckpt convert --quiet in-pytorch.pt in-burn.bpk --like settings.bpk --module 'fc|head => Linear'
$ ckpt convert --quiet in-burn.bpk mixed.pt --force --optimizer settings-optim.bpk 2> /dev/null
$ ckpt inspect mixed.pt --tensor optimizer.state.0.exp_avg | grep values
  values     0.125 0.25 0.375 0.5
$ ckpt convert settings-optim.bpk none.bpk --model in-pytorch.pt --drop-orphans
ckpt: in-pytorch.pt: the model's tensors have no ids, by which burn's record names its parameters
hint: --model takes the burnpack that the record belongs to
[1]

# Of a safetensors model nobody says it, or the user does, or the note of a conversion.
$ ckpt convert --quiet in-pytorch.pt unknown.safetensors
$ ckpt convert unknown.safetensors mixed.pt --force --optimizer testdata/pytorch/settings.pt --param-names names.txt 2>&1 | grep layout
ckpt: unknown.safetensors: warning: nothing says whose layout the model is in, and no shape does; it was taken for that of the optimizer's moments, which matters for 2 square matrices: fc.weight, head.weight
$ ckpt inspect mixed.pt --tensor optimizer.state.0.exp_avg | grep values
  values     0.125 0.25 0.375 0.5
$ ckpt convert unknown.safetensors told.bpk --optimizer testdata/pytorch/settings.pt --optimizer-out told-optim.bpk --param-names names.txt
ckpt: unknown.safetensors: nothing says whose layout the model is in, but burn's record takes moments in burn's
hint: --adapter pytorch-to-burn if it is in PyTorch's, as the moments are; --adapter none carries both as they are
[1]
$ ckpt convert unknown.safetensors told.bpk --optimizer testdata/pytorch/settings.pt --optimizer-out told-optim.bpk --param-names names.txt --adapter pytorch-to-burn --module 'fc|head => Linear' 2>&1 | grep -e layout -e adapter
adapter: pytorch-to-burn
$ ckpt inspect told-optim.bpk --tensor "$(ckpt inspect told-optim.bpk | sed -n 's/^  \([0-9]*\)  fc.weight$/\1/p').momentum.moment_1" | grep values
  values     0.125 0.375 0.25 0.5
$ ckpt convert unknown.safetensors told.pt --optimizer testdata/pytorch/settings.pt --param-names names.txt --adapter burn-to-pytorch
ckpt: testdata/pytorch/settings.pt: the moments are in PyTorch's layout, but the model unknown.safetensors is in burn's
hint: first convert the model alone: ckpt convert unknown.safetensors in-pytorch.pt --adapter burn-to-pytorch; then give in-pytorch.pt in its place, without --adapter, with --param-names FILE (a safetensors file does not keep the parameters' order)
[1]
$ ckpt convert --quiet settings.bpk noted.safetensors --adapter none 2> /dev/null
$ ckpt convert noted.safetensors told.pt --optimizer testdata/pytorch/settings.pt --param-names names.txt 2>&1 | head -n 1
ckpt: testdata/pytorch/settings.pt: the moments are in PyTorch's layout, but the model noted.safetensors is in burn's
$ ckpt convert --quiet testdata/pytorch/training.pt proven.safetensors 2> /dev/null
$ printf 'fc.weight\nhead.weight\nfc.bias\nnorm.weight\nnorm.bias\nhead.bias\n' > training.txt
$ ckpt convert --quiet proven.safetensors proven.pt --optimizer testdata/pytorch/training.pt --param-names training.txt 2>&1 | grep layout
[1]

# A state that does not fit is told.
$ ckpt check testdata/burnpack/optim_adam.bpk --model testdata/burnpack/rebuilt.bpk
CK040 error   8 of 8 tensors are orphans, of 4 parameters that the model does not have (fc.weight, fc.bias, head.weight, head.bias; at step 3)
CK044 warning 4 of the model's 4 parameters have no state: fc.weight, fc.bias, head.weight, head.bias
testdata/burnpack/optim_adam.bpk: 8 tensors, 1 error, 1 warning: NOT SOUND
[1]
$ ckpt check testdata/burnpack/net.bpk --optimizer
ckpt: testdata/burnpack/net.bpk: the file holds no optimizer's state, which --model and --optimizer look at
[2]

# burn's checkpoint folder.
$ ckpt convert --quiet testdata/pytorch/training.pt checkpoint --epoch 3 && ls checkpoint
ckpt: testdata/pytorch/training.pt: warning: burnpack has no place for 1 value (epoch): left behind
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 0: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.01 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01)
ckpt: testdata/pytorch/training.pt: warning: hyper-parameters do not travel in burn's record for group 1: epsilon is 1e-8 (burn's default: 1e-5), weight_decay is 0.0 (burn's default: 0.0001); write AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.0)
ckpt: testdata/pytorch/training.pt: warning: CosineAnnealingLR counts 3 steps here: burn's Learner makes one every iteration, PyTorch wherever the script says (often once an epoch)
model-3.bpk
optim-3.bpk
scheduler-3.bpk
$ cmp checkpoint/model-3.bpk model.bpk && cmp checkpoint/optim-3.bpk optim.bpk && cmp checkpoint/scheduler-3.bpk scheduler.bpk
$ ckpt convert --quiet checkpoint again.pt && cmp again.pt back.pt
ckpt: checkpoint/model-3.bpk: warning: pytorch has no place for 6 param ids (of fc.weight, …): left behind
$ rm checkpoint/scheduler-3.bpk && ckpt convert checkpoint again.pt --force
ckpt: checkpoint: scheduler-3.bpk is missing
hint: the last epoch in this folder is 3; --epoch takes another
[2]

# Usage.
$ ckpt convert testdata/pytorch/training.pt out.safetensors --optimizer-out optim.bpk
ckpt: burn's records go with a burnpack, which alone holds the parameters' ids
hint: name OUT .bpk
[2]
$ ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --half
ckpt: a cast would not reach the optimizer's state
hint: convert without a cast, then cast the model
[2]
$ ckpt convert testdata/pytorch/net.pt other.bpk --optimizer-out other-optim.bpk
ckpt: testdata/pytorch/net.pt: there is no optimizer's state
hint: ckpt inspect shows what there is
[1]
$ ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --optimizer-kind SGD
ckpt: testdata/pytorch/training.pt: --optimizer-kind SGD: the state is not of that kind, but of AdamW
[1]
$ printf 'fc.weight\nhead.weight\nfc.bias\n' > few.txt; ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --param-names few.txt
ckpt: testdata/pytorch/training.pt: the names of --param-names are 3, the optimizer has 6 parameters
hint: --param-names FILE names the parameters by position, one a line
[1]
$ printf 'head.weight\nfc.weight\nfc.bias\nnorm.weight\nnorm.bias\nhead.bias\n' > wrong.txt; ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --param-names wrong.txt
ckpt: testdata/pytorch/training.pt: exp_avg of parameter 0 has the shape [3, 4], but head.weight is [2, 3]
hint: --param-names FILE names the parameters by position, one a line
[1]
$ ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-kind Adam
ckpt: --optimizer-key, --optimizer-kind and --param-names say nothing where no optimizer is read
hint: --optimizer-out FILE or --optimizer FILE reads one
[2]
$ ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --hyper lr=1
ckpt: --hyper sets what is written beside a PyTorch model, and nothing is
hint: ckpt convert model.bpk train.pt --optimizer optim.bpk
[2]
$ ckpt convert testdata/pytorch/training.pt other.bpk --model testdata/burnpack/net.bpk
ckpt: --model is of use with --drop-orphans only
hint: ckpt check RECORD --model MODEL tells what does not fit
[2]
$ ckpt convert testdata/pytorch/training.pt other --optimizer testdata/pytorch/training.pt --shard-size 5GB
ckpt: --optimizer needs a place to go to
hint: name OUT .pt, or give --optimizer-out
[2]
$ ckpt convert testdata/pytorch/training.pt other.bpk --optimizer-out other-optim.bpk --permute-rope fc --heads 1
ckpt: what changes the weights would not reach the optimizer's state
hint: convert without --dequantize, --permute-rope, --stack and --unstack
[2]
$ ls | grep other
[1]
