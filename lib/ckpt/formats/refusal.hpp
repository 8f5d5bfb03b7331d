#pragma once

#include <string>
#include <string_view>

#include "ckpt/core/tensor.hpp"

namespace ckpt {

/// `tensor "fc.bias"`, fit for one line of a message.
std::string tensor_label(std::string_view name);

/// Throws `refused`: `format` has no place for the tensor's type, and another type would not hold the
/// same values or would not be read back as what it was. The hint says what would mend it.
[[noreturn]] void refuse_dtype(const Tensor& tensor, std::string_view format);

/// Throws `refused` unless `text`, which is a `what` (a name, a key of the metadata), is UTF-8: both
/// safetensors and burnpack can hold nothing else.
void require_utf8(std::string_view text, std::string_view what, std::string_view format);

}  // namespace ckpt
