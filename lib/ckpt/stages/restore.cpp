#include "ckpt/stages/restore.hpp"

#include <unordered_map>

#include <fmt/format.h>

#include "ckpt/core/text.hpp"
#include "ckpt/stages/kinds.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

using Index = std::unordered_map<std::string, std::size_t>;

Index index_of(const Checkpoint& checkpoint) {
  Index index;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) index.emplace(checkpoint.tensors[i].name, i);
  return index;
}

}  // namespace

Edited restore_counters(Checkpoint checkpoint, const Target& target) {
  const Index index = index_of(checkpoint);
  EditReport report;
  for (const TargetTensor& wanted : target.tensors) {
    const bool is_counter = leaf_name(wanted.name) == "num_batches_tracked" && wanted.shape.empty() &&
                            wanted.dtype == DType::i64 && !index.contains(wanted.name);
    if (!is_counter || !index.contains(join_path(module_path(wanted.name), "running_mean"))) continue;
    Tensor zero{.name = wanted.name, .dtype = DType::i64};
    zero.view = {.source = memory_bytes(std::vector<std::byte>(8)), .bytes = 8, .stored = DType::i64};
    checkpoint.tensors.push_back(std::move(zero));
    report.edits.push_back({wanted.name, {}, "made: the target counts batches, from 0"});
    ++report.added;
  }
  if (report.added > 0)
    report.summary = fmt::format("added: {} num_batches_tracked (I64 0) that the target has", report.added);
  return {std::move(checkpoint), std::move(report)};
}

Edited restore_ties(Checkpoint checkpoint, const std::vector<std::pair<std::string, std::string>>& ties) {
  const Index index = index_of(checkpoint);
  EditReport report;
  for (const auto& [one, other] : ties) {
    if (index.contains(one) == index.contains(other)) continue;
    const std::string& missing = index.contains(one) ? other : one;
    const std::string& present = index.contains(one) ? one : other;
    Tensor twin = checkpoint.tensors[index.at(present)];
    twin.name = missing;
    forget_module(twin);
    checkpoint.tensors.push_back(std::move(twin));
    report.edits.push_back(
        {missing, {present}, fmt::format("tied to {}, as in the target", printable(present))});
    ++report.added;
  }
  if (report.added > 0)
    report.summary = fmt::format("added: {} tied to another name in the target ({} = {}{})",
                                 report.added == 1 ? "1 tensor" : fmt::format("{} tensors", report.added),
                                 printable(report.edits.front().name),
                                 printable(report.edits.front().from.front()), report.added > 1 ? ", …" : "");
  return {std::move(checkpoint), std::move(report)};
}

}  // namespace ckpt
