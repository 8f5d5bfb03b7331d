#include "ckpt/report/readers.hpp"

#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

std::vector<std::string> complaints(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (const Finding& finding : check_readers(checkpoint))
    out.push_back(std::string(info(finding.id).code) + " " + finding.text);
  return out;
}

Checkpoint of(std::string format, std::vector<DType> dtypes) {
  Checkpoint checkpoint;
  checkpoint.format = std::move(format);
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    checkpoint.tensors.push_back({.name = std::string(1, static_cast<char>('a' + i)), .dtype = dtypes[i]});
  return checkpoint;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a plain file is refused by nobody") {
  for (const char* format : {"safetensors", "pytorch", "burnpack", "burn-record"})
    CHECK(complaints(of(format, {DType::f32, DType::bf16, DType::i64, DType::boolean})).empty());
}

TEST_CASE("types that a reader lacks are named") {
  CHECK(
      complaints(of("safetensors", {DType::f8_e4m3, DType::f32, DType::f4, DType::u16, DType::c64})) ==
      Texts{"CK021 burn 0.22 would refuse it: it cannot read the type of a (F8_E4M3), c (F4), d (U16) and 1 "
            "more"});
  CHECK(complaints(of("pytorch", {DType::f32, DType::u16})) ==
        Texts{"CK023 PyTorch would refuse it: versions before 2.3 lack the type of b (U16)"});
  CHECK(complaints(of("pytorch", {DType::f8_e5m2, DType::f8_e8m0})).size() == 2);
}

TEST_CASE("transformers wants to see a format in metadata that are there") {
  Checkpoint checkpoint = of("safetensors", {DType::f32});
  checkpoint.metadata = {{"format", "pt"}, {"note", "x"}};
  CHECK(complaints(checkpoint).empty());
  checkpoint.metadata = {{"format", "safetensors"}};
  CHECK(
      complaints(checkpoint) ==
      Texts{
          "CK022 transformers would refuse it: its metadata says format `safetensors`, which is none of pt, "
          "tf, flax and mlx"});
  checkpoint.metadata = {{"note", "x"}};
  CHECK(complaints(checkpoint) ==
        Texts{"CK022 transformers would refuse it: its metadata has no `format` (pt, tf, flax or mlx)"});
  checkpoint.format = "burnpack";
  CHECK(complaints(checkpoint).empty());
}

TEST_CASE("what torch.load refuses by default is told with the reason") {
  Checkpoint checkpoint = of("pytorch", {DType::f32});
  checkpoint.globals = {{"models.yolo.Model"}, {"torch.nn.modules.conv.Conv2d"}};
  CHECK(complaints(checkpoint) ==
        Texts{"CK023 PyTorch would refuse it: it names models.yolo.Model and 1 more globals: from 2.6 on "
              "torch.load wants weights_only=False"});
  checkpoint.globals.clear();
  checkpoint.container = "tar";
  CHECK(complaints(checkpoint).size() == 1);
  checkpoint.container = "zip";
  checkpoint.refused = {{"w", "sparse COO tensor"}};
  CHECK(complaints(checkpoint) ==
        Texts{"CK021 burn 0.22 would refuse it: w is no plain tensor: sparse COO tensor"});
}
