#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ckpt/codec/pickle.hpp"

namespace ckpt::pickle {

/// Makes the nodes of a graph, within the limits. `at` is the offset of the opcode in the pickle.
class Builder {
 public:
  explicit Builder(Graph& graph);

  NodeId constant(Kind kind, bool value, std::uint32_t at);  ///< none, True, False: one node each
  NodeId integer(std::int64_t value, std::uint32_t at);
  /// Little-endian two's complement of any length.
  NodeId integer_bytes(std::string_view bytes, std::uint32_t at);
  NodeId real(double value, std::uint32_t at);
  /// A kind whose content is a view of the pickle's own memory.
  NodeId view(Kind kind, std::string_view text, std::uint32_t at);
  NodeId decoded(Kind kind, std::string text, std::uint32_t at);
  NodeId container(Kind kind, std::span<const NodeId> items, std::uint32_t at);
  NodeId global(std::string_view module, std::string_view name, std::uint32_t at);
  NodeId call(NodeId callable, NodeId args, NodeId kwargs, std::uint32_t at);
  NodeId persistent(NodeId id, std::uint32_t at);

  /// Adds items at the end of a list, set or dict node.
  void append(NodeId container, std::span<const NodeId> items);
  /// The parts of a call, to be changed.
  Call& call_parts(NodeId id);

 private:
  struct PairHash {
    std::size_t operator()(const std::pair<std::string_view, std::string_view>& pair) const noexcept;
  };

  NodeId add(Kind kind, std::uint32_t at);
  void check_items(std::size_t more) const;

  Graph& graph_;
  std::array<NodeId, 3> constants_;
  std::array<NodeId, 256> small_integers_;
  std::unordered_map<std::pair<std::string_view, std::string_view>, NodeId, PairHash> globals_;
};

}  // namespace ckpt::pickle
