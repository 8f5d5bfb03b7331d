#include "ckpt/formats/pytorch/foreign.hpp"

#include <algorithm>

namespace ckpt::pytorch {
namespace {

/// Whether every use of `getattr` is `getattr(Class, 'name')`, as some schedulers pickle a bound method.
/// Attributes of attributes, names with two underscores in front, and calls of what getattr returns reach
/// everything that Python can do.
bool getattr_is_harmless(const Document& document) {
  const pickle::Graph& graph = document.graph;
  bool used = false;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!graph.is(id, Kind::call)) continue;
    if (call_meaning(document, graph.call(id).callable) == Meaning::attribute) return false;
    for (const NodeId arg : call_args(document, id))
      if (meaning_of(document, arg) == Meaning::attribute) return false;
    if (call_meaning(document, id) != Meaning::attribute) continue;
    used = true;
    const std::span<const NodeId> args = call_args(document, id);
    if (args.size() != 2 || !graph.is(args[0], Kind::global) || !graph.is_text(args[1]) ||
        graph.text(args[1]).starts_with("__") || meaning_of(document, args[0]) == Meaning::hostile)
      return false;
  }
  return used;
}

}  // namespace

std::vector<ForeignGlobal> foreign_globals(const Document& document) {
  std::vector<ForeignGlobal> out;
  const std::span<const pickle::GlobalName> names = document.graph.globals();
  for (std::size_t i = 0; i < names.size(); ++i) {
    switch (document.globals[i].meaning) {
      case Meaning::foreign:
      case Meaning::unknown_storage:
        // Classes of a TorchScript archive live in the archive.
        if (!names[i].module.starts_with("__torch__")) out.push_back({names[i].full(), false});
        break;
      case Meaning::hostile:
        out.push_back({names[i].full(), true});
        break;
      case Meaning::attribute:
        if (!getattr_is_harmless(document)) out.push_back({names[i].full(), true});
        break;
      default:
        break;
    }
  }
  return out;
}

}  // namespace ckpt::pytorch
