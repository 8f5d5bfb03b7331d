#pragma once

#include <string>
#include <string_view>

#include "ckpt/core/value.hpp"

namespace ckpt::json {

/// Parses one JSON document (RFC 8259, whole input, nesting up to `limits::nesting`). Duplicate keys
/// of one object are an error. Whole numbers become int64 or uint64, all others double.
/// Throws `corrupt`.
Value parse(std::string_view text);

/// The document as text. `indent` 0 gives one line without spaces; otherwise
/// every member has a line, and a list of numbers one for all. Text that is not UTF-8 is kept
/// readable: surrogates that Python let through become `\ud800`, other stray bytes U+FFFD. Numbers
/// that JSON lacks become the strings "NaN", "Infinity", "-Infinity".
std::string dump(const Value& value, unsigned indent = 0);

/// `text` in double quotes, escaped as `dump` does (shortest form, as serde_json writes it).
std::string quoted(std::string_view text);

}  // namespace ckpt::json
