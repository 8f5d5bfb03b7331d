#include "ckpt/formats/pytorch/reach.hpp"

#include <span>
#include <utility>

namespace ckpt::pytorch {

std::vector<NodeId> parts_of(const Document& document, NodeId id) {
  const pickle::Graph& graph = document.graph;
  std::vector<NodeId> parts;
  switch (graph.kind(id)) {
    case Kind::list:
    case Kind::tuple:
    case Kind::set:
    case Kind::frozenset: {
      const std::span<const NodeId> items = graph.children(id);
      parts.assign(items.begin(), items.end());
      break;
    }
    case Kind::dict: {
      const std::span<const NodeId> items = graph.children(id);
      for (std::size_t i = 1; i < items.size(); i += 2) parts.push_back(items[i]);
      break;
    }
    case Kind::call: {
      const pickle::Call& call = graph.call(id);
      for (const NodeId part : {call.args, call.kwargs, call.state, call.items, call.appends})
        if (part != no_node) parts.push_back(part);
      break;
    }
    default:
      break;
  }
  return parts;
}

bool Reach::holds_tensors(NodeId start) {
  if (states_[start] == State::with || tensors_.is_tensor(start)) return true;
  if (states_[start] == State::without) return false;
  std::vector<Frame> frames;
  const auto enter = [&](NodeId id) {
    states_[id] = State::open;
    frames.push_back({id, parts_of(document_, id)});
  };
  // An open node that is met again adds nothing: whatever it reaches is found from where it was entered.
  enter(start);
  while (true) {
    Frame& frame = frames.back();
    if (frame.next == frame.parts.size()) {
      const bool found = frame.found;
      states_[frame.node] = found ? State::with : State::without;
      frames.pop_back();
      if (frames.empty()) return found;
      frames.back().found |= found;
      continue;
    }
    const NodeId part = frame.parts[frame.next++];
    if (tensors_.is_tensor(part) || states_[part] == State::with) frame.found = true;
    else if (states_[part] == State::unknown) enter(part);
  }
}

}  // namespace ckpt::pytorch
