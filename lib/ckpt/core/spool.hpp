#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "ckpt/core/bytes.hpp"

namespace ckpt {

/// Takes bytes whose end is not known before they have all come (an inflated member, standard input)
/// and gives them back as a source. Up to 16 MiB stay in memory; more goes to an unnamed temporary
/// file that vanishes with the source.
class Spool {
 public:
  Spool();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Throws `io` when the temporary file cannot be made or written.
  void write(std::span<const std::byte> bytes);
  std::uint64_t size() const noexcept { return size_; }
  /// Everything that was written; the spool is empty afterwards.
  Bytes finish();

 private:
  struct Closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::vector<std::byte> memory_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::uint64_t size_ = 0;
};

}  // namespace ckpt
