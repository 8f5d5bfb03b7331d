#include "progress.hpp"

#include <unistd.h>

#include <algorithm>

#include "ckpt/core/text.hpp"

namespace ckpt {

Progress::Progress(Sink& inner, std::uint64_t total, const Talk& talk)
    : inner_(inner), total_(total), is_shown_(!talk.is_quiet() && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (has_line_) std::fputs("\r\x1b[K", stderr);
}

void Progress::write(std::span<const std::byte> bytes) {
  inner_.write(bytes);
  advance(bytes.size());
}

void Progress::place(std::uint64_t ahead, std::span<const std::byte> bytes) {
  inner_.place(ahead, bytes);
  advance(bytes.size());
}

bool Progress::move(const ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  if (!is_shown_) return inner_.move(source, offset, size);
  // In steps, so that the line moves while one tensor of many gigabytes does.
  constexpr std::uint64_t step = 64U << 20;
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t part = std::min(step, size - at);
    if (!inner_.move(source, offset + at, part)) {
      if (at == 0) return false;
      std::vector<std::byte> buffer(part);
      source.read_at(offset + at, buffer);
      inner_.write(buffer);
    }
    advance(part);
    at += part;
  }
  return true;
}

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!is_shown_) return;
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (seconds < 1 || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  has_line_ = true;
  const double rate = static_cast<double>(done_) / seconds;
  const double left = static_cast<double>(total_ - std::min(done_, total_)) / rate;
  const std::string line =
      fmt::format("\r\x1b[K{} of {}  {}/s  {:.0f} s left", human_size(done_), human_size(total_),
                  human_size(static_cast<unsigned long long>(rate)), left);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace ckpt
