#pragma once

#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// The globals of a document that are not plain data, in order of first mention.
std::vector<ForeignGlobal> foreign_globals(const Document& document);

}  // namespace ckpt::pytorch
