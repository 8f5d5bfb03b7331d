#include "ckpt/io/output.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <optional>
#include <thread>

#include "ckpt/io/file.hpp"
#include "support/errors.hpp"
#include "support/folder.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

void write_text(AtomicOutput& output, std::string_view text) { output.write(as_bytes(text)); }

void write_file(const std::string& path, std::string_view text, AtomicOutput::Options options) {
  AtomicOutput output(path, std::move(options));
  write_text(output, text);
  output.commit();
}

/// A filesystem of 1 MiB in memory, where the test may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    is_there_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=1m") == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount(path_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool is_there() const { return is_there_; }

 private:
  std::string path_;
  bool is_there_ = false;
};

mode_t mode_of(const std::string& path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode;
}

}  // namespace

// Every test runs with a file without a name and with a hidden one beside the target.
#define BOTH_WAYS const bool may_be_unnamed = GENERATE(true, false)

TEST_CASE("a committed output is there whole, and nothing else") {
  BOTH_WAYS;
  const Folder folder;
  AtomicOutput output(folder.path("out"), {.may_be_unnamed = may_be_unnamed});
  write_text(output, "one ");
  write_text(output, "");
  write_text(output, "two");
  CHECK_FALSE(std::filesystem::exists(folder.path("out")));
  output.commit();
  CHECK(folder.read("out") == "one two");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("a new output has the mode that the umask leaves") {
  BOTH_WAYS;
  const Folder folder;
  const mode_t before = ::umask(027);
  write_file(folder.path("out"), "x", {.may_be_unnamed = may_be_unnamed});
  ::umask(before);
  CHECK((mode_of(folder.path("out")) & 0777) == 0640);
}

TEST_CASE("an output that is not committed leaves nothing and changes nothing") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("old", "old");
  {
    AtomicOutput fresh(folder.path("new"), {.may_be_unnamed = may_be_unnamed});
    AtomicOutput over(folder.path("old"), {.replace = true, .may_be_unnamed = may_be_unnamed});
    write_text(fresh, "partial");
    write_text(over, "partial");
  }
  CHECK(folder.names() == Names{"old"});
  CHECK(folder.read("old") == "old");
}

TEST_CASE("an existing file is not replaced unless that is allowed") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("out", "old");
  const Error error = error_of([&] { AtomicOutput(folder.path("out"), {.may_be_unnamed = may_be_unnamed}); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(error.file() == folder.path("out"));
  CHECK(contains(error.hint(), "--force"));
  CHECK(folder.read("out") == "old");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("a file that appears meanwhile is not replaced either") {
  BOTH_WAYS;
  const Folder folder;
  {
    AtomicOutput output(folder.path("out"), {.may_be_unnamed = may_be_unnamed});
    write_text(output, "mine");
    folder.write("out", "theirs");
    CHECK(error_of([&] { output.commit(); }).kind() == ErrorKind::io);
  }
  CHECK(folder.read("out") == "theirs");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("a replaced file keeps its mode") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("out", "a longer old text");
  REQUIRE(::chmod(folder.path("out").c_str(), 0604) == 0);
  write_file(folder.path("out"), "new", {.replace = true, .may_be_unnamed = may_be_unnamed});
  CHECK(folder.read("out") == "new");
  CHECK((mode_of(folder.path("out")) & 07777) == 0604);
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("a reader that has the old file open keeps it") {
  const Folder folder;
  folder.write("out", "old");
  const Bytes old = open_file(folder.path("out"));
  write_file(folder.path("out"), "new and longer", {.replace = true});
  CHECK(as_text(read_range(*old, 0, old->size())) == "old");
}

TEST_CASE("what a symbolic link points to is replaced, the link stays") {
  BOTH_WAYS;
  const Folder folder;
  std::filesystem::create_directory(folder.path("inner"));
  folder.write("inner/target", "old");
  std::filesystem::create_symlink("inner/target", folder.path("link"));
  write_file(folder.path("link"), "new", {.replace = true, .may_be_unnamed = may_be_unnamed});
  CHECK(S_ISLNK(mode_of(folder.path("link"))));
  CHECK(folder.read("inner/target") == "new");
  CHECK(folder.names() == Names{"inner", "link"});
}

TEST_CASE("the file that a dangling link names is made, the link stays") {
  BOTH_WAYS;
  const bool is_absolute = GENERATE(true, false);
  const bool is_replacing = GENERATE(true, false);
  const Folder folder;
  std::filesystem::create_directory(folder.path("inner"));
  std::filesystem::create_symlink(is_absolute ? folder.path("inner/target") : "inner/target",
                                  folder.path("link"));
  write_file(folder.path("link"), "new", {.replace = is_replacing, .may_be_unnamed = may_be_unnamed});
  CHECK(S_ISLNK(mode_of(folder.path("link"))));
  CHECK(folder.read("inner/target") == "new");
}

TEST_CASE("links that lead to a dangling link are followed to its end") {
  BOTH_WAYS;
  const bool is_replacing = GENERATE(true, false);
  const Folder folder;
  std::filesystem::create_directory(folder.path("inner"));
  std::filesystem::create_symlink("inner/second", folder.path("first"));
  std::filesystem::create_symlink("target", folder.path("inner/second"));
  write_file(folder.path("first"), "new", {.replace = is_replacing, .may_be_unnamed = may_be_unnamed});
  CHECK(S_ISLNK(mode_of(folder.path("first"))));
  CHECK(S_ISLNK(mode_of(folder.path("inner/second"))));
  CHECK(folder.read("inner/target") == "new");
}

TEST_CASE("a removed file behind a link of the system is written where it stands, the link stays") {
  const bool is_replacing = GENERATE(true, false);
  const Folder folder;
  const Descriptor removed(::open(folder.path("").c_str(), O_TMPFILE | O_RDWR, 0600));
  REQUIRE(removed);
  REQUIRE(::write(removed.get(), "old ", 4) == 4);
  std::filesystem::create_symlink(fmt::format("/proc/self/fd/{}", removed.get()), folder.path("link"));
  write_file(folder.path("link"), "new", {.replace = is_replacing});
  CHECK(S_ISLNK(mode_of(folder.path("link"))));
  CHECK(folder.names() == Names{"link"});
  char text[8] = {};
  CHECK(::pread(removed.get(), text, sizeof text, 0) == 7);
  CHECK(std::string_view(text) == "old new");
}

TEST_CASE("what this process has opened itself is no output, though /proc names it") {
  const Folder folder;
  folder.write("input", "input");
  const Descriptor own(::open(folder.path("input").c_str(), O_RDONLY | O_CLOEXEC));
  const std::string place = fmt::format("/proc/self/fd/{}", own.get());
  std::filesystem::create_symlink(place, folder.path("link"));
  for (const std::string& path : {place, fmt::format("/dev/fd/{}", own.get()), folder.path("link")}) {
    const Error error = error_of([&] { write_file(path, "new", {.replace = true}); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(error.message() == fmt::format("cannot be written: no descriptor {} was handed over", own.get()));
  }
  CHECK(folder.read("input") == "input");
  CHECK(folder.names() == Names{"input", "link"});
}

TEST_CASE("what was handed over is written where it stands") {
  const Folder folder;
  folder.write("given", "old and more");
  const Descriptor given(::open(folder.path("given").c_str(), O_RDWR));
  REQUIRE(::lseek(given.get(), 4, SEEK_SET) == 4);
  const std::string path = fmt::format("/dev/fd/{}", given.get());
  CHECK(is_written_in_place(path));
  CHECK_FALSE(is_written_in_place(folder.path("given")));
  write_file(path, "new", {});
  CHECK(folder.read("given") == "old new more");
  CHECK(::lseek(given.get(), 0, SEEK_CUR) == 7);
  const Descriptor read_only(::open(folder.path("given").c_str(), O_RDONLY));
  CHECK(error_of([&] { write_file(fmt::format("/dev/fd/{}", read_only.get()), "new", {}); }).message() ==
        fmt::format("cannot be written: descriptor {} is open for reading only", read_only.get()));
}

TEST_CASE("links in a circle end in an error") {
  const Folder folder;
  std::filesystem::create_symlink("b", folder.path("a"));
  std::filesystem::create_symlink("a", folder.path("b"));
  CHECK(error_of([&] { write_file(folder.path("a"), "x", {}); }).kind() == ErrorKind::io);
  CHECK(error_of([&] { write_file(folder.path("a"), "x", {.replace = true}); }).kind() == ErrorKind::io);
  CHECK(folder.names() == Names{"a", "b"});
  CHECK(S_ISLNK(mode_of(folder.path("a"))));
}

TEST_CASE("a folder that is missing, or is none, is named") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("file", "x");
  for (const std::string name : {"none/out", "file/out"}) {
    const Error error = error_of(
        [&] { AtomicOutput(folder.path(name), {.replace = true, .may_be_unnamed = may_be_unnamed}); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(contains(error.message(), "the folder " + folder.path(name.substr(0, 4))));
  }
  CHECK(folder.names() == Names{"file"});
}

TEST_CASE("a directory is no output") {
  const Folder folder;
  for (const bool replace : {false, true}) {
    const Error error = error_of([&] { AtomicOutput(folder.path(), {.replace = replace}); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(contains(error.message(), "directory"));
  }
  CHECK(std::filesystem::is_directory(folder.path()));
}

TEST_CASE("a folder without permission to write is an error") {
  BOTH_WAYS;
  const Folder folder;
  const uid_t user = ::geteuid();
  // Root may write everywhere: it becomes somebody else for a moment.
  const uid_t other = user == 0 ? 65534 : user;
  REQUIRE(::chown(folder.path().c_str(), other, static_cast<gid_t>(-1)) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0500) == 0);
  REQUIRE(::seteuid(other) == 0);
  std::optional<Error> error;
  try {
    AtomicOutput(folder.path("out"), {.may_be_unnamed = may_be_unnamed});
  } catch (const Error& thrown) {
    error = thrown;
  }
  REQUIRE(::seteuid(user) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::io);
  CHECK(contains(error->message(), "Permission denied"));
}

TEST_CASE("a device takes what is written, and stays") {
  AtomicOutput output("/dev/null", {});
  write_text(output, "nothing");
  output.commit();
  CHECK(S_ISCHR(mode_of("/dev/null")));
  AtomicOutput full("/dev/full", {});
  const Error error = error_of([&] { write_text(full, "nothing"); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(error.file() == "/dev/full");
}

TEST_CASE("a pipe with a name is written as it comes") {
  const Folder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::string read;
  std::thread reader([&] { read = folder.read("pipe"); });
  write_file(path, "through the pipe", {});
  reader.join();
  CHECK(read == "through the pipe");
  CHECK(S_ISFIFO(mode_of(path)));
  CHECK(folder.names() == Names{"pipe"});
}

TEST_CASE("cancelling ends the output at the next step, and the old file is intact") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("out", "old");
  bool is_cancelled = false;
  {
    AtomicOutput output(
        folder.path("out"),
        {.replace = true, .may_be_unnamed = may_be_unnamed, .is_cancelled = [&] { return is_cancelled; }});
    write_text(output, "partial");
    is_cancelled = true;
    const Bytes source = open_file(folder.path("out"));
    CHECK(error_of([&] { write_text(output, "more"); }).kind() == ErrorKind::io);
    CHECK(error_of([&] { output.move(*source, 0, 3); }).kind() == ErrorKind::io);
    const Error error = error_of([&] { output.commit(); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(contains(error.message(), "interrupted"));
  }
  CHECK(folder.read("out") == "old");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("ranges of files are moved, also of windows of windows") {
  BOTH_WAYS;
  const Folder folder;
  Random random(3);
  const std::vector<std::byte> content = random.bytes(300'000);
  folder.write("in", as_text(content));
  const Bytes inner = slice(slice(open_file(folder.path("in")), 1000, 200'000), 77, 150'000);
  AtomicOutput output(folder.path("out"), {.may_be_unnamed = may_be_unnamed});
  write_text(output, "begin");
  CHECK(output.move(*inner, 5, 140'000));
  CHECK(output.move(*inner, 0, 0));
  write_text(output, "end");
  output.commit();
  CHECK(folder.read("out") == "begin" + std::string(as_text(content).substr(1082, 140'000)) + "end");
}

TEST_CASE("bytes are placed ahead of what was appended, and appended once the gap is full") {
  BOTH_WAYS;
  const Folder folder;
  folder.write("in", "[moved]");
  AtomicOutput output(folder.path("out"), {.may_be_unnamed = may_be_unnamed});
  REQUIRE(output.can_place());
  write_text(output, "one ");
  output.place(4, as_bytes("rees"));
  output.place(0, as_bytes("two "));
  output.place(7, as_bytes("! "));
  output.append_placed(9);
  CHECK(output.move(*open_file(folder.path("in")), 0, 7));
  output.place(0, as_bytes("end"));
  output.append_placed(3);
  output.commit();
  CHECK(folder.read("out") == "one two ree! [moved]end");
  CHECK_FALSE(AtomicOutput("/dev/null", {}).can_place());
}

TEST_CASE("bytes in memory are declined, and nothing is written then") {
  const Folder folder;
  AtomicOutput output(folder.path("out"), {});
  CHECK_FALSE(output.move(*memory_bytes("text"), 0, 4));
  output.commit();
  CHECK(folder.read("out").empty());
}

TEST_CASE("a range of a file that has been cut meanwhile is told when it is read") {
  const Folder folder;
  folder.write("in", std::string(10'000, 'x'));
  const Bytes source = open_file(folder.path("in"));
  REQUIRE(::truncate(folder.path("in").c_str(), 6000) == 0);
  {
    AtomicOutput output(folder.path("out"), {});
    const Error error = error_of([&] {
      if (!output.move(*source, 0, 10'000)) read_range(*source, 0, 10'000);
    });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(contains(error.message(), "it has been cut meanwhile"));
  }
  CHECK(folder.names() == Names{"in"});
}

TEST_CASE("a file that somebody has written to is told when the kernel has moved it, too") {
  const Folder folder;
  folder.write("in", "0123456789");
  const Bytes source = open_file(folder.path("in"));
  std::filesystem::last_write_time(folder.path("in"), {});
  AtomicOutput output(folder.path("out"), {});
  const Error error = error_of([&] { output.move(*source, 0, 10); });
  CHECK(error.kind() == ErrorKind::io);
  CHECK(error.file() == folder.path("in"));
}

TEST_CASE("two outputs at once are two files, and of one target only the first is committed") {
  BOTH_WAYS;
  const Folder folder;
  {
    AtomicOutput first(folder.path("a"), {.may_be_unnamed = may_be_unnamed});
    AtomicOutput second(folder.path("b"), {.may_be_unnamed = may_be_unnamed});
    AtomicOutput third(folder.path("a"), {.may_be_unnamed = may_be_unnamed});
    write_text(first, "first");
    write_text(second, "second");
    write_text(third, "third");
    second.commit();
    first.commit();
    CHECK(error_of([&] { third.commit(); }).kind() == ErrorKind::io);
  }
  CHECK(folder.read("a") == "first");
  CHECK(folder.read("b") == "second");
  CHECK(folder.names() == Names{"a", "b"});
}

TEST_CASE("of two outputs that may replace one target the last to be committed stays") {
  BOTH_WAYS;
  const Folder folder;
  AtomicOutput first(folder.path("a"), {.replace = true, .may_be_unnamed = may_be_unnamed});
  AtomicOutput second(folder.path("a"), {.replace = true, .may_be_unnamed = may_be_unnamed});
  write_text(first, "first");
  write_text(second, "second");
  second.commit();
  first.commit();
  CHECK(folder.read("a") == "first");
  CHECK(folder.names() == Names{"a"});
}

TEST_CASE("a full disk ends in an error, the old file is intact and nothing is left behind") {
  BOTH_WAYS;
  const Folder folder;
  std::filesystem::create_directory(folder.path("disk"));
  const SmallDisk disk(folder.path("disk"));
  if (!disk.is_there()) {
    WARN("skipped: no filesystem can be mounted here");
    return;
  }
  folder.write("disk/out", "old");
  folder.write("large", std::string(3U << 20, 'x'));
  {
    AtomicOutput output(folder.path("disk/out"), {.replace = true, .may_be_unnamed = may_be_unnamed});
    const Error error = error_of([&] { write_text(output, std::string(2U << 20, 'x')); });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(error.file() == folder.path("disk/out"));
    CHECK(contains(error.message(), "No space left"));
  }
  {
    AtomicOutput output(folder.path("disk/out"), {.replace = true, .may_be_unnamed = may_be_unnamed});
    const Bytes source = open_file(folder.path("large"));
    const Error error = error_of([&] {
      if (!output.move(*source, 0, source->size())) output.write(read_range(*source, 0, source->size()));
    });
    CHECK(error.kind() == ErrorKind::io);
    CHECK(error.file() == folder.path("disk/out"));
  }
  CHECK(folder.read("disk/out") == "old");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path("disk")), {}) == 1);
}
