#pragma once

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/dtype.hpp"
#include "ckpt/core/plan.hpp"

namespace ckpt {

/// Lays a state dict out as the ZIP archive that `torch.save` writes and `torch.load` reads, with
/// `weights_only` too. Tensors that lie at one place share a storage. Throws `refused` for types that
/// PyTorch lacks and for names that it could not read.
Plan plan_pytorch(const Checkpoint& checkpoint);

/// Lays a training checkpoint out in the same way: a dict whose `model` is the state dict of all tensors
/// below `model.`, names whole; the other tensors and `checkpoint.values` are nested by the dots of their
/// names. Keys that are decimal numbers become integers; lists below `param_groups` become tuples, except
/// `params` and `param_names`. Throws as above.
Plan plan_pytorch_training(const Checkpoint& checkpoint);

/// Whether PyTorch has a type for such elements.
bool pytorch_holds(DType dtype);

}  // namespace ckpt
