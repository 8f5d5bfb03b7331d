#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/formats/format.hpp"

namespace ckpt::test {

/// The bytes of a file below testdata/.
inline std::vector<std::byte> load(const std::string& name) {
  std::ifstream file(std::string(CKPT_TESTDATA) + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error("testdata has no " + name);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::span<const std::byte> bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

inline Checkpoint read(std::vector<std::byte> bytes, std::string name = "file") {
  return read_checkpoint(MemoryInput(std::move(name), memory_bytes(std::move(bytes))));
}
inline Checkpoint read(std::string_view text, std::string name = "file") {
  return read_checkpoint(MemoryInput(std::move(name), memory_bytes(text)));
}

/// Bytes that come from a stream: their end is not known.
class StreamBytes final : public ByteSource {
 public:
  explicit StreamBytes(std::vector<std::byte> bytes) : bytes_(memory_bytes(std::move(bytes))) {}
  std::uint64_t size() const noexcept override { return UINT64_MAX; }
  bool is_open_ended() const noexcept override { return true; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes_->read_at(offset, out);
  }
  Bytes bytes_;
};

}  // namespace ckpt::test
