#include "ckpt/stages/dequantize.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/kinds.hpp"

namespace ckpt {
namespace {

constexpr std::uint64_t usual_block = 128;  // DeepSeek-V3 and what followed it

constexpr std::array scale_leaves{std::string_view("weight_scale_inv"), std::string_view("weight_scale")};
// Scales of what flows in, not of the weight.
constexpr std::string_view input_leaf = "input_scale";

bool is_fp8(DType dtype) { return is_floating(dtype) && info(dtype).bits == 8 && dtype != DType::f8_e8m0; }

std::uint64_t blocks(std::uint64_t size, std::uint64_t block) {
  return size / block + (size % block != 0 ? 1 : 0);
}

/// How long blocks are along one dimension; nothing where the shapes do not say.
std::optional<std::uint64_t> block_length(std::uint64_t size, std::uint64_t scales) {
  if (scales == 1) return std::max<std::uint64_t>(size, 1);
  if (scales == size) return 1;
  if (blocks(size, usual_block) == scales) return usual_block;
  if (scales == 0 || size % scales != 0) return std::nullopt;
  const std::uint64_t length = size / scales;
  return length != 0 && (length & (length - 1)) == 0 ? std::optional(length) : std::nullopt;
}

/// The tensors of one quantised weight.
struct Group {
  const Tensor* weight = nullptr;
  const Tensor* scale = nullptr;
  const Tensor* input = nullptr;
  std::vector<std::string> others;
};

Group group_of(const std::vector<std::string>& names,
               const std::unordered_map<std::string_view, const Tensor*>& tensors) {
  Group group;
  for (const std::string& name : names) {
    const Tensor* tensor = tensors.at(name);
    const std::string_view leaf = leaf_name(name);
    if (leaf == "weight") group.weight = tensor;
    else if (leaf == input_leaf) group.input = tensor;
    else if (std::ranges::find(scale_leaves, leaf) != scale_leaves.end() && group.scale == nullptr)
      group.scale = tensor;
    else group.others.push_back(name);
  }
  return group;
}

bool is_contiguous(const Tensor& tensor) {
  return tensor.pieces.empty() && !tensor.view.strides && !tensor.view.big_endian &&
         tensor.dtype == tensor.view.stored;
}

[[noreturn]] void refuse(const Checkpoint& checkpoint, std::string what, std::string hint) {
  throw Error(ErrorKind::refused, std::move(what)).in_file(checkpoint.file).with_hint(std::move(hint));
}

constexpr std::string_view leave_out =
    "leave out --dequantize to copy it byte for byte, or leave it out with --exclude";

void require_known(const Checkpoint& checkpoint, const std::vector<std::string>& names, const Group& group) {
  if (group.weight == nullptr || group.scale == nullptr || !group.others.empty() ||
      !is_fp8(group.weight->dtype))
    refuse(checkpoint,
           fmt::format("{}: only FP8 weights with weight_scale or weight_scale_inv can be dequantized{}",
                       printable(fmt::format("{}", fmt::join(names, ", "))),
                       group.weight != nullptr && !is_fp8(group.weight->dtype)
                           ? fmt::format(", and the weight is {}", name(group.weight->dtype))
                           : ""),
           std::string(leave_out));
  if (!is_floating(group.scale->dtype) || element_size(group.scale->dtype) == 0)
    refuse(checkpoint,
           fmt::format("tensor {}: scales of type {} are not known", printable(group.scale->name),
                       name(group.scale->dtype)),
           std::string(leave_out));
  for (const Tensor* tensor : {group.weight, group.scale})
    if (!is_contiguous(*tensor))
      refuse(checkpoint, fmt::format("tensor {} is not contiguous", printable(tensor->name)),
             "convert the file first without --dequantize, then the result with it");
}

struct Blocks {
  std::uint64_t rows = 0, columns = 0;  // of the weight, seen as a matrix
  BlockSize size;
};

/// The weight as a matrix, and how its scales cover it.
Blocks blocks_of(const Checkpoint& checkpoint, const Group& group, std::optional<BlockSize> block) {
  const Shape& shape = group.weight->shape;
  const Shape& scale = group.scale->shape;
  Blocks out;
  out.rows = shape.empty() ? 1 : shape.front();
  out.columns = out.rows == 0 ? 0 : group.weight->elements() / out.rows;
  const auto misfit = [&] {
    refuse(checkpoint,
           fmt::format("the scales {} {} do not fit the weight {} {}{}", printable(group.scale->name),
                       to_string(scale), printable(group.weight->name), to_string(shape),
                       block ? fmt::format(" in blocks of {}x{}", block->first, block->second) : ""),
           "say how large a block is with --block-size ROWSxCOLUMNS");
  };
  // A scale for all, one a row (with or without a dimension of 1 for the columns), or a matrix of blocks.
  std::uint64_t down = 1;
  std::uint64_t across = 1;
  if (group.scale->elements() != 1) {
    const bool is_vector_of_rows = scale.size() != 1 || scale.front() == out.rows;
    if (!is_vector_of_rows)
      refuse(
          checkpoint,
          fmt::format("the scales {} {} are not one a row of the weight {} {}", printable(group.scale->name),
                      to_string(scale), printable(group.weight->name), to_string(shape)),
          std::string(leave_out));
    if (scale.size() > 2 || (shape.size() != 2 && scale.size() == 2 && scale[1] != 1)) misfit();
    down = scale.front();
    across = scale.size() == 2 ? scale[1] : 1;
  }
  if (block && down != 1 && across != 1) {
    out.size = *block;
    if (blocks(out.rows, block->first) != down || blocks(out.columns, block->second) != across) misfit();
    return out;
  }
  const std::optional<std::uint64_t> rows = block_length(out.rows, down);
  const std::optional<std::uint64_t> columns = block_length(out.columns, across);
  if (!rows || !columns) misfit();
  out.size = {*rows, *columns};
  return out;
}

std::string describe(const Blocks& blocks) {
  if (blocks.size.first >= blocks.rows && blocks.size.second >= blocks.columns) return "one scale";
  if (blocks.size.first == 1 && blocks.size.second >= blocks.columns) return "a scale a row";
  return fmt::format("blocks of {}x{}", blocks.size.first, blocks.size.second);
}

}  // namespace

BlockSize parse_block_size(std::string_view text) {
  const auto number = [&](std::string_view digits) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value == 0)
      fail(ErrorKind::usage, "--block-size: `{}` is not ROWSxCOLUMNS, as in 128x128", printable(text));
    return value;
  };
  const std::size_t cross = std::min(text.find('x'), text.size());
  return {number(text.substr(0, cross)), number(text.substr(std::min(cross + 1, text.size())))};
}

Edited dequantize(Checkpoint checkpoint, std::optional<BlockSize> block, const MakeScaled& make_scaled) {
  EditReport report;
  std::unordered_map<std::string_view, const Tensor*> tensors;
  for (const Tensor& tensor : checkpoint.tensors) tensors.emplace(tensor.name, &tensor);
  std::unordered_map<std::string, Tensor> made;
  std::unordered_set<std::string> used_up;
  std::map<std::string, std::uint64_t> ways;
  for (const std::vector<std::string>& names : quantised_groups(checkpoint)) {
    const Group group = group_of(names, tensors);
    require_known(checkpoint, names, group);
    const Blocks blocks = blocks_of(checkpoint, group, block);
    Tensor tensor = *group.weight;
    tensor.dtype = DType::f32;
    tensor.origin.reset();  // no part of a quantised weight any more
    const std::optional<std::uint64_t> bytes = byte_count(tensor.shape, DType::f32);
    if (!bytes)
      refuse(checkpoint, fmt::format("tensor {} is too large for F32", printable(tensor.name)),
             std::string(leave_out));
    tensor.view = {
        .source = make_scaled(*group.weight, *group.scale, blocks.rows, blocks.columns, blocks.size),
        .bytes = *bytes,
        .stored = DType::f32};
    const std::string how = fmt::format("{}, {}", name(group.weight->dtype), describe(blocks));
    report.edits.push_back(
        {tensor.name, {group.weight->name, group.scale->name}, fmt::format("dequantized to F32 ({})", how)});
    ++ways[how];
    ++report.merged;
    used_up.insert(group.scale->name);
    if (group.input != nullptr) {
      used_up.insert(group.input->name);
      report.dropped.push_back(group.input->name);
    }
    made.emplace(tensor.name, std::move(tensor));
  }
  std::vector<std::string> parts;
  for (const auto& [how, number] : ways) parts.push_back(fmt::format("{} of {}", number, how));
  report.summary = made.empty()
                       ? "dequantized: nothing; no weight has scales beside it"
                       : fmt::format("dequantized: {} to F32 ({})",
                                     made.size() == 1 ? "1 weight" : fmt::format("{} weights", made.size()),
                                     fmt::join(parts, "; "));
  std::vector<Tensor> result;
  for (Tensor& tensor : checkpoint.tensors) {
    if (used_up.contains(tensor.name)) continue;
    const auto changed = made.find(tensor.name);
    result.push_back(changed == made.end() ? std::move(tensor) : std::move(changed->second));
  }
  checkpoint.tensors = std::move(result);
  return {std::move(checkpoint), std::move(report)};
}

}  // namespace ckpt
