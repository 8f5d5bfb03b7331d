#include "ckpt/report/name_parts.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ckpt {
namespace {

// Names with more numbers than this keep the last ones as they are.
constexpr std::size_t most_numbers = 6;

struct SplitName {
  std::vector<std::string_view> numbers;
  std::vector<std::string_view> literals;  // around them
};

SplitName split_at_numbers(std::string_view name) {
  SplitName split;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > i && split.numbers.size() < most_numbers) {
      split.literals.push_back(name.substr(begin, i - begin));
      split.numbers.push_back(name.substr(i, end - i));
      begin = end;
    }
    i = std::max(end, i + 1);
  }
  split.literals.push_back(name.substr(begin));
  return split;
}

}  // namespace

std::size_t Texts::id(std::string_view text) {
  const auto [found, is_new] = ids_.emplace(std::string(text), texts_.size());
  if (is_new) texts_.push_back(&found->first);
  return found->second;
}

bool Texts::is_number(std::size_t id) const { return std::ranges::all_of(text(id), is_digit); }

std::size_t shape_id(Texts& texts, DType dtype, const Shape& shape) {
  return texts.id(std::to_string(static_cast<int>(info(dtype).kind)) + to_string(shape));
}

NameParts::NameParts(std::span<const NamedShape> tensors, Texts& texts) {
  struct Module {
    std::size_t rank = 0, size = 0;
  };
  std::unordered_map<std::size_t, Module> modules;
  names.reserve(tensors.size());
  for (const NamedShape& tensor : tensors) {
    Name name;
    name.tensor = &tensor;
    name.shape = shape_id(texts, tensor.dtype, tensor.shape);
    for (const std::string_view number : split_at_numbers(tensor.name).numbers)
      name.numbers.push_back(texts.id(number));
    for (const std::string_view segment : spoken_segments(tensor.name))
      name.segments.push_back(texts.id(segment));
    if (const std::size_t dot = tensor.name.find_last_of("./"); dot != std::string::npos) {
      name.module = texts.id("module " + tensor.name.substr(0, dot));
      if (const std::size_t outer = dot > 0 ? tensor.name.find_last_of("./", dot - 1) : dot; outer < dot)
        name.outer = texts.id("outer " + tensor.name.substr(0, outer));
    }
    Module& module = modules[name.module];
    module.rank = std::max(module.rank, tensor.shape.size());
    ++module.size;
    names.push_back(std::move(name));
  }
  rename_third_norms(texts);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Name& name = names[i];
    const Module& module = modules.at(name.module);
    name.module_rank = name.module == no_id ? name.tensor->shape.size() : module.rank;
    name.module_size = name.module == no_id ? 1 : module.size;
    const std::vector<std::string_view> literals = split_at_numbers(name.tensor->name).literals;
    std::string pattern;
    for (const std::string_view literal : literals)
      pattern.append(literal) += '\1';  // no name has it for a digit
    name.name_class = texts.id(pattern + '\2' + std::to_string(name.tensor->shape.size()) + '\2' +
                               std::to_string(name.module_rank));
    const auto [found, is_new] = classes.try_emplace(name.name_class);
    if (is_new)
      found->second = {name.name_class, std::vector<std::string>(literals.begin(), literals.end()), {}};
    found->second.members.push_back(i);
  }
}

std::string NameClass::pattern() const {
  std::string text = literals.front();
  for (std::size_t i = 1; i < literals.size(); ++i) text += '#' + literals[i];
  return text;
}

void NameParts::rename_third_norms(Texts& texts) {
  // Numbered norms of a block, by all that stands before the number.
  std::map<std::vector<std::size_t>, std::set<char>> norms;
  const auto split = [&](const Name& name) {
    std::vector<std::size_t> key;
    char number = 0;
    if (name.segments.size() > 1) {
      const std::string& text = texts.text(name.segments[name.segments.size() - 2]);
      const std::string_view stem = std::string_view(text).substr(0, text.size() - (text.empty() ? 0 : 1));
      if (stem == "norm" || stem == "norm_" || stem == "ln" || stem == "ln_" || stem == "layer_norm") {
        key.assign(name.segments.begin(), name.segments.end() - 2);
        key.push_back(texts.id(stem));
        number = text.back();
      }
    }
    return std::pair(std::move(key), number);
  };
  for (const Name& name : names)
    if (auto [key, number] = split(name); !key.empty()) norms[std::move(key)].insert(number);
  const std::set<char> three{'1', '2', '3'};
  for (Name& name : names) {
    const auto [key, number] = split(name);
    if (key.empty() || norms.at(key) != three) continue;
    std::size_t& segment = name.segments[name.segments.size() - 2];
    if (number == '2') segment = texts.id("cross_attn_norm");
    if (number == '3') segment = texts.id("ffn_norm");
  }
}

std::string_view module_of(std::string_view name) {
  const std::size_t dot = name.find_last_of("./");
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string_view before_number(std::string_view name, std::size_t place) {
  std::size_t at = 0;
  for (;; --place) {
    while (!is_digit(name[at])) ++at;
    if (place == 0) return name.substr(0, at);
    while (is_digit(name[at])) ++at;
  }
}

std::string_view through_number(std::string_view name, std::size_t place) {
  std::size_t end = before_number(name, place).size();
  while (end < name.size() && is_digit(name[end])) ++end;
  return name.substr(0, end);
}

}  // namespace ckpt
