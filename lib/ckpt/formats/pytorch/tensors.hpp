#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

#include "ckpt/core/tensor.hpp"
#include "ckpt/formats/pytorch/document.hpp"

namespace ckpt::pytorch {

/// Makes the tensors that the calls of a document describe.
class Tensors {
 public:
  explicit Tensors(const Document& document) : document_(document) {}

  /// Whether the node stands where a tensor does. Cheap.
  bool is_tensor(NodeId id) const;

  /// A tensor without a name, or what it is instead (`sparse COO tensor`). Expects `is_tensor`. Throws
  /// `corrupt` when the description is malformed or goes beyond its storage.
  std::variant<Tensor, std::string> build(NodeId id);

  /// Tensors that were built without a part of their metadata, which may mean anything.
  struct Unknown {
    std::uint64_t tensors = 0;
    std::string first_key;
  };
  const Unknown& unknown_metadata() const noexcept { return unknown_; }

 private:
  struct Rebuild;  // a meaning with its arguments
  Rebuild unwrap(NodeId id) const;
  std::variant<Tensor, std::string> build_strided(const Rebuild& rebuild);
  std::variant<Tensor, std::string> build_cast(const Rebuild& rebuild);
  std::variant<Tensor, std::string> assemble(const Storage& storage, std::optional<DType> dtype,
                                             std::string_view dtype_name, std::uint64_t offset, Shape shape,
                                             const std::vector<std::uint64_t>& strides);
  const Storage& storage_of(NodeId id);
  void look_for_unknown(NodeId metadata);
  Bytes flipped(const Storage& storage, DType dtype, bool conjugate, bool negative);

  const Document& document_;
  Unknown unknown_;
  std::unordered_map<NodeId, Storage> nested_;  // storages that `_load_from_bytes` makes, by its node
  std::map<std::pair<const ByteSource*, unsigned>, Bytes> flipped_;
};

}  // namespace ckpt::pytorch
