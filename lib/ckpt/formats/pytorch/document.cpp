#include "ckpt/formats/pytorch/document.hpp"

#include <array>
#include <utility>

#include "ckpt/core/text.hpp"

namespace ckpt::pytorch {

Document make_document(pickle::Graph graph, Bytes source) {
  Document document{std::move(graph), std::move(source), {}, {}, {}};
  document.globals.reserve(document.graph.globals().size());
  for (const pickle::GlobalName& global : document.graph.globals())
    document.globals.push_back(classify(global.module, global.name));
  document.persistents.resize(document.graph.persistents().size());
  return document;
}

Meaning meaning_of(const Document& document, NodeId callable) {
  if (!document.graph.is(callable, Kind::global)) return Meaning::foreign;
  return document.globals[document.graph.global_index(callable)].meaning;
}

Meaning call_meaning(const Document& document, NodeId id) {
  if (!document.graph.is(id, Kind::call)) return Meaning::foreign;
  return meaning_of(document, document.graph.call(id).callable);
}

std::span<const NodeId> call_args(const Document& document, NodeId id) {
  return document.graph.children(document.graph.call(id).args);
}

std::string class_name(const Document& document, NodeId call) {
  const pickle::Graph& graph = document.graph;
  NodeId callable = graph.call(call).callable;
  const Meaning meaning = meaning_of(document, callable);
  if (meaning == Meaning::reconstructor || meaning == Meaning::new_object) {
    const std::span<const NodeId> args = call_args(document, call);
    if (!args.empty()) callable = args.front();
  }
  if (graph.is(callable, Kind::persistent))
    if (const auto* stored =
            std::get_if<StoredClass>(&document.persistents[graph.persistent_index(callable)]))
      callable = stored->name;
  return graph.is(callable, Kind::global) ? graph.global(callable).full() : std::string();
}

std::optional<std::vector<NodeId>> mapping(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  std::vector<NodeId> items;
  const auto add = [&](NodeId dict) {
    const std::span<const NodeId> more = graph.children(dict);
    items.insert(items.end(), more.begin(), more.end());
  };
  if (graph.is(id, Kind::dict)) {
    add(id);
    return items;
  }
  if (call_meaning(document, id) != Meaning::dict) return std::nullopt;
  for (const NodeId arg : call_args(document, id)) {
    if (graph.is(arg, Kind::dict)) add(arg);  // Counter({…})
    if (!graph.is(arg, Kind::list)) continue;
    for (const NodeId pair : graph.children(arg)) {  // Python 2: OrderedDict([[key, value], …])
      if (!graph.is(pair, Kind::list) && !graph.is(pair, Kind::tuple)) continue;
      const std::span<const NodeId> parts = graph.children(pair);
      if (parts.size() == 2) items.insert(items.end(), parts.begin(), parts.end());
    }
  }
  if (const NodeId more = graph.call(id).items; more != no_node) add(more);
  return items;
}

std::optional<std::span<const NodeId>> sequence(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  if (id == no_node) return std::nullopt;
  switch (graph.kind(id)) {
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
      return graph.children(id);
    default:
      break;
  }
  const Meaning meaning = call_meaning(document, id);
  if (meaning != Meaning::list && meaning != Meaning::set && meaning != Meaning::tuple &&
      meaning != Meaning::size)
    return std::nullopt;
  if (const NodeId appends = graph.call(id).appends; appends != no_node) return graph.children(appends);
  const std::span<const NodeId> args = call_args(document, id);
  if (args.empty()) return std::span<const NodeId>{};
  switch (graph.kind(args.front())) {
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset:
      return graph.children(args.front());
    default:
      return std::nullopt;
  }
}

NodeId member(const Document& document, NodeId mapping_id, std::string_view key) {
  const std::optional<std::vector<NodeId>> items = mapping(document, mapping_id);
  if (!items) return no_node;
  for (std::size_t i = items->size(); i >= 2; i -= 2)
    if (document.graph.is_text((*items)[i - 2]) && document.graph.text((*items)[i - 2]) == key)
      return (*items)[i - 1];
  return no_node;
}

std::string describe(const Document& document, NodeId id) {
  constexpr std::array names{"None",
                             "a boolean",
                             "an integer",
                             "an integer of more than 64 bits",
                             "an integer of more than 64 bits",
                             "a float",
                             "a text",
                             "a text",
                             "bytes",
                             "a list",
                             "a tuple",
                             "a dict",
                             "a set",
                             "a frozenset"};
  if (id == no_node) return "nothing";
  const pickle::Graph& graph = document.graph;
  switch (graph.kind(id)) {
    case Kind::global:
      return printable(graph.global(id).full());
    case Kind::persistent:
      return "a persistent id";
    case Kind::call: {
      const std::string name = class_name(document, id);
      return name.empty() ? "an object" : "an object of " + printable(name);
    }
    default:
      return names.at(static_cast<std::size_t>(graph.kind(id)));
  }
}

}  // namespace ckpt::pytorch
