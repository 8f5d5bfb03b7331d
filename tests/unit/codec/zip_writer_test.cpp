#include "ckpt/codec/zip_writer.hpp"

#include <catch2/catch.hpp>

#include "ckpt/kernels/emit.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::uint64_t little(std::span<const std::byte> bytes, std::size_t at, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = size; i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(bytes[at + i]);
  return value;
}

/// A record of the central directory, its fields named as in APPNOTE.TXT 4.3.12.
struct Entry {
  std::string name;
  std::uint64_t crc, compressed, uncompressed, offset, extra;
};

std::vector<Entry> directory_at(std::span<const std::byte> file, std::size_t at, std::size_t count) {
  std::vector<Entry> entries;
  for (; count > 0; --count) {
    REQUIRE(little(file, at, 4) == 0x02014B50);
    const std::size_t name = little(file, at + 28, 2);
    const std::size_t extra = little(file, at + 30, 2);
    entries.push_back({std::string(as_text(file.subspan(at + 46, name))), little(file, at + 16, 4),
                       little(file, at + 20, 4), little(file, at + 24, 4), little(file, at + 42, 4), extra});
    at += 46 + name + extra;
  }
  return entries;
}

}  // namespace

TEST_CASE("members lie at multiples of 64 and the directory tells their place, size and checksum") {
  ZipWriter writer;
  const auto note = as_bytes("123456789");
  writer.add("model/note", note);
  writer.add_tensor("model/data/0", 0, 5);
  writer.add_tensor("model/data/1", 1, 0);
  writer.add("model/version", as_bytes("3\n"));
  const Plan plan = std::move(writer).finish();
  const Checkpoint checkpoint =
      checkpoint_of({plain("t", DType::u8, {5}, std::vector<std::uint8_t>{'h', 'e', 'l', 'l', 'o'}),
                     plain("e", DType::u8, {0}, std::vector<std::uint8_t>{})});
  MemorySink sink;
  emit(plan, checkpoint, sink);
  const std::span<const std::byte> file = sink.bytes();
  REQUIRE(file.size() == plan.size);

  const std::size_t end = file.size() - 22;
  REQUIRE(little(file, end, 4) == 0x06054B50);
  CHECK(little(file, end + 8, 2) == 4);
  CHECK(little(file, end + 10, 2) == 4);
  const std::size_t start = little(file, end + 16, 4);
  CHECK(start + little(file, end + 12, 4) == end);
  const std::vector<Entry> entries = directory_at(file, start, 4);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"model/note", "123456789"}, {"model/data/0", "hello"}, {"model/data/1", ""}, {"model/version", "3\n"}};
  for (std::size_t i = 0; i < 4; ++i) {
    const Entry& entry = entries[i];
    const auto& [name, content] = expected[i];
    CHECK(entry.name == name);
    CHECK(entry.uncompressed == content.size());
    CHECK(entry.compressed == content.size());
    REQUIRE(little(file, entry.offset, 4) == 0x04034B50);
    CHECK(little(file, entry.offset + 8, 2) == 0);  // stored
    const std::size_t data =
        entry.offset + 30 + little(file, entry.offset + 26, 2) + little(file, entry.offset + 28, 2);
    CHECK(data % 64 == 0);
    CHECK(as_text(file.subspan(data, content.size())) == content);
  }
  CHECK(entries[0].crc == 0xCBF43926);
  CHECK(entries[1].crc == 0x3610A686);  // zlib.crc32(b"hello")
  CHECK(entries[2].crc == 0);
  // The descriptor of the tensor: its signature, checksum and sizes directly behind the data.
  const std::size_t behind = entries[1].offset + 30 + little(file, entries[1].offset + 26, 2) +
                             little(file, entries[1].offset + 28, 2) + 5;
  CHECK(little(file, behind, 4) == 0x08074B50);
  CHECK(little(file, behind + 4, 4) == 0x3610A686);
  CHECK(little(file, behind + 8, 4) == 5);
}

TEST_CASE("the same members give the same bytes") {
  const auto write = [] {
    ZipWriter writer;
    writer.add("a", as_bytes("content"));
    const Plan plan = std::move(writer).finish();
    MemorySink sink;
    emit(plan, {}, sink);
    return sink.bytes();
  };
  CHECK(write() == write());
}

TEST_CASE("sizes, offsets and counts beyond 32 and 16 bits get ZIP64 records") {
  // Planned only: the tensors are never pulled.
  ZipWriter writer;
  writer.add_tensor("large", 0, 5ULL << 30);
  writer.add("far", as_bytes("x"));
  const Plan plan = std::move(writer).finish();
  const auto& directory = std::get<Plan::AfterData>(plan.segments.back());
  const std::vector<std::byte> bytes = directory.make(std::vector<std::uint32_t>{7});
  CHECK(bytes.size() == directory.size);
  const std::vector<Entry> entries = directory_at(bytes, 0, 2);
  CHECK(entries[0].uncompressed == 0xFFFFFFFF);
  CHECK(entries[0].crc == 7);
  CHECK(entries[0].extra == 20);  // both sizes
  CHECK(little(bytes, 46 + 5 + 4, 8) == 5ULL << 30);
  CHECK(entries[1].offset == 0xFFFFFFFF);
  CHECK(entries[1].extra == 12);  // the offset only
  const std::size_t end64 = bytes.size() - 22 - 20 - 56;
  CHECK(little(bytes, end64, 4) == 0x06064B50);
  CHECK(little(bytes, end64 + 32, 8) == 2);
  CHECK(little(bytes, end64 + 48, 8) == plan.size - bytes.size());
  CHECK(little(bytes, end64 + 56, 4) == 0x07064B50);
  CHECK(little(bytes, end64 + 56 + 8, 8) == plan.size - bytes.size() + end64);

  ZipWriter many;
  for (int i = 0; i < 0xFFFF; ++i) many.add(std::to_string(i), {});
  const Plan plan_of_many = std::move(many).finish();
  const std::vector<std::byte> end = std::get<Plan::AfterData>(plan_of_many.segments.back()).make({});
  CHECK(little(end, end.size() - 22 + 10, 2) == 0xFFFF);
  CHECK(little(end, end.size() - 22 - 20 - 56 + 32, 8) == 0xFFFF);
}
