#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>

#include "ckpt/formats/salvage.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/emit.hpp"
#include "ckpt/report/compare.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

// Every read and every write fails in turn, of every file of testdata/ and into every format: the error comes
// out as it is. A reader that took it for damage, or for another format, would pass on less than the file
// holds.

namespace {

/// Bytes of which one reading fails: that number `failing`, counted over all threads from 1; 0: none.
class FailingBytes final : public ByteSource {
 public:
  explicit FailingBytes(std::vector<std::byte> bytes) : bytes_(memory_bytes(std::move(bytes))) {}
  std::uint64_t size() const noexcept override { return bytes_->size(); }
  void fail_at(int number) {
    failing_ = number;
    reads_ = 0;
  }
  int reads() const { return reads_; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (++reads_ == failing_) fail(ErrorKind::io, "this read fails");
    bytes_->read_at(offset, out);
  }
  Bytes bytes_;
  int failing_ = 0;
  mutable std::atomic<int> reads_ = 0;
};

/// A sink of which one call fails, as `FailingBytes` does.
class FailingSink final : public Sink {
 public:
  explicit FailingSink(int number = 0) : failing_(number) {}
  void write(std::span<const std::byte> bytes) override {
    count();
    sink_.write(bytes);
  }
  bool move(const ByteSource&, std::uint64_t, std::uint64_t) override {
    count();
    return false;
  }
  int calls() const { return calls_; }
  const std::vector<std::byte>& bytes() const { return sink_.bytes(); }

 private:
  void count() {
    if (++calls_ == failing_) fail(ErrorKind::io, "this write fails");
  }
  int failing_;
  int calls_ = 0;
  MemorySink sink_;
};

std::vector<std::string> files() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CKPT_TESTDATA))
    if (const std::string path = entry.path().string();
        entry.is_regular_file() && (format_for_extension(path) || contains(path, "burn-record")) &&
        entry.file_size() < 20'000)
      all.push_back(path.substr(std::string_view(CKPT_TESTDATA).size() + 1));
  std::ranges::sort(all);
  REQUIRE(all.size() > 50);
  return all;
}

/// What `act` says with each reading of `bytes` failing in turn, after a run without. At most some hundred.
template <typename Act> void every_read_fails(const std::string& what, FailingBytes& bytes, const Act& act) {
  bytes.fail_at(0);
  try {
    act();
  } catch (const Error&) {
    return;  // it is refused for what it is
  }
  const int reads = bytes.reads();
  const int step = std::max(1, reads / 200);
  for (int number = 1; number <= reads; number += step) {
    bytes.fail_at(number);
    try {
      act();
      FAIL(what << ": read " << number << " of " << reads << " fails, and nothing is said");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io || !contains(error.message(), "this read fails") ||
          error.file().empty())
        FAIL(what << ": read " << number << " of " << reads << " fails: " << error.message());
    }
  }
}

Checkpoint writable(const std::string& name, const Format& format) {
  Checkpoint checkpoint = test::read(test::load(name), name);
  std::erase_if(checkpoint.tensors, [&](const Tensor& tensor) { return !format.holds(tensor.dtype); });
  return checkpoint;
}

}  // namespace

TEST_CASE("every read of a file fails in turn, and no reader takes that for something else") {
  for (const std::string& name : files()) {
    const auto bytes = std::make_shared<FailingBytes>(test::load(name));
    const MemoryInput input(name, bytes);
    every_read_fails("reading " + name, *bytes, [&] { static_cast<void>(read_checkpoint(input)); });
    every_read_fails("salvaging " + name, *bytes, [&] { static_cast<void>(salvage(input)); });
  }
}

TEST_CASE("every read of a file that is cut fails in turn, and salvaging does not take that for damage") {
  for (const std::string& name : files()) {
    const std::vector<std::byte> whole = test::load(name);
    const std::size_t rest = whole.size() - whole.size() / 8;
    const auto bytes = std::make_shared<FailingBytes>(
        std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(rest)));
    every_read_fails("salvaging " + name + ", cut", *bytes,
                     [&] { static_cast<void>(salvage(MemoryInput(name, bytes))); });
  }
}

TEST_CASE("every read fails in turn while data is written, checked and compared") {
  for (const std::string& name : files()) {
    const auto bytes = std::make_shared<FailingBytes>(test::load(name));
    const MemoryInput input(name, bytes);
    const auto convert = [&](const Format& format) {
      Checkpoint checkpoint = read_checkpoint(input);
      try {
        std::erase_if(checkpoint.tensors, [&](const Tensor& tensor) { return !format.holds(tensor.dtype); });
        MemorySink sink;
        emit(format.plan(checkpoint), checkpoint, sink);
        verify_integrity(checkpoint, [](const Integrity&) { return true; });
      } catch (Error& error) {
        throw error.in_file(name);
      }
    };
    for (const Format& format : format_table())
      if (format.plan != nullptr)
        every_read_fails(fmt::format("{} to {}", name, format.name), *bytes, [&] { convert(format); });
    every_read_fails("comparing " + name, *bytes, [&] {
      const Checkpoint checkpoint = read_checkpoint(input);
      try {
        static_cast<void>(compare(checkpoint, checkpoint, {}));
      } catch (Error& error) {
        throw error.in_file(name);
      }
    });
  }
}

TEST_CASE("every write fails in turn, and that is the error") {
  for (const std::string& name : files()) {
    for (const Format& format : format_table()) {
      if (format.plan == nullptr) continue;
      std::optional<Plan> plan;
      const Checkpoint checkpoint = writable(name, format);
      try {
        plan = format.plan(checkpoint);
      } catch (const Error&) {
        continue;  // what this format cannot hold
      }
      FailingSink whole;
      emit(*plan, checkpoint, whole);
      CHECK(whole.bytes().size() == plan->size);
      const int step = std::max(1, whole.calls() / 200);
      for (int number = 1; number <= whole.calls(); number += step) {
        FailingSink sink(number);
        const Error error = error_of([&] { emit(*plan, checkpoint, sink); });
        if (error.kind() != ErrorKind::io || !contains(error.message(), "this write fails"))
          FAIL(name << " to " << format.name << ", write " << number << ": " << error.message());
        if (!std::equal(sink.bytes().begin(), sink.bytes().end(), whole.bytes().begin()))
          FAIL(name << " to " << format.name << ": what was written before write " << number
                    << " is not the same");
      }
    }
  }
}
