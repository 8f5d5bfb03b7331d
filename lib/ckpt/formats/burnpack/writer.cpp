#include <algorithm>
#include <numeric>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/formats/burnpack/burnpack.hpp"
#include "ckpt/formats/burnpack/layout.hpp"
#include "ckpt/formats/burnpack/scheme.hpp"
#include "ckpt/formats/refusal.hpp"

// The metadata's fields come in the order of burn's structs, and what is empty or missing is left out.

namespace ckpt {
namespace {

constexpr std::string_view format = "burnpack";

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Where each tensor lies in the data: in the order of the checkpoint, each at a multiple of 256.
std::vector<Range> lay_out(const std::vector<Tensor>& tensors) {
  std::vector<Range> ranges;
  ranges.reserve(tensors.size());
  std::uint64_t at = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t size = tensor.byte_size();
    if (size > limits::burnpack_tensor)
      fail(ErrorKind::refused, "{} has {} bytes, and burn reads back only tensors of up to {}",
           tensor_label(tensor.name), size, limits::burnpack_tensor);
    const std::optional<std::uint64_t> begin = checked_align(at, burnpack::alignment);
    const std::optional<std::uint64_t> end = begin ? checked_add(*begin, size) : std::nullopt;
    if (!end) fail(ErrorKind::refused, "{}: the tensors are more than 2^64 bytes", tensor_label(tensor.name));
    ranges.push_back({*begin, *end});
    at = *end;
  }
  return ranges;
}

void write_boolean(cbor::Writer& writer, std::string_view store) {
  writer.map(1);
  writer.text("Bool");
  writer.text(store);
}

void write_quantized(cbor::Writer& writer, const Tensor& tensor) {
  const std::optional<burnpack::Scheme> scheme = burnpack::parse_line(tensor.quantization);
  if (!scheme)
    fail(ErrorKind::refused, "{} is quantised in a way that burn does not know: {}",
         tensor_label(tensor.name), tensor.quantization);
  writer.map(1);
  writer.text("QFloat");
  write_scheme(writer, *scheme);
}

void write_dtype(cbor::Writer& writer, const Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::boolean:
      return write_boolean(writer, "Native");
    case DType::bool_u8:
      return write_boolean(writer, "U8");
    case DType::bool_u32:
      return write_boolean(writer, "U32");
    case DType::qfloat:
      return write_quantized(writer, tensor);
    default:
      break;
  }
  if (!burnpack_holds(tensor.dtype)) refuse_dtype(tensor, format);
  writer.text(info(tensor.dtype).burnpack);
}

void write_descriptor(cbor::Writer& writer, const Tensor& tensor, Range range) {
  writer.map(tensor.param_id ? 4 : 3);
  writer.text("dtype");
  write_dtype(writer, tensor);
  writer.text("shape");
  writer.array(tensor.shape.size());
  for (const std::uint64_t size : tensor.shape) writer.whole(size);
  writer.text("data_offsets");
  writer.array(2);
  writer.whole(range.begin);
  writer.whole(range.end);
  if (!tensor.param_id) return;
  writer.text("param_id");
  writer.whole(*tensor.param_id);
}

void write_tensors(cbor::Writer& writer, const std::vector<Tensor>& tensors,
                   const std::vector<Range>& ranges) {
  std::vector<std::pair<std::string_view, std::size_t>> by_name;
  by_name.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) by_name.emplace_back(tensors[i].name, i);
  std::ranges::sort(by_name);
  writer.map(tensors.size());
  for (const auto& [name, index] : by_name) {
    require_utf8(name, "the tensor name", format);
    writer.text(name);
    write_descriptor(writer, tensors[index], ranges[index]);
  }
}

void write_texts(cbor::Writer& writer, const std::map<std::string, std::string>& texts) {
  writer.map(texts.size());
  for (const auto& [key, text] : texts) {
    require_utf8(key, "the metadata key", format);
    require_utf8(text, "the metadata text", format);
    writer.text(key);
    writer.text(text);
  }
}

struct ScalarWriter {
  cbor::Writer& writer;
  void kind(std::string_view name) const {
    writer.map(1);
    writer.text(name);
  }
  void operator()(std::int64_t value) const { kind("Int"), writer.integer(value); }
  void operator()(std::uint64_t value) const { kind("UInt"), writer.whole(value); }
  void operator()(double value) const { kind("Float"), writer.floating(value); }
  void operator()(bool value) const { kind("Bool"), writer.boolean(value); }
};

void write_scalars(cbor::Writer& writer, const std::map<std::string, Scalar>& scalars) {
  writer.map(scalars.size());
  for (const auto& [name, scalar] : scalars) {
    require_utf8(name, "the name of a scalar", format);
    writer.text(name);
    std::visit(ScalarWriter{writer}, scalar);
  }
}

cbor::Writer write_metadata(const Checkpoint& checkpoint, const std::vector<Range>& ranges) {
  cbor::Writer writer;
  writer.map(1U + (checkpoint.metadata.empty() ? 0U : 1U) + (checkpoint.scalars.empty() ? 0U : 1U));
  writer.text("tensors");
  write_tensors(writer, checkpoint.tensors, ranges);
  if (!checkpoint.metadata.empty()) {
    writer.text("metadata");
    write_texts(writer, checkpoint.metadata);
  }
  if (!checkpoint.scalars.empty()) {
    writer.text("scalars");
    write_scalars(writer, checkpoint.scalars);
  }
  return writer;
}

void append_little_endian(std::vector<std::byte>& out, std::uint64_t number, unsigned size) {
  for (unsigned i = 0; i < size; ++i) out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

std::vector<std::byte> head_of(const std::vector<std::byte>& metadata) {
  std::vector<std::byte> head(burnpack::magic.begin(), burnpack::magic.end());
  head.reserve(burnpack::header_size + metadata.size());
  append_little_endian(head, burnpack::version, 2);
  append_little_endian(head, metadata.size(), 4);
  head.insert(head.end(), metadata.begin(), metadata.end());
  return head;
}

void append_zeros(Plan& plan, std::uint64_t count) {
  if (count != 0) plan.segments.emplace_back(Plan::Zeros{count});
}

}  // namespace

Plan plan_burnpack(const Checkpoint& checkpoint) {
  const std::vector<Tensor>& tensors = checkpoint.tensors;
  if (tensors.size() > limits::burnpack_tensors)
    fail(ErrorKind::refused, "{} tensors are more than the {} that burn reads back from one burnpack",
         tensors.size(), limits::burnpack_tensors);
  const std::vector<Range> ranges = lay_out(tensors);
  const cbor::Writer metadata = write_metadata(checkpoint, ranges);
  if (metadata.size() > limits::burnpack_metadata)
    fail(ErrorKind::refused, "the metadata would be {} bytes long; burn reads back up to {}", metadata.size(),
         limits::burnpack_metadata);

  Plan plan;
  std::vector<std::byte> head = head_of(metadata.bytes());
  const std::uint64_t start = checked_align(head.size(), burnpack::alignment).value();
  const std::uint64_t padding = start - head.size();
  plan.segments.emplace_back(Plan::Literal{std::move(head)});
  append_zeros(plan, padding);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    append_zeros(plan, ranges[i].begin - at);
    plan.segments.emplace_back(Plan::TensorData{i});
    at = ranges[i].end;
  }
  const std::optional<std::uint64_t> size = checked_add(start, at);
  if (!size || *size > limits::burnpack_file)
    fail(ErrorKind::refused, "the file would have more than the {} bytes that burn reads back",
         limits::burnpack_file);
  plan.size = *size;
  return plan;
}

bool burnpack_holds(DType dtype) { return !info(dtype).burnpack.empty(); }

}  // namespace ckpt
