#pragma once

#include <cstdint>
#include <vector>

#include "ckpt/formats/pytorch/document.hpp"
#include "ckpt/formats/pytorch/tensors.hpp"

namespace ckpt::pytorch {

/// Knows which nodes are a tensor or have one somewhere below them. Each node is looked at once, however often it is
/// shared.
class Reach {
 public:
  Reach(const Document& document, const Tensors& tensors)
      : document_(document), tensors_(tensors), states_(document.graph.size()) {}

  bool holds_tensors(NodeId id);

 private:
  enum class State : std::uint8_t { unknown, open, without, with };
  struct Frame {
    NodeId node;
    std::vector<NodeId> parts;
    std::size_t next = 0;
    bool found = false;
  };

  const Document& document_;
  const Tensors& tensors_;
  std::vector<State> states_;
};

/// The nodes that a container or object consists of, keys of dicts left out.
std::vector<NodeId> parts_of(const Document& document, NodeId id);

}  // namespace ckpt::pytorch
