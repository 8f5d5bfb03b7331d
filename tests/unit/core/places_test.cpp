#include "ckpt/core/places.hpp"

#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;

namespace {

/// A view of `shape` and `strides` over a storage of F32, `offset` elements in.
Tensor view_of(const Bytes& storage, std::string name, Shape shape, std::vector<std::uint64_t> strides,
               std::uint64_t offset = 0) {
  Tensor tensor{.name = std::move(name), .dtype = DType::f32, .shape = shape};
  tensor.view = make_strided_view(storage, offset, shape, strides, DType::f32);
  return tensor;
}

Bytes storage_of(std::size_t elements) { return memory_bytes(std::vector<std::byte>(elements * 4)); }

}  // namespace

TEST_CASE("the first of a place stands for the others, other shapes and strides do not") {
  const Bytes storage = storage_of(12);
  const std::vector<Tensor> tensors{
      view_of(storage, "a", {3, 4}, {4, 1}),        view_of(storage, "row", {4}, {1}),
      view_of(storage, "b", {3, 4}, {4, 1}),        view_of(storage, "t", {4, 3}, {1, 4}),
      view_of(storage_of(12), "c", {3, 4}, {4, 1}), view_of(storage, "t2", {4, 3}, {1, 4}),
      view_of(storage, "none", {0}, {1}),           view_of(storage, "none2", {0}, {1}),
  };
  CHECK(first_at_same_place(tensors) == std::vector<std::size_t>{0, 1, 0, 3, 4, 3, 6, 7});
}

TEST_CASE("what tensors use of their storages is counted once") {
  const Bytes big = storage_of(1000);
  const Bytes small = storage_of(6);
  StorageUse use = storage_use({view_of(big, "slice", {10}, {1}, 5)});
  CHECK(use.stored == 4000);
  CHECK(use.used == 40);
  use = storage_use({view_of(big, "a", {10}, {1}), view_of(big, "b", {10}, {1}, 5),
                     view_of(small, "c", {2, 3}, {3, 1}), view_of(small, "tied", {2, 3}, {3, 1})});
  CHECK(use.stored == 4024);
  CHECK(use.used == 60 + 24);
  CHECK(storage_use({view_of(big, "column", {10}, {100})}).used == 40);
  CHECK(storage_use({view_of(big, "expanded", {50, 2}, {0, 1})}).used == 8);
  CHECK(storage_use({view_of(big, "empty", {0}, {1})}).used == 0);
}

TEST_CASE("one tensor or many of one storage may repeat its data only so far") {
  const Bytes storage = storage_of(1);                    // 4 bytes
  const std::uint64_t quarter = std::uint64_t{1} << 26U;  // elements: 256 MiB
  Unfolding one;
  CHECK(one.excess(view_of(storage, "whole limit", {4 * quarter}, {0})).empty());
  CHECK(Unfolding().excess(view_of(storage, "more", {4 * quarter + 1}, {0})) ==
        "repeats 4 B of data until it is 1.00 GiB");
  const Bytes another = storage_of(1);
  CHECK(one.excess(view_of(another, "another storage", {1, 1}, {0, 0})).empty());
  CHECK(one.excess(view_of(storage, "nothing", {0}, {1})).empty());
  CHECK(one.excess(view_of(storage, "more", {quarter}, {0})) ==
        "repeats, with the tensors before it, 4 B of data until they are 1.25 GiB");

  Unfolding many;
  for (int i = 0; i < 4; ++i) CHECK(many.excess(view_of(storage, "n", {quarter}, {0})).empty());
  CHECK_FALSE(many.excess(view_of(storage, "fifth", {quarter}, {0})).empty());
  CHECK_FALSE(many.excess(view_of(storage, "sixth", {quarter}, {0})).empty());

  // A little of many storages is as much.
  Unfolding small;
  std::vector<Bytes> storages;
  for (int i = 0; i < 6; ++i) storages.push_back(storage_of(1));
  for (int i = 0; i < 4; ++i)
    CHECK(small.excess(view_of(storages[static_cast<std::size_t>(i)], "n", {quarter}, {0})).empty());
  CHECK(small.excess(view_of(storages[4], "fifth", {quarter}, {0})) ==
        "repeats, with the tensors before it, 20 B of data until they are 1.25 GiB");
  CHECK(small.excess(view_of(storages[5], "plain", {1}, {1})).empty());

  // 2 MiB that are unfolded to a thousand times as much.
  const Bytes large = storage_of(1U << 19U);
  CHECK(Unfolding().excess(view_of(large, "a", {1024, 1U << 19U}, {0, 1})).empty());
  CHECK_FALSE(Unfolding().excess(view_of(large, "b", {1025, 1U << 19U}, {0, 1})).empty());

  Tensor pieces = joined(
      "joined", {view_of(storage, "p", {3 * quarter}, {0}), view_of(storage, "q", {2 * quarter}, {0})});
  CHECK(Unfolding().excess(pieces) ==
        "repeats, with the tensors before it, 4 B of data until they are 1.25 GiB");
}
