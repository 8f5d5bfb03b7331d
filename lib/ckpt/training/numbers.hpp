#pragma once

#include <string_view>

#include "ckpt/training/state.hpp"

namespace ckpt {

/// Puts the number of a tensor of one element where a plain number would stand: at the dotted `path` below
/// `value`, as a double, an integer or a flag by the tensor's type. False, and nothing done, for a tensor of
/// more elements and for a path that does not fit the values around it. Throws what `number` throws.
bool put_number(Value& value, std::string_view path, const Tensor& tensor, const NumberReader& number);

/// A value as one JSON text, and back. NaN, infinities and integers beyond 64 bits, which JSON lacks, are
/// written as `{"$number": "inf"}`. `from_note` throws `corrupt` for what is no JSON.
std::string to_note(const Value& value);
Value from_note(std::string_view text);

}  // namespace ckpt
