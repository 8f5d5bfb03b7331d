#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "ckpt/core/tensor.hpp"
#include "ckpt/core/value.hpp"

namespace ckpt {

/// A scalar of a burnpack: which of its four kinds a number has is kept.
using Scalar = std::variant<std::int64_t, std::uint64_t, double, bool>;

/// Something that stands where a tensor does but cannot be delivered as one (sparse, quantised, …).
struct Refused {
  std::string name;  ///< dotted path
  std::string what;  ///< `sparse COO tensor`, `quantised tensor (per_tensor_affine)`, …
};

/// A global that a pickle names and that is not plain data: unpickling would import or call it.
struct ForeignGlobal {
  std::string name;      ///< `module.attribute`
  bool hostile = false;  ///< on the list of names that run code
};

/// A stretch of stored bytes whose CRC-32 the file states. Whoever reads the data compares them before
/// the result is trusted (`verify_integrity`); listing does not.
struct Integrity {
  std::string what;  ///< the member, `data/3`
  Bytes source;
  std::uint32_t crc32 = 0;
};

/// A place of a nested checkpoint that holds tensors belonging together.
struct Root {
  enum class Role { model, optimizer, other };
  std::string key;  ///< dotted path; empty for the top level
  Role role = Role::model;
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
};

/// The catalogue: everything that a checkpoint holds, with no tensor data read.
struct Checkpoint {
  std::string file;        ///< as the user named it, for messages
  std::string format;      ///< a name of the format table: `safetensors`, `burnpack`, `pytorch`, …
  std::string container;   ///< how the format is wrapped (`zip`, `legacy`, …); empty where there is one way
  std::uint64_t size = 0;  ///< of the file (or of all files of a set), in bytes
  std::vector<Tensor> tensors;                  ///< in the file's order; names are unique
  std::map<std::string, std::string> metadata;  ///< text to text, sorted by bytes
  std::map<std::string, Scalar> scalars;        ///< burnpack's
  Value values = Value::object();               ///< what lies beside the tensors of a PyTorch checkpoint
  std::vector<Refused> refused;
  std::vector<ForeignGlobal> globals;  ///< globals that are not plain data
  std::vector<Root> roots;             ///< empty for formats that do not nest
  std::vector<Integrity> integrity;    ///< checksums that stand in the file
  std::vector<std::string> hidden;     ///< what stands in the file and belongs to nothing that was read
  std::vector<std::string> notes;      ///< oddities worth a line that do not make the file wrong
};

}  // namespace ckpt
