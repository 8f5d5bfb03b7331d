#include "ckpt/io/file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <thread>

#include "ckpt/io/descriptor.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

std::string text_of(const ByteSource& source) {
  return std::string(as_text(read_range(source, 0, source.size())));
}

/// Standard input is `descriptor` while it lives.
class StandardInputFrom {
 public:
  explicit StandardInputFrom(int descriptor) : before_(::dup(STDIN_FILENO)) {
    ::dup2(descriptor, STDIN_FILENO);
  }
  ~StandardInputFrom() { ::dup2(before_.get(), STDIN_FILENO); }
  StandardInputFrom(const StandardInputFrom&) = delete;
  StandardInputFrom& operator=(const StandardInputFrom&) = delete;

 private:
  Descriptor before_;
};

/// A pipe that gets `text` from another thread, which then closes it.
class Pipe {
 public:
  explicit Pipe(std::string text) {
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    out_ = Descriptor(ends[0]);
    writer_ = std::thread([in = Descriptor(ends[1]), content = std::move(text)] {
      try {
        write_all(in.get(), as_bytes(content));
      } catch (const Error&) {  // nobody reads any more
      }
    });
  }
  ~Pipe() {
    out_ = Descriptor();
    writer_.join();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int get() const { return out_.get(); }

 private:
  Descriptor out_;
  std::thread writer_;
};

bool is_never_enough(std::span<const std::byte>) { return false; }
bool is_always_enough(std::span<const std::byte>) { return true; }

}  // namespace

TEST_CASE("a file is read at any offset, and never past its end") {
  const Folder folder;
  folder.write("f", "0123456789");
  const Bytes file = open_file(folder.path("f"));
  CHECK(file->size() == 10);
  CHECK(as_text(read_range(*file, 3, 4)) == "3456");
  CHECK(as_text(read_range(*file, 10, 0)).empty());
  CHECK(error_of([&] { read_range(*file, 8, 3); }).kind() == ErrorKind::corrupt);
  CHECK(error_of([&] { read_range(*file, UINT64_MAX, 2); }).kind() == ErrorKind::corrupt);
  CHECK(file->file_range()->offset == 0);
}

TEST_CASE("a file that is cut while it is read gives an io error with both sizes") {
  const Folder folder;
  folder.write("f", "0123456789");
  const Bytes file = open_file(folder.path("f"));
  REQUIRE(::truncate(folder.path("f").c_str(), 4) == 0);
  CHECK(error_of([&] { read_range(*file, 0, 4); }).kind() == ErrorKind::io);
  const Error error = error_of([&] { read_range(*file, 2, 6); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(contains(error.message(), "ends at byte 4"));
  CHECK(contains(error.message(), "10 bytes"));
}

TEST_CASE("a file that somebody writes to while it is read is an error, one that is replaced is not") {
  const Folder folder;
  folder.write("a", "0123456789");
  folder.write("b", "something else");
  std::filesystem::last_write_time(folder.path("a"), {});
  const Bytes source = open_file(folder.path("a"));
  std::filesystem::rename(folder.path("b"), folder.path("a"));
  CHECK(text_of(*source) == "0123456789");

  const Bytes other = open_file(folder.path("a"));
  std::filesystem::last_write_time(folder.path("a"), {});
  const Error error = error_of([&] { text_of(*other); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(error.file() == folder.path("a"));
  CHECK(contains(error.message(), "has been written to while it was read"));
}

TEST_CASE("what is missing or is no regular file is an io error that names it") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("nowhere", folder.path("dangling"));
  for (const std::string name : {"none", "dangling", "pipe"}) {
    const Error error = error_of([&] { open_input(folder.path(name)); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(error.file() == folder.path(name));
  }
  CHECK(error_of([&] { open_file(folder.path()); }).kind() == ErrorKind::io);
  CHECK(error_of([&] { open_input("/dev/null"); }).kind() == ErrorKind::io);
}

TEST_CASE("an input lists the regular files beside it, sorted by bytes, and opens them") {
  const Folder folder;
  for (const std::string name : {"b", "a", "B"}) folder.write(name, "content of " + name);
  std::filesystem::create_directory(folder.path("folder"));
  std::filesystem::create_symlink("a", folder.path("link"));
  std::filesystem::create_symlink("nowhere", folder.path("dangling"));
  const auto input = open_input(folder.path("a"));
  CHECK(input->name() == folder.path("a"));
  CHECK(input->siblings() == Names{"B", "a", "b", "link"});
  const auto sibling = input->open_sibling("b");
  CHECK(text_of(*sibling->bytes()) == "content of b");
  CHECK(sibling->name() == folder.path("b"));
  CHECK(error_of([&] { input->open_sibling("none"); }).kind() == ErrorKind::io);
}

TEST_CASE("a directory is an input without bytes whose files are inside") {
  const Folder folder;
  folder.write("a", "inside");
  const auto input = open_input(folder.path());
  CHECK(input->bytes() == nullptr);
  CHECK(input->siblings() == Names{"a"});
  CHECK(text_of(*input->open_sibling("a")->bytes()) == "inside");
}

TEST_CASE("a sibling's name is a plain file name and never leads elsewhere") {
  const Folder folder;
  folder.write("a", "x");
  const auto input = open_input(folder.path("a"));
  for (const std::string_view name :
       {std::string_view("../a"), std::string_view("/etc/passwd"), std::string_view("."),
        std::string_view(".."), std::string_view(""), std::string_view("b\\a"), std::string_view("folder/a"),
        std::string_view("a\0b", 3)})
    CHECK(error_of([&] { input->open_sibling(name); }).kind() == ErrorKind::corrupt);
}

TEST_CASE("a name without a folder has its siblings in the working directory") {
  const Folder folder;
  folder.write("a", "x");
  folder.write("b", "beside");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto input = open_input("a");
  const auto sibling = input->open_sibling("b");
  std::filesystem::current_path(before);
  CHECK(sibling->name() == "b");
  CHECK(text_of(*sibling->bytes()) == "beside");
}

TEST_CASE("two paths are the same file by symlink, hard link or spelling") {
  const Folder folder;
  folder.write("a", "x");
  folder.write("b", "x");
  std::filesystem::create_symlink("a", folder.path("soft"));
  std::filesystem::create_hard_link(folder.path("a"), folder.path("hard"));
  CHECK(is_same_file(folder.path("a"), folder.path("soft")));
  CHECK(is_same_file(folder.path("a"), folder.path("hard")));
  CHECK(is_same_file(folder.path("a"), folder.path("./a")));
  CHECK_FALSE(is_same_file(folder.path("a"), folder.path("b")));
  CHECK_FALSE(is_same_file(folder.path("a"), folder.path("none")));
  CHECK_FALSE(is_same_file(folder.path("none"), folder.path("none")));
}

TEST_CASE("a file on standard input is read as such") {
  const Folder folder;
  folder.write("a", std::string(2000, 'x') + "end");
  const Descriptor file(::open(folder.path("a").c_str(), O_RDONLY | O_CLOEXEC));
  const StandardInputFrom redirected(file.get());
  const auto input = open_standard_input(is_never_enough);
  CHECK(input->bytes()->size() == 2003);
  CHECK(as_text(read_range(*input->bytes(), 2000, 3)) == "end");
  CHECK(input->bytes()->file_range());
}

TEST_CASE("a pipe is taken whole where its head is not enough") {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + ",";
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{511}, std::size_t{512},
                                 std::size_t{513}, std::size_t{100'000}, text.size()}) {
    const Pipe pipe(text.substr(0, size));
    const StandardInputFrom redirected(pipe.get());
    const auto input = open_standard_input(is_never_enough);
    REQUIRE(input->bytes()->size() == size);
    CHECK_FALSE(input->bytes()->is_open_ended());
    CHECK(text_of(*input->bytes()) == text.substr(0, size));
  }
}

TEST_CASE("a pipe whose head is enough is read only as far as asked, and again from memory") {
  const std::string text = std::string(3000, 'h') + std::string(200'000, 'd');
  const Pipe pipe(text);
  const StandardInputFrom redirected(pipe.get());
  const auto input = open_standard_input(is_always_enough);
  const Bytes bytes = input->bytes();
  CHECK(bytes->is_open_ended());
  CHECK(as_text(read_range(*bytes, 2999, 2)) == "hd");
  CHECK(as_text(read_range(*bytes, 0, 1)) == "h");
  char next = 0;
  CHECK(::read(STDIN_FILENO, &next, 1) == 1);  // the rest is still in the pipe
}

TEST_CASE("a pipe that ends before what is asked is an error that says where") {
  const Pipe pipe(std::string(1000, 'h'));
  const StandardInputFrom redirected(pipe.get());
  const auto input = open_standard_input(is_always_enough);
  const Error error = error_of([&] { read_range(*input->bytes(), 0, 1ULL << 40); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(contains(error.message(), "ends at byte 1000"));
}

TEST_CASE("standard input has no files beside it") {
  const Pipe pipe("x");
  const StandardInputFrom redirected(pipe.get());
  const auto input = open_standard_input(is_never_enough);
  CHECK(input->siblings().empty());
  CHECK(error_of([&] { input->open_sibling("a"); }).kind() == ErrorKind::usage);
}
