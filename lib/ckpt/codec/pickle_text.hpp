#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ckpt::pickle {

/// Decodes the argument of UNICODE: Python's raw-unicode-escape (Latin-1 with `\uXXXX`) to UTF-8.
/// Nothing when an escape is malformed.
std::optional<std::string> decode_raw_unicode(std::string_view line);

/// Decodes the argument of STRING: a quoted Python literal with backslash escapes, to bytes.
std::optional<std::string> decode_quoted(std::string_view line);

/// UTF-8 text whose code points are all below 256 as one byte each, as `latin1` encodes.
std::optional<std::string> encode_latin1(std::string_view utf8);

}  // namespace ckpt::pickle
