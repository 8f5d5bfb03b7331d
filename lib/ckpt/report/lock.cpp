#include "ckpt/report/lock.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/quoted.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

constexpr std::string_view mark = "# ckpt lock ";
constexpr std::string_view version = "1";

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::uint64_t size : shape) text += fmt::format("{}{}", text.size() > 1 ? "," : "", size);
  return text + "]";
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r'))
    text.remove_prefix(1);
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  skip_blanks(text);
  return true;
}

/// `[3,4]`, blanks between its parts allowed.
std::optional<Shape> take_shape(std::string_view& text) {
  Shape shape;
  if (!take(text, '[')) return std::nullopt;
  if (take(text, ']')) return shape;
  while (true) {
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || shape.size() == limits::dimensions) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_blanks(text);
    shape.push_back(size);
    if (take(text, ']')) return shape;
    if (!take(text, ',')) return std::nullopt;
  }
}

/// `kind=Linear`, `tied-to=NAME`: each at most once.
void take_attribute(std::string_view& text, LockEntry& entry) {
  const auto value = [&](std::string_view key, std::string& into) {
    if (!text.starts_with(key) || !into.empty()) return false;
    text.remove_prefix(key.size());
    std::optional<std::string> found = text.empty() || text.front() == ' ' ? std::nullopt : take_word(text);
    if (found) into = std::move(*found);
    return !into.empty();
  };
  if (value("kind=", entry.kind) || value("tied-to=", entry.tied_to)) return;
  fail(ErrorKind::corrupt, "`{}` is neither kind=KIND nor tied-to=NAME", printable(text));
}

LockEntry parse_line(std::string_view line) {
  LockEntry entry;
  std::optional<std::string> name = take_word(line);
  if (!name) fail(ErrorKind::corrupt, "the name is no JSON string");
  entry.name = std::move(*name);
  const std::string dtype = take_word(line).value_or("");
  const std::optional<DType> parsed = parse_dtype(dtype);
  if (!parsed) fail(ErrorKind::corrupt, "`{}` is no data type", printable(dtype));
  entry.dtype = *parsed;
  const std::string_view rest = line;
  std::optional<Shape> shape = take_shape(line);
  if (!shape) fail(ErrorKind::corrupt, "`{}` does not begin with a shape like [3,4]", printable(rest));
  if (!element_count(*shape))
    fail(ErrorKind::corrupt, "shape {} has more elements than can be counted", to_string(*shape));
  entry.shape = std::move(*shape);
  while (!line.empty()) take_attribute(line, entry);
  return entry;
}

void check_mark(std::string_view line) {
  if (!line.starts_with(mark))
    throw Error(ErrorKind::corrupt, fmt::format("does not begin with `{}{}`: no lock file", mark, version))
        .with_hint("ckpt lock FILE makes one");
  const std::string_view found = line.substr(mark.size());
  if (found.substr(0, found.find_first_of(" \r")) != version)
    fail(ErrorKind::unsupported, "is a lock file of version {}, and only version {} is known",
         printable(found), version);
}

}  // namespace

std::vector<LockEntry> lock_entries(const Checkpoint& checkpoint) {
  const std::vector<std::size_t> same = first_at_same_place(checkpoint.tensors);
  std::vector<std::size_t> order(same.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto less = [&](std::size_t a, std::size_t b) {
    return natural_less(checkpoint.tensors[a].name, checkpoint.tensors[b].name);
  };
  std::ranges::sort(order, less);
  // The first by name is the one that the others are tied to, whatever the order of the file.
  std::unordered_map<std::size_t, std::size_t> first_by_name;
  for (const std::size_t i : order) first_by_name.emplace(same[i], i);
  std::vector<LockEntry> entries;
  entries.reserve(order.size());
  for (const std::size_t i : order) {
    const Tensor& tensor = checkpoint.tensors[i];
    const std::size_t tie = first_by_name.at(same[i]);
    entries.push_back({.name = tensor.name,
                       .dtype = tensor.dtype,
                       .shape = tensor.shape,
                       .kind = {},
                       .tied_to = tie == i ? "" : checkpoint.tensors[tie].name});
  }
  return entries;
}

bool is_lock(std::string_view head) { return head.starts_with(mark); }

std::string lock_text(const std::vector<LockEntry>& entries, std::string_view source) {
  std::uint64_t parameters = 0;
  for (const LockEntry& entry : entries)
    if (__builtin_add_overflow(parameters, element_count(entry.shape).value_or(0), &parameters))
      parameters = UINT64_MAX;
  std::string text = fmt::format(
      "{}{}\n# made from {}: {} tensors, {} parameters\n# name dtype shape [kind=KIND] [tied-to=NAME]\n",
      mark, version, printable(source), entries.size(), parameters);
  for (const LockEntry& entry : entries) {
    text += fmt::format("{} {} {}", word(entry.name), name(entry.dtype), shape_text(entry.shape));
    if (!entry.kind.empty()) text += " kind=" + word(entry.kind);
    if (!entry.tied_to.empty()) text += " tied-to=" + word(entry.tied_to);
    text += "\n";
  }
  return text;
}

std::vector<LockEntry> parse_lock(std::string_view text) {
  std::vector<LockEntry> entries;
  std::unordered_map<std::string, std::size_t> lines;
  std::vector<std::size_t> numbers;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size() || number == 0;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (++number == 1) {
      check_mark(line);
      continue;
    }
    skip_blanks(line);
    if (line.empty() || line.front() == '#') continue;
    try {
      LockEntry entry = parse_line(line);
      if (const auto [other, is_new] = lines.emplace(entry.name, number); !is_new)
        fail(ErrorKind::corrupt, "{} stands in line {} already", printable(entry.name), other->second);
      entries.push_back(std::move(entry));
      numbers.push_back(number);
    } catch (Error& error) {
      throw error.in(fmt::format("line {}", number));
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (!entries[i].tied_to.empty() &&
        (!lines.contains(entries[i].tied_to) || entries[i].tied_to == entries[i].name))
      fail(ErrorKind::corrupt, "line {}: {} is tied to {}, which is no other entry", numbers[i],
           printable(entries[i].name), printable(entries[i].tied_to));
  return entries;
}

}  // namespace ckpt
