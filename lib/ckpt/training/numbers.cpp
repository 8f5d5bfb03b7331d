#include "ckpt/training/numbers.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "ckpt/codec/json.hpp"
#include "ckpt/stages/names.hpp"

namespace ckpt {
namespace {

constexpr std::string_view number_key = "$number";
/// Items of a list of settings; betas are two.
constexpr std::size_t most_items = 4096;

std::optional<std::size_t> index_of(std::string_view text) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index >= most_items) return std::nullopt;
  return index;
}

/// The place of `key` in a list or an object, made where there is none; null where there can be none.
Value* member(Value& value, std::string_view key) {
  if (auto* items = value.as<Value::Array>()) {
    const std::optional<std::size_t> index = index_of(key);
    if (!index) return nullptr;
    if (*index >= items->size()) items->resize(*index + 1);
    return &(*items)[*index];
  }
  auto* members = value.as<Value::Object>();
  if (members == nullptr) return nullptr;
  for (auto& [name, found] : *members)
    if (name == key) return &found;
  return &members->emplace_back(key, Value()).second;
}

Value typed(double number, DType dtype) {
  constexpr double most_whole = 9007199254740992.0;  // 2^53
  if (dtype == DType::boolean) return number != 0;
  if (!is_floating(dtype) && std::abs(number) <= most_whole) return static_cast<std::int64_t>(number);
  return number;
}

Value coded(const Value& value) {
  const auto wrapped = [](std::string text) {
    return Value::object().set(std::string(number_key), std::move(text));
  };
  if (const auto* number = value.as<Value::Number>()) return wrapped(number->text);
  if (const auto* number = value.as<double>(); number != nullptr && !std::isfinite(*number))
    return wrapped(std::isnan(*number) ? "nan" : *number < 0 ? "-inf" : "inf");
  if (const auto* items = value.as<Value::Array>()) {
    Value result = Value::array();
    for (const Value& item : *items) result.push(coded(item));
    return result;
  }
  if (const auto* members = value.as<Value::Object>()) {
    Value result = Value::object();
    for (const auto& [key, item] : *members) result.set(key, coded(item));
    return result;
  }
  return value;
}

/// Whether a text is a whole number in decimals: it will stand in JSON as it is.
bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text == "0" ||
         (!text.empty() && text.front() != '0' && text.find_first_not_of("0123456789") == text.npos);
}

Value decoded(Value value) {
  if (auto* items = value.as<Value::Array>())
    for (Value& item : *items) item = decoded(std::move(item));
  auto* members = value.as<Value::Object>();
  if (members == nullptr) return value;
  if (members->size() == 1 && members->front().first == number_key)
    if (const auto* text = members->front().second.as<std::string>()) {
      if (*text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (*text == "inf") return std::numeric_limits<double>::infinity();
      if (*text == "-inf") return -std::numeric_limits<double>::infinity();
      if (is_whole(*text)) return Value::Number{*text};
    }
  for (auto& [key, item] : *members) item = decoded(std::move(item));
  return value;
}

}  // namespace

bool put_number(Value& value, std::string_view path, const Tensor& tensor, const NumberReader& number) {
  if (tensor.elements() != 1) return false;
  Value* at = &value;
  while (true) {
    const std::size_t dot = path.find('.');
    at = member(*at, path.substr(0, dot));
    if (at == nullptr) return false;
    if (dot == path.npos) break;
    path.remove_prefix(dot + 1);
    if (at->is_null()) *at = is_index(path.substr(0, path.find('.'))) ? Value::array() : Value::object();
  }
  if (!at->is_null()) return false;
  *at = typed(number(tensor), tensor.dtype);
  return true;
}

std::string to_note(const Value& value) { return json::dump(coded(value)); }

Value from_note(std::string_view text) { return decoded(json::parse(text)); }

}  // namespace ckpt
