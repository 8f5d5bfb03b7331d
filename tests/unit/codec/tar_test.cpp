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
