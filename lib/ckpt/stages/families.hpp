#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

/// A module that every checkpoint of a family has.
struct FamilyMark {
  std::string_view path;  ///< the end of its path, in whole segments
  /// Where names alone do not tell: how many times as many rows as columns its weight has in PyTorch (3), or
  /// how many times as many columns as rows (-3).
  int rows_to_columns = 0;
};

/// What the modules of a family are, by the end of their paths.
struct FamilyKind {
  std::string_view pattern;  ///< a regular expression on the whole path
  std::string_view kind;     ///< a row of the table of modules
};

/// Models whose names are all of one making, recognised by the whole set of them: a row of the table.
struct Family {
  std::string_view name;
  std::span<const FamilyMark> marks;  ///< all of them
  std::span<const FamilyKind> kinds;  ///< the first that matches
  bool is_pytorch_only = false;       ///< told by shapes that burn's layout does not have
};

std::span<const Family> family_table();

/// The modules that a checkpoint has, to recognise families by.
class FamilyEvidence {
 public:
  void add(std::string_view path, const Shape* weight);
  bool has(const FamilyMark& mark) const;

 private:
  struct Entry {
    std::string path;
    const Shape* weight;
  };
  std::vector<Entry> entries_;
};

/// Of a family, the kind that it gives to the module at `path`; empty for one that it does not know.
std::string_view kind_in_family(const Family& family, std::string_view path);

}  // namespace ckpt
