#include "ckpt/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ckpt/codec/json.hpp"
#include "ckpt/codec/safetensors_header.hpp"
#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/hints.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/refusal.hpp"

// A safetensors file, as the reference crate (huggingface/safetensors, safetensors/src/tensor.rs) reads
// and writes it:
//
//     0        8                        8 + n                                      end of file
//     ┌────────┬────────────────────────┬──────────┬──────────┬─────┬──────────┐
//     │ n, u64 │ header: n bytes, JSON  │ tensor   │ tensor   │  …  │ tensor   │
//     └────────┴────────────────────────┴──────────┴──────────┴─────┴──────────┘
//                                       0          data offsets of the header count from here
//
// The header maps names to {"dtype", "shape", "data_offsets": [begin, end)} and `__metadata__`, which
// may be missing, to a map of text to text. It may end in spaces. The tensors fill the data without a
// hole, an overlap or a byte left over; elements are little-endian and row-major. All numbers are
// little-endian.
//
// Written are the tensors by falling alignment of their type, then by the bytes of their names, and
// spaces behind the header up to a multiple of 8, so that every tensor lies at a multiple of its
// element size.

namespace ckpt {
namespace {

constexpr std::uint64_t length_size = 8;
constexpr std::size_t header_alignment = 8;
constexpr std::string_view metadata_key = "__metadata__";

// The crate's own order of types, which it sorts by when it writes: rising alignment.
constexpr std::array alignment_order{
    DType::boolean, DType::f4,      DType::f6_e2m3, DType::f6_e3m2,     DType::u8,          DType::i8,
    DType::f8_e5m2, DType::f8_e4m3, DType::f8_e8m0, DType::f8_e4m3fnuz, DType::f8_e5m2fnuz, DType::i16,
    DType::u16,     DType::f16,     DType::bf16,    DType::i32,         DType::u32,         DType::f32,
    DType::c64,     DType::f64,     DType::i64,     DType::u64,
};

std::uint64_t header_length(std::span<const std::byte> bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = length_size; i-- > 0;) n = n << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return n;
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The header, and where the data begins.
std::pair<SafetensorsHeader, std::uint64_t> read_header(const ByteSource& bytes) {
  if (bytes.size() < length_size)
    fail(ErrorKind::corrupt,
         "a safetensors file begins with the 8 bytes of its header's length, but this one has {}",
         plural(bytes.size(), "byte"));
  const std::uint64_t n = header_length(read_range(bytes, 0, length_size));
  if (n > limits::safetensors_header)
    fail(ErrorKind::corrupt, "the header's length at offset 0 is {}; safetensors allows up to {} bytes", n,
         limits::safetensors_header);
  const std::uint64_t data = length_size + n;
  if (data > bytes.size())
    fail(ErrorKind::corrupt, "the file has {} bytes, its header ends at {}: {} missing", bytes.size(), data,
         plural(data - bytes.size(), "byte") + (data - bytes.size() == 1 ? " is" : " are"));
  const std::vector<std::byte> text = read_range(bytes, length_size, n);
  try {
    return {parse_safetensors_header(as_text(text)), data};
  } catch (Error& error) {
    throw error.in("header (at offset 8)");
  }
}

std::string range(const SafetensorsEntry& entry) {
  return fmt::format("{} (data bytes {} to {})", tensor_label(entry.name), entry.begin, entry.end);
}

// `entry` must begin where `previous`, the one before it in order of offset, ended.
void check_place(const SafetensorsEntry& entry, const SafetensorsEntry* previous) {
  const std::uint64_t due = previous ? previous->end : 0;
  if (entry.end < entry.begin)
    fail(ErrorKind::corrupt, "{}: data offsets end at {}, before they begin at {}", tensor_label(entry.name),
         entry.end, entry.begin);
  if (entry.begin < due) fail(ErrorKind::corrupt, "{} overlaps {}", range(entry), range(*previous));
  if (entry.begin > due)
    fail(ErrorKind::corrupt, "a hole in the data: bytes {} to {} belong to no tensor, between {} and {}", due,
         entry.begin, previous ? range(*previous) : std::string("nothing"), range(entry));
}

void check_size(const SafetensorsEntry& entry) {
  const unsigned bits = info(entry.dtype).bits;
  const std::optional<std::uint64_t> count = element_count(entry.shape);
  const std::optional<std::uint64_t> all = count ? checked_multiply(*count, bits) : std::nullopt;
  if (!all)
    fail(ErrorKind::corrupt, "{}: shape {} of {} has more bits than 64 bits can count",
         tensor_label(entry.name), to_string(entry.shape), name(entry.dtype));
  if (*all % 8 != 0)
    fail(ErrorKind::corrupt, "{}: {} of {} bits do not fill whole bytes", tensor_label(entry.name),
         plural(*count, "element"), bits);
  if (*all / 8 != entry.end - entry.begin)
    fail(ErrorKind::corrupt, "{}: shape {} of {} needs {}, but its data offsets {} to {} hold {}",
         tensor_label(entry.name), to_string(entry.shape), name(entry.dtype), plural(*all / 8, "byte"),
         entry.begin, entry.end, entry.end - entry.begin);
}

// All of the crate's checks of ranges, in its order. Returns where the last tensor ends.
std::uint64_t check_ranges(const std::vector<SafetensorsEntry>& entries) {
  std::vector<const SafetensorsEntry*> by_offset;
  by_offset.reserve(entries.size());
  for (const SafetensorsEntry& entry : entries) by_offset.push_back(&entry);
  // Entries of one place keep the order of the header, which the pointers are in.
  const auto place = [](const SafetensorsEntry* entry) {
    return std::tuple(entry->begin, entry->end, entry);
  };
  if (!std::ranges::is_sorted(by_offset, {}, place)) std::ranges::sort(by_offset, {}, place);
  const SafetensorsEntry* previous = nullptr;
  for (const SafetensorsEntry* entry : by_offset) {
    check_place(*entry, previous);
    check_size(*entry);
    previous = entry;
  }
  return previous ? previous->end : 0;
}

void check_file_size(std::uint64_t size, std::uint64_t described, std::uint64_t data) {
  if (size < described) {
    const std::uint64_t missing = described - size;
    throw Error(ErrorKind::corrupt,
                fmt::format("the file has {} bytes, its header describes {}: {} missing", size, described,
                            plural(missing, "byte") + (missing == 1 ? " is" : " are")))
        .with_hint(std::string(salvage_hint));
  }
  if (size > described)
    fail(ErrorKind::corrupt, "{} after the last tensor, which ends at offset {} ({} of data)",
         plural(size - described, "trailing byte"), described, plural(described - data, "byte"));
}

std::size_t alignment_rank(DType dtype) {
  return static_cast<std::size_t>(std::ranges::find(alignment_order, dtype) - alignment_order.begin());
}

// Where a tensor comes in the file: the widest alignment first.
struct Place {
  std::size_t rank;
  std::string_view name;
  std::size_t index;
  bool operator<(const Place& other) const {
    return rank != other.rank ? rank > other.rank : name < other.name;
  }
};

std::vector<Place> writing_order(const std::vector<Tensor>& tensors) {
  std::vector<Place> order;
  order.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    order.push_back({alignment_rank(tensors[i].dtype), tensors[i].name, i});
  std::ranges::sort(order, std::less{});
  return order;
}

void append_metadata(std::string& out, const std::map<std::string, std::string>& metadata) {
  out += json::quoted(metadata_key) + ":{";
  bool first = true;
  for (const auto& [key, text] : metadata) {
    require_utf8(key, "the metadata key", "safetensors");
    require_utf8(text, "the metadata text", "safetensors");
    if (!first) out += ',';
    first = false;
    out += json::quoted(key) + ':' + json::quoted(text);
  }
  out += '}';
}

void append_entry(std::string& out, const Tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  require_utf8(tensor.name, "the tensor name", "safetensors");
  if (tensor.name == metadata_key)
    throw Error(ErrorKind::refused,
                "a tensor is named __metadata__, the one name that safetensors keeps for itself")
        .with_hint("--rename '^__metadata__$ => metadata' gives it another");
  if (!safetensors_holds(tensor.dtype)) refuse_dtype(tensor, "safetensors");
  out += json::quoted(tensor.name);
  fmt::format_to(std::back_inserter(out), R"(:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                 name(tensor.dtype), fmt::join(tensor.shape, ","), begin, end);
}

}  // namespace

bool recognise_safetensors(std::span<const std::byte> head, std::uint64_t size) {
  if (size <= length_size || head.size() <= length_size) return false;
  if (header_length(head) > limits::safetensors_header) return false;
  const std::string_view text = as_text(head.subspan(length_size));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Checkpoint read_safetensors(const Input& input) {
  const Bytes bytes = input.bytes();
  auto [header, data] = read_header(*bytes);
  const std::optional<std::uint64_t> described = checked_add(data, check_ranges(header.entries));
  if (!described) fail(ErrorKind::corrupt, "the data offsets reach beyond 2^64 bytes");
  if (!bytes->is_open_ended()) check_file_size(bytes->size(), *described, data);

  Checkpoint checkpoint;
  checkpoint.size = *described;
  checkpoint.metadata = std::move(header.metadata);
  checkpoint.tensors.reserve(header.entries.size());
  for (SafetensorsEntry& entry : header.entries) {
    Tensor& tensor = checkpoint.tensors.emplace_back();
    tensor.name = std::move(entry.name);
    tensor.dtype = entry.dtype;
    tensor.shape = std::move(entry.shape);
    tensor.view = View{.source = bytes,
                       .offset = data + entry.begin,
                       .bytes = entry.end - entry.begin,
                       .stored = entry.dtype};
  }
  return checkpoint;
}

Salvaged salvage_safetensors(const Input& input) { return salvage_by_header(input, read_safetensors); }

Plan plan_safetensors(const Checkpoint& checkpoint) {
  std::string text = "{";
  if (!checkpoint.metadata.empty()) append_metadata(text, checkpoint.metadata);
  Plan plan;
  plan.segments.emplace_back(Plan::Literal{});
  std::uint64_t data_size = 0;
  for (const Place& place : writing_order(checkpoint.tensors)) {
    const Tensor& tensor = checkpoint.tensors[place.index];
    const std::optional<std::uint64_t> end = checked_add(data_size, tensor.byte_size());
    if (!end) fail(ErrorKind::refused, "{}: the tensors are more than 2^64 bytes", tensor_label(tensor.name));
    if (text.size() > 1) text += ',';
    append_entry(text, tensor, data_size, *end);
    data_size = *end;
    plan.segments.emplace_back(Plan::TensorData{place.index});
  }
  text += '}';
  text.append((header_alignment - text.size() % header_alignment) % header_alignment, ' ');
  if (text.size() > limits::safetensors_header)
    fail(ErrorKind::refused, "the header would be {} bytes long; safetensors allows up to {}", text.size(),
         limits::safetensors_header);

  std::vector<std::byte>& literal = std::get<Plan::Literal>(plan.segments.front()).bytes;
  literal.reserve(length_size + text.size());
  for (unsigned i = 0; i < length_size; ++i)
    literal.push_back(static_cast<std::byte>(text.size() >> (8 * i)));
  const std::span<const std::byte> json = as_bytes(text);
  literal.insert(literal.end(), json.begin(), json.end());
  const std::optional<std::uint64_t> size = checked_add(literal.size(), data_size);
  if (!size) fail(ErrorKind::refused, "the tensors are more than 2^64 bytes");
  plan.size = *size;
  return plan;
}

bool safetensors_holds(DType dtype) { return info(dtype).in_safetensors; }

}  // namespace ckpt
