#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ckpt/report/names.hpp"

namespace ckpt {

/// No id, no index, no number.
constexpr std::size_t no_id = SIZE_MAX;

/// Numbers every distinct text.
class Texts {
 public:
  std::size_t id(std::string_view text);
  const std::string& text(std::size_t id) const { return *texts_[id]; }
  bool is_number(std::size_t id) const;

 private:
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<const std::string*> texts_;
};

/// The id of a shape and the class of a type, which partners share.
std::size_t shape_id(Texts& texts, DType dtype, const Shape& shape);

/// One name, taken apart; all texts are ids.
struct Name {
  const NamedShape* tensor = nullptr;
  std::size_t shape = 0;              ///< dtype class and shape
  std::size_t name_class = 0;         ///< see NameClass
  std::vector<std::size_t> numbers;   ///< the runs of digits
  std::vector<std::size_t> segments;  ///< see spoken_segments()
  std::size_t module = no_id;         ///< the name without its last segment
  std::size_t outer = no_id;          ///< the module without its last segment
  std::size_t module_rank = 0;        ///< the most dimensions that a tensor of the module has
  std::size_t module_size = 0;        ///< tensors of the module
  bool is_taken = false;
};

/// Names that differ in numbers only, of tensors with as many dimensions in modules of one kind: the bias of
/// `net.0`, a linear layer, is of another class than that of `net.1`, a norm.
struct NameClass {
  std::size_t id = 0;
  std::vector<std::string> literals;  ///< between the numbers
  std::vector<std::size_t> members;   ///< indices of names

  std::string pattern() const;  ///< `layers.#.weight`
};

/// The names of one list, and their classes by id.
struct NameParts {
  std::vector<Name> names;
  std::map<std::size_t, NameClass> classes;

  NameParts(std::span<const NamedShape> tensors, Texts& texts);

 private:
  /// Where a block has three norms, the second is that of the attention across, not of the feed-forward
  /// layer.
  void rename_third_norms(Texts& texts);
};

/// The text of a name up to its number of that place, which is left out: what the items of a list share.
std::string_view before_number(std::string_view name, std::size_t place);

/// The same with the number.
std::string_view through_number(std::string_view name, std::size_t place);

}  // namespace ckpt
