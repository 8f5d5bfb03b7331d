#include "ckpt/codec/zip.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "support/archives.hpp"

using namespace ckpt;
using support::le;

namespace {

zip::Archive open(std::string_view file) { return zip::Archive(memory_bytes(file)); }

std::string content(const zip::Archive& archive, std::string_view name) {
  const Bytes bytes = archive.open(*archive.find(name));
  return std::string(as_text(read_range(*bytes, 0, bytes->size())));
}

/// Replaces bytes at `offset` from the end of the archive.
std::string patched(std::string file, std::size_t from_end, std::string_view bytes) {
  return file.replace(file.size() - from_end, bytes.size(), bytes);
}

}  // namespace

TEST_CASE("stored members are ranges of the file, found behind their own local header") {
  const std::string file = support::zip({{"a/x", "hello"}, {"a/y", ""}});
  const zip::Archive archive = open(file);
  REQUIRE(archive.members().size() == 2);
  CHECK(content(archive, "a/x") == "hello");
  CHECK(content(archive, "a/y").empty());
  CHECK(archive.find("a/z") == nullptr);
  CHECK(archive.find("a/x")->crc32 == support::crc32_of("hello"));
}

TEST_CASE("deflated members are unfolded, many of them into one spool") {
  const std::string long_text(100'000, 'q');
  const zip::Archive archive =
      open(support::zip({{"a", long_text, true}, {"b", "stored"}, {"c", "short", true}}));
  std::vector<const zip::Member*> members;
  for (const zip::Member& member : archive.members()) members.push_back(&member);
  const std::vector<Bytes> opened = archive.open(members);
  CHECK(as_text(read_range(*opened[0], 0, opened[0]->size())) == long_text);
  CHECK(as_text(read_range(*opened[1], 0, 6)) == "stored");
  CHECK(as_text(read_range(*opened[2], 0, 5)) == "short");
}

TEST_CASE("a deflated member may not unfold to more or less than the directory says") {
  std::string file = support::zip({{"a", std::string(1000, 'q'), true}});
  const std::size_t entry = file.size() - 22 - 47;
  file.replace(entry + 24, 4, le(999, 4));
  CHECK_THROWS_WITH(content(open(file), "a"), Catch::Contains("more than the 999 bytes"));
  file.replace(entry + 24, 4, le(1001, 4));
  CHECK_THROWS_WITH(content(open(file), "a"), Catch::Contains("1000 bytes"));
  file.replace(entry + 24, 4, le(0x7FFFFFFF, 4));
  CHECK_THROWS_WITH(content(open(file), "a"), Catch::Contains("more than deflate can do"));
}

TEST_CASE("a checksum that stands in the directory is compared when a small member is read") {
  std::string file = support::zip({{"a", "hello"}});
  const std::size_t entry = file.size() - 22 - 47;
  CHECK(open(file).read(*open(file).find("a"), 10).size() == 5);
  CHECK_THROWS_WITH(open(file).read(*open(file).find("a"), 4), Catch::Contains("at most 4"));
  file[entry + 16] = static_cast<char>(file[entry + 16] ^ 1);
  CHECK_THROWS_WITH(open(file).read(*open(file).find("a"), 10), Catch::Contains("CRC-32"));
  file.replace(entry + 16, 4, le(0, 4));  // left out by the writer
  CHECK_NOTHROW(open(file).read(*open(file).find("a"), 10));
}

TEST_CASE("the end record is found behind a comment that holds its signature") {
  std::string file = support::zip({{"a", "hello"}});
  const std::string comment = "PK\x05\x06 and more, long enough for a record";
  file.replace(file.size() - 2, 2, le(comment.size(), 2));
  CHECK(content(open(file + comment), "a") == "hello");
  CHECK(open(file + comment).trailing() == 0);
}

TEST_CASE("bytes behind the archive are counted") {
  CHECK(open(support::zip({{"a", "hello"}}) + "junk").trailing() == 4);
}

TEST_CASE("archives with bytes in front or joined to others are refused") {
  const std::string file = support::zip({{"a", "hello"}});
  CHECK_THROWS_WITH(open("junk" + file), Catch::Contains("4 bytes were put in front"));
  CHECK_THROWS_AS(open(file + file), Error);
}

TEST_CASE("ZIP64 records and fields give the numbers that do not fit") {
  // One stored member whose three numbers stand in the extra field, and a directory found by the ZIP64 end
  // record.
  const std::string local = "PK\x03\x04" + le(0, 22) + le(1, 2) + le(0, 2) + "a" + "hello";
  const std::string extra = le(1, 2) + le(24, 2) + le(5, 8) + le(5, 8) + le(0, 8);
  const std::string directory = "PK\x01\x02" + le(0, 16) + le(0xFFFFFFFF, 4) + le(0xFFFFFFFF, 4) + le(1, 2) +
                                le(extra.size(), 2) + le(0, 2 + 2 + 2 + 4) + le(0xFFFFFFFF, 4) + "a" + extra;
  const std::string end64 = "PK\x06\x06" + le(44, 8) + le(0, 2 + 2 + 4 + 4) + le(1, 8) + le(1, 8) +
                            le(directory.size(), 8) + le(local.size(), 8);
  const std::string locator = "PK\x06\x07" + le(0, 4) + le(local.size() + directory.size(), 8) + le(1, 4);
  const std::string end = "PK\x05\x06" + le(0, 4) + le(0xFFFF, 2) + le(0xFFFF, 2) + le(0xFFFFFFFF, 4) +
                          le(0xFFFFFFFF, 4) + le(0, 2);
  CHECK(content(open(local + directory + end64 + locator + end), "a") == "hello");
  CHECK_THROWS_WITH(open(local + directory + end), Catch::Contains("ZIP64 record that is not there"));
  std::string huge = local + directory + end64 + locator + end;
  huge.replace(local.size() + directory.size() + 48, 8, le(UINT64_MAX - 8, 8));
  CHECK_THROWS_WITH(open(huge), Catch::Contains("does not fit"));
}

TEST_CASE("an entry count that is wrong is not believed") {
  const std::string file = support::zip({{"a", "x"}, {"b", "y"}});
  CHECK_THROWS_WITH(open(patched(file, 12, le(1, 2))), Catch::Contains("counts 1 members"));
  CHECK_THROWS_WITH(open(patched(file, 12, le(3, 2))), Catch::Contains("counts 3 members"));
}

TEST_CASE("two members of one name are refused") {
  CHECK_THROWS_WITH(open(support::zip({{"a", "x"}, {"a", "y"}})), Catch::Contains("two members are named a"));
}

TEST_CASE("encrypted members and unknown methods are named") {
  std::string file = support::zip({{"a", "hello"}});
  const std::size_t entry = file.size() - 22 - 47;
  std::string encrypted = file;
  encrypted[entry + 8] = '\x09';
  CHECK_THROWS_WITH(content(open(encrypted), "a"), Catch::Contains("encrypted"));
  file[entry + 10] = '\x63';
  CHECK_THROWS_WITH(content(open(file), "a"), Catch::Contains("method 99"));
}

TEST_CASE("a local header must belong to its directory entry") {
  std::string file = support::zip({{"a", "hello"}, {"b", "world"}});
  const std::size_t second = file.size() - 22 - 47;
  file.replace(second + 42, 4, le(0, 4));
  CHECK_THROWS_WITH(content(open(file), "b"), Catch::Contains("names another member"));
  file.replace(second + 42, 4, le(0xFFFFFFF0, 4));
  CHECK_THROWS_WITH(content(open(file), "b"), Catch::Contains("outside the archive"));
}

TEST_CASE("an archive that is cut anywhere is refused, and one with a flipped byte never does harm") {
  const std::string file = support::zip({{"a", "hello", true}, {"b", "world"}});
  for (std::size_t size = 0; size < file.size(); ++size) CHECK_THROWS_AS(open(file.substr(0, size)), Error);
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string bad = file;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      try {
        const zip::Archive archive = open(bad);
        for (const zip::Member& member : archive.members()) archive.read(member, 1 << 20);
      } catch (const Error&) {
      }
    }
  }
  SUCCEED();
}
