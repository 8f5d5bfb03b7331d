#include "ckpt/kernels/checksum.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::string sha256(std::string_view text) {
  Sha256 sha;
  sha.update(as_bytes(text));
  return hex(sha.finish());
}

}  // namespace

TEST_CASE("SHA-256 gives the digests of FIPS 180-4") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a digest object takes a stream in parts, and another one after it") {
  Sha256 sha;
  sha.update(as_bytes("a"));
  sha.update({});
  sha.update(as_bytes("bc"));
  CHECK(hex(sha.finish()) == sha256("abc"));
  CHECK(hex(sha.finish()) == sha256(""));
}

TEST_CASE("hexadecimal digits keep leading zeros") {
  CHECK(hex(as_bytes(std::string_view("\x00\x0f\xf0", 3))) == "000ff0");
}

TEST_CASE("a stretch whose bytes do not give the stated checksum is refused with both") {
  Checkpoint checkpoint;
  checkpoint.file = "model.pt";
  checkpoint.integrity = {{"data/0", memory_bytes("123456789"), 0xCBF43926},
                          {"data/\x1b", memory_bytes("123456780"), 0xCBF43926}};
  CHECK_NOTHROW(verify_integrity(checkpoint, [](const Integrity& check) { return check.what == "data/0"; }));
  const Error error = error_of([&] { verify_integrity(checkpoint, [](const Integrity&) { return true; }); });
  CHECK(error.kind() == ErrorKind::corrupt);
  CHECK(error.file() == "model.pt");
  CHECK(contains(error.message(), "data/\\x1b"));
  CHECK(contains(error.message(), "cbf43926"));
}
