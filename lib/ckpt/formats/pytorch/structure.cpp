// An nn.Module is pickled as an object with its __dict__ as state (torch/nn/modules/module.py,
// _save_to_state_dict):
//
//     _parameters    name: parameter or None
//     _buffers       name: tensor or None; those in _non_persistent_buffers_set are not part of state_dict()
//     _modules       name: module or None
//
// The name of its class says nothing, since anyone derives classes; the three members tell a module.
#include "ckpt/formats/pytorch/structure.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

namespace ckpt::pytorch {
namespace {

/// The namespace of TorchScript's classes.
constexpr std::string_view script_root = "__torch__.";

/// A module whose attribute says what neither names nor shapes of its tensors do, and what kind it makes of
/// it (a row of the table of modules).
struct Saying {
  std::string_view module_class, attribute, kind_if_false, kind_if_true;
};
constexpr std::array sayings{
    Saying{"torch.nn.modules.transformer.TransformerEncoderLayer", "norm_first", "TransformerEncoderLayer",
           "TransformerEncoderLayer(norm_first)"},
    Saying{"torch.nn.modules.transformer.TransformerDecoderLayer", "norm_first", "TransformerDecoderLayer",
           "TransformerDecoderLayer(norm_first)"},
};

std::string_view said_kind(const Document& document, std::string_view module_class, NodeId state) {
  for (const Saying& row : sayings) {
    if (row.module_class != module_class) continue;
    const NodeId value = member(document, state, row.attribute);
    if (document.graph.is(value, Kind::boolean))
      return document.graph.boolean(value) ? row.kind_if_true : row.kind_if_false;
  }
  return {};
}

struct ModuleParts {
  NodeId parameters, buffers, modules, not_persistent;
};

std::optional<ModuleParts> module_parts(const Document& document, NodeId state) {
  const ModuleParts parts{member(document, state, "_parameters"), member(document, state, "_buffers"),
                          member(document, state, "_modules"),
                          member(document, state, "_non_persistent_buffers_set")};
  for (const NodeId part : {parts.parameters, parts.buffers, parts.modules})
    if (part == no_node || !mapping(document, part)) return std::nullopt;
  return parts;
}

/// A member of a module that is no part of its state_dict().
void leave_out(Entry entry, Reach& reach, Structure& out) {
  if (reach.holds_tensors(entry.value)) out.beside.push_back(std::move(entry));
}

void add_members(const Document& document, NodeId from, NodeId except, Reach& reach, Structure& out) {
  std::unordered_set<std::string> skipped;
  if (const auto names = except == no_node ? std::nullopt : sequence(document, except)) {
    for (const NodeId name : *names) skipped.insert(key_text(document, name));
    out.items += names->size();
  }
  const std::vector<NodeId> items = *mapping(document, from);
  out.items += items.size() / 2;
  for (Entry& entry : entries(document, items)) {
    if (document.graph.is(entry.value, Kind::none)) continue;
    if (skipped.contains(entry.name)) leave_out(std::move(entry), reach, out);
    else out.entries.push_back(std::move(entry));
  }
}

void add_module(const Document& document, NodeId state, const ModuleParts& parts, Reach& reach,
                Structure& out) {
  const std::vector<NodeId> attributes = *mapping(document, state);
  out.items += attributes.size() / 2;
  add_members(document, parts.parameters, no_node, reach, out);
  add_members(document, parts.buffers, parts.not_persistent, reach, out);
  add_members(document, parts.modules, no_node, reach, out);
  for (Entry& entry : entries(document, attributes))
    if (entry.value != parts.parameters && entry.value != parts.buffers && entry.value != parts.modules)
      leave_out(std::move(entry), reach, out);
}

/// `__torch__.torch.nn.modules.linear.___torch_mangle_3.Linear` is a Linear.
std::string script_class(std::string name) {
  if (name.starts_with(script_root)) name.erase(0, script_root.size());
  for (std::size_t at = name.find("___torch_mangle_"); at != std::string::npos;
       at = name.find("___torch_mangle_")) {
    const std::size_t dot = name.find('.', at);
    name.erase(at, dot == std::string::npos ? std::string::npos : dot + 1 - at);
  }
  return name;
}

/// Of a class that says what its parameters and buffers are, these and the modules in it. Other attributes
/// are constants of the program: tensors, and lists and dicts of them, as an LSTM has one of its weights.
void keep_declared(const Document& document, const ScriptMembers& script, Reach& reach, Structure& out) {
  const auto declared = script.find(out.class_name);
  if (declared == script.end()) return;
  std::vector<Entry> all = std::exchange(out.entries, {});
  for (Entry& entry : all) {
    const bool is_kept =
        makes_tensor(call_meaning(document, entry.value))
            ? declared->second.contains(entry.name)
            : !reach.holds_tensors(entry.value) || class_name(document, entry.value).starts_with(script_root);
    if (is_kept) out.entries.push_back(std::move(entry));
    else leave_out(std::move(entry), reach, out);
  }
}

void add_mapping(const Document& document, NodeId from, Structure& out) {
  const std::vector<NodeId> items = *mapping(document, from);
  out.items += items.size() / 2;
  std::vector<Entry> more = entries(document, items);
  if (out.entries.empty()) out.entries = std::move(more);
  else std::ranges::move(more, std::back_inserter(out.entries));
}

void add_sequence(std::span<const NodeId> items, std::string_view prefix, Structure& out) {
  out.items += items.size();
  for (std::size_t i = 0; i < items.size(); ++i)
    out.entries.push_back({std::string(prefix) + std::to_string(i), items[i]});
}

/// An object of no known kind: its attributes, what was put into it, and what it was made from.
void add_object(const Document& document, NodeId id, Structure& out) {
  const pickle::Call& call = document.graph.call(id);
  NodeId state = call.state;
  // With __slots__ the state is (dict, slots).
  if (document.graph.is(state, Kind::tuple) && document.graph.children(state).size() == 2 &&
      mapping(document, document.graph.children(state)[1])) {
    add_mapping(document, document.graph.children(state)[1], out);
    state = document.graph.children(state)[0];
  }
  if (state != no_node) {
    if (mapping(document, state)) add_mapping(document, state, out);
    else if (!document.graph.is(state, Kind::none)) out.entries.push_back({"state", state});
  }
  if (call.items != no_node) add_mapping(document, call.items, out);
  if (call.appends != no_node) add_sequence(document.graph.children(call.appends), "", out);
  add_sequence(document.graph.children(call.args), "args.", out);
  if (call.kwargs != no_node && mapping(document, call.kwargs)) add_mapping(document, call.kwargs, out);
}

}  // namespace

Structure structure_of(const Document& document, NodeId id, const ScriptMembers* script, Reach& reach) {
  const pickle::Graph& graph = document.graph;
  Structure out;
  if (mapping(document, id)) {
    add_mapping(document, id, out);
    out.is_optimizer =
        member(document, id, "state") != no_node && member(document, id, "param_groups") != no_node;
    // Attributes of a mapping (the `_metadata` of a state dict) are no content, unless they hold tensors.
    return out;
  }
  if (const auto items = sequence(document, id)) {
    add_sequence(*items, "", out);
    out.is_sequence = true;
    return out;
  }
  if (!graph.is(id, Kind::call)) return out;
  out.class_name = class_name(document, id);
  out.shows_values = call_meaning(document, id) == Meaning::plain;
  const NodeId state = graph.call(id).state;
  if (const auto parts = state == no_node ? std::nullopt : module_parts(document, state)) {
    add_module(document, state, *parts, reach, out);
    out.is_module = true;
    out.module_class = out.class_name;
    out.kind = said_kind(document, out.class_name, state);
    return out;
  }
  add_object(document, id, out);
  if (script != nullptr) {
    keep_declared(document, *script, reach, out);
    out.is_module = true;
    out.class_name = out.module_class = script_class(std::move(out.class_name));
  } else if (state != no_node && mapping(document, state)) {
    out.is_optimizer =
        member(document, state, "state") != no_node && member(document, state, "param_groups") != no_node;
  }
  return out;
}

}  // namespace ckpt::pytorch
