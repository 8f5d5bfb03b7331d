#include "ckpt/kernels/blake3.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ckpt/kernels/checksum.hpp"

using namespace ckpt;

namespace {

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

}  // namespace

// Expected values: b3sum 1.2.0.
TEST_CASE("BLAKE3 of streams that end everywhere in the tree") {
  struct Case {
    std::size_t size;
    const char* digest;
  };
  const std::vector<Case> cases{
      {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
      {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
      {63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"},
      {64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
      {65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
      {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
      {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
      {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
      {2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
      {3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"},
      {16383, "7529418ecb789a30254899f229522ccde05234d2019c5ec5072bc4685a57658d"},
      {16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"},
      {16385, "1dabe216be2578830263b049de1639f39f05a4da616b9b78c7a5e4e41662fd1f"},
      {33792, "2e87991ba4054e53240ccea4ee7eb6f6b24c366c8dfe8e52306026918870c229"},
      {100000, "d93c23eedaf165a7e0be908ba86f1a7a520d568d2d13cde787c8580c5c72cc54"},
      {262143, "4fbb10c248894f1b56ec8298555b96e597147150a061b1cf1af19f16dbc0557b"},
      {262144, "d57dc906e20d3fd326ffaa85535500486f46a0979f5a323f028dcabfd381fd4a"},
      {262145, "531c319935cf78f34869faebd865e5748266b1799039103bfb851a680d9ed30c"},
      {300000, "6cc9dce05d4cff8c5bef5c5a24681e42b13f03e34a0bc5e66f65a91d48c944fa"},
      {786432, "acca1229e537587e75108d1a25c3e28d7ce8036556137dc2973d9289187e58d4"},
      {1000003, "cd5a3272e01b1a2f47bb4565d8d202db0f95704d32550a2da61a0fd363d4c90d"},
  };
  for (const auto& [size, digest] : cases) {
    const std::vector<std::byte> bytes = counting(size);
    for (const unsigned lanes : {4U, 8U, Blake3::most_lanes}) {
      Blake3 hasher(0, lanes);
      for (const std::size_t step : {std::size_t{777}, std::size_t{64 << 10}, std::size_t{600'000}}) {
        for (std::size_t at = 0; at < size; at += step)
          hasher.update(std::span(bytes).subspan(at, std::min(step, size - at)));
        CAPTURE(size, step, lanes);
        CHECK(hex(hasher.finish()) == digest);
      }
    }
  }
}

TEST_CASE("parts of a stream are digested apart and joined") {
  const std::vector<std::byte> bytes = counting(1'000'003);
  Blake3 hasher;
  hasher.update(bytes);
  const Blake3::Digest whole = hasher.finish();
  for (const std::size_t part : {Blake3::span, 2 * Blake3::span}) {
    for (std::size_t at = 0; at < bytes.size(); at += part) {
      Blake3 next(at);
      next.update(std::span(bytes).subspan(at, std::min<std::size_t>(part, bytes.size() - at)));
      if (at + part < bytes.size()) next.end_part();
      hasher.append(std::move(next));
    }
    CHECK(hasher.finish() == whole);
  }
  for (const std::size_t at : {std::size_t{0}, std::size_t{Blake3::span}}) {  // the last part is a full one
    Blake3 next(at);
    next.update(std::span(bytes).subspan(at, Blake3::span));
    if (at == 0) next.end_part();
    hasher.append(std::move(next));
  }
  Blake3 two;
  two.update(std::span(bytes).first(2 * Blake3::span));
  CHECK(hasher.finish() == two.finish());
}
