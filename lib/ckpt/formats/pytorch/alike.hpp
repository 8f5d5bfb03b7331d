#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::pytorch {

/// For each of `names` the number that tells it from the earlier ones that are spelled the same, from 2 on; 0
/// for the first. `numbered` makes a name of it that is none of `names` and unlike every other one made.
std::vector<std::uint64_t> numbers_of_alike(std::span<const std::string_view> names);

/// `name#number`.
std::string numbered(std::string_view name, std::uint64_t number);

}  // namespace ckpt::pytorch
