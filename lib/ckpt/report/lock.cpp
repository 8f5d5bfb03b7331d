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

/// The layout that the first line names.
std::string check_mark(std::string_view line) {
  if (!line.starts_with(mark))
    throw Error(ErrorKind::corrupt, fmt::format("does not begin with `{}{}`: no lock file", mark, version))
        .with_hint("ckpt lock FILE makes one");
  const std::string_view found = line.substr(mark.size());
  if (found.substr(0, found.find_first_of(" \r")) != version)
    fail(ErrorKind::unsupported, "is a lock file of version {}, and only version {} is known",
         printable(found), version);
  std::string_view rest = found.substr(version.size());
  skip_blanks(rest);
  constexpr std::string_view key = "layout=";
  if (rest.empty()) return {};
  const std::string_view layout = rest.substr(std::min(rest.size(), key.size()));
  const std::string_view value = layout.substr(0, layout.find_last_not_of(" \t\r") + 1);
  if (!rest.starts_with(key) || (value != "pytorch" && value != "burn"))
    fail(ErrorKind::corrupt, "line 1: `{}` is neither layout=pytorch nor layout=burn", printable(rest));
  return std::string(value);
}

/// Where the tensors of a lock lie: nowhere.
class NoData final : public ByteSource {
 public:
  explicit NoData(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }

 private:
  void do_read(std::uint64_t, std::span<std::byte>) const override {
    fail(ErrorKind::unsupported, "a lock file holds no values");
  }
  std::uint64_t size_;
};

/// A tie leads to an entry of the same tensor that stands for itself: chains and circles have no such end.
void require_tie(const LockEntry& entry, const LockEntry* to) {
  if (to == nullptr || to == &entry)
    fail(ErrorKind::corrupt, "{} is tied to {}, which is no other entry", printable(entry.name),
         printable(entry.tied_to));
  if (!to->tied_to.empty())
    fail(ErrorKind::corrupt, "{} is tied to {}, which is tied to {} itself: name the entry that is not tied",
         printable(entry.name), printable(to->name), printable(to->tied_to));
  if (to->dtype != entry.dtype || to->shape != entry.shape)
    fail(ErrorKind::corrupt, "{}, {} {}, is tied to {}, which is {} {}: one tensor has one type and shape",
         printable(entry.name), name(entry.dtype), to_string(entry.shape), printable(to->name),
         name(to->dtype), to_string(to->shape));
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

std::string lock_text(const Lock& lock, std::string_view source) {
  std::uint64_t parameters = 0;
  for (const LockEntry& entry : lock.entries)
    if (__builtin_add_overflow(parameters, element_count(entry.shape).value_or(0), &parameters))
      parameters = UINT64_MAX;
  std::string text = fmt::format(
      "{}{}{}\n# made from {}: {} tensors, {} parameters\n# name dtype shape [kind=KIND] [tied-to=NAME]\n",
      mark, version, lock.layout.empty() ? "" : " layout=" + lock.layout, printable(source),
      lock.entries.size(), parameters);
  for (const LockEntry& entry : lock.entries) {
    text += fmt::format("{} {} {}", word(entry.name), name(entry.dtype), shape_text(entry.shape));
    if (!entry.kind.empty()) text += " kind=" + word(entry.kind);
    if (!entry.tied_to.empty()) text += " tied-to=" + word(entry.tied_to);
    text += "\n";
  }
  return text;
}

Lock parse_lock(std::string_view text, const IsKind& is_kind) {
  Lock lock;
  std::vector<LockEntry>& entries = lock.entries;
  std::unordered_map<std::string, std::size_t> by_name;
  std::vector<std::size_t> numbers;  // of their lines
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size() || number == 0;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (++number == 1) {
      lock.layout = check_mark(line);
      continue;
    }
    skip_blanks(line);
    if (line.empty() || line.front() == '#') continue;
    try {
      LockEntry entry = parse_line(line);
      if (const auto [other, is_new] = by_name.emplace(entry.name, entries.size()); !is_new)
        fail(ErrorKind::corrupt, "{} stands in line {} already", printable(entry.name),
             numbers[other->second]);
      if (!entry.kind.empty() && !is_kind(entry.kind))
        throw Error(ErrorKind::corrupt, fmt::format("`{}` is not a kind of module", printable(entry.kind)))
            .with_hint("leave kind= out where the kind is not known");
      entries.push_back(std::move(entry));
      numbers.push_back(number);
    } catch (Error& error) {
      throw error.in(fmt::format("line {}", number));
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].tied_to.empty()) continue;
    const auto to = by_name.find(entries[i].tied_to);
    try {
      require_tie(entries[i], to == by_name.end() ? nullptr : &entries[to->second]);
    } catch (Error& error) {
      throw error.in(fmt::format("line {}", numbers[i]));
    }
  }
  return lock;
}

Checkpoint locked_checkpoint(const Lock& lock) {
  Checkpoint checkpoint;
  checkpoint.tensors.reserve(lock.entries.size());
  std::unordered_map<std::string_view, std::size_t> by_name;
  for (const LockEntry& entry : lock.entries) {
    const std::optional<std::uint64_t> bytes = byte_count(entry.shape, entry.dtype);
    if (!bytes)
      fail(ErrorKind::corrupt,
           "{}: {} elements of shape {} fill no number of whole bytes that can be counted",
           printable(entry.name), name(entry.dtype), to_string(entry.shape));
    by_name.emplace(entry.name, checkpoint.tensors.size());
    checkpoint.tensors.push_back(
        {.name = entry.name,
         .dtype = entry.dtype,
         .shape = entry.shape,
         .view = {.source = std::make_shared<NoData>(*bytes), .bytes = *bytes, .stored = entry.dtype},
         .recorded_kind = entry.kind});
  }
  for (std::size_t i = 0; i < lock.entries.size(); ++i)
    if (const auto tie = by_name.find(lock.entries[i].tied_to); tie != by_name.end())
      checkpoint.tensors[i].view.source = checkpoint.tensors[tie->second].view.source;
  return checkpoint;
}

}  // namespace ckpt
