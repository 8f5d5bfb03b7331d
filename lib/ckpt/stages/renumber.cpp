#include "ckpt/stages/renumber.hpp"

#include <charconv>
#include <map>
#include <string>
#include <string_view>

#include "ckpt/core/text.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

Remapped renumber(Checkpoint checkpoint) {
  // For every path, its indices: parents are told apart by their numbers of old.
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>, std::less<>> indices;
  for (const Tensor& tensor : checkpoint.tensors)
    for_each_segment(tensor.name, [&](std::string_view path, std::string_view segment) {
      if (is_index(segment)) indices[std::string(path)].emplace(number(segment), 0);
    });
  for (auto& [path, numbers] : indices) {
    std::uint64_t next = 0;
    for (auto& [old, fresh] : numbers) fresh = next++;
  }
  RemapReport report;
  for (Tensor& tensor : checkpoint.tensors) {
    std::string name;
    for_each_segment(tensor.name, [&](std::string_view path, std::string_view segment) {
      if (!path.empty()) name += '.';
      if (is_index(segment)) name += std::to_string(indices.find(path)->second.at(number(segment)));
      else name += segment;
    });
    report.names.push_back({tensor.name, name, {}});
    tensor.name = std::move(name);
  }
  require_unique_names(checkpoint,
                       [&](std::size_t i) { return printable(report.names[i].from) + " by --renumber"; });
  return {std::move(checkpoint), std::move(report)};
}

}  // namespace ckpt
