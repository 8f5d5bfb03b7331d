// What the first bytes say:
//
//     PK 3 4              zip; an empty one begins with its end record, PK 5 6 or PK 6 6
//     "ustar" at 257      tar; also a block with the checksum of a tar header
//     80 PROTOCOL         pickle, protocol 2 and up: legacy container or bare pickle
//     other opcodes       pickle, protocol 0 and 1, which has no magic number at all
#include <algorithm>
#include <cctype>
#include <string_view>

#include "ckpt/codec/pickle.hpp"
#include "ckpt/codec/pickle_opcodes.hpp"
#include "ckpt/codec/tar.hpp"
#include "ckpt/core/bytes.hpp"
#include "ckpt/formats/pytorch/pytorch.hpp"

namespace ckpt {
namespace {

/// What a pickle of protocol 0 or 1 that holds data begins with: a container, a global, or a mark before
/// them.
constexpr std::string_view text_openings = "(}])c";

bool is_zip(std::string_view head) {
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") || head.starts_with("PK\x06\x06") ||
         (head.size() < 4 && head.starts_with("PK\x03"));
}

bool is_tar(std::span<const std::byte> head) {
  return tar::is_header(head) || (head.size() >= tar::block_size && as_text(head).substr(257, 5) == "ustar");
}

/// `80 PROTOCOL OPCODE …`; with an unknown protocol too, so that the error can name it.
bool is_binary_pickle(std::string_view head) {
  if (!head.starts_with('\x80')) return false;
  if (head.size() < 3) return true;  // cut off so early that nothing else can be said
  // A safetensors header whose length begins with this byte.
  if (head.size() > 8 && head[8] == '{' && head.substr(4, 4) == std::string_view("\0\0\0\0", 4)) return false;
  const auto protocol = static_cast<unsigned char>(head[1]);
  if (protocol > pickle::newest_protocol)
    return std::string_view("()]}cXKN\x95").find(head[2]) != std::string_view::npos;
  return std::string_view("()]}cXUKMJINGTFSVLCB\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x95\x96.").find(head[2]) !=
         std::string_view::npos;
}

/// Whether the first line after `c` could be the name of a module.
bool is_module_line(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return !line.empty() && std::ranges::all_of(line, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
}

bool is_text_pickle(std::span<const std::byte> head, bool is_whole) {
  const std::string_view text = as_text(head);
  if (text.empty() || text_openings.find(text.front()) == std::string_view::npos) return false;
  if (text.front() == 'c' && !is_module_line(text.substr(1))) return false;
  return pickle::looks_like_pickle(head, is_whole);
}

}  // namespace

bool recognise_pytorch(std::span<const std::byte> head, std::uint64_t size) {
  const std::string_view text = as_text(head);
  return is_zip(text) || is_tar(head) || is_binary_pickle(text) || is_text_pickle(head, size == head.size());
}

}  // namespace ckpt
