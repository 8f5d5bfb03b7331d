#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt {

/// Numbers by text, for the hundred thousand names of a large checkpoint: two flat tables, nothing allocated
/// a name. The texts are views; who fills the index keeps them alive.
class NameIndex {
 public:
  explicit NameIndex(std::size_t expected = 0) : slots_(std::bit_ceil(2 * expected + 8)) {
    entries_.reserve(expected);
  }

  /// The number under which `name` stands already, or nothing after it was added as `number`.
  std::optional<std::uint32_t> add(std::string_view name, std::uint32_t number) {
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const std::uint32_t hash = hash_of(name);
    const std::size_t place = place_of(name, hash);
    if (slots_[place].entry != 0) return entries_[slots_[place].entry - 1].second;
    entries_.emplace_back(name, number);
    slots_[place] = {hash, static_cast<std::uint32_t>(entries_.size())};
    return std::nullopt;
  }

  std::optional<std::uint32_t> find(std::string_view name) const {
    const Slot& slot = slots_[place_of(name, hash_of(name))];
    return slot.entry != 0 ? std::optional(entries_[slot.entry - 1].second) : std::nullopt;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t entry = 0;  // one more than its index; 0 is free
  };

  static std::uint32_t hash_of(std::string_view name) noexcept {
    const std::size_t hash = std::hash<std::string_view>{}(name);
    return static_cast<std::uint32_t>(hash ^ hash >> 32U);
  }

  /// Where the name stands, or the free slot where it belongs.
  std::size_t place_of(std::string_view name, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].entry != 0 && (slots_[i].hash != hash || entries_[slots_[i].entry - 1].first != name))
      i = (i + 1) & mask;
    return i;
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old)
      if (slot.entry != 0) slots_[place_of(entries_[slot.entry - 1].first, slot.hash)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<std::pair<std::string_view, std::uint32_t>> entries_;
};

}  // namespace ckpt
