#pragma once

#include <string>
#include <string_view>

namespace ckpt {

/// The text fit for a terminal and one line: control characters, escape sequences, bidirectional
/// overrides, invisible characters and bytes that are not UTF-8 are written as `\n`, `\x1b`, `\u202e`.
std::string printable(std::string_view text);

/// Python writes lone surrogates into pickles as if they were characters (`surrogatepass`).
enum class Surrogates : bool { refused, allowed };
/// Whether `text` is well-formed UTF-8 (no overlong forms, nothing above U+10FFFF).
bool is_utf8(std::string_view text, Surrogates surrogates = Surrogates::refused);

/// `4.00 GiB`, `12.5 MiB`, `792 B`: powers of 1024, two digits after the point below ten, else one.
std::string human_size(unsigned long long bytes);

/// Whether `a` comes before `b` when runs of digits count as numbers (`layers.2` before `layers.10`).
bool natural_less(std::string_view a, std::string_view b);

}  // namespace ckpt
