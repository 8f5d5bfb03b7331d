#include "ckpt/codec/tar.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "support/archives.hpp"

using namespace ckpt;

namespace {

tar::Archive read(std::string_view file) { return tar::read_archive(*memory_bytes(file)); }

}  // namespace

TEST_CASE("members of a tar are ranges of the file") {
  const std::string file =
      support::tar({{"pickle", "hello"}, {"folder", "", '5'}, {"storages", std::string(600, 'x')}});
  const tar::Archive archive = read(file);
  REQUIRE(archive.members.size() == 2);
  CHECK(archive.members[0].name == "pickle");
  CHECK(file.substr(archive.members[0].offset, archive.members[0].size) == "hello");
  CHECK(archive.members[1].size == 600);
  CHECK(archive.has_end);
}

TEST_CASE("long names come from GNU and pax headers") {
  const std::string name(150, 'n');
  CHECK(read(support::tar({{"@", name + '\0', 'L'}, {"short", "x"}})).members.at(0).name == name);
  const std::string record = "160 path=" + name + "\n";
  CHECK(read(support::tar({{"@", record, 'x'}, {"short", "x"}})).members.at(0).name == name);
  CHECK_THROWS_WITH(read(support::tar({{"@", "999 path=x\n", 'x'}, {"short", "x"}})),
                    Catch::Contains("malformed"));
}

TEST_CASE("the checksum of each header is compared") {
  std::string file = support::tar({{"pickle", "hello"}});
  CHECK(tar::is_header(as_bytes(file)));
  file[0] = 'q';
  CHECK_FALSE(tar::is_header(as_bytes(file)));
  CHECK_THROWS_WITH(read(file), Catch::Contains("checksum"));
  CHECK_FALSE(tar::is_header(as_bytes(std::string(512, '\0'))));
}

TEST_CASE("a member that goes beyond the file is refused") {
  const std::string file = support::tar({{"pickle", std::string(600, 'x')}});
  CHECK_THROWS_WITH(read(file.substr(0, 1000)), Catch::Contains("cut off"));
  CHECK_FALSE(read(file.substr(0, 1536)).has_end);
}

TEST_CASE("sizes beyond 8 GiB are binary and do not overflow") {
  std::string block = support::tar_header({"a", ""});
  block.replace(124, 12, std::string("\x80\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12));
  CHECK_THROWS_AS(read(block), Error);
}

namespace {

/// An archive of one member whose header was changed, with its checksum put right.
std::string changed(std::size_t at, std::string_view bytes, const support::TarEntry& entry = {"a", "hello"}) {
  std::string file = support::tar({entry});
  file.replace(at, bytes.size(), bytes);
  file.replace(148, 8, "        ");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(file[i]);
  std::string digits;
  for (int i = 0; i < 6; ++i, sum >>= 3U) digits.insert(digits.begin(), static_cast<char>('0' + (sum & 7U)));
  return file.replace(148, 8, digits + std::string("\0 ", 2));
}

}  // namespace

TEST_CASE("numbers of a tar stand in octal digits between spaces, or in binary") {
  const auto size = [](std::string_view field) { return read(changed(124, field)).members.at(0).size; };
  CHECK(size("   5       \0") == 5);
  CHECK(size(std::string("5\0\0\0\0\0\0\0\0\0\0\0", 12)) == 5);
  CHECK(size(std::string("\x80\0\0\0\0\0\0\0\0\0\0\5", 12)) == 5);
  CHECK(read(changed(124, std::string(12, '\0'), {"a", ""})).members.at(0).size == 0);
  CHECK_THROWS_WITH(size("58         \0"), Catch::Contains("is no number"));
  CHECK_THROWS_WITH(size(std::string("\x80\0\0\1\0\0\0\0\0\0\0\0", 12)), Catch::Contains("is no number"));
}

TEST_CASE("a prefix of ustar stands before the name") {
  CHECK(read(changed(345, "some/folder")).members.at(0).name == "some/folder/a");
  CHECK(read(changed(257, "USTAR")).members.at(0).name == "a");
}

TEST_CASE("pax records give names and sizes, and what they say else is passed over") {
  const auto with = [](const std::string& records) {
    return read(support::tar({{"@", records, 'x'}, {"short", "12345"}})).members.at(0);
  };
  CHECK(with("15 mtime=12345\n10 size=3\n").size == 3);
  CHECK(with("15 mtime=12345\n10 size=3\n").name == "short");
  CHECK(with("11 comment\n").name == "short");  // no value at all
  for (const char* bad :
       {"x path=x\n", "11 size=1x\n", "2 \n", "12 path=abcd", "10path=abcd\n", "11 path=abcd\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(with(bad), Error);
  }
  CHECK_THROWS_WITH(with("11 size=1x\n"), Catch::Contains("a size that is no number"));
}

TEST_CASE("what is no plain file in a tar is passed over, and sparse ones are refused") {
  CHECK(read(support::tar({{"link", "", '2'}, {"old", "x", '\0'}, {"solid", "y", '7'}})).members.size() == 2);
  CHECK(
      read(support::tar({{"g", "16 comment=hello", 'g'}, {"K", "target", 'K'}, {"a", "x"}})).members.size() ==
      1);
  CHECK_THROWS_WITH(read(support::tar({{"holes", "x", 'S'}})), Catch::Contains("member holes is sparse"));
  CHECK_THROWS_WITH(read(support::tar({{"@", std::string(70'000, 'x'), 'x'}})),
                    Catch::Contains("an extended header of 70000 bytes"));
  CHECK_THROWS_WITH(read(support::tar({{"a", "x"}}).substr(0, 1100)),
                    Catch::Contains("in the header at byte 1024"));
}
