#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ckpt/codec/pickle.hpp"
#include "ckpt/core/bytes.hpp"
#include "ckpt/core/tensor.hpp"
#include "ckpt/formats/pytorch/constructors.hpp"

namespace ckpt::pytorch {

using pickle::Kind;
using pickle::no_node;
using pickle::NodeId;

/// The elements that one storage holds, wherever the container keeps them.
struct Storage {
  Bytes bytes;                 ///< null where `fault` says why
  std::string key;             ///< the container's name of it
  std::string_view type;       ///< its class, `FloatStorage`; text that lives for ever
  std::optional<DType> dtype;  ///< nothing for untyped storages and for types that `ckpt` lacks
  bool untyped = false;
  bool big_endian = false;
  std::string fault;  ///< what is wrong with it; an error as soon as a tensor wants it
};

/// A tensor that the container itself describes (tar).
struct StoredTensor {
  Storage storage;
  std::uint64_t offset = 0;  ///< in elements
  Shape shape;
  std::vector<std::uint64_t> strides;  ///< in elements
};

/// A class that comes with the text of its source (legacy and tar).
struct StoredClass {
  NodeId name = no_node;  ///< a global
};

/// What a persistent id stands for.
using Persistent = std::variant<Storage, StoredTensor, StoredClass>;

/// The object of a checkpoint with everything that its pickle refers to.
struct Document {
  pickle::Graph graph;
  Bytes source;                         ///< what the graph's offsets count in
  std::vector<GlobalInfo> globals;      ///< one for each of the graph's
  std::vector<Persistent> persistents;  ///< one for each of the graph's
  /// Storages by key, for tar files in which a plain tuple stands where a persistent id should (burn's tests
  /// have such).
  std::map<std::string, Storage, std::less<>> by_key = {};
  /// Bytes that calls make of texts, by the text's node: all that share one share them.
  mutable std::map<NodeId, std::optional<Bytes>> decoded = {};
};

/// The document of a graph, its persistent ids not resolved yet.
Document make_document(pickle::Graph graph, Bytes source);

/// What a node means as something that is called: the meaning of a global, `foreign` for all others.
Meaning meaning_of(const Document& document, NodeId callable);
/// The meaning of what a call node calls; `foreign` for other nodes.
Meaning call_meaning(const Document& document, NodeId id);
/// The items of the argument tuple of a call node.
std::span<const NodeId> call_args(const Document& document, NodeId id);

/// `module.Class` of the object that a call makes; empty when that is no global.
std::string class_name(const Document& document, NodeId call);

/// The items key, value, key, value, … of a dict, an OrderedDict or another mapping; nothing for other nodes.
std::optional<std::vector<NodeId>> mapping(const Document& document, NodeId id);
/// The items of a list, tuple, set or something that is made like one; nothing for other nodes.
std::optional<std::span<const NodeId>> sequence(const Document& document, NodeId id);
/// The value of a text key of a mapping (the last one wins, as in Python), or `no_node`.
NodeId member(const Document& document, NodeId mapping_id, std::string_view key);

/// What a node is, in words for a message: `a text`, `an integer`, `a call of os.system`.
std::string describe(const Document& document, NodeId id);

}  // namespace ckpt::pytorch
