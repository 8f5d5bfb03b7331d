#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/core/value.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// Shows nodes without tensors as plain values, up to `limits::shown_values` in all.
class Values {
 public:
  explicit Values(const Document& document) : document_(document) {}

  /// Containers become arrays and objects; an opaque object `{"class": "module.Name"}`; bytes a text
  /// that gives their number. What goes beyond a limit becomes the text `…`.
  Value show(NodeId id) { return show(id, 0); }
  /// Counts one more value; false when the limit is reached.
  bool spend() noexcept;
  /// A key or a class, shortened as a text is; counted where it is long.
  std::string name(std::string_view whole);
  /// How many values were left out.
  std::uint64_t omitted() const noexcept { return omitted_; }

 private:
  Value text(std::string_view whole);
  Value show(NodeId id, unsigned depth);
  Value show_call(NodeId id, unsigned depth);
  Value show_items(std::span<const NodeId> items, unsigned depth);
  Value show_mapping(std::span<const NodeId> items, unsigned depth);

  const Document& document_;
  std::uint64_t shown_ = 0;
  std::uint64_t omitted_ = 0;
};

/// Sets members of an object; one that is spelled as an earlier one gets a number behind its name. `object`
/// may be null.
void set_members(Value& object, std::vector<std::pair<std::string, Value>> members);

/// One member of a mapping: the name that its key makes, and its value.
struct Entry {
  std::string name;
  NodeId value = no_node;
};

/// The members of a mapping in order. A key that comes again replaces the value in place, as in Python;
/// different keys that are spelled alike (0 and '0') stay two entries.
std::vector<Entry> entries(const Document& document, std::span<const NodeId> items);

/// The key of a dict as a part of a tensor's name: text as it is, everything else as Python would
/// show it (`7`, `('a', 1)`, `None`), an object by its class.
std::string key_text(const Document& document, NodeId id);

}  // namespace ckpt::pytorch
