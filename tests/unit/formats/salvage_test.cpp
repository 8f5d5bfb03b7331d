#include "ckpt/formats/salvage.hpp"

#include <catch2/catch.hpp>

#include "support/archives.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using Catch::Contains;

namespace {

Salvaged salvaged(std::vector<std::byte> bytes, const std::string& name) {
  return salvage(MemoryInput(name, memory_bytes(std::move(bytes))));
}

std::vector<std::byte> cut(const std::string& name, std::size_t size) {
  std::vector<std::byte> bytes = test::load(name);
  bytes.resize(size);
  return bytes;
}

bool can_be_gathered(const Tensor& tensor) { return element_size(tensor.dtype) != 0; }

/// Cuts a file everywhere: what is given must be what the whole file holds, and more bytes never give less.
void check_every_cut(const std::string& name) {
  const std::vector<std::byte> whole = test::load(name);
  const Checkpoint all = test::read(whole, name);
  std::size_t most = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Salvaged found;
    try {
      found = salvaged({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, name);
    } catch (const Error&) {
      if (most != 0) FAIL(name << " gives nothing when cut to " << size << " bytes, and less gave some");
      continue;
    }
    const std::vector<Tensor>& tensors = found.checkpoint.tensors;
    if (tensors.size() + found.lost.size() != all.tensors.size() || tensors.size() < most)
      FAIL(name << " cut to " << size << " bytes: " << tensors.size() << " whole, " << found.lost.size()
                << " lost");
    most = tensors.size();
    for (const Tensor& tensor : tensors) {
      const auto same = std::ranges::find(all.tensors, tensor.name, &Tensor::name);
      if (same == all.tensors.end() || tensor.shape != same->shape || tensor.dtype != same->dtype ||
          (can_be_gathered(tensor) && test::gathered(tensor, 4096) != test::gathered(*same, 4096)))
        FAIL(name << " cut to " << size << " bytes: " << tensor.name << " is not what it was");
    }
  }
  CHECK(most == all.tensors.size());
}

}  // namespace

TEST_CASE("a file that was cut anywhere gives what is whole of it, as it was") {
  for (const char* name : {"safetensors/linear.safetensors", "safetensors/all_dtypes.safetensors",
                           "burnpack/net.bpk", "burnpack/combined.bpk", "burnpack/v019_net3.bpk",
                           "pytorch/net.pt", "pytorch/legacy.pt", "pytorch/tied.pt"})
    check_every_cut(name);
}

TEST_CASE("what is lost is told with where it should lie") {
  const Salvaged found = salvaged(cut("safetensors/linear.safetensors", 340), "cut.safetensors");
  CHECK(found.checkpoint.format == "safetensors");
  CHECK(found.checkpoint.file == "cut.safetensors");
  REQUIRE(found.lost.size() == 1);
  CHECK_THAT(found.lost.front().why, Contains("go beyond the end of the file at byte 340"));
}

TEST_CASE("trailing bytes lose nothing, and are told") {
  std::vector<std::byte> bytes = test::load("safetensors/linear.safetensors");
  bytes.resize(bytes.size() + 5);
  const Salvaged found = salvaged(std::move(bytes), "long.safetensors");
  CHECK(found.lost.empty());
  CHECK_THAT(found.checkpoint.hidden.at(0), Contains("5 bytes follow the last tensor"));
}

TEST_CASE("a few bytes that are repeated until they are terabytes are left out") {
  const std::string pickle = support::PickleWriter()
                                 .raw("}(")
                                 .text("huge")
                                 .tensor("FloatStorage", "0", 1, 0, {1LL << 40}, {0})
                                 .text("plain")
                                 .vector("0", 1)
                                 .raw("u")
                                 .done();
  const std::string archive =
      support::zip({{"a/data.pkl", pickle}, {"a/data/0", support::le(0, 4)}, {"a/version", "3"}});
  const auto bytes = as_bytes(archive);
  const Salvaged found = salvaged({bytes.begin(), bytes.end()}, "huge.pt");
  REQUIRE(found.checkpoint.tensors.size() == 1);
  CHECK(found.checkpoint.tensors.front().name == "plain");
  REQUIRE(found.lost.size() == 1);
  CHECK(found.lost.front().name == "huge");
  CHECK(found.lost.front().why == "it repeats 4 B of data until it is 4.00 TiB, which is not written");
}

TEST_CASE("a storage whose checksum is wrong is lost, with every tensor in it") {
  std::vector<std::byte> bytes = test::load("pytorch/tied.pt");
  const Checkpoint whole = test::read(bytes, "tied.pt");
  // The two tied tensors are one storage, which the archive stores as it is.
  const std::vector<std::byte> data = test::gathered(whole.tensors.front());
  const auto place = std::ranges::search(bytes, data);
  REQUIRE(!place.empty());
  *place.begin() ^= std::byte{1};
  const Salvaged found = salvaged(std::move(bytes), "tied.pt");
  REQUIRE(found.lost.size() >= 2);
  CHECK(found.lost.size() + found.checkpoint.tensors.size() == whole.tensors.size());
  for (const Lost& lost : found.lost) CHECK_THAT(lost.why, Contains("CRC-32"));
}

TEST_CASE("an archive that is cut says what is left of it and how to get at that") {
  const Error error = test::error_of([] { test::read(cut("pytorch/net.pt", 3000), "net.pt"); });
  CHECK_THAT(error.message(), Contains("the file ends at byte 3000") && Contains("last complete member is") &&
                                  Contains("of 14 storages are intact"));
  CHECK_THAT(error.hint(), Contains("--salvage"));
}

TEST_CASE("a legacy file that is cut says so too") {
  const std::size_t size = test::load("pytorch/legacy.pt").size();
  const Error error = test::error_of([&] { test::read(cut("pytorch/legacy.pt", size - 1), "legacy.pt"); });
  CHECK_THAT(error.message(),
             Contains(fmt::format("ends at byte {}", size - 1)) && Contains("13 of 14 storages are intact"));
  CHECK_THAT(error.hint(), Contains("--salvage"));
}

TEST_CASE("of a legacy file with a hole in its data, or zeros at its end, nothing damaged is given") {
  const std::vector<std::byte> whole = test::load("pytorch/legacy.pt");
  const Checkpoint all = test::read(whole, "legacy.pt");
  const std::size_t first = 2000;  // the data of 14 storages make up the rest
  std::size_t given = 0;
  for (std::size_t at = first; at + 4 < whole.size(); ++at) {
    std::vector<std::byte> hole = whole;
    hole.erase(hole.begin() + static_cast<std::ptrdiff_t>(at),
               hole.begin() + static_cast<std::ptrdiff_t>(at) + 4);
    std::vector<std::byte> zeros = whole;
    std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(at), zeros.end(), std::byte{0});
    for (std::vector<std::byte>* damaged : {&hole, &zeros}) {
      // Zeros in the last storage, or for what were zeros, cannot be told: this format has no checksums.
      if (damaged == &zeros && at + 200 > whole.size()) continue;
      const Salvaged found = salvaged(*damaged, "legacy.pt");
      given += found.checkpoint.tensors.size();
      for (const Tensor& tensor : found.checkpoint.tensors) {
        const auto same = std::ranges::find(all.tensors, tensor.name, &Tensor::name);
        if (same == all.tensors.end() || test::gathered(tensor) != test::gathered(*same))
          FAIL(tensor.name << " is not what it was, with damage at byte " << at);
      }
    }
  }
  CHECK(given > 0);
}

TEST_CASE("where the part that names the tensors is damaged, nothing is guessed") {
  for (const char* name : {"safetensors/linear.safetensors", "burnpack/net.bpk", "pytorch/net.pt"}) {
    const Error error = test::error_of([&] { salvaged(cut(name, 100), name); });
    CHECK(error.kind() == ErrorKind::corrupt);
  }
}

TEST_CASE("what cannot be given back is listed with its reason") {
  // An expanded view: one float that is repeated to four terabytes.
  support::PickleWriter writer;
  writer.raw("}(").text("w").vector("0", 2).text("wide");
  writer.tensor("FloatStorage", "0", 2, 0, {1LL << 40}, {0}).text("nested");
  writer.global("torch._utils", "_rebuild_nested_tensor").raw("(NNNNtRu");
  const std::string file =
      support::zip({{"a/data.pkl", writer.done()}, {"a/data/0", std::string(8, '\1')}, {"a/version", "3\n"}});
  const Salvaged found = salvage(MemoryInput("x.pt", memory_bytes(file)));
  CHECK(test::names_of(found.checkpoint) == std::vector<std::string>{"w"});
  REQUIRE(found.lost.size() == 2);
  CHECK(found.lost[0].name == "nested");
  CHECK(found.lost[0].why == "no plain tensor: nested tensor");
  CHECK(found.lost[1].name == "wide");
  CHECK_THAT(found.lost[1].why,
             Contains("it repeats 8 B of data until it is 4.00 TiB, which is not written"));
}
