#include "ckpt/codec/json_document.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt::json {
namespace {

std::string_view reason(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return "text that is not UTF-8";
    case simdjson::EMPTY:
      return "nothing where a value is due";
    case simdjson::DEPTH_ERROR:
      return "values nested too deep";
    case simdjson::UNCLOSED_STRING:
      return "a string without an end";
    case simdjson::UNESCAPED_CHARS:
      return "a control character inside a string";
    case simdjson::STRING_ERROR:
      return "a string with a malformed escape";
    case simdjson::NUMBER_ERROR:
      return "a malformed number, or a whole number beyond 64 bits";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a malformed true, false or null";
    default:
      return "a structure that does not close or goes on after its end";
  }
}

[[noreturn]] void fail_duplicate(std::string_view key) {
  fail(ErrorKind::corrupt, "the key \"{}\" stands twice in one JSON object", printable(key));
}

}  // namespace

Document::Document(std::string_view text) {
  if (text.empty()) fail(ErrorKind::corrupt, "not valid JSON: {}", reason(simdjson::EMPTY));
  // The parser keeps its own padded copy; 32 bytes is the least that it allocates for.
  simdjson::error_code code = parser_.allocate(std::max<std::size_t>(text.size(), 32), limits::nesting);
  if (code == simdjson::SUCCESS) code = parser_.parse(text.data(), text.size()).get(root_);
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
  if (code == simdjson::CAPACITY)
    fail(ErrorKind::unsupported, "JSON of {} bytes is more than 4 GiB", text.size());
  if (code == simdjson::DEPTH_ERROR)
    fail(ErrorKind::corrupt, "JSON nested deeper than {} levels", limits::nesting);
  if (code != simdjson::SUCCESS) fail(ErrorKind::corrupt, "not valid JSON: {}", reason(code));
}

void check_keys(const simdjson::dom::object& object) {
  constexpr std::size_t few = 8;
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const simdjson::dom::key_value_pair member : object) keys.push_back(member.key);
  if (keys.size() <= few) {
    for (std::size_t i = 1; i < keys.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (keys[i] == keys[j]) fail_duplicate(keys[i]);
    return;
  }
  // No two equal hashes, no two equal keys: sorting numbers is cheap where names share long beginnings.
  std::vector<std::size_t> hashes(keys.size());
  std::ranges::transform(keys, hashes.begin(), std::hash<std::string_view>{});
  std::ranges::sort(hashes);
  if (std::ranges::adjacent_find(hashes) == hashes.end()) return;
  // A sort cannot be made quadratic by keys that were chosen to collide.
  std::ranges::sort(keys);
  const auto twin = std::ranges::adjacent_find(keys);
  if (twin != keys.end()) fail_duplicate(*twin);
}

}  // namespace ckpt::json
