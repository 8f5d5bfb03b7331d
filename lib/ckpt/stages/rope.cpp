#include "ckpt/stages/rope.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/stages/cast.hpp"
#include "ckpt/stages/kinds.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

enum class Role { query, key };

std::optional<Role> role_of(std::string_view name) {
  thread_local const Regex query("(?i)^(q|wq|query|q_?proj|q_?lin|to_q|linear_q)$");
  thread_local const Regex key("(?i)^(k|wk|key|k_?proj|k_?lin|to_k|linear_k)$");
  const std::string_view module = leaf_name(module_path(name));
  if (query.matches(module)) return Role::query;
  if (key.matches(module)) return Role::key;
  return std::nullopt;
}

[[noreturn]] void refuse(const Checkpoint& checkpoint, const Tensor& tensor, const std::string& what,
                         std::string hint) {
  throw Error(ErrorKind::refused, fmt::format("--permute-rope: tensor {} {}: {}", printable(tensor.name),
                                              to_string(tensor.shape), what))
      .in_file(checkpoint.file)
      .with_hint(std::move(hint));
}

/// Rows of one head.
std::uint64_t head_size(const Checkpoint& checkpoint, const Tensor& tensor, std::uint64_t heads) {
  if (tensor.shape.empty() || tensor.shape.size() > 2)
    refuse(checkpoint, tensor, "is neither a matrix nor a vector", "match weights and biases only");
  const std::uint64_t rows = tensor.shape.front();
  if (rows == 0 || rows % heads != 0 || rows / heads % 2 != 0)
    refuse(checkpoint, tensor, fmt::format("{} rows are not {} heads of an even size", rows, heads),
           "--heads counts the heads of queries, --kv-heads those of keys: config.json has both");
  return rows / heads;
}

/// Heads divide the outputs of a projection: of a matrix that keeps them in columns the rows are none.
void require_rows_of_outputs(const Checkpoint& checkpoint, const Tensor& tensor, const Tensor* bias,
                             bool is_burn_layout) {
  if (tensor.shape.size() != 2) return;
  constexpr std::string_view hint =
      "convert the file to PyTorch's layout first (--adapter burn-to-pytorch), then permute the result";
  if (is_burn_layout)
    refuse(checkpoint, tensor, "burn keeps [in, out], so its rows are inputs, not those of heads",
           std::string(hint));
  if (bias != nullptr && bias->shape.size() == 1 && bias->shape[0] != tensor.shape[0])
    refuse(checkpoint, tensor,
           fmt::format("its bias {} is not as long as its rows, so these are not outputs",
                       to_string(bias->shape)),
           std::string(hint));
}

}  // namespace

Edited permute_rope(Checkpoint checkpoint, const RopeOptions& options, const PermuteRows& permute) {
  EditReport report;
  std::unordered_set<std::string> quantised;
  for (const std::vector<std::string>& group : quantised_groups(checkpoint))
    quantised.insert(group.begin(), group.end());
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const Tensor& tensor : checkpoint.tensors) by_name.emplace(tensor.name, &tensor);
  std::vector<std::uint64_t> hits(options.names.size());
  std::optional<std::pair<std::string, std::uint64_t>> first;
  for (Tensor& tensor : checkpoint.tensors) {
    bool is_named = false;
    for (std::size_t i = 0; i < options.names.size(); ++i)
      if (options.names[i].matches(tensor.name)) {
        ++hits[i];
        is_named = true;
      }
    if (!is_named) continue;
    const std::optional<Role> role = role_of(tensor.name);
    if (!role)
      refuse(checkpoint, tensor, "its name says neither query nor key",
             "match just these, as in '\\.(q|k)_proj\\.'; values are not rotated");
    const auto bias = by_name.find(join_path(module_path(tensor.name), "bias"));
    require_rows_of_outputs(checkpoint, tensor, bias == by_name.end() ? nullptr : bias->second,
                            options.is_burn_layout);
    const std::uint64_t size =
        head_size(checkpoint, tensor, *role == Role::query ? options.heads : options.kv_heads);
    if (first && first->second != size)
      refuse(checkpoint, tensor,
             fmt::format("its heads have {} rows, those of {} have {}", size, printable(first->first),
                         first->second),
             "--heads counts the heads of queries, --kv-heads those of keys: config.json has both");
    if (!first) first = {tensor.name, size};
    if (!tensor.pieces.empty() || tensor.view.strides || element_size(tensor.view.stored) == 0 ||
        info(tensor.dtype).kind == DTypeClass::quantized)
      refuse(checkpoint, tensor, "its rows do not lie one after the other",
             "convert the file first, then the result");
    if (quantised.contains(tensor.name))
      refuse(checkpoint, tensor, "part of a quantised weight, whose scales would have to follow",
             "add --dequantize");
    const std::uint64_t rows = tensor.shape.front();
    const std::uint64_t half = size / 2;
    const auto row_of = [size, half, to_interleaved = options.to_interleaved](std::uint64_t row) {
      const std::uint64_t within = row % size;
      return row - within +
             (to_interleaved ? within % 2 * half + within / 2 : within % half * 2 + within / half);
    };
    const std::uint64_t row_bytes = tensor.view.bytes / rows;
    if (row_bytes > 0) {
      tensor.view.source = permute(tensor.view.source, tensor.view.offset, rows, row_bytes, row_of);
      tensor.view.offset = 0;
    }
    report.edits.push_back({tensor.name,
                            {tensor.name},
                            fmt::format("rows of {} heads of {} permuted from {}", rows / size, size,
                                        options.to_interleaved ? "halves to pairs" : "pairs to halves")});
  }
  for (std::size_t i = 0; i < hits.size(); ++i)
    if (hits[i] == 0)
      throw Error(ErrorKind::refused,
                  fmt::format("--permute-rope '{}' matched no tensor", printable(options.names[i].pattern())))
          .in_file(checkpoint.file)
          .with_hint("names are matched after --rename");
  report.summary =
      fmt::format("rotary rows: {} permuted from {}",
                  report.edits.size() == 1 ? "1 tensor" : fmt::format("{} tensors", report.edits.size()),
                  options.to_interleaved ? "halves to interleaved pairs" : "interleaved pairs to halves");
  return {std::move(checkpoint), std::move(report)};
}

}  // namespace ckpt
