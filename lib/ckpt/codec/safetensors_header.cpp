#include "ckpt/codec/safetensors_header.hpp"

#include <optional>

#include "ckpt/codec/json_document.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

namespace dom = simdjson::dom;

std::string_view kind(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
      return std::int64_t(element) < 0 ? "a negative number" : "a number";
    case dom::element_type::UINT64:
      return "a number";
    case dom::element_type::DOUBLE:
      return "a number with a fraction or an exponent";
    case dom::element_type::STRING:
      return "a text";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      break;
  }
  return "null";
}

// The spelling is exact: safetensors has no other way to write a type.
DType dtype_of(const dom::element& element) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "dtype is {} instead of a text", kind(element));
  const std::optional<DType> dtype = parse_dtype(text);
  if (!dtype || !info(*dtype).in_safetensors || name(*dtype) != text)
    fail(ErrorKind::corrupt, "safetensors has no dtype \"{}\"", printable(text));
  return *dtype;
}

std::uint64_t whole_number(const dom::element& element, std::string_view what) {
  std::uint64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "{} holds {} instead of a whole number", what, kind(element));
  return number;
}

Shape shape_of(const dom::element& element) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "shape is {} instead of a list", kind(element));
  if (array.size() > limits::dimensions)
    fail(ErrorKind::corrupt, "the shape has {} dimensions; at most {} are allowed", array.size(),
         limits::dimensions);
  Shape shape;
  shape.reserve(array.size());
  for (const dom::element size : array) shape.push_back(whole_number(size, "shape"));
  return shape;
}

void read_offsets(const dom::element& element, SafetensorsEntry& entry) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "data_offsets is {} instead of a list", kind(element));
  if (array.size() != 2) fail(ErrorKind::corrupt, "data_offsets has {} numbers instead of two", array.size());
  entry.begin = whole_number(array.at(0), "data_offsets");
  entry.end = whole_number(array.at(1), "data_offsets");
}

void read_entry(const dom::element& element, SafetensorsEntry& entry) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "the entry is {} instead of an object", kind(element));
  bool has_dtype = false;
  bool has_shape = false;
  bool has_offsets = false;
  std::size_t members = 0;
  for (const dom::key_value_pair member : object) {
    ++members;
    if (member.key == "dtype") entry.dtype = dtype_of(member.value), has_dtype = true;
    else if (member.key == "shape") entry.shape = shape_of(member.value), has_shape = true;
    else if (member.key == "data_offsets") read_offsets(member.value, entry), has_offsets = true;
  }
  const bool complete = has_dtype && has_shape && has_offsets;
  // Three members that are the three fields cannot hold one twice; that is every entry of a sound file.
  if (members != 3 || !complete) json::check_keys(object);
  if (!complete)
    fail(ErrorKind::corrupt, "the entry has no {}",
         !has_dtype   ? "dtype"
         : !has_shape ? "shape"
                      : "data_offsets");
}

std::map<std::string, std::string> metadata_of(const dom::element& element) {
  if (element.is_null()) return {};
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "__metadata__ is {} instead of an object", kind(element));
  json::check_keys(object);
  std::map<std::string, std::string> metadata;
  for (const dom::key_value_pair member : object) {
    std::string_view text;
    if (member.value.get(text) != simdjson::SUCCESS)
      fail(ErrorKind::corrupt, "__metadata__ maps \"{}\" to {} instead of a text", printable(member.key),
           kind(member.value));
    metadata.emplace(member.key, text);
  }
  return metadata;
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json) {
  const json::Document document(json);
  dom::object object;
  if (document.root().get(object) != simdjson::SUCCESS)
    fail(ErrorKind::corrupt, "the header is {} instead of an object", kind(document.root()));
  json::check_keys(object);
  SafetensorsHeader header;
  header.entries.reserve(object.size());
  for (const dom::key_value_pair member : object) {
    if (member.key == "__metadata__") {
      header.metadata = metadata_of(member.value);
      continue;
    }
    SafetensorsEntry& entry = header.entries.emplace_back();
    entry.name = member.key;
    try {
      read_entry(member.value, entry);
    } catch (Error& error) {
      throw error.in(fmt::format("tensor \"{}\"", printable(member.key)));
    }
  }
  return header;
}

}  // namespace ckpt
