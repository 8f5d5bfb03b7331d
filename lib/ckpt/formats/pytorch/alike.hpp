#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::pytorch {

/// For each of `names` the number that tells it from the earlier ones, also those that were made with a number
/// already, from 2 on; 0 for one that is unlike them all.
std::vector<std::uint64_t> numbers_of_alike(std::span<const std::string_view> names);

/// `name#number`.
std::string numbered(std::string_view name, std::uint64_t number);

}  // namespace ckpt::pytorch
