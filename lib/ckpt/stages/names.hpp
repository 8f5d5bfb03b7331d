#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace ckpt {

/// What a module is called, where nothing better is known: the weakest evidence there is.
struct NameHint {
  std::string_view pattern;  ///< of the last segment of the module's path, in any case
  std::size_t rank;          ///< dimensions of the weight (or gamma) that it speaks of
  std::string_view kind;     ///< a row of the table of modules
  std::string_view why;      ///< for `--explain`
};

/// The first hint whose pattern matches, or null. Names that are used for both layouts (`proj`, GPT-2's
/// `c_attn` and `c_proj`) have none.
const NameHint* find_name_hint(std::string_view segment, std::size_t rank);

/// Whether a path segment is a decimal index.
bool is_index(std::string_view segment);

/// `path.name`, or `name` at the top level.
std::string join_path(std::string_view path, std::string_view name);

/// Calls `visit(path before the segment, segment)` for every segment of a name.
template <typename Visit> void for_each_segment(std::string_view name, const Visit& visit) {
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    visit(name.substr(0, at), name.substr(at, dot - at));
    at = dot + 1;
  }
}

}  // namespace ckpt
