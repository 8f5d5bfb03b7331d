#include "ckpt/formats/pytorch/alike.hpp"

#include <deque>
#include <unordered_map>

#include <fmt/format.h>

#include "ckpt/codec/name_index.hpp"

namespace ckpt::pytorch {

std::vector<std::uint64_t> numbers_of_alike(std::span<const std::string_view> names) {
  std::vector<std::uint64_t> numbers(names.size());
  NameIndex index(names.size());
  std::deque<std::string> made;  // views of these are in the index
  std::unordered_map<std::string_view, std::uint64_t> last;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!index.add(names[i], 0)) continue;
    std::uint64_t& number = last.try_emplace(names[i], 1).first->second;
    do made.push_back(numbered(names[i], ++number));
    while (index.add(made.back(), 0));
    numbers[i] = number;
  }
  return numbers;
}

std::string numbered(std::string_view name, std::uint64_t number) {
  return fmt::format("{}#{}", name, number);
}

}  // namespace ckpt::pytorch
