#include "ckpt/formats/sharded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/formats/not_weights.hpp"
#include "ckpt/formats/refusal.hpp"

// A sharded set, as Hugging Face's libraries write it: files that are checkpoints of their own,
//
//     model-00001-of-00003.safetensors    model-00002-of-00003.safetensors model-00003-of-00003.safetensors
//
// and an index beside them, `model.safetensors.index.json`:
//
//     {"metadata": {"total_size": bytes of tensor data},
//      "weight_map": {name of a tensor: name of the file that holds it, …}}
//
// Every tensor is in the file that the map names, and in that one only. PyTorch's sets are named
// `pytorch_model-00001-of-00002.bin` and `pytorch_model.bin.index.json`.

namespace ckpt {
namespace {

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// `model-00002-of-00003.safetensors`, taken apart.
struct ShardName {
  std::string_view prefix;     // `model`
  std::string_view extension;  // `.safetensors`
  std::uint64_t number = 0;
  std::uint64_t count = 0;

  auto set() const { return std::tuple(prefix, extension, count); }
};

std::optional<std::uint64_t> digits(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.size() < 5 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<ShardName> parse_shard_name(std::string_view name) {
  constexpr std::string_view of = "-of-";
  const std::size_t middle = name.rfind(of);
  if (middle == std::string_view::npos || !format_for_extension(name)) return std::nullopt;
  const std::size_t dash = name.substr(0, middle).rfind('-');
  const std::size_t dot = name.find('.', middle);
  if (dash == std::string_view::npos || dot == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> number = digits(name.substr(dash + 1, middle - dash - 1));
  const std::optional<std::uint64_t> count =
      digits(name.substr(middle + of.size(), dot - middle - of.size()));
  if (!number || !count) return std::nullopt;
  return ShardName{name.substr(0, dash), name.substr(dot), *number, *count};
}

struct Index {
  std::map<std::string, std::string> shard_of;  // by the name of the tensor
  std::optional<std::uint64_t> total_size;
  std::optional<std::set<std::string>>
      incomplete;  // the files, where it stands for a set that is being written

  std::set<std::string> shards() const {
    std::set<std::string> names;
    for (const auto& [tensor, shard] : shard_of) names.insert(shard);
    return names;
  }
};

// Shards lie beside their index: a path would let an index read any file.
void check_shard_name(const std::string& tensor, const std::string& shard) {
  if (shard.empty() || shard == "." || shard == ".." || shard.find_first_of("/\\") != std::string::npos ||
      shard.find('\0') != std::string::npos)
    fail(ErrorKind::corrupt,
         "weight_map places {} in \"{}\", which is not the name of a file beside the index",
         tensor_label(tensor), printable(shard));
  if (is_index_name(shard))
    fail(ErrorKind::corrupt, "weight_map places {} in \"{}\", which is an index itself", tensor_label(tensor),
         printable(shard));
}

std::optional<std::uint64_t> total_size_of(const Value& document) {
  const Value* metadata = document.find("metadata");
  const Value* total = metadata ? metadata->find("total_size") : nullptr;
  if (!total) return std::nullopt;
  if (const std::int64_t* number = total->as<std::int64_t>(); number && *number >= 0)
    return static_cast<std::uint64_t>(*number);
  // Some writers divide and multiply on the way and leave a float.
  if (const double* number = total->as<double>();
      number && *number >= 0 && *number < 0x1p63 && *number == std::floor(*number))
    return static_cast<std::uint64_t>(*number);
  fail(ErrorKind::corrupt, "metadata.total_size of the index is {}, not a number of bytes",
       json::dump(*total));
}

/// What `index_of_incomplete` wrote.
std::optional<std::set<std::string>> incomplete_of(const Value& document) {
  const Value* metadata = document.find("metadata");
  if (metadata == nullptr || metadata->find("incomplete") == nullptr) return std::nullopt;
  std::set<std::string> names;
  if (const Value* files = metadata->find("files"); files != nullptr && files->as<Value::Array>() != nullptr)
    for (const Value& file : *files->as<Value::Array>())
      if (const auto* name = file.as<std::string>()) names.insert(*name);
  return names;
}

Index read_index(const Input& input) {
  const Bytes bytes = input.bytes();
  if (!bytes) fail(ErrorKind::io, "the index is a directory");
  if (bytes->size() > limits::shard_index)
    fail(ErrorKind::unsupported, "the index has {} bytes; up to {} are read", bytes->size(),
         limits::shard_index);
  const std::vector<std::byte> text = read_range(*bytes, 0, bytes->size());
  refuse_not_weights(text, text.size(), Certainty::certain);
  const Value document = json::parse(as_text(text));
  const Value* map = document.find("weight_map");
  if (!document.is_object() || !map || !map->is_object())
    fail(ErrorKind::corrupt,
         "an index is an object with a weight_map from tensors to files, which this one has not");
  Index index;
  for (const auto& [tensor, file] : *map->as<Value::Object>()) {
    const std::string* shard = file.as<std::string>();
    if (!shard)
      fail(ErrorKind::corrupt, "weight_map places {} in {}, which is no file name", tensor_label(tensor),
           json::dump(file));
    check_shard_name(tensor, *shard);
    index.shard_of.emplace(tensor, *shard);
  }
  index.incomplete = incomplete_of(document);
  index.total_size = total_size_of(document);
  return index;
}

// Puts shards together, and remembers where each name came from.
class Merger {
 public:
  explicit Merger(const Input& input) : input_(input), siblings_(input.siblings()) {}

  /// Reads a shard. `why` says who asks for it, should it be missing.
  void add(const std::string& shard, const std::string& why) {
    if (!std::ranges::binary_search(siblings_, shard))
      throw Error(ErrorKind::io, fmt::format("the shard {} is missing: {}", printable(shard), why))
          .with_hint("download it and put it beside the others");
    Checkpoint part = read_checkpoint(*input_.open_sibling(shard));
    if (shards_++ == 0) {
      merged_.format = part.format;
      merged_.container = part.container;
    } else if (part.format != merged_.format) {
      fail(ErrorKind::corrupt, "the shard {} is {}, the ones before it are {}", printable(shard), part.format,
           merged_.format);
    }
    merge(std::move(part), shard);
  }

  const std::map<std::string, std::string>& shard_of() const { return shard_of_; }
  const std::vector<std::string>& siblings() const { return siblings_; }

  Checkpoint finish() && { return std::move(merged_); }

 private:
  void place(const std::string& name, const std::string& shard) {
    const auto [other, is_new] = shard_of_.emplace(name, shard);
    if (!is_new)
      fail(ErrorKind::corrupt, "{} is in two shards, {} and {}", tensor_label(name), printable(other->second),
           printable(shard));
  }

  void merge(Checkpoint&& part, const std::string& shard) {
    for (const Tensor& tensor : part.tensors) place(tensor.name, shard);
    for (const Refused& refused : part.refused) place(refused.name, shard);
    merged_.size += part.size;
    std::ranges::move(part.tensors, std::back_inserter(merged_.tensors));
    std::ranges::move(part.refused, std::back_inserter(merged_.refused));
    for (Integrity& stretch : part.integrity) {
      stretch.what = fmt::format("{}: {}", printable(shard), stretch.what);
      merged_.integrity.push_back(std::move(stretch));
    }
    for (ForeignGlobal& global : part.globals)
      if (globals_.insert(global.name).second) merged_.globals.push_back(std::move(global));
    for (std::string& text : part.hidden)
      merged_.hidden.push_back(fmt::format("{}: {}", printable(shard), text));
    for (std::string& note : part.notes)
      merged_.notes.push_back(fmt::format("{}: {}", printable(shard), note));
    merge_text(part.metadata, merged_.metadata, shard);
    for (const auto& [name, scalar] : part.scalars)
      if (!merged_.scalars.emplace(name, scalar).second)
        fail(ErrorKind::corrupt, "the scalar \"{}\" is in two shards", printable(name));
    merge_values(part.values, shard);
    for (const Root& root : part.roots) merge_root(root);
  }

  void merge_text(const std::map<std::string, std::string>& from, std::map<std::string, std::string>& to,
                  const std::string& shard) {
    for (const auto& [key, text] : from) {
      const auto [place, is_new] = to.emplace(key, text);
      if (!is_new && place->second != text)
        merged_.notes.push_back(
            fmt::format("{}: the metadata \"{}\" differs from that of an earlier shard, which is kept",
                        printable(shard), printable(key)));
    }
  }

  void merge_values(Value& values, const std::string& shard) {
    Value::Object* members = values.as<Value::Object>();
    if (!members) return;
    for (auto& [key, value] : *members) {
      const auto [at, is_new] = values_.emplace(key, values_.size());
      if (is_new) merged_.values.set(key, std::move(value));
      else if ((*merged_.values.as<Value::Object>())[at->second].second != value)
        merged_.notes.push_back(
            fmt::format("{}: the value \"{}\" differs from that of an earlier shard, which is kept",
                        printable(shard), printable(key)));
    }
  }

  void merge_root(const Root& root) {
    const auto [at, is_new] = roots_.emplace(root.key, merged_.roots.size());
    if (is_new) return merged_.roots.push_back(root);
    Root& same = merged_.roots[at->second];
    same.tensors += root.tensors;
    same.bytes += root.bytes;
  }

  const Input& input_;
  std::vector<std::string> siblings_;
  Checkpoint merged_;
  std::map<std::string, std::string> shard_of_;
  std::unordered_set<std::string> globals_;              // names of those that are there, …
  std::unordered_map<std::string, std::size_t> values_;  // … and where values …
  std::unordered_map<std::string, std::size_t> roots_;   // … and roots of that key stand
  std::size_t shards_ = 0;
};

void check_places(const Index& index, const std::map<std::string, std::string>& found) {
  for (const auto& [tensor, shard] : index.shard_of) {
    const auto place = found.find(tensor);
    if (place == found.end())
      fail(ErrorKind::corrupt, "weight_map places {} in {}, but no shard has it", tensor_label(tensor),
           printable(shard));
    if (place->second != shard)
      fail(ErrorKind::corrupt, "weight_map places {} in {}, but it lies in {}", tensor_label(tensor),
           printable(shard), printable(place->second));
  }
  for (const auto& [tensor, shard] : found)
    if (!index.shard_of.contains(tensor))
      fail(ErrorKind::corrupt, "{} lies in {}, but weight_map does not name it", tensor_label(tensor),
           printable(shard));
}

void check_total_size(const Index& index, Checkpoint& merged) {
  if (!index.total_size) return;
  std::uint64_t sum = 0;
  for (const Tensor& tensor : merged.tensors) sum += tensor.view.bytes;
  if (sum != *index.total_size)
    merged.notes.push_back(
        fmt::format("the index says that the tensors have {} bytes (metadata.total_size), but they have {}",
                    *index.total_size, sum));
}

// Files that are named like shards of this set and that the index leaves out.
void note_strays(const std::set<std::string>& listed, const std::vector<std::string>& siblings,
                 std::vector<std::string>& notes) {
  std::set<std::pair<std::string_view, std::string_view>> sets;
  for (const std::string& shard : listed)
    if (const std::optional<ShardName> name = parse_shard_name(shard))
      sets.emplace(name->prefix, name->extension);
  for (const std::string& file : siblings) {
    const std::optional<ShardName> name = parse_shard_name(file);
    if (name && !listed.contains(file) && sets.contains({name->prefix, name->extension}))
      notes.push_back(
          fmt::format("{} is named like a shard of this set, but the index does not name it; it was not read",
                      printable(file)));
  }
}

Checkpoint read_by_index(const Input& input) {
  const Index index = read_index(input);
  if (index.shard_of.empty()) {
    Error error(ErrorKind::corrupt,
                index.incomplete ? "the set is incomplete: a conversion is writing it, or was killed at it"
                                 : "the weight_map of the index is empty");
    if (index.incomplete) error.with_hint("run that conversion again");
    throw error;
  }
  const std::set<std::string> shards = index.shards();
  Merger merger(input);
  for (const std::string& shard : shards)
    merger.add(shard, fmt::format("the index {} names it", printable(base_name(input.name()))));
  // Whoever replaces the set replaces the index first: what was opened before that is of one set.
  if (!input.bytes()->is_current())
    throw Error(ErrorKind::io, "the set has been replaced while it was read").with_hint("run it again");
  check_places(index, merger.shard_of());
  const std::vector<std::string> siblings = merger.siblings();
  Checkpoint merged = std::move(merger).finish();
  check_total_size(index, merged);
  note_strays(shards, siblings, merged.notes);
  return merged;
}

// Without an index: the names alone say which files belong together, and how many there must be.
Checkpoint read_by_names(const Input& input, const ShardName& set) {
  Merger merger(input);
  std::map<std::uint64_t, std::string> shards;
  for (const std::string& file : merger.siblings())
    if (const std::optional<ShardName> name = parse_shard_name(file); name && name->set() == set.set())
      shards.emplace(name->number, file);
  for (std::uint64_t number = 1; number <= set.count; ++number) {
    const auto shard = shards.find(number);
    const std::string name = shard != shards.end() ? shard->second
                                                   : fmt::format("{}-{:05}-of-{:05}{}", set.prefix, number,
                                                                 set.count, set.extension);
    merger.add(name, fmt::format("the names of the others speak of {}", set.count));
  }
  Checkpoint merged = std::move(merger).finish();
  for (const auto& [number, file] : shards)
    if (number == 0 || number > set.count)
      merged.notes.push_back(
          fmt::format("{} was not read: its number is not one of 1 to {}", printable(file), set.count));
  merged.notes.emplace_back("the set has no index: only the names of its files say that it is complete");
  return merged;
}

[[noreturn]] void fail_choice(std::string_view what, const std::vector<std::string>& choices) {
  throw Error(ErrorKind::usage, fmt::format("the directory holds {} {}: {}", choices.size(), what,
                                            printable(fmt::format("{}", fmt::join(choices, ", ")))))
      .with_hint("give the path of one of them");
}

Checkpoint read_directory(const Input& input) {
  const std::vector<std::string> files = input.siblings();
  std::vector<std::string> indexes;
  std::vector<std::string> checkpoints;
  std::vector<std::string> sets;  // the first file of each
  std::set<std::tuple<std::string_view, std::string_view, std::uint64_t>> seen;
  for (const std::string& file : files) {
    const std::optional<ShardName> shard = parse_shard_name(file);
    if (is_index_name(file)) indexes.push_back(file);
    else if (shard && seen.insert(shard->set()).second) sets.push_back(file);
    else if (!shard && format_for_extension(file)) checkpoints.push_back(file);
  }
  if (indexes.size() > 1) fail_choice("indexes of sharded sets", indexes);
  if (indexes.size() == 1) return read_checkpoint(*input.open_sibling(indexes.front()));
  if (sets.size() + checkpoints.size() > 1) {
    sets.insert(sets.end(), checkpoints.begin(), checkpoints.end());
    fail_choice("checkpoints and no index", sets);
  }
  if (sets.size() == 1) return read_by_names(input, parse_shard_name(sets.front()).value());
  if (checkpoints.size() == 1) return read_checkpoint(*input.open_sibling(checkpoints.front()));
  fail(ErrorKind::unsupported, "the directory holds no checkpoint and no index of a sharded set");
}

}  // namespace

bool is_index_name(std::string_view file_name) {
  std::string_view name = base_name(file_name);
  constexpr std::string_view extension = ".json";
  constexpr std::string_view index = ".index";
  if (!name.ends_with(extension)) return false;
  name.remove_suffix(extension.size());
  if (name.ends_with(index)) return true;
  const std::size_t variant = name.rfind('.');
  return variant != std::string_view::npos && name.substr(0, variant).ends_with(index);
}

IndexedFiles files_of_index(const Input& input) {
  const Index index = read_index(input);
  if (index.incomplete) return {.names = *index.incomplete, .is_complete = false};
  return {.names = index.shards()};
}

std::string index_of_incomplete(const std::set<std::string>& files) {
  Value names = Value::array();
  for (const std::string& file : files) names.push(file);
  Value metadata = Value::object();
  metadata.set("incomplete", "its files are being written or replaced; if nothing does, write the set again")
      .set("files", std::move(names));
  return json::dump(Value::object().set("metadata", std::move(metadata)).set("weight_map", Value::object()),
                    2) +
         "\n";
}

Checkpoint read_sharded(const Input& input) {
  return input.bytes() ? read_by_index(input) : read_directory(input);
}

}  // namespace ckpt
