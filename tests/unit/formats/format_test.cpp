#include "ckpt/formats/format.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/hex.hpp"

using namespace ckpt;
using Catch::Contains;
using test::error_of;

TEST_CASE("formats are found by name, and by extension in any case") {
  REQUIRE(find_format("safetensors"));
  CHECK(find_format("safetensors")->plan != nullptr);
  CHECK_FALSE(find_format("gguf"));
  CHECK(format_for_extension("a/b.safetensors") == find_format("safetensors"));
  CHECK(format_for_extension("MODEL.BPK") == find_format("burnpack"));
  CHECK_FALSE(format_for_extension("model"));
  CHECK_FALSE(format_for_extension(".bpk"));
}

TEST_CASE("what a format has a place for is what its definition names") {
  const Format& burnpack = *find_format("burnpack");
  const Format& safetensors = *find_format("safetensors");
  const Format& pytorch = *find_format("pytorch");
  CHECK((burnpack.has_metadata && burnpack.has_scalars && burnpack.has_param_ids));
  CHECK((safetensors.has_metadata && !safetensors.has_scalars && !safetensors.has_param_ids));
  CHECK((!pytorch.has_metadata && !pytorch.has_scalars && !pytorch.has_param_ids && pytorch.has_ties));
  CHECK((!burnpack.has_ties && !safetensors.has_ties));
  CHECK((burnpack.is_header_first && safetensors.is_header_first && !pytorch.is_header_first));
}

TEST_CASE("a file is read by its content, and a name that lies is noted") {
  const Checkpoint checkpoint = test::read(test::load("burnpack/net.bpk"), "net.safetensors");
  CHECK(checkpoint.format == "burnpack");
  CHECK(checkpoint.file == "net.safetensors");
  CHECK(checkpoint.size == 792);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("burnpack") && Contains("safetensors"));
  CHECK(test::read(test::load("burnpack/net.bpk"), "net").notes.empty());
}

TEST_CASE("an error names the file") {
  const Error error = error_of([] { test::read(test::from_hex("\"NRUB\""), "net.bpk"); });
  CHECK(error.file() == "net.bpk");
}

TEST_CASE("a file of no known format is refused with its first bytes") {
  const Error error = error_of([] { test::read(test::from_hex("DEADBEEF 00010203 04"), "x"); });
  CHECK(error.kind() == ErrorKind::unsupported);
  CHECK_THAT(error.message(), Contains("de ad be ef 00 01 02 03"));
}

TEST_CASE("bytes that only begin as JSON does are not taken for text") {
  const Error error = error_of([] { test::read("{\"a\":\x01\x02\x03 and what follows", "x"); });
  CHECK_THAT(error.message(), Contains("format") && !Contains("JSON"));
}

TEST_CASE("a file too broken to be recognised is told by the format that its name calls for") {
  CHECK_THAT(error_of([] { test::read(test::from_hex("0000"), "x.safetensors"); }).message(),
             Contains("safetensors"));
  CHECK_THAT(error_of([] { test::read(test::from_hex("0000"), "x.bpk"); }).message(), Contains("burnpack"));
}

TEST_CASE("what is not weights is told in one sentence") {
  const auto told = [](std::string_view bytes) {
    const Error error = error_of([&] { test::read(bytes, "model.pt"); });
    CHECK(error.kind() == ErrorKind::unsupported);
    return error;
  };
  const Error pointer = told(
      "version https://git-lfs.github.com/spec/v1\noid "
      "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
      "size 438007537\n");
  CHECK_THAT(pointer.message(), Contains("Git LFS pointer to a file of 438007537 bytes"));
  CHECK(pointer.hint() == "git lfs pull");
  CHECK_THAT(told("").message(), Contains("empty"));
  CHECK_THAT(told("\n <!DOCTYPE html><html>").message(), Contains("HTML"));
  CHECK_THAT(told("<?xml version=\"1.0\"?><Error>").message(), Contains("XML"));
  CHECK_THAT(told("{\"error\": \"not found\"}").message(), Contains("JSON"));
  CHECK_THAT(told("GGUF\x03").message(), Contains("GGUF"));
  CHECK_THAT(told("\x89HDF\r\n\x1a\n").message(), Contains("HDF5"));
  CHECK_THAT(told("\x93NUMPY\x01").message(), Contains("NumPy"));
  CHECK_THAT(told("\x28\xb5\x2f\xfd rest").message(), Contains("Zstandard"));
  CHECK_THAT(told("\x1f\x8b\x08 rest").message(), Contains("gzip"));
  CHECK_THAT(told("Entry not found in this repository").message(), Contains("plain text: Entry not found"));
  for (const char* body :
       {"Entry not found", "404: Not Found", "Not Found", "Access denied", "Forbidden", "Bad Gateway"})
    CHECK_THAT(told(body).message(), Contains(std::string("plain text: ") + body));
}
