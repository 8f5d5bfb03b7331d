#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/bytes.hpp"

/// Reading pickles without executing them: the opcodes build a graph of inert nodes, and a call stays
/// a node that says what would be called with what. Knows nothing of what the globals mean.
namespace ckpt::pickle {

/// Index of a node in its graph. Nodes may be shared and may contain themselves.
using NodeId = std::uint32_t;
inline constexpr NodeId no_node = UINT32_MAX;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,      ///< fits 64 bits, signed
  big_integer,  ///< little-endian two's complement of more than 8 bytes
  decimal,      ///< digits of an integer that does not fit 64 bits
  real,
  text,   ///< UTF-8, lone surrogates let through
  text8,  ///< a Python 2 `str`: text or bytes
  bytes,  ///< bytes or bytearray
  list,
  tuple,
  dict,
  set,
  frozenset,
  global,
  call,
  persistent,
};

/// A global that the pickle names, under Python 3's name of its module.
struct GlobalName {
  std::string_view module;
  std::string_view name;
  std::uint64_t offset = 0;  ///< of the opcode that named it first, in bytes

  std::string full() const { return std::string(module) + "." + std::string(name); }
};

/// A callable with its arguments, and what later opcodes did to the object that it would return.
struct Call {
  NodeId callable = no_node;
  NodeId args = no_node;     ///< a tuple
  NodeId kwargs = no_node;   ///< a dict (NEWOBJ_EX)
  NodeId state = no_node;    ///< BUILD
  NodeId items = no_node;    ///< a dict: SETITEM on the object
  NodeId appends = no_node;  ///< a list: APPEND or ADDITEMS on the object
};

/// The object that a pickle describes. Owns everything: texts are views into its memory.
class Graph {
 public:
  NodeId root() const noexcept { return root_; }
  std::size_t size() const noexcept { return nodes_.size(); }
  /// Bytes of the pickle, from its first opcode to STOP.
  std::uint64_t used() const noexcept { return used_; }

  Kind kind(NodeId id) const { return nodes_[id].kind; }
  /// Where in the source the opcode stands that made the node.
  std::uint64_t offset(NodeId id) const { return base_ + nodes_[id].offset; }

  // Each of these expects a node of the kind that it names.
  bool boolean(NodeId id) const { return nodes_[id].payload.integer != 0; }
  std::int64_t integer(NodeId id) const { return nodes_[id].payload.integer; }
  double real(NodeId id) const { return nodes_[id].payload.real; }
  /// The bytes of a text, text8, bytes, decimal or big_integer.
  std::string_view text(NodeId id) const { return {nodes_[id].payload.data, nodes_[id].count}; }
  /// The items of a list, tuple, set or frozenset; of a dict: key, value, key, value, …
  std::span<const NodeId> children(NodeId id) const {
    return std::span(pool_).subspan(nodes_[id].payload.begin, nodes_[id].count);
  }
  const Call& call(NodeId id) const { return calls_[nodes_[id].extra]; }
  /// The persistent id itself.
  NodeId persistent_id(NodeId id) const { return static_cast<NodeId>(nodes_[id].payload.begin); }
  /// Which of `persistents()` it is.
  std::size_t persistent_index(NodeId id) const { return nodes_[id].extra; }
  /// Which of `globals()` it is.
  std::size_t global_index(NodeId id) const { return nodes_[id].extra; }
  const GlobalName& global(NodeId id) const { return globals_[nodes_[id].extra]; }

  bool is(NodeId id, Kind kind) const { return id != no_node && nodes_[id].kind == kind; }
  bool is_text(NodeId id) const { return is(id, Kind::text) || is(id, Kind::text8); }
  std::optional<std::int64_t> as_integer(NodeId id) const;

  /// Every global that the pickle names, also those that nothing uses, in order of first mention.
  std::span<const GlobalName> globals() const noexcept { return globals_; }
  /// Every persistent id met, in order.
  std::span<const NodeId> persistents() const noexcept { return persistents_; }
  /// Where a text or bytes node's content lies in the source; nothing when it had to be decoded.
  std::optional<std::uint64_t> source_offset(NodeId id) const;

 private:
  friend class Machine;
  friend class Builder;

  struct Node {
    Kind kind = Kind::none;
    std::uint32_t count = 0;   // children, or bytes of text
    std::uint32_t offset = 0;  // in the pickle
    std::uint32_t extra = 0;   // capacity; index of a global, persistent or call
    union Payload {
      std::int64_t integer = 0;
      double real;
      const char* data;
      std::uint64_t begin;  // of the children in the pool
    } payload;
  };

  std::vector<Node> nodes_;
  std::vector<NodeId> pool_;
  std::vector<Call> calls_;
  std::vector<GlobalName> globals_;
  std::vector<NodeId> persistents_;
  std::vector<std::byte> buffer_;
  std::deque<std::string> decoded_;
  NodeId root_ = no_node;
  std::uint64_t base_ = 0;
  std::uint64_t used_ = 0;
};

/// Parses the pickle at the front of `bytes`; what follows its STOP is left alone. `base` is added
/// to the offsets of messages. Throws `corrupt`, naming the offset, for a pickle that is malformed or goes
/// beyond a limit, and `unsupported` for opcodes that need something outside the file.
Graph parse(std::vector<std::byte> bytes, std::uint64_t base = 0);

/// Whether a file that begins with `head` can be a pickle: the opcodes make sense as far as they go.
/// `is_whole`: the head is the whole file, so it must reach STOP.
bool looks_like_pickle(std::span<const std::byte> head, bool is_whole);

/// Parses the pickle that begins at `offset`, taking no more of the source into memory than a few times its
/// size.
Graph read(const ByteSource& source, std::uint64_t offset);

/// An integer node of any width in decimal; for a huge one a text that gives its size instead.
std::string integer_text(const Graph& graph, NodeId id);

}  // namespace ckpt::pickle
