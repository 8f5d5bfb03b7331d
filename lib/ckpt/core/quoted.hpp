#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ckpt {

/// A name as a word of a line of text: itself where it holds no blanks, quotes or characters that a
/// terminal would not show; otherwise a JSON string. Bytes that are not UTF-8 become `\udc80` to `\udcff`,
/// as Python's `surrogateescape` has it, so that every name comes back from `take_word`.
std::string word(std::string_view name);

/// Printable text as one word of a shell's command line, in single quotes where it needs any: a hint may be
/// pasted, and names come from files that nobody has looked into.
std::string shell_word(std::string_view text);

/// A JSON document with the characters that a terminal obeys or does not show, other than line feeds, written
/// as
/// `\u202e`: it means the same. They stand in its strings only.
std::string printable_json(std::string_view document);

/// Takes one such word, and the blanks around it, off the front of `text`; nothing where there is none or
/// a JSON string is malformed.
std::optional<std::string> take_word(std::string_view& text);

}  // namespace ckpt
