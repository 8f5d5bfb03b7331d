#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/hints.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/formats/burnpack/burnpack.hpp"
#include "ckpt/formats/burnpack/layout.hpp"
#include "ckpt/formats/burnpack/scheme.hpp"
#include "ckpt/formats/refusal.hpp"

namespace ckpt {
namespace {

using burnpack::Descriptor;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

std::string bytes_are_missing(std::uint64_t count) {
  return fmt::format("{} byte{} missing", count, count == 1 ? " is" : "s are");
}

// Checks the ten bytes in front and returns M, of which all bytes are there.
std::uint64_t read_header(const ByteSource& bytes) {
  if (bytes.size() < burnpack::header_size)
    fail(ErrorKind::corrupt, "a burnpack begins with a header of 10 bytes, but the file has {}",
         bytes.size());
  const std::vector<std::byte> header = read_range(bytes, 0, burnpack::header_size);
  const std::span<const std::byte> all(header);
  if (!recognise_burnpack(header, bytes.size()))
    fail(ErrorKind::corrupt, "a burnpack begins with the bytes 4e 52 55 42 (NRUB), but the file with {:02x}",
         fmt::join(as_text(all.first(4)), " "));
  const std::uint64_t version = little_endian(all.subspan(4, 2));
  // burn compares with "at most 1" and so takes version 0, which nobody writes.
  if (version > burnpack::version)
    fail(ErrorKind::unsupported, "version {} of burnpack at offset 4; versions up to {} are known", version,
         burnpack::version);
  const std::uint64_t size = little_endian(all.subspan(6, 4));
  if (size > limits::burnpack_metadata)
    fail(ErrorKind::corrupt, "the metadata's size at offset 6 is {}; burn reads up to {} bytes", size,
         limits::burnpack_metadata);
  const std::uint64_t end = burnpack::header_size + size;
  if (bytes.size() < end)
    fail(ErrorKind::corrupt, "the file has {} bytes, its metadata ends at {}: {}", bytes.size(), end,
         bytes_are_missing(end - bytes.size()));
  return size;
}

void check_quantized_size(const Descriptor& tensor) {
  const std::optional<burnpack::Scheme> scheme = burnpack::parse_line(tensor.quantization);
  const std::optional<std::uint64_t> least =
      scheme ? burnpack::least_bytes(*scheme, tensor.shape) : std::nullopt;
  if (!least)
    fail(ErrorKind::corrupt, "{}: shape {} has more elements than can be counted", tensor_label(tensor.name),
         to_string(tensor.shape));
  if (tensor.end - tensor.begin < *least)
    fail(ErrorKind::corrupt,
         "{}: shape {} quantised as {} needs at least {} bytes, but its data offsets {} to {} hold {}",
         tensor_label(tensor.name), to_string(tensor.shape), tensor.quantization, *least, tensor.begin,
         tensor.end, tensor.end - tensor.begin);
}

void check_size(const Descriptor& tensor) {
  if (tensor.end < tensor.begin)
    fail(ErrorKind::corrupt, "{}: data offsets end at {}, before they begin at {}", tensor_label(tensor.name),
         tensor.end, tensor.begin);
  if (tensor.dtype == DType::qfloat) return check_quantized_size(tensor);
  const std::optional<std::uint64_t> size = byte_count(tensor.shape, tensor.dtype);
  if (!size)
    fail(ErrorKind::corrupt, "{}: shape {} of {} has more bytes than can be counted",
         tensor_label(tensor.name), to_string(tensor.shape), name(tensor.dtype));
  if (*size != tensor.end - tensor.begin)
    fail(ErrorKind::corrupt, "{}: shape {} of {} needs {} bytes, but its data offsets {} to {} hold {}",
         tensor_label(tensor.name), to_string(tensor.shape), name(tensor.dtype), *size, tensor.begin,
         tensor.end, tensor.end - tensor.begin);
}

// The order of the data; tensors without bytes at one place keep the order of the metadata.
std::vector<Descriptor> by_offset(std::vector<Descriptor> tensors) {
  const auto place = [](const Descriptor& tensor) { return std::tuple(tensor.begin, tensor.end, &tensor); };
  if (std::ranges::is_sorted(tensors, {}, place)) return tensors;
  std::vector<Descriptor*> order;
  order.reserve(tensors.size());
  for (Descriptor& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [&](const Descriptor* tensor) { return place(*tensor); });
  std::vector<Descriptor> sorted;
  sorted.reserve(order.size());
  for (Descriptor* tensor : order) sorted.push_back(std::move(*tensor));
  return sorted;
}

void check_overlaps(const std::vector<Descriptor>& sorted) {
  const Descriptor* previous = nullptr;  // the last one that has bytes
  for (const Descriptor& tensor : sorted) {
    if (tensor.begin == tensor.end) continue;
    if (previous && tensor.begin < previous->end)
      fail(ErrorKind::corrupt, "{} (data bytes {} to {}) overlaps {} (data bytes {} to {})",
           tensor_label(tensor.name), tensor.begin, tensor.end, tensor_label(previous->name), previous->begin,
           previous->end);
    previous = &tensor;
  }
}

// What is known of a file before it is decided where its data begin.
struct Extent {
  std::uint64_t metadata_end = 0;
  std::uint64_t padded_start = 0;
  std::uint64_t data_size = 0;  // where the last tensor ends, from the start of the data
  std::uint64_t file_size = 0;
  bool back_to_back = true;  // every tensor begins where the one before it ended, the first at 0
  bool aligned = true;       // every tensor begins at a multiple of 256
  bool only_in_019 = false;  // some dtype is spelled as only burn 0.19 did
};

Extent extent_of(const std::vector<Descriptor>& sorted, std::uint64_t metadata_size,
                 const ByteSource& bytes) {
  Extent extent;
  extent.metadata_end = burnpack::header_size + metadata_size;
  extent.padded_start = checked_align(extent.metadata_end, burnpack::alignment).value();
  extent.file_size = bytes.size();
  for (const Descriptor& tensor : sorted) {
    if (tensor.begin != extent.data_size) extent.back_to_back = false;
    if (tensor.begin % burnpack::alignment != 0) extent.aligned = false;
    if (tensor.only_in_019) extent.only_in_019 = true;
    extent.data_size = std::max(extent.data_size, tensor.end);
  }
  if (!checked_add(extent.padded_start, extent.data_size))
    fail(ErrorKind::corrupt, "the data offsets reach beyond 2^64 bytes");
  return extent;
}

// Whether everything between the metadata and the next multiple of 256 is zero, as the padding is.
bool has_zero_padding(const ByteSource& bytes, const Extent& extent) {
  const std::uint64_t end = std::min(extent.padded_start, bytes.size());
  return std::ranges::all_of(read_range(bytes, extent.metadata_end, end - extent.metadata_end),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

// Whether the file has the layout of burn 0.19, which nothing in it states. The file's size proves one
// of the two layouts where it is right; where it is not, starts that are no multiples of 256 tell.
bool is_unpadded(const ByteSource& bytes, const Extent& extent) {
  if (extent.metadata_end == extent.padded_start || extent.data_size == 0) return false;
  const bool telling_starts = extent.back_to_back && !extent.aligned;
  if (bytes.is_open_ended()) {
    if (!telling_starts && extent.back_to_back && !has_zero_padding(bytes, extent))
      fail(ErrorKind::unsupported,
           "whether this is the layout of burn 0.19 only the size of the file can tell");
    return telling_starts;
  }
  if (extent.file_size == extent.padded_start + extent.data_size) return false;
  if (telling_starts) return true;
  if (extent.file_size != extent.metadata_end + extent.data_size || !extent.back_to_back) return false;
  // The size is right for burn 0.19. It would also be that of a newer file cut by the length of the
  // padding, whose first bytes are then zero.
  return !has_zero_padding(bytes, extent);
}

void check_file_size(const Extent& extent, bool unpadded, std::vector<std::string>& hidden) {
  const std::uint64_t start = unpadded ? extent.metadata_end : extent.padded_start;
  const std::uint64_t due = start + extent.data_size;
  // Without data there is nothing to miss in a file of burn 0.19, which ends with its metadata.
  if (extent.data_size == 0 && extent.file_size == extent.metadata_end) return;
  if (extent.file_size < due)
    throw Error(ErrorKind::corrupt,
                fmt::format("the file has {} bytes, its metadata describes {} (data begin at {}): {}",
                            extent.file_size, due, start, bytes_are_missing(due - extent.file_size)))
        .with_hint(std::string(salvage_hint));
  if (extent.file_size > due)
    hidden.push_back(fmt::format("{} trailing byte{} after the last tensor, which ends at offset {}",
                                 extent.file_size - due, extent.file_size - due == 1 ? "" : "s", due));
}

void note_what_burn_refuses(const Checkpoint& checkpoint, std::vector<std::string>& notes) {
  if (checkpoint.tensors.size() > limits::burnpack_tensors)
    notes.push_back(
        fmt::format("burn itself refuses files of more than {} tensors", limits::burnpack_tensors));
  if (checkpoint.size > limits::burnpack_file)
    notes.push_back(fmt::format("burn itself refuses files of more than {} bytes", limits::burnpack_file));
  for (const Tensor& tensor : checkpoint.tensors)
    if (tensor.view.bytes > limits::burnpack_tensor)
      notes.push_back(fmt::format("burn itself refuses {}: it has more than {} bytes",
                                  tensor_label(tensor.name), limits::burnpack_tensor));
}

Tensor make_tensor(Descriptor&& descriptor, const Bytes& bytes, std::uint64_t start) {
  Tensor tensor;
  tensor.name = std::move(descriptor.name);
  tensor.dtype = descriptor.dtype;
  tensor.shape = std::move(descriptor.shape);
  tensor.view = View{.source = bytes,
                     .offset = start + descriptor.begin,
                     .bytes = descriptor.end - descriptor.begin,
                     .stored = descriptor.dtype};
  tensor.param_id = descriptor.param_id;
  tensor.quantization = std::move(descriptor.quantization);
  return tensor;
}

}  // namespace

bool recognise_burnpack(std::span<const std::byte> head, std::uint64_t) {
  return head.size() >= burnpack::magic.size() &&
         std::ranges::equal(head.first(burnpack::magic.size()), burnpack::magic);
}

Checkpoint read_burnpack(const Input& input) {
  const Bytes bytes = input.bytes();
  const std::uint64_t metadata_size = read_header(*bytes);
  const std::vector<std::byte> encoded = read_range(*bytes, burnpack::header_size, metadata_size);
  cbor::Reader reader(encoded, burnpack::header_size);
  burnpack::Metadata metadata = burnpack::read_metadata(reader);

  Checkpoint checkpoint;
  if (reader.left() != 0)
    checkpoint.notes.push_back(
        fmt::format("{} bytes at offset {} follow the metadata inside the size that it states", reader.left(),
                    reader.offset()));
  for (const Descriptor& tensor : metadata.tensors) check_size(tensor);
  std::vector<Descriptor> tensors = by_offset(std::move(metadata.tensors));
  check_overlaps(tensors);

  const Extent extent = extent_of(tensors, metadata_size, *bytes);
  const bool unpadded = is_unpadded(*bytes, extent);
  if (!bytes->is_open_ended()) check_file_size(extent, unpadded, checkpoint.hidden);
  if (extent.only_in_019 && !unpadded && extent.metadata_end != extent.padded_start)
    fail(ErrorKind::corrupt,
         "a dtype is spelled as only burn 0.19 did, but the data do not lie as in its files");
  if (unpadded) {
    checkpoint.container = burnpack::unpadded_container;
    checkpoint.notes.emplace_back(
        "burn 0.19 layout: data follow the metadata unpadded; burn 0.20 and later cannot read it");
  }

  const std::uint64_t start = unpadded ? extent.metadata_end : extent.padded_start;
  checkpoint.size = start + extent.data_size;
  checkpoint.metadata = std::move(metadata.metadata);
  checkpoint.scalars = std::move(metadata.scalars);
  checkpoint.tensors.reserve(tensors.size());
  for (Descriptor& tensor : tensors) {
    if (!unpadded && tensor.begin % burnpack::alignment != 0)
      checkpoint.notes.push_back(fmt::format("{} begins at data offset {}, which is no multiple of {}",
                                             tensor_label(tensor.name), tensor.begin, burnpack::alignment));
    checkpoint.tensors.push_back(make_tensor(std::move(tensor), bytes, start));
  }
  note_what_burn_refuses(checkpoint, checkpoint.notes);
  return checkpoint;
}

Salvaged salvage_burnpack(const Input& input) {
  Salvaged out = salvage_by_header(input, read_burnpack);
  if (out.lost.empty() || out.checkpoint.container == burnpack::unpadded_container) return out;
  const std::uint64_t end = burnpack::header_size + read_header(*input.bytes());
  std::uint64_t at = checked_align(end, burnpack::alignment).value();
  // Tensors that lie back to back lie alike in both layouts, but for the padding in front of the first.
  bool back_to_back = end != at;
  for (const Tensor& tensor : out.checkpoint.tensors) {
    back_to_back = back_to_back && tensor.view.offset == at;
    at = tensor.view.offset + tensor.view.bytes;
  }
  if (back_to_back && !out.checkpoint.tensors.empty())
    out.checkpoint.notes.push_back(
        fmt::format("the {} zeros behind the metadata are taken for padding; in a file of burn 0.19, whose "
                    "size could have "
                    "told, they would be the first elements",
                    out.checkpoint.tensors.front().view.offset - end));
  return out;
}

}  // namespace ckpt
