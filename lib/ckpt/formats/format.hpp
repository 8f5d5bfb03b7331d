#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/dtype.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/formats/salvage.hpp"

namespace ckpt {

/// Whose layout the tensors of a format are in; `either` where the file does not say.
enum class Convention { pytorch, burn, either };

/// One row of the table of formats.
struct Format {
  std::string_view name;                              ///< as the command line spells it
  std::span<const std::string_view> extensions = {};  ///< that call for this format when writing
  Convention convention = Convention::either;
  bool is_header_first = false;  ///< the catalogue can be read without the end of the file
  bool has_metadata = false;     ///< the format has a place for text metadata
  bool has_scalars = false;      ///< … for burnpack's scalars
  bool has_param_ids = false;    ///< … for burn's ids of parameters
  bool has_ties = false;         ///< tensors that share their elements are stored once
  /// Whether a file that begins with `head` (up to 512 bytes) and is `size` bytes long is of this
  /// format. Cheap and sure of itself: a row that is not sure comes later in the table.
  bool (*recognise)(std::span<const std::byte> head, std::uint64_t size);
  Checkpoint (*read)(const Input& input);
  /// What is whole of a damaged file. Null where such a file cannot be read in part.
  Salvaged (*salvage)(const Input& input) = nullptr;
  /// Lays the output out. Throws `refused`, naming the tensor, for what the format cannot hold.
  /// Null when the format is only read.
  Plan (*plan)(const Checkpoint& checkpoint) = nullptr;
  /// Whether the format has a place for tensors of this type. Null like `plan`.
  bool (*holds)(DType dtype) = nullptr;
};

/// The table, in the order in which formats are tried.
std::span<const Format> format_table();
/// The row of that name, or null.
const Format* find_format(std::string_view name);
/// The row whose extension `file_name` ends in, for writing; null when none does.
const Format* format_for_extension(std::string_view file_name);

/// The row that reads this file, by its content. Throws `unsupported` like `read_checkpoint`.
const Format& recognise_format(const Input& input, const ByteSource& bytes);
/// The same of a file of `size` bytes (2^64 - 1 where that is not known) that begins with `head`.
const Format& recognise_head(std::string_view name, std::span<const std::byte> head, std::uint64_t size);

/// Reads a checkpoint of any format, told by its content; a directory or the index of a sharded set is
/// one checkpoint. Throws `unsupported` with one sentence for a file that is no checkpoint (what it
/// seems to be instead).
Checkpoint read_checkpoint(const Input& input);

}  // namespace ckpt
