// Questions to a finished graph.
#include <algorithm>
#include <functional>

#include "ckpt/codec/pickle.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"

namespace ckpt::pickle {

std::optional<std::int64_t> Graph::as_integer(NodeId id) const {
  if (is(id, Kind::integer)) return integer(id);
  if (is(id, Kind::boolean)) return boolean(id) ? 1 : 0;
  return std::nullopt;
}

std::optional<std::uint64_t> Graph::source_offset(NodeId id) const {
  const std::string_view content = text(id);
  const std::string_view all = as_text(buffer_);
  const std::less_equal<const char*> not_after;
  if (content.empty() || !not_after(all.data(), content.data()) ||
      !not_after(content.data() + content.size(), all.data() + all.size()))
    return std::nullopt;
  return base_ + static_cast<std::uint64_t>(content.data() - all.data());
}

std::string integer_text(const Graph& graph, NodeId id) {
  if (graph.kind(id) == Kind::integer) return std::to_string(graph.integer(id));
  const std::string_view bytes = graph.text(id);
  if (graph.kind(id) == Kind::decimal) {
    // 128 bytes make 309 digits.
    if (bytes.size() <= limits::integer_bytes * 5 / 2) return std::string(bytes);
    return fmt::format("integer of {} digits", bytes.size());
  }
  if (bytes.size() > limits::integer_bytes) return fmt::format("integer of {} bytes", bytes.size());

  // Long division of the magnitude by 10^9, limbs least significant first.
  const bool negative = (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0;
  std::vector<std::uint32_t> limbs((bytes.size() + 4) / 4, negative ? UINT32_MAX : 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint32_t shift = 8 * (i % 4);
    limbs[i / 4] = (limbs[i / 4] & ~(0xFFU << shift)) | std::uint32_t{static_cast<unsigned char>(bytes[i])}
                                                            << shift;
  }
  if (negative) {
    std::uint64_t carry = 1;
    for (std::uint32_t& limb : limbs) {
      carry += static_cast<std::uint32_t>(~limb);
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32U;
    }
  }
  std::string digits;
  while (!limbs.empty()) {
    std::uint64_t rest = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      rest = rest << 32U | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(rest / 1'000'000'000);
      rest %= 1'000'000'000;
    }
    while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
    for (int i = 0; i < 9 && (rest != 0 || !limbs.empty()); ++i, rest /= 10)
      digits += static_cast<char>('0' + rest % 10);
  }
  if (digits.empty()) digits = "0";
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace ckpt::pickle
