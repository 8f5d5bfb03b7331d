#include "ckpt/codec/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <charconv>
#include <new>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

// Bounds on one match. `^(a+)+$` on 5000 letters ends after 7 ms instead of 250; no sensible rule on a
// tensor's name comes near them.
constexpr std::uint32_t match_limit = 200'000;
constexpr std::uint32_t depth_limit = 10'000;
constexpr std::uint32_t heap_limit_kib = 4096;

// What Rust's `regex` means by default. Names need not be UTF-8, hence MATCH_INVALID_UTF.
constexpr std::uint32_t options =
    PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_INVALID_UTF;

std::string error_text(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(code, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

/// What PCRE2 makes is null for want of memory only.
template <typename T> T* made(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Regex::Code {
  template <auto free> struct Free {
    template <typename T> void operator()(T* object) const noexcept { free(object); }
  };
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> code;
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> context;
  std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> data;
};

Regex::Regex(std::string pattern) : pattern_(std::move(pattern)), code_(std::make_unique<Code>()) {
  using Context = std::unique_ptr<pcre2_compile_context, Code::Free<pcre2_compile_context_free>>;
  const Context compile(made(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(compile.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code.reset(pcre2_compile(units(pattern_), pattern_.size(), options, &error, &offset, compile.get()));
  if (!code_->code && error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
  if (!code_->code)
    fail(ErrorKind::usage, "the pattern `{}` is not a regular expression: {} at column {}",
         printable(pattern_), error_text(error), offset + 1);
  code_->context.reset(made(pcre2_match_context_create(nullptr)));
  pcre2_set_match_limit(code_->context.get(), match_limit);
  pcre2_set_depth_limit(code_->context.get(), depth_limit);
  pcre2_set_heap_limit(code_->context.get(), heap_limit_kib);
  code_->data.reset(made(pcre2_match_data_create_from_pattern(code_->code.get(), nullptr)));
  std::uint32_t groups = 0;
  pcre2_pattern_info(code_->code.get(), PCRE2_INFO_CAPTURECOUNT, &groups);
  group_count_ = groups;
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::optional<std::size_t> Regex::group_number(std::string_view name) const {
  const int number = pcre2_substring_number_from_name(code_->code.get(), units(std::string(name)));
  if (number < 0) return std::nullopt;
  return static_cast<std::size_t>(number);
}

std::optional<Regex::Match> Regex::find(std::string_view subject, std::size_t from) const {
  // The bounds above are those of one place to begin at: a name has as many as it has bytes.
  if (subject.size() > limits::name_bytes)
    fail(ErrorKind::unsupported,
         "a name of {} bytes is too long to be matched with a pattern; {} is the limit", subject.size(),
         limits::name_bytes);
  const int count = pcre2_match(code_->code.get(), units(subject), subject.size(), from, 0, code_->data.get(),
                                code_->context.get());
  if (count == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (count == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
  if (count < 0)
    throw Error(ErrorKind::usage, fmt::format("the pattern `{}` cannot be matched against `{}`: {}",
                                              printable(pattern_), printable(subject), error_text(count)))
        .with_hint("write the pattern without nested repetition");
  const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(code_->data.get());
  Match match(group_count_ + 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    if (offsets[2 * i] != PCRE2_UNSET) match[i] = {offsets[2 * i], offsets[2 * i + 1]};
  // `\K` in a look-ahead can put the end before the beginning.
  if (offsets[1] < offsets[0])
    fail(ErrorKind::usage, "the pattern `{}` ends before it begins", printable(pattern_));
  return match;
}

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

std::optional<std::size_t> find_group(std::string_view name, const Regex& regex) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size())
    return number <= regex.group_count() ? std::optional(number) : std::nullopt;
  return regex.group_number(name);
}

[[noreturn]] void fail_unknown_group(std::string_view name, bool is_braced, const Regex& regex) {
  Error error(ErrorKind::usage,
              fmt::format("the pattern `{}` has no group `{}`", printable(regex.pattern()), printable(name)));
  std::size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') ++digits;
  if (!is_braced && digits > 0 && digits < name.size())
    error.with_hint(fmt::format("write ${{{}}}{} for group {} followed by `{}`", name.substr(0, digits),
                                name.substr(digits), name.substr(0, digits), name.substr(digits)));
  else
    error.with_hint(fmt::format("it has {} group{}; write $$ for a dollar", regex.group_count(),
                                regex.group_count() == 1 ? "" : "s"));
  throw error;
}

}  // namespace

Replacement::Replacement(std::string_view text, const Regex& regex) {
  std::string literal;
  const auto add_group = [&](std::string_view name, bool is_braced) {
    const std::optional<std::size_t> group = find_group(name, regex);
    if (!group) fail_unknown_group(name, is_braced, regex);
    parts_.push_back({std::exchange(literal, {}), group});
  };
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      literal += text[i++];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    if (rest.starts_with('$')) {
      literal += '$';
      i += 2;
    } else if (rest.starts_with('{') && rest.find('}') != std::string_view::npos) {
      const std::string_view name = rest.substr(1, rest.find('}') - 1);
      add_group(name, true);
      i += name.size() + 3;
    } else {
      std::size_t length = 0;
      while (length < rest.size() && is_word(rest[length])) ++length;
      if (length == 0) literal += '$';
      else add_group(rest.substr(0, length), false);
      i += 1 + length;
    }
  }
  if (!literal.empty()) parts_.push_back({std::move(literal), std::nullopt});
}

std::pair<std::string, std::size_t> Replacement::replace_all(std::string_view subject,
                                                             const Regex& regex) const {
  std::string out;
  std::size_t copied = 0;  // end of the last match
  std::size_t count = 0;
  for (std::size_t from = 0; from <= subject.size();) {
    const std::optional<Regex::Match> match = regex.find(subject, from);
    if (!match) break;
    const auto [begin, end] = *match->front();
    if (begin == end && count > 0 && begin == copied) {
      // Empty and directly after a match: step over one character, not into the middle of one.
      do ++from;
      while (from < subject.size() && (static_cast<unsigned char>(subject[from]) & 0xC0U) == 0x80U);
      continue;
    }
    if (begin < copied) break;  // `\K` moved the match back
    out += subject.substr(copied, begin - copied);
    for (const Part& part : parts_) {
      out += part.literal;
      if (!part.group || !(*match)[*part.group]) continue;
      const auto [first, last] = *(*match)[*part.group];
      out += subject.substr(first, last - first);
    }
    if (out.size() > limits::name_bytes)
      fail(ErrorKind::usage, "the pattern `{}` makes a name of more than {} bytes",
           printable(regex.pattern()), limits::name_bytes);
    ++count;
    copied = end;
    from = end;
  }
  out += copied <= subject.size() ? subject.substr(copied) : std::string_view();
  return {std::move(out), count};
}

}  // namespace ckpt
