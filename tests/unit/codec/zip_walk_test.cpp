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

// The fields of APPNOTE 4.3.7, each with a number of its own.
TEST_CASE("a header that says everything gives method, checksum and both sizes") {
  const std::string file = "PK\x03\x04" + le(20, 2) + le(2, 2) + le(8, 2) + le(0x1234, 2) + le(0x5678, 2) +
                           le(0x9ABCDEF0, 4) + le(5, 4) + le(90, 4) + le(1, 2) + le(2, 2) +
                           "aXXhello"
                           "PK\x01\x02";
  zip::Walk walk(memory_bytes(file));
  const auto member = walk.next([](const std::string&) { return std::optional<std::uint64_t>(); });
  REQUIRE(member);
  CHECK(member->name == "a");
  CHECK(member->flags == 2);
  CHECK(member->method == 8);
  CHECK(member->crc32 == 0x9ABCDEF0);
  CHECK(member->stored == 5);
  CHECK(member->size == 90);
  CHECK(member->data == 33);
  CHECK(walk.at_directory());
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

TEST_CASE(
    "sizes of 64 bits come from the extra field, and a header without one that they need ends the walk") {
  const auto member = [](const std::string& extra) {
    return "PK\x03\x04" + le(0, 4 + 2 + 4) + le(support::crc32_of("hello"), 4) + le(0xFFFFFFFF, 4) +
           le(0xFFFFFFFF, 4) + le(1, 2) + le(extra.size(), 2) + "a" + extra + "hello";
  };
  const std::string sizes = le(1, 2) + le(16, 2) + le(5, 8) + le(5, 8);
  CHECK(walked(member(sizes) + stated("b", "x")).members == Strings{"a=hello", "b=x"});
  CHECK(walked(member("UT" + le(2, 2) + "xx" + sizes)).members == Strings{"a=hello"});
  for (const std::string& extra :
       {std::string(), le(1, 2) + le(8, 2) + le(5, 8), le(1, 2) + le(17, 2) + le(5, 8) + le(5, 8),
        "UT" + le(2, 2) + "xx", std::string("xxx")})
    CHECK(walked(member(extra) + stated("b", "x")).members.empty());
}

TEST_CASE("a member that is guessed to be empty has no descriptor") {
  const std::string empty =
      "PK\x03\x04" + le(0, 2) + le(8, 2) + le(0, 2 + 4 + 12) + le(1, 2) + le(0, 2) + "a";
  const auto guess = [](const std::string& name) {
    return name == "a" ? std::optional<std::uint64_t>(0) : std::nullopt;
  };
  CHECK(walked(empty + stated("b", "x"), guess).members == Strings{"a=", "b=x"});
}

TEST_CASE("a descriptor is found behind more data than a window, and across the end of one") {
  for (const std::size_t size : {(1U << 20) - 2, (1U << 20) + 5, (3U << 20) - 1}) {
    const std::string data(size, 'q');
    const Seen seen = walked(streamed("a", data) + stated("b", "x"));
    CHECK(seen.members == Strings{"a=" + data, "b=x"});
  }
}
