#include "ckpt/formats/shard_set.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"

namespace ckpt {
namespace {

/// How the files of a set are called: by Hugging Face's libraries, which look for these names.
struct SetNames {
  std::string_view format;
  std::string_view stem;
  std::string_view extension;
};

constexpr std::array names{
    SetNames{"safetensors", "model", ".safetensors"},
    SetNames{"pytorch", "pytorch_model", ".bin"},
};

const SetNames* find_names(const Format& format) {
  const auto row = std::ranges::find(names, format.name, &SetNames::format);
  return row == names.end() ? nullptr : &*row;
}

Checkpoint without_tensors(const Checkpoint& checkpoint) {
  Checkpoint copy = checkpoint;
  copy.tensors.clear();
  return copy;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

ShardSet plan_shards(const Checkpoint& checkpoint, const Format& format, std::uint64_t limit) {
  const SetNames* of = find_names(format);
  if (of == nullptr)
    throw Error(ErrorKind::usage, fmt::format("there are no sharded sets of {}", format.name))
        .with_hint("write --to safetensors or --to pytorch, or a single file without --shard-size");
  std::vector<Checkpoint> parts;
  std::uint64_t size = 0;
  std::uint64_t total = 0;
  const Checkpoint rest = without_tensors(checkpoint);
  for (const Tensor& tensor : checkpoint.tensors) {
    const std::uint64_t bytes = tensor.byte_size();
    if (parts.empty() || (size > 0 && bytes > limit - std::min(size, limit))) {
      parts.push_back(rest);
      size = 0;
    }
    parts.back().tensors.push_back(tensor);
    size += bytes;
    total += bytes;
  }
  if (parts.empty()) parts.push_back(rest);

  ShardSet set;
  std::map<std::string, std::string> shard_of;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string name = parts.size() == 1
                           ? fmt::format("{}{}", of->stem, of->extension)
                           : fmt::format("{}-{:05}-of-{:05}{}", of->stem, i + 1, parts.size(), of->extension);
    for (const Tensor& tensor : parts[i].tensors) shard_of.emplace(tensor.name, name);
    set.shards.push_back({std::move(name), std::move(parts[i])});
  }
  set.index_name = fmt::format("{}{}.index.json", of->stem, of->extension);
  if (set.shards.size() == 1) return set;
  Value map = Value::object();
  for (const auto& [tensor, shard] : shard_of) map.set(tensor, shard);
  Value index = Value::object();
  index.set("metadata", Value::object().set("total_size", total)).set("weight_map", std::move(map));
  set.index = json::dump(index, 2) + "\n";
  return set;
}

bool belongs_to_set(std::string_view name, const Format& format) {
  const SetNames* of = find_names(format);
  if (of == nullptr) return false;
  if (name == fmt::format("{}{}.index.json", of->stem, of->extension)) return true;
  if (name == fmt::format("{}{}", of->stem, of->extension)) return true;
  // STEM-NNNNN-of-NNNNN.EXTENSION
  const std::string prefix = fmt::format("{}-", of->stem);
  if (!name.starts_with(prefix) || !name.ends_with(of->extension)) return false;
  const std::string_view middle =
      name.substr(prefix.size(), name.size() - prefix.size() - of->extension.size());
  const std::size_t dash = middle.find("-of-");
  return dash != std::string_view::npos && all_digits(middle.substr(0, dash)) &&
         all_digits(middle.substr(dash + 4));
}

}  // namespace ckpt
