#include <algorithm>
#include <array>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/burnpack/fields.hpp"
#include "ckpt/formats/burnpack/layout.hpp"
#include "ckpt/formats/burnpack/scheme.hpp"
#include "ckpt/formats/refusal.hpp"

// What burn accepts (ciborium and serde, observed): keys in any order, unknown keys, longer heads than
// needed, indefinite arrays and maps, tags around anything, names of tensors in pieces, names of
// fields as byte strings, a shape as a byte string. What it does not: a field twice, a struct as an
// array, an enum as anything but a text or a map of one entry.
//
// Spellings of a dtype, by version of burn:
//   plain types         a text: "F32"
//   booleans            "Bool" up to 0.21.0-pre.2; then {"Bool": "Native"}, "U8" or "U32"
//   quantised           {"QFloat": scheme}, see scheme.cpp

namespace ckpt::burnpack {
namespace {

using Entries = cbor::Reader::Entries;

constexpr std::array<std::string_view, 4> descriptor_fields{"dtype", "shape", "data_offsets", "param_id"};
constexpr std::array<std::string_view, 3> metadata_fields{"tensors", "metadata", "scalars"};

DType boolean_of(std::string_view store, std::uint64_t offset) {
  if (store == "Native") return DType::boolean;
  if (store == "U8") return DType::bool_u8;
  if (store == "U32") return DType::bool_u32;
  fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no store \"{}\" of booleans", offset,
       printable(store));
}

DType plain_dtype(std::string_view text, std::uint64_t offset) {
  // A text without a store is how burn up to 0.21.0-pre.2 wrote booleans.
  if (text == "Bool") return DType::boolean;
  for (const DTypeInfo& row : dtype_table())
    if (row.burnpack == text && row.kind != DTypeClass::quantized) return row.dtype;
  fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no dtype \"{}\"", offset, printable(text));
}

void read_dtype(cbor::Reader& reader, Descriptor& tensor) {
  const std::uint64_t offset = reader.offset();
  if (reader.peek() != cbor::Kind::map) {
    tensor.dtype = plain_dtype(reader.identifier("dtype"), offset);
    return;
  }
  Entries entries = reader.map("dtype");
  const std::string_view kind = entries.next() ? reader.identifier("dtype") : std::string_view();
  if (kind == "Bool") {
    const std::uint64_t at = reader.offset();
    tensor.dtype = boolean_of(reader.identifier("the store of booleans"), at);
  } else if (kind == "QFloat") {
    const Scheme scheme = read_scheme(reader);
    tensor.dtype = DType::qfloat;
    tensor.quantization = to_line(scheme);
    tensor.only_in_019 = scheme.only_in_019;
  } else {
    fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no dtype {{\"{}\": …}}", offset, printable(kind));
  }
  if (entries.next()) fail(ErrorKind::corrupt, "CBOR at offset {}: dtype names two types", offset);
}

Shape read_shape(cbor::Reader& reader) {
  Shape shape;
  const auto add = [&shape](std::uint64_t size) {
    if (shape.size() == limits::dimensions)
      fail(ErrorKind::corrupt, "the shape has more than {} dimensions", limits::dimensions);
    shape.push_back(size);
  };
  if (reader.peek() == cbor::Kind::bytes) {
    for (const std::byte size : reader.bytes("shape")) add(std::to_integer<std::uint64_t>(size));
    return shape;
  }
  for (Entries sizes = reader.array("shape"); sizes.next();) add(reader.whole("a size of the shape"));
  return shape;
}

void read_offsets(cbor::Reader& reader, Descriptor& tensor) {
  const std::uint64_t offset = reader.offset();
  std::vector<std::uint64_t> numbers;
  for (Entries all = reader.array("data_offsets"); all.next();)
    numbers.push_back(reader.whole("a data offset"));
  if (numbers.size() != 2)
    fail(ErrorKind::corrupt, "CBOR at offset {}: data_offsets has {} numbers instead of two", offset,
         numbers.size());
  tensor.begin = numbers[0];
  tensor.end = numbers[1];
}

void read_descriptor(cbor::Reader& reader, Descriptor& tensor) {
  Fields names(descriptor_fields, "the descriptor", reader);
  for (Entries fields = reader.map("the descriptor"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "dtype") read_dtype(reader, tensor);
    else if (field == "shape") tensor.shape = read_shape(reader);
    else if (field == "data_offsets") read_offsets(reader, tensor);
    else if (field != "param_id") reader.skip();
    else if (!reader.null()) tensor.param_id = reader.whole("param_id");
  }
  names.require(3);
}

void check_names(const std::vector<Descriptor>& tensors) {
  // burn sorts the names, so that they are strictly rising in every file that it wrote.
  const auto not_rising = [](const Descriptor& a, const Descriptor& b) { return a.name >= b.name; };
  if (std::ranges::adjacent_find(tensors, not_rising) == tensors.end()) return;
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const Descriptor& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin != names.end()) fail(ErrorKind::corrupt, "{} stands twice in the metadata", tensor_label(*twin));
}

std::vector<Descriptor> read_tensors(cbor::Reader& reader) {
  std::vector<Descriptor> tensors;
  Entries all = reader.map("tensors");
  tensors.reserve(std::min(all.expected(), limits::burnpack_tensors));
  while (all.next()) {
    Descriptor& tensor = tensors.emplace_back();
    tensor.name = reader.text("a tensor's name");
    try {
      read_descriptor(reader, tensor);
    } catch (Error& error) {
      throw error.in(tensor_label(tensor.name));
    }
  }
  check_names(tensors);
  return tensors;
}

std::map<std::string, std::string> read_texts(cbor::Reader& reader) {
  std::map<std::string, std::string> texts;
  for (Entries all = reader.map("metadata"); all.next();) {
    const std::uint64_t at = reader.offset();
    std::string key = reader.text("a key of the metadata");
    const auto [place, is_new] = texts.emplace(std::move(key), reader.text("a value of the metadata"));
    if (!is_new)
      fail(ErrorKind::corrupt, "CBOR at offset {}: the metadata key \"{}\" stands twice", at,
           printable(place->first));
  }
  return texts;
}

// {kind: value}, where the kind says how the value is written.
Scalar read_scalar(cbor::Reader& reader) {
  const std::uint64_t offset = reader.offset();
  Entries entries = reader.map("a scalar");
  const std::string_view kind =
      entries.next() ? reader.identifier("the kind of a scalar") : std::string_view();
  Scalar scalar;
  if (kind == "Int") scalar = reader.integer("an Int");
  else if (kind == "UInt") scalar = reader.whole("a UInt");
  else if (kind == "Float") scalar = reader.floating("a Float");
  else if (kind == "Bool") scalar = reader.boolean("a Bool");
  else
    fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no scalar of kind \"{}\"", offset,
         printable(kind));
  if (entries.next()) fail(ErrorKind::corrupt, "CBOR at offset {}: a scalar names two kinds", offset);
  return scalar;
}

std::map<std::string, Scalar> read_scalars(cbor::Reader& reader) {
  std::map<std::string, Scalar> scalars;
  for (Entries all = reader.map("scalars"); all.next();) {
    const std::uint64_t at = reader.offset();
    std::string name = reader.text("a scalar's name");
    const auto [place, is_new] = scalars.emplace(std::move(name), read_scalar(reader));
    if (!is_new)
      fail(ErrorKind::corrupt, "CBOR at offset {}: the scalar \"{}\" stands twice", at,
           printable(place->first));
  }
  return scalars;
}

}  // namespace

Metadata read_metadata(cbor::Reader& reader) {
  Metadata out;
  Fields names(metadata_fields, "the metadata", reader);
  for (Entries fields = reader.map("the metadata"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "tensors") out.tensors = read_tensors(reader);
    else if (field == "metadata") out.metadata = read_texts(reader);
    else if (field == "scalars") out.scalars = read_scalars(reader);
    else reader.skip();
  }
  names.require(1);
  return out;
}

}  // namespace ckpt::burnpack
