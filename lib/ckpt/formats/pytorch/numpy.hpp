#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "ckpt/core/tensor.hpp"
#include "ckpt/core/value.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// An array whose elements are not plain numbers, told in one line: `numpy array of <U2, shape [2]`.
struct ArraySummary {
  std::string text;
};

/// The NumPy array that a call node would make: a tensor without a name, or a summary for arrays of
/// strings, objects, dates and records. Nothing for nodes that are no array. Throws `corrupt` when its data
/// is too short or malformed.
std::optional<std::variant<Tensor, ArraySummary>> numpy_array(const Document& document, NodeId id);

/// Whether `numpy_array` would make a tensor of the node (or fail to). Cheap.
bool is_numeric_array(const Document& document, NodeId id);

/// The plain value of a NumPy scalar; nothing for other nodes and for types without a plain value.
std::optional<Value> numpy_scalar(const Document& document, NodeId id);

/// The spelling of a NumPy dtype node (`<f4`); empty for other nodes.
std::string numpy_dtype_text(const Document& document, NodeId id);

/// The bytes of a bytes node, of a Python 2 string or of text that goes through `_codecs.encode`;
/// nothing for other nodes. Bytes that lie in the pickle as they are stay there.
std::optional<Bytes> bytes_of(const Document& document, NodeId id);

}  // namespace ckpt::pytorch
