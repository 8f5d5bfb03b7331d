#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// What a reader is given: bytes and a name, never a path, so that a fuzzer needs no disk.
class Input {
 public:
  virtual ~Input() = default;

  /// As the user named it; used in messages and to tell a lying extension.
  virtual const std::string& name() const noexcept = 0;
  /// The file's bytes; null when this is a directory.
  virtual Bytes bytes() const = 0;
  /// Names of the files beside this one (or inside, for a directory), sorted by bytes.
  virtual std::vector<std::string> siblings() const { return {}; }
  /// Opens one of them. `name` is a plain file name: anything with a separator in it is refused.
  /// Throws `io` when there is none of that name.
  virtual std::unique_ptr<Input> open_sibling(std::string_view name) const = 0;
};

/// An input in memory, without siblings.
class MemoryInput final : public Input {
 public:
  MemoryInput(std::string name, Bytes bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}
  const std::string& name() const noexcept override { return name_; }
  Bytes bytes() const override { return bytes_; }
  std::unique_ptr<Input> open_sibling(std::string_view name) const override;

 private:
  std::string name_;
  Bytes bytes_;
};

}  // namespace ckpt
