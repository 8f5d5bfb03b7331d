#include "ckpt/formats/pytorch/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "ckpt/codec/name_index.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/alike.hpp"
#include "ckpt/formats/pytorch/numpy.hpp"

namespace ckpt::pytorch {
namespace {

/// Nesting of what is shown; less than a JSON reader allows.
constexpr unsigned shown_depth = 100;
/// Bytes of one text that are shown.
constexpr std::size_t shown_text = 4096;
/// Bytes of a key that is spelled out by its parts.
constexpr std::size_t key_limit = 256;
constexpr std::string_view ellipsis = "…";

Value shortened(std::string_view text) {
  if (text.size() <= shown_text) return text;
  std::size_t end = shown_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("{}… ({} bytes)", text.substr(0, end), text.size());
}

Value integer(const pickle::Graph& graph, NodeId id) {
  if (graph.kind(id) == Kind::integer) return graph.integer(id);
  std::string text = pickle::integer_text(graph, id);
  if (text.starts_with("integer")) return text;
  return Value::Number{std::move(text)};
}

std::string python_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  return quote + std::string(text) + quote;
}

void append_repr(const Document& document, NodeId id, std::string& out, unsigned depth) {
  const pickle::Graph& graph = document.graph;
  if (out.size() > key_limit || depth > 8) {
    if (!out.ends_with(ellipsis)) out += ellipsis;
    return;
  }
  const auto join = [&](std::string_view open, std::span<const NodeId> items, std::string_view close) {
    out += open;
    for (std::size_t i = 0; i < items.size() && out.size() <= key_limit; ++i) {
      if (i != 0) out += ", ";
      append_repr(document, items[i], out, depth + 1);
    }
    out += close;
  };
  switch (graph.kind(id)) {
    case Kind::none:
      out += "None";
      return;
    case Kind::boolean:
      out += graph.boolean(id) ? "True" : "False";
      return;
    case Kind::integer:
    case Kind::big_integer:
    case Kind::decimal:
      out += pickle::integer_text(graph, id);
      return;
    case Kind::real:
      out += python_float(graph.real(id));
      return;
    case Kind::text:
    case Kind::text8:
      out += quoted(graph.text(id).substr(0, key_limit));
      return;
    case Kind::bytes:
      out += 'b', out += quoted(printable(graph.text(id).substr(0, key_limit)));
      return;
    case Kind::list:
      join("[", graph.children(id), "]");
      return;
    case Kind::tuple:
      join("(", graph.children(id), graph.children(id).size() == 1 ? ",)" : ")");
      return;
    case Kind::set:
      join("{", graph.children(id), "}");
      return;
    case Kind::frozenset:
      join("frozenset({", graph.children(id), "})");
      return;
    case Kind::dict:
      out += "dict";
      return;
    case Kind::global:
      out += graph.global(id).full();
      return;
    case Kind::persistent:
      out += "tensor";
      return;
    case Kind::call:
      break;
  }
  if (const std::optional<Bytes> bytes = bytes_of(document, id)) {
    const std::vector<std::byte> head =
        read_range(**bytes, 0, std::min<std::uint64_t>((*bytes)->size(), key_limit));
    out += 'b', out += quoted(printable(as_text(head)));
    return;
  }
  if (call_meaning(document, id) == Meaning::set) {
    if (const auto items = sequence(document, id)) {
      const bool frozen = graph.global(graph.call(id).callable).name == "frozenset";
      join(frozen ? "frozenset({" : "{", *items, frozen ? "})" : "}");
      return;
    }
  }
  out += class_name(document, id);
}

}  // namespace

std::string key_text(const Document& document, NodeId id) {
  if (document.graph.is_text(id)) return std::string(document.graph.text(id));
  std::string out;
  append_repr(document, id, out, 0);
  return out;
}

std::vector<Entry> entries(const Document& document, std::span<const NodeId> items) {
  const pickle::Graph& graph = document.graph;
  std::vector<Entry> out;
  out.reserve(items.size() / 2);
  NameIndex texts(items.size() / 2);             // keys that are text, where they stand
  std::map<std::int64_t, std::size_t> integers;  // a tree: numbers can be chosen to fall into one bucket
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    std::size_t place = out.size();
    if (graph.is_text(items[i]))
      place = texts.add(graph.text(items[i]), static_cast<std::uint32_t>(place)).value_or(place);
    else if (graph.is(items[i], Kind::integer))
      place = integers.try_emplace(graph.integer(items[i]), place).first->second;
    if (place == out.size()) out.push_back({key_text(document, items[i]), items[i + 1]});
    else out[place].value = items[i + 1];
  }
  return out;
}

Value Values::text(std::string_view whole) {
  Value shown = shortened(whole);
  shown_ += shown.as<std::string>()->size() / limits::shown_value_bytes;
  return shown;
}

std::string Values::name(std::string_view whole) { return std::move(*text(whole).as<std::string>()); }

bool Values::spend() noexcept {
  if (shown_ < limits::shown_values) {
    ++shown_;
    return true;
  }
  ++omitted_;
  return false;
}

Value Values::show(NodeId id, unsigned depth) {
  if (depth > shown_depth || !spend()) return ellipsis;
  const pickle::Graph& graph = document_.graph;
  switch (graph.kind(id)) {
    case Kind::none:
      return nullptr;
    case Kind::boolean:
      return graph.boolean(id);
    case Kind::integer:
    case Kind::big_integer:
    case Kind::decimal:
      return integer(graph, id);
    case Kind::real:
      return graph.real(id);
    case Kind::text:
    case Kind::text8:
      return text(graph.text(id));
    case Kind::bytes:
      return fmt::format("{} bytes", graph.text(id).size());
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
      return show_items(graph.children(id), depth);
    case Kind::dict:
      return show_mapping(*mapping(document_, id), depth);
    case Kind::global:
      return text(graph.global(id).full());
    case Kind::persistent:
      return "storage";
    case Kind::call:
      return show_call(id, depth);
  }
  return nullptr;
}

Value Values::show_items(std::span<const NodeId> items, unsigned depth) {
  Value array = Value::array();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (shown_ >= limits::shown_values) {
      omitted_ += items.size() - i;
      array.push(ellipsis);
      break;
    }
    array.push(show(items[i], depth + 1));
  }
  return array;
}

Value Values::show_mapping(std::span<const NodeId> items, unsigned depth) {
  std::vector<std::pair<std::string, Value>> shown;
  const std::vector<Entry> members = entries(document_, items);
  shown_ += items.size() / 2 - members.size();  // looking at what is replaced costs as much
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (shown_ >= limits::shown_values) {
      omitted_ += members.size() - i;
      break;
    }
    std::string key = name(members[i].name);
    shown.emplace_back(std::move(key), show(members[i].value, depth + 1));
  }
  Value object = Value::object();
  set_members(object, std::move(shown));
  return object;
}

void set_members(Value& object, std::vector<std::pair<std::string, Value>> members) {
  if (object.is_null()) object = Value::object();
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const auto& [name, value] : members) names.push_back(name);
  const std::vector<std::uint64_t> numbers = numbers_of_alike(names);
  for (std::size_t i = 0; i < members.size(); ++i) {
    auto& [name, value] = members[i];
    object.set(numbers[i] == 0 ? std::move(name) : numbered(name, numbers[i]), std::move(value));
  }
}

Value Values::show_call(NodeId id, unsigned depth) {
  const pickle::Graph& graph = document_.graph;
  if (const auto items = mapping(document_, id)) return show_mapping(*items, depth);
  if (const auto items = sequence(document_, id)) return show_items(*items, depth);
  if (const auto scalar = numpy_scalar(document_, id)) return *scalar;
  if (const std::string dtype = numpy_dtype_text(document_, id); !dtype.empty())
    return text("dtype " + dtype);
  if (const auto array = numpy_array(document_, id))
    if (const auto* summary = std::get_if<ArraySummary>(&*array)) return text(summary->text);
  if (const auto bytes = bytes_of(document_, id)) return fmt::format("{} bytes", (*bytes)->size());

  Value object = Value::object();
  const std::string type = name(class_name(document_, id));
  // Plain objects without rules of their own show their attributes; of unknown ones only the class is told.
  const bool plain = call_meaning(document_, id) == Meaning::plain;
  const NodeId state = graph.call(id).state;
  if (plain && !graph.children(graph.call(id).args).empty() && state == no_node) {
    object.set("class", type);
    object.set("args", show_items(call_args(document_, id), depth));
    return object;
  }
  if (plain && state != no_node)
    if (const auto attributes = mapping(document_, state)) return show_mapping(*attributes, depth);
  object.set("class", type);
  return object;
}

}  // namespace ckpt::pytorch
