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

TEST_CASE("deflated data that is damaged, ends early, or has another checksum is refused by name") {
  std::string file = support::zip({{"a", std::string(1000, 'q'), true}});
  const std::size_t data = 30 + 1 + 7;  // behind the local header, the name and the extra field
  std::string bad = file;
  bad[data] = '\x07';  // a block of type 3, which deflate does not have
  CHECK_THROWS_WITH(content(open(bad), "a"),
                    Catch::Contains("the deflated data is damaged: invalid block type"));
  const std::size_t entry = file.size() - 22 - 47;
  const auto stored = static_cast<unsigned char>(file[entry + 20]);
  bad = file;
  bad[entry + 20] = static_cast<char>(stored - 3);
  CHECK_THROWS_WITH(content(open(bad), "a"), Catch::Contains("the deflated data ends early"));
  bad = file;
  bad[entry + 16] = static_cast<char>(bad[entry + 16] ^ 1);
  CHECK_THROWS_WITH(content(open(bad), "a"), Catch::Contains("its CRC-32 is"));
  file.replace(entry + 16, 4, le(0, 4));  // left out by the writer
  CHECK(content(open(file), "a").size() == 1000);
}

TEST_CASE("numbers of an entry that its ZIP64 field should hold, but does not, are refused") {
  const auto with_extra = [](const std::string& extra) {
    const std::string local = "PK\x03\x04" + le(0, 22) + le(1, 2) + le(0, 2) + "a" + "hello";
    const std::string directory = "PK\x01\x02" + le(0, 16) + le(0xFFFFFFFF, 4) + le(5, 4) + le(1, 2) +
                                  le(extra.size(), 2) + le(0, 2 + 2 + 2 + 4) + le(0, 4) + "a" + extra;
    return local + directory + "PK\x05\x06" + le(0, 4) + le(1, 2) + le(1, 2) + le(directory.size(), 4) +
           le(local.size(), 4) + le(0, 2);
  };
  const std::string good = le(1, 2) + le(8, 2) + le(5, 8);
  CHECK(content(open(with_extra(good)), "a") == "hello");
  CHECK(content(open(with_extra("UT" + le(2, 2) + "xx" + good)), "a") == "hello");
  for (const std::string& bad : {std::string(), le(1, 2) + le(4, 2) + le(5, 4),
                                 le(1, 2) + le(16, 2) + le(5, 8), "UT" + le(8, 2) + le(5, 8), le(1, 2)})
    CHECK_THROWS_WITH(open(with_extra(bad)), Catch::Contains("member a lacks the ZIP64 field"));
}

TEST_CASE("a damaged directory and headers that contradict it are told by what is wrong") {
  const std::string file = support::zip({{"a", "hello"}});
  const std::size_t entry = file.size() - 22 - 47;
  const auto with = [&](std::size_t at, std::string_view bytes) {
    std::string bad = file;
    return bad.replace(at, bytes.size(), bytes);
  };
  CHECK_THROWS_WITH(open(with(entry, "PX")), Catch::Contains("there is no directory at byte"));
  CHECK_THROWS_WITH(open(with(entry + 28, le(9, 2))), Catch::Contains("entry at byte 43 is cut off"));
  CHECK_THROWS_WITH(content(open(with(0, "PX")), "a"), Catch::Contains("no header where the directory says"));
  CHECK_THROWS_WITH(content(open(with(8, le(8, 2))), "a"), Catch::Contains("disagree about the compression"));
  CHECK_THROWS_WITH(content(open(with(entry + 24, le(4, 4))), "a"), Catch::Contains("two sizes"));
  CHECK_THROWS_WITH(content(open(with(entry + 20, le(6, 4) + le(6, 4))), "a"),
                    Catch::Contains("6 bytes at byte 38 reach into the directory at byte 43"));
  CHECK_THROWS_WITH(content(open(with(28, le(0xFFFF, 2))), "a"), Catch::Contains("reach into the directory"));
  CHECK_THROWS_WITH(content(open(with(30, "b")), "a"), Catch::Contains("names another member"));

  const std::string two = support::zip({{"a", "x"}, {"b", "y"}});
  std::string second = two;
  second.replace(two.size() - 22 - 47, 2, "PX");
  CHECK_THROWS_WITH(open(second), Catch::Contains("the directory is damaged at byte"));
}

TEST_CASE("an archive without members is one") {
  const zip::Archive archive = open(support::zip({}));
  CHECK(archive.members().empty());
  CHECK_THROWS_WITH(open("PK"), Catch::Contains("2 bytes hold no end record"));
  CHECK_THROWS_WITH(open(std::string(100, 'x')), Catch::Contains("has no end record"));
}

TEST_CASE("a ZIP64 end record is checked field by field") {
  const std::string member = "PK\x03\x04" + le(0, 22) + le(1, 2) + le(0, 2) + "a" + "hello";
  const std::string directory = "PK\x01\x02" + le(0, 16) + le(5, 4) + le(5, 4) + le(1, 2) + le(0, 16) + "a";
  const auto archive = [&](std::uint64_t size, std::uint64_t disk, std::uint64_t at, std::string_view sign) {
    return member + directory + std::string(sign) + le(size, 8) + le(0, 4) + le(disk, 4) + le(0, 4) +
           le(1, 8) + le(1, 8) + le(directory.size(), 8) + le(member.size(), 8) + "PK\x06\x07" + le(0, 4) +
           le(at, 8) + le(1, 4) + "PK\x05\x06" + le(0, 4) + le(0xFFFF, 2) + le(0xFFFF, 2) +
           le(0xFFFFFFFF, 4) + le(0xFFFFFFFF, 4) + le(0, 2);
  };
  const std::uint64_t at = member.size() + directory.size();
  CHECK(content(open(archive(44, 0, at, "PK\x06\x06")), "a") == "hello");
  CHECK_THROWS_WITH(open(archive(44, 0, 1000, "PK\x06\x06")),
                    Catch::Contains("points to byte 1000, outside"));
  CHECK_THROWS_WITH(open(archive(44, 0, at, "PK\x06\x05")), Catch::Contains("no ZIP64 end record at byte"));
  CHECK_THROWS_WITH(open(archive(45, 0, at, "PK\x06\x06")), Catch::Contains("does not end at its locator"));
  CHECK_THROWS_WITH(open(archive(44, 1, at, "PK\x06\x06")), Catch::Contains("one of several volumes"));
}
