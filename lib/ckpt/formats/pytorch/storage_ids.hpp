#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// A persistent id of the zip and legacy containers: ('storage', CLASS, KEY, LOCATION, NUMEL[, VIEW]).
struct StorageId {
  std::string key;
  GlobalInfo info;          ///< of its class
  std::uint64_t bytes = 0;  ///< NUMEL elements
  NodeId view = no_node;    ///< legacy: None or (VIEW_KEY, OFFSET, SIZE)
};

/// Reads the tuple. Throws `corrupt`, naming what is wrong with which storage.
StorageId parse_storage_id(const Document& document, std::span<const NodeId> parts);

/// Whether the persistent node's id is a tuple that begins with the text `kind`; its items, or nothing.
std::optional<std::span<const NodeId>> tagged(const Document& document, NodeId persistent,
                                              std::string_view kind);

/// A storage of that id whose bytes are still to be found.
Storage make_storage(const StorageId& id);

}  // namespace ckpt::pytorch
