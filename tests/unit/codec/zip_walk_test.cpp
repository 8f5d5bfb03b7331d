#include "ckpt/codec/zip_walk.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "support/archives.hpp"

using namespace ckpt;
using support::le;

namespace {

/// A member whose sizes stand behind its data, as PyTorch and everybody who streams writes it.
std::string streamed(std::string_view name, std::string_view data, std::size_t width = 4) {
  return "PK\x03\x04" + le(0, 2) + le(8, 2) + le(0, 2 + 4 + 12) + le(name.size(), 2) + le(3, 2) +
         std::string(name) + "ZZZ" + std::string(data) + "PK\x07\x08" + le(support::crc32_of(data), 4) +
         le(data.size(), width) + le(data.size(), width);
}

/// A member whose header says everything.
std::string stated(std::string_view name, std::string_view data) {
  return "PK\x03\x04" + le(0, 4 + 2 + 4) + le(support::crc32_of(data), 4) + le(data.size(), 4) +
         le(data.size(), 4) + le(name.size(), 2) + le(0, 2) + std::string(name) + std::string(data);
}

struct Seen {
  std::vector<std::string> members;  // `name=data`
  bool at_directory = false;
};

Seen walked(
    const std::string& file,
    const zip::Walk::Guess& guess = [](const std::string&) { return std::optional<std::uint64_t>(); }) {
  const Bytes bytes = memory_bytes(file);
  zip::Walk walk(bytes);
  Seen seen;
  while (const auto member = walk.next(guess)) {
    CHECK(member->crc32 == support::crc32_of(file.substr(member->data, member->stored)));
    seen.members.push_back(member->name + "=" + file.substr(member->data, member->stored));
  }
  seen.at_directory = walk.at_directory();
  return seen;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("members are found from header to header, whether sizes stand before or behind the data") {
  const std::string file =
      streamed("a", "hello") + stated("b", "you") + streamed("c", "there", 8) + "PK\x01\x02";
  const Seen seen = walked(file);
  CHECK(seen.members == Strings{"a=hello", "b=you", "c=there"});
  CHECK(seen.at_directory);
}

TEST_CASE("a descriptor counts only with the distance that it states and a record behind it") {
  // Data that hold a whole archive of their own, and descriptors that lie.
  const std::string inner = streamed("x", "inner") + "PK\x07\x08" + le(0, 4) + le(3, 4) + le(3, 4);
  CHECK(walked(streamed("a", inner) + stated("b", "")).members == Strings{"a=" + inner, "b="});
}

TEST_CASE("a guess finds the descriptor without reading on, and a wrong guess does no harm") {
  const std::string file = streamed("a", "hello") + stated("b", "");
  for (const std::uint64_t guessed : {std::uint64_t{5}, std::uint64_t{4}, std::uint64_t{0}, UINT64_MAX}) {
    const auto guess = [&](const std::string&) { return std::optional(guessed); };
    CHECK(walked(file, guess).members == Strings{"a=hello", "b="});
  }
}

TEST_CASE("the walk ends where a member is cut, wherever that is") {
  const std::string first = streamed("a", "hello");
  const std::string file = first + streamed("b", std::string(3000, 'q'));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Seen seen = walked(file.substr(0, size));
    CHECK(seen.members == (size < first.size() ? Strings{} : Strings{"a=hello"}));
    CHECK_FALSE(seen.at_directory);
  }
}
