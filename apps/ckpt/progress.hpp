#pragma once

#include <chrono>
#include <cstdint>

#include "ckpt/core/sink.hpp"
#include "terminal.hpp"

namespace ckpt {

/// A sink around a sink that shows how far it is: bytes, rate and time left on one line of standard
/// error, where that is a terminal and the work lasts over a second.
class Progress final : public Sink {
 public:
  Progress(Sink& inner, std::uint64_t total, const Talk& talk);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void write(std::span<const std::byte> bytes) override;
  bool move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) override;
  bool can_place() const noexcept override { return inner_.can_place(); }
  void place(std::uint64_t ahead, std::span<const std::byte> bytes) override;
  void append_placed(std::uint64_t size) override { inner_.append_placed(size); }

 private:
  using Clock = std::chrono::steady_clock;
  void advance(std::uint64_t bytes);

  Sink& inner_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool is_shown_;
  bool has_line_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_ = start_;
};

}  // namespace ckpt
