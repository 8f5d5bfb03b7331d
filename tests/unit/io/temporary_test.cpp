#include "ckpt/io/temporary.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "ckpt/io/output.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

Descriptor opened(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT, 0666));
}

}  // namespace

TEST_CASE("an output clears its folder of what killed processes left, and of nothing else") {
  const Folder folder;
  const Names kept{".ckpt--0.tmp", ".ckpt-1-.tmp", ".ckpt-1-0.tmp.bak", ".ckpt-1-0x.tmp",
                   ".ckpt-1.tmp",  ".ckpt-.tmp",   "ckpt-1-0.tmp",      "x.ckpt-1-0.tmp"};
  for (const std::string& name : kept) folder.write(name, "mine");
  folder.write(".ckpt-1-0.tmp", "of a process that lives, which does not hold it");
  folder.write(".ckpt-99999999-17.tmp", "stranded");
  std::filesystem::create_directory(folder.path(".ckpt-1-1.tmp"));
  folder.write("target", "of a link");
  std::filesystem::create_symlink("target", folder.path(".ckpt-1-2.tmp"));
  REQUIRE(::mkfifo(folder.path(".ckpt-1-3.tmp").c_str(), 0600) == 0);

  AtomicOutput(folder.path("out"), {}).commit();

  Names expected = kept;
  expected.insert(expected.end(), {".ckpt-1-1.tmp", ".ckpt-1-2.tmp", ".ckpt-1-3.tmp", "out", "target"});
  std::ranges::sort(expected);
  CHECK(folder.names() == expected);
  CHECK(folder.read("target") == "of a link");
}

TEST_CASE("a hidden file that is held is left alone, and so is that of an output") {
  const Folder folder;
  const Descriptor held = opened(folder.path(".ckpt-1-0.tmp"));
  REQUIRE(lock_temporary(held));
  AtomicOutput output(folder.path("out"), {.may_be_unnamed = false});
  output.write(as_bytes("text"));
  remove_stranded(folder.path());
  CHECK(folder.names().size() == 2);
  output.commit();
  CHECK(folder.read("out") == "text");
  CHECK(folder.names() == Names{".ckpt-1-0.tmp", "out"});
}

TEST_CASE("a second name that a killed process left is removed, the file stays") {
  const Folder folder;
  folder.write("out", "whole");
  std::filesystem::create_hard_link(folder.path("out"), folder.path(".ckpt-1-0.tmp"));
  remove_stranded(folder.path());
  CHECK(folder.names() == Names{"out"});
  CHECK(folder.read("out") == "whole");
}

TEST_CASE("a file that was taken for stranded before it was locked is not used") {
  const Folder folder;
  const std::string path = folder.path(".ckpt-1-0.tmp");
  const Descriptor mine = opened(path);
  {
    const Descriptor clearing = opened(path);
    REQUIRE(::flock(clearing.get(), LOCK_EX | LOCK_NB) == 0);
    CHECK_FALSE(lock_temporary(mine));
    REQUIRE(std::filesystem::remove(path));
  }
  CHECK_FALSE(lock_temporary(mine));
  CHECK_FALSE(is_name_of(path, mine));
}

TEST_CASE("an output whose hidden file somebody has removed, or replaced, is an error") {
  const bool is_replaced = GENERATE(true, false);
  const Folder folder;
  folder.write("out", "old");
  {
    AtomicOutput output(folder.path("out"), {.replace = true, .may_be_unnamed = false});
    output.write(as_bytes("new"));
    const Names names = folder.names();
    REQUIRE(std::filesystem::remove(folder.path(names.front())));
    if (is_replaced) folder.write(names.front(), "something else");
    const Error error = error_of([&] { output.commit(); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(contains(error.message(), names.front()));
  }
  CHECK(folder.read("out") == "old");
}
