#include "ckpt/io/writeback.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <vector>

#include "ckpt/io/descriptor.hpp"
#include "support/folder.hpp"

using namespace ckpt;
using namespace ckpt::test;

TEST_CASE("what the disk is told of changes nothing in the file, however it grows") {
  const Folder folder;
  const Descriptor file(::open(folder.path("f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  REQUIRE(file);
  const std::vector<std::byte> bytes(3U << 20, std::byte{7});
  std::uint64_t size = 0;
  {
    Writeback writeback(file.get());
    for (int i = 0; i < 10; ++i) {
      write_all(file.get(), bytes);
      size += bytes.size();
      writeback.advance(size);
    }
  }
  std::vector<std::byte> read(size);
  REQUIRE(::pread(file.get(), read.data(), read.size(), 0) == static_cast<ssize_t>(size));
  CHECK(read == std::vector<std::byte>(size, std::byte{7}));
}

TEST_CASE("a descriptor that the disk cannot be told of is no error, and nothing is waited for") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  Writeback writeback(writing.get());
  writeback.advance(1ULL << 40);  // at 8 MiB a call this would take a while
}
