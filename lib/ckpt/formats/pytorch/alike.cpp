#include "ckpt/formats/pytorch/alike.hpp"

#include <unordered_map>

#include <fmt/format.h>

#include "ckpt/codec/name_index.hpp"

namespace ckpt::pytorch {

std::vector<std::uint64_t> numbers_of_alike(std::span<const std::string_view> names) {
  std::vector<std::uint64_t> numbers(names.size());
  NameIndex index(names.size());
  std::vector<std::size_t> later;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (index.add(names[i], 0)) later.push_back(i);
  // Two names that are made differ in what stands before the last # or behind it.
  std::unordered_map<std::string_view, std::uint64_t> last;
  for (const std::size_t i : later) {
    std::uint64_t& number = last.try_emplace(names[i], 1).first->second;
    do ++number;
    while (index.find(numbered(names[i], number)));
    numbers[i] = number;
  }
  return numbers;
}

std::string numbered(std::string_view name, std::uint64_t number) {
  return fmt::format("{}#{}", name, number);
}

}  // namespace ckpt::pytorch
