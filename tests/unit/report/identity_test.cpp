#include "ckpt/report/identity.hpp"

#include <catch2/catch.hpp>

#include "ckpt/core/error.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Checkpoint example() {
  return checkpoint_of({plain<float>("b", DType::f32, {2}, {1, 2}),
                        plain<float>("a.weight", DType::f32, {2, 3}, {0, 1, 2, 3, 4, 5}),
                        plain<std::int64_t>("s", DType::i64, {}, {7})});
}

}  // namespace

// Expected values: b3sum 1.2.0 of what docs/identity.md defines.
TEST_CASE("ids are what their definition makes them") {
  for (const unsigned threads : {1U, 2U, 7U}) {
    const Identity identity = identify(example(), {.threads = threads});
    CHECK(hex(identity.tensors[0]) == "83376e7b4f6f582dcb75e173caef357ad07daba8f7d086eb4ee23fb8d699f138");
    CHECK(hex(identity.tensors[1]) == "f643c80020fab138198a118c92203f6429ed85c172d7474765adca0e8b8fc62f");
    CHECK(hex(identity.tensors[2]) == "6f3287cd13d7e1d790ece8ec6da9b2a553d1506c07351269ff230d3b1de63a44");
    CHECK(hex(identity.id) == "428b309ef5b35c0c7719fae9383ac6cea0cc516411f308c0249abdc0bb84b924");
    CHECK(hex(identity.weights_id) == "7dce11ea8b3e22e3e2901812f244596f32b4022807888f62c369cbb2807c4046");
  }
}

TEST_CASE("ids do not see the order of the file or how a tensor is stored") {
  Checkpoint other = example();
  std::swap(other.tensors[0], other.tensors[2]);
  // The same [2, 3] kept column by column.
  Tensor columns = plain<float>("a.weight", DType::f32, {3, 2}, {0, 3, 1, 4, 2, 5});
  other.tensors[1] = transposed(columns, 0, 1);
  CHECK(identify(other).id == identify(example()).id);
}

TEST_CASE("the id sees names, types, shapes and values; the weights id all but names") {
  const Identity before = identify(example());
  Checkpoint named = example();
  named.tensors[0].name = "c";
  CHECK(identify(named).id != before.id);
  CHECK(identify(named).weights_id == before.weights_id);
  // Names that change places.
  Checkpoint exchanged = example();
  std::swap(exchanged.tensors[0].name, exchanged.tensors[1].name);
  CHECK(identify(exchanged).id != before.id);
  CHECK(identify(exchanged).weights_id == before.weights_id);
  Checkpoint shaped = example();
  shaped.tensors[1].shape = {3, 2};
  CHECK(identify(shaped).weights_id != before.weights_id);
  Checkpoint typed = example();
  typed.tensors[0].dtype = typed.tensors[0].view.stored = DType::u32;
  CHECK(identify(typed).weights_id != before.weights_id);
  Checkpoint valued = example();
  valued.tensors[2] = plain<std::int64_t>("s", DType::i64, {}, {8});
  CHECK(identify(valued).weights_id != before.weights_id);
}

TEST_CASE("a tied tensor counts, as where its values were stored twice") {
  Checkpoint tied = example();
  tied.tensors.push_back(tied.tensors[0]);
  tied.tensors.back().name = "z";
  Checkpoint apart = example();
  apart.tensors.push_back(plain<float>("z", DType::f32, {2}, {1, 2}));
  CHECK(identify(tied).id == identify(apart).id);
  CHECK(identify(tied).id != identify(example()).id);
}

TEST_CASE("an error of any thread comes out, and an empty checkpoint has an id") {
  Checkpoint checkpoint;
  checkpoint.file = "x";
  CHECK(identify(checkpoint).id != Digest{});
  for (int i = 0; i < 50; ++i) checkpoint.tensors.push_back(counting("t" + std::to_string(i), {100}));
  checkpoint.tensors[30].view.offset = 4;
  CHECK_THROWS_AS(identify(checkpoint, {.threads = 3}), Error);
  // One element that is said to be a terabyte.
  Checkpoint repeated = example();
  repeated.tensors[0].shape = {1ULL << 20, 1ULL << 18};
  repeated.tensors[0].view.strides = {{0, 0}};
  repeated.tensors[0].view.bytes = 1ULL << 40;
  CHECK_THROWS_AS(identify(repeated), Error);
}

TEST_CASE("a tensor that several threads share has the digest of its bytes, cut or not") {
  std::vector<std::byte> bytes((33U << 20U) + 4);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  const Shape shape{bytes.size()};
  const Tensor whole = plain("w", DType::u8, shape, bytes);
  for (const unsigned threads : {1U, 3U})
    CHECK(hex(identify(checkpoint_of({whole}), {.threads = threads}).tensors[0]) ==
          "7adf77ce21f95350002ac9020c84c36b34ed5877b97208ef0ada68fad9d422dc");
}

TEST_CASE("how a tensor is quantised is part of the id") {
  Tensor tensor = plain("w", DType::qfloat, {4}, std::vector<std::byte>(8));
  tensor.quantization = "value=Q8S store=Native mode=Symmetric tensor=none block=none";
  const Identity before = identify(checkpoint_of({tensor}));
  tensor.quantization = "value=Q8F store=Native mode=Symmetric tensor=none block=none";
  const Identity after = identify(checkpoint_of({tensor}));
  CHECK(before.id != after.id);
  CHECK(before.tensors[0] == after.tensors[0]);
}
