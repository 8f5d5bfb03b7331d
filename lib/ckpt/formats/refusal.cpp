#include "ckpt/formats/refusal.hpp"

#include <fmt/format.h>

#include "ckpt/core/error.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

// An expression that matches this name only.
std::string pattern(std::string_view name) {
  constexpr std::string_view special = R"(\^$.|?*+()[]{})";
  std::string out = "^";
  for (const char c : name) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out + '$';
}

}  // namespace

std::string tensor_label(std::string_view name) { return fmt::format("tensor \"{}\"", printable(name)); }

void refuse_dtype(const Tensor& tensor, std::string_view format) {
  const std::string leave_out = fmt::format("--exclude {} leaves it out", shell_word(pattern(tensor.name)));
  Error error(ErrorKind::refused, fmt::format("{} is {}, and {} has no such type", tensor_label(tensor.name),
                                              name(tensor.dtype), format));
  if (is_floating(tensor.dtype))
    error.with_hint(fmt::format(
        "--dtype {} stores it as F32{}; {}", shell_word(pattern(tensor.name) + "=F32"),
        info(tensor.dtype).bits == 8 ? ", --dequantize where scales stand beside it" : "", leave_out));
  else error.with_hint(leave_out);
  throw error;
}

void require_utf8(std::string_view text, std::string_view what, std::string_view format) {
  if (is_utf8(text)) return;
  throw Error(ErrorKind::refused, fmt::format("{} \"{}\" is not UTF-8, and {} holds no other text", what,
                                              printable(text), format));
}

}  // namespace ckpt
