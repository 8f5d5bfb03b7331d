#include "ckpt/codec/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "ckpt/codec/json_document.hpp"

namespace ckpt::json {
namespace {

using simdjson::dom::element_type;

// Depth is bounded: the document was refused if it nests deeper than limits::nesting.
Value convert(const simdjson::dom::element& element) {
  switch (element.type()) {
    case element_type::ARRAY: {
      Value::Array out;
      for (const simdjson::dom::element item : simdjson::dom::array(element)) out.push_back(convert(item));
      return out;
    }
    case element_type::OBJECT: {
      const simdjson::dom::object object(element);
      check_keys(object);
      Value::Object out;
      for (const simdjson::dom::key_value_pair member : object)
        out.emplace_back(std::string(member.key), convert(member.value));
      return out;
    }
    case element_type::INT64:
      return std::int64_t(element);
    case element_type::UINT64:
      return std::uint64_t(element);
    case element_type::DOUBLE:
      return double(element);
    case element_type::STRING:
      return std::string_view(element);
    case element_type::BOOL:
      return bool(element);
    case element_type::NULL_VALUE:
      break;
  }
  return nullptr;
}

struct Sequence {
  std::size_t size;  // bytes to step over
  enum class Kind { character, surrogate, stray } kind;
};

// What begins at text[0], a byte of 0x80 or above. A surrogate coded as if it were a character is
// what Python's `surrogatepass` (and a pickled string with one) leaves behind.
Sequence sequence_at(std::string_view text) {
  const auto at = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  using enum Sequence::Kind;
  const unsigned lead = at(0);
  if (lead >= 0xC2 && lead <= 0xDF && continues(1)) return {2, character};
  if ((lead & 0xF0U) == 0xE0U && continues(1) && continues(2)) {
    if (lead == 0xE0 && at(1) < 0xA0) return {1, stray};
    return {3, lead == 0xED && at(1) >= 0xA0 ? surrogate : character};
  }
  if (lead >= 0xF0 && lead <= 0xF4 && continues(1) && continues(2) && continues(3))
    if ((lead != 0xF0 || at(1) >= 0x90) && (lead != 0xF4 || at(1) < 0x90)) return {4, character};
  return {1, stray};
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;  // where the run begins that has not been copied yet
  const auto flush = [&](std::size_t end) { out.append(text, plain, end - plain); };
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    if (c < 0x80) {
      flush(i);
      append_escape(out, c);
      plain = ++i;
      continue;
    }
    const Sequence next = sequence_at(text.substr(i));
    if (next.kind != Sequence::Kind::character) {
      flush(i);
      if (next.kind == Sequence::Kind::stray) out += "\xEF\xBF\xBD";
      else
        fmt::format_to(std::back_inserter(out), "\\ud{:03x}",
                       (static_cast<unsigned>(text[i + 1]) & 0x3FU) << 6U |
                           (static_cast<unsigned>(text[i + 2]) & 0x3FU));
      plain = i + next.size;
    }
    i += next.size;
  }
  flush(text.size());
  out += '"';
}

void append_double(std::string& out, double value) {
  if (std::isnan(value)) out += "\"NaN\"";
  else if (std::isinf(value)) out += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  else {
    const std::size_t start = out.size();
    fmt::format_to(std::back_inserter(out), "{}", value);
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
  }
}

void append_line(std::string& out, unsigned indent, unsigned depth) {
  if (indent == 0) return;
  out += '\n';
  out.append(std::size_t{indent} * depth, ' ');
}

bool is_number(const Value& value) {
  return value.as<std::int64_t>() != nullptr || value.as<std::uint64_t>() != nullptr ||
         value.as<double>() != nullptr;
}

void append_value(std::string& out, const Value& value, unsigned indent, unsigned depth) {
  if (value.is_null()) out += "null";
  else if (const bool* b = value.as<bool>()) out += *b ? "true" : "false";
  else if (const std::int64_t* i = value.as<std::int64_t>())
    fmt::format_to(std::back_inserter(out), "{}", *i);
  else if (const std::uint64_t* u = value.as<std::uint64_t>())
    fmt::format_to(std::back_inserter(out), "{}", *u);
  else if (const double* d = value.as<double>()) append_double(out, *d);
  else if (const Value::Number* n = value.as<Value::Number>()) out += n->text;
  else if (const std::string* s = value.as<std::string>()) append_quoted(out, *s);
  else if (const Value::Array* array = value.as<Value::Array>()) {
    // A shape reads better on one line: lists of numbers stay on theirs.
    const bool is_flat = indent != 0 && std::ranges::all_of(*array, is_number);
    out += '[';
    for (std::size_t k = 0; k < array->size(); ++k) {
      if (k != 0) out += is_flat ? ", " : ",";
      if (!is_flat) append_line(out, indent, depth + 1);
      append_value(out, (*array)[k], indent, depth + 1);
    }
    if (!array->empty() && !is_flat) append_line(out, indent, depth);
    out += ']';
  } else if (const Value::Object* object = value.as<Value::Object>()) {
    out += '{';
    for (std::size_t k = 0; k < object->size(); ++k) {
      if (k != 0) out += ',';
      append_line(out, indent, depth + 1);
      append_quoted(out, (*object)[k].first);
      out += indent == 0 ? ":" : ": ";
      append_value(out, (*object)[k].second, indent, depth + 1);
    }
    if (!object->empty()) append_line(out, indent, depth);
    out += '}';
  }
}

}  // namespace

Value parse(std::string_view text) { return convert(Document(text).root()); }

std::string dump(const Value& value, unsigned indent) {
  std::string out;
  append_value(out, value, indent, 0);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_quoted(out, text);
  return out;
}

}  // namespace ckpt::json
