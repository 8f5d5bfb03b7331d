#include "ckpt/report/compare.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <limits>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using What = Difference::What;
using Index = std::vector<std::uint64_t>;

/// How two tensors of one name differ; nothing when they do not.
std::optional<Difference> difference(const Tensor& a, const Tensor& b, const Tolerance& tolerance = {},
                                     std::uint64_t memory = 64U << 20) {
  static Checkpoint left, right;
  left = checkpoint_of({a});
  right = checkpoint_of({b});
  const Comparison comparison = compare(left, right, tolerance, memory);
  CHECK(comparison.is_equal() == comparison.different.empty());
  CHECK(comparison.equal == (comparison.different.empty() ? 1 : 0));
  if (comparison.different.empty()) return std::nullopt;
  return comparison.different.front();
}

template <typename T>
std::optional<Difference> difference_of(DType dtype, const std::vector<T>& a, const std::vector<T>& b,
                                        const Tolerance& tolerance = {}) {
  return difference(plain("t", dtype, {a.size()}, a), plain("t", dtype, {b.size()}, b), tolerance);
}

std::optional<Difference> difference_of(double a, double b, const Tolerance& tolerance = {}) {
  return difference_of<double>(DType::f64, {a}, {b}, tolerance);
}

std::optional<Difference> difference_of(std::complex<double> a, std::complex<double> b,
                                        const Tolerance& tolerance = {}) {
  return difference_of<double>(DType::c128, {a.real(), a.imag()}, {b.real(), b.imag()}, tolerance);
}

}  // namespace

TEST_CASE("tolerances mean what they mean to NumPy's allclose") {
  const std::vector<Tolerance> tolerances{{0, 0}, {1e-8, 1e-5}, {0, 0.1}, {0.5, 0}, {0.05, 0.05}};
  struct Row {
    double a, b;
    std::vector<bool> is_close;
  };
  // numpy.allclose([a], [b], atol=…, rtol=…, equal_nan=True) of NumPy 1.24.
  const std::vector<Row> rows{{1, 1 + 1e-9, {false, true, true, true, true}},
                              {1, 1.1, {false, false, true, true, true}},
                              {1.1, 1, {false, false, false, true, false}},
                              {0, 1e-8, {false, true, false, true, true}},
                              {1e-8, 0, {false, true, false, true, true}},
                              {-0.0, 0, {true, true, true, true, true}},
                              {infinity, infinity, {true, true, true, true, true}},
                              {infinity, -infinity, {false, false, false, false, false}},
                              {infinity, 1, {false, false, false, false, false}},
                              {1, infinity, {false, false, false, false, false}},
                              {not_a_number, not_a_number, {true, true, true, true, true}},
                              {not_a_number, 1, {false, false, false, false, false}},
                              {1, not_a_number, {false, false, false, false, false}},
                              {100, 110, {false, false, true, false, false}},
                              {1e308, -1e308, {false, false, false, false, false}},
                              {5e-324, 0, {false, true, false, true, true}},
                              {1, 1.5, {false, false, false, true, false}},
                              {2, -2, {false, false, false, false, false}}};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < tolerances.size(); ++i) {
      CAPTURE(row.a, row.b, tolerances[i].absolute, tolerances[i].relative);
      CHECK(!difference_of(row.a, row.b, tolerances[i]) == row.is_close[i]);
    }
}

TEST_CASE("complex numbers are as far apart as their modulus says") {
  const std::vector<Tolerance> tolerances{{0, 0}, {1, 0}, {0, 0.1}};
  struct Row {
    std::complex<double> a, b;
    std::vector<bool> is_close;
  };
  // numpy.allclose of complex128 arrays, as above.
  const std::vector<Row> rows{{{0, 0}, {0.8, 0.8}, {false, false, false}},
                              {{1, 1}, {1, 2}, {false, true, false}},
                              {{3, 4}, {3, 4.4}, {false, true, true}},
                              {{0, 1}, {1, 0}, {false, false, false}},
                              {{infinity, 1}, {infinity, 1}, {true, true, true}},
                              {{0, -0.0}, {0, 0}, {true, true, true}}};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < tolerances.size(); ++i) {
      CAPTURE(row.a, row.b, tolerances[i].absolute, tolerances[i].relative);
      CHECK(!difference_of(row.a, row.b, tolerances[i]) == row.is_close[i]);
    }
  CHECK(difference_of({0, 0}, {3, 4})->values->max_abs == 5);
  CHECK(difference_of({1, infinity}, {2, infinity}, {0, 0.5}));
  CHECK_FALSE(difference_of({1, not_a_number}, {1, not_a_number}));
  CHECK(difference_of({infinity, not_a_number}, {1, 1})->values->count == 1);
  CHECK(difference_of<float>(DType::c64, {1, 2, 3, 4}, {1, 2, 3, 5})->values->at == Index{1});
}

TEST_CASE("the largest distance and its index are kept, over all pieces") {
  std::vector<float> a(6000);
  std::vector<float> b(6000);
  b[17] = 0.5;
  b[4321] = -2;
  b[5999] = 1;
  const Shape shape{20, 30, 10};
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
    const auto found =
        difference(plain("t", DType::f32, shape, a), plain("t", DType::f32, shape, b), {}, memory);
    REQUIRE(found);
    CHECK(found->what == What::values);
    CHECK(found->values->count == 3);
    CHECK(found->values->elements == 6000);
    CHECK(found->values->max_abs == 2);
    CHECK(found->values->at == Index{14, 12, 1});
  }
  const auto close =
      difference(plain("t", DType::f32, shape, a), plain("t", DType::f32, shape, b), {0.75, 0});
  CHECK(close->values->count == 2);
  CHECK(close->values->max_abs == 2);
}

TEST_CASE("a number against NaN is farther than any distance") {
  const auto found = difference_of<double>(DType::f64, {1, not_a_number, 3}, {infinity, 2, 4});
  CHECK(std::isnan(found->values->max_abs));
  CHECK(found->values->at == Index{1});
  CHECK(found->values->count == 3);
}

TEST_CASE("NaNs of other bits are equal") {
  CHECK_FALSE(difference_of<std::uint32_t>(DType::f32, {0x7FC00000, 0xFFC00001}, {0x7FC00001, 0x7F800001}));
  CHECK_FALSE(difference_of<std::uint16_t>(DType::f16, {0x8000}, {0x0000}));
}

TEST_CASE("64-bit integers that no double tells apart differ") {
  CHECK(difference_of<std::int64_t>(DType::i64, {INT64_MAX}, {INT64_MAX - 1})->values->max_abs == 1);
  CHECK(difference_of<std::uint64_t>(DType::u64, {1ULL << 63}, {(1ULL << 63) + 1})->values->count == 1);
  CHECK(difference_of<std::int64_t>(DType::i64, {INT64_MIN}, {INT64_MAX})->values->max_abs == 0x1p64);
  const auto types = difference(plain("t", DType::i64, {1}, std::vector<std::int64_t>{-1}),
                                plain("t", DType::u64, {1}, std::vector<std::uint64_t>{UINT64_MAX}));
  CHECK(types->what == What::dtype);
  CHECK(types->values->count == 1);
}

TEST_CASE("other types with equal values differ in type only") {
  const auto found =
      difference(plain("t", DType::f32, {3}, std::vector<float>{1, -2, 0.5}),
                 plain("t", DType::f16, {3}, std::vector<std::uint16_t>{0x3C00, 0xC000, 0x3800}));
  REQUIRE(found);
  CHECK(found->what == What::dtype);
  CHECK_FALSE(found->values);
}

TEST_CASE("other types with other values differ in both") {
  const auto found = difference(plain("t", DType::f32, {2}, std::vector<float>{1, 0.1F}),
                                plain("t", DType::f64, {2}, std::vector<double>{1, 0.1}));
  CHECK(found->what == What::dtype);
  CHECK(found->values->count == 1);
  CHECK(found->values->at == Index{1});
  CHECK(found->values->max_abs == std::abs(static_cast<double>(0.1F) - 0.1));
  CHECK_FALSE(difference(plain("t", DType::f32, {2}, std::vector<float>{1, 0.1F}),
                         plain("t", DType::f64, {2}, std::vector<double>{1, 0.1}), {1e-6, 0})
                  ->values);
}

TEST_CASE("types of other sizes are compared across pieces") {
  std::vector<float> a(10'000);
  std::vector<double> b(10'000);
  for (std::size_t i = 0; i < a.size(); ++i) b[i] = a[i] = static_cast<float>(i);
  b[9876] = -1;
  const auto found =
      difference(plain("t", DType::f32, {10'000}, a), plain("t", DType::f64, {10'000}, b), {}, 20'000);
  CHECK(found->values->count == 1);
  CHECK(found->values->at == Index{9876});
}

TEST_CASE("tensors of other shapes are not compared further") {
  const auto found = difference(counting("t", {2, 3}), counting("t", {3, 2}));
  CHECK(found->what == What::shape);
  CHECK_FALSE(found->values);
  CHECK(difference(counting("t", {1}), counting("t", {}))->what == What::shape);
}

TEST_CASE("names that only one side has are listed in its order") {
  const Checkpoint a = checkpoint_of({counting("z", {1}), counting("both", {2}), counting("y", {1})});
  const Checkpoint b = checkpoint_of({counting("both", {2}), counting("x", {1})});
  const Comparison comparison = compare(a, b, {});
  REQUIRE(comparison.only_in_a.size() == 2);
  CHECK(comparison.only_in_a[0]->name == "z");
  CHECK(comparison.only_in_a[1]->name == "y");
  REQUIRE(comparison.only_in_b.size() == 1);
  CHECK(comparison.only_in_b[0]->name == "x");
  CHECK(comparison.equal == 1);
  CHECK_FALSE(comparison.is_equal());
  CHECK(compare(checkpoint_of({}), checkpoint_of({}), {}).is_equal());
}

TEST_CASE("a view equals the plain tensor that it stands for") {
  const Tensor view = transposed(counting("t", {40, 70}), 0, 1);
  const Tensor contiguous = plain("t", DType::f32, {70, 40}, gathered_naively(view));
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{64} << 20}) {
    CHECK_FALSE(difference(view, contiguous, {}, memory));
    CHECK_FALSE(difference(contiguous, view, {}, memory));
  }
  Tensor big = contiguous;
  big.view.big_endian = true;
  CHECK(difference(view, big));
  const Tensor whole = joined("t", {rows(contiguous, 0, 33), rows(contiguous, 33, 37)});
  CHECK_FALSE(difference(whole, view, {}, 0));
}

TEST_CASE("the same place is equal without being read") {
  // Reading it would throw: the view leaves its source.
  Tensor tensor = counting("t", {4});
  tensor.view.bytes = 1 << 20;
  tensor.shape = {1 << 18};
  CHECK_FALSE(difference(tensor, tensor));
}

TEST_CASE("scalars and empty tensors are compared") {
  CHECK_FALSE(difference(counting("t", {}, 3), counting("t", {}, 3)));
  const auto scalar = difference(counting("t", {}, 3), counting("t", {}, 4));
  CHECK(scalar->values->at.empty());
  CHECK(scalar->values->max_abs == 1);
  CHECK_FALSE(difference(counting("t", {3, 0}), counting("t", {3, 0})));
}

TEST_CASE("packed data is equal when its bytes are") {
  const auto packed = [](std::vector<std::uint8_t> bytes) { return plain("t", DType::f4, {8}, bytes); };
  CHECK_FALSE(difference(packed({1, 2, 3, 4}), packed({1, 2, 3, 4})));
  const auto found = difference(packed({1, 2, 3, 4}), packed({1, 2, 3, 5}), {1e9, 1e9});
  REQUIRE(found);
  CHECK(found->values->count == 1);
  CHECK(std::isnan(found->values->max_abs));
  Tensor q = plain("t", DType::qfloat, {4}, std::vector<std::uint8_t>{1, 2, 3, 4});
  Tensor r = q;
  q.quantization = "per tensor";
  r.quantization = "per block";
  CHECK(difference(q, r)->what == What::dtype);
}

TEST_CASE("the largest distance over all tensors counts those within the tolerance") {
  const Checkpoint a = checkpoint_of({counting("t", {2}), counting("u", {2}, 5)});
  const Checkpoint b = checkpoint_of({counting("t", {2}, 1), counting("u", {2}, 7)});
  const Comparison comparison = compare(a, b, {2, 0});
  CHECK(comparison.is_equal());
  CHECK(comparison.max_abs == 2);
}

// numpy: d = abs(a - b); d.mean(), (d / abs(b))[b != 0].max().
TEST_CASE("mean and relative distances are over all elements") {
  const auto found = difference_of<float>(DType::f32, {1, 2, 3, 4}, {1, 2.5F, 3, 0});
  CHECK(found->values->mean_abs == 1.125);
  CHECK(found->values->max_relative == 0.2);
  CHECK(found->values->max_abs == 4);
  const auto half = difference_of<std::uint16_t>(DType::f16, {0x3C00, 0x0001}, {0x4000, 0x8001});
  CHECK(half->values->max_abs == 1);
  CHECK(half->values->mean_abs == (1 + 0x1p-23) / 2);
  CHECK(half->values->max_relative == 2);
  CHECK(std::isnan(difference_of<double>(DType::f64, {1, not_a_number}, {2, 2})->values->mean_abs));
  CHECK(difference_of<double>(DType::f64, {1, 2}, {infinity, 2})->values->mean_abs == infinity);
}

TEST_CASE("a tensor under another name is found by its bytes") {
  const Checkpoint a =
      checkpoint_of({counting("fc.weight", {3, 4}), counting("fc.bias", {3}, 50), counting("x", {2})});
  const Checkpoint b =
      checkpoint_of({counting("fc1.bias", {3}, 50), counting("fc1.weight", {3, 4}), counting("x", {2})});
  const Comparison comparison = compare(a, b, Tolerance{});
  REQUIRE(comparison.renamed.size() == 2);
  CHECK(comparison.renamed[0].first->name == "fc.weight");
  CHECK(comparison.renamed[0].second->name == "fc1.weight");
  CHECK(comparison.renamed[1].second->name == "fc1.bias");
  CHECK(comparison.only_in_a.empty());
  CHECK(comparison.only_in_b.empty());
  CHECK(comparison.equal == 1);
  CHECK_FALSE(comparison.is_equal());
}

TEST_CASE("what is not the only one of its bytes, transposed, or of another type is not renamed") {
  const auto renamed = [](std::vector<Tensor> a, std::vector<Tensor> b) {
    const Checkpoint left = checkpoint_of(std::move(a));
    const Checkpoint right = checkpoint_of(std::move(b));
    return compare(left, right, Tolerance{}).renamed.size();
  };
  CHECK(renamed({counting("a", {4})}, {counting("b", {4})}) == 1);
  CHECK(renamed({counting("a", {4}), counting("a2", {4})}, {counting("b", {4})}) == 0);
  CHECK(renamed({counting("a", {4})}, {counting("b", {4}), counting("b2", {4})}) == 0);
  CHECK(renamed({counting("a", {2, 3})}, {transposed(counting("b", {2, 3}), 0, 1)}) == 0);
  CHECK(renamed({counting("a", {2, 3})}, {transposed(transposed(counting("b", {2, 3}), 0, 1), 0, 1)}) == 1);
  CHECK(renamed({counting("a", {4})}, {counting("b", {2, 2})}) == 0);
  CHECK(renamed({counting("a", {1})}, {plain("b", DType::u32, {1}, std::vector<float>{0})}) == 0);
  CHECK(renamed({counting("a", {0})}, {counting("b", {0})}) == 0);
  // They differ behind the piece that is looked at first.
  std::vector<float> long_one(100'000);
  std::vector<float> other = long_one;
  other.back() = 1;
  const auto of = [](const char* name, const std::vector<float>& v) {
    return plain(name, DType::f32, {v.size()}, v);
  };
  CHECK(renamed({of("a", long_one)}, {of("b", other)}) == 0);
  CHECK(renamed({of("a", long_one), of("c", other)}, {of("b", other), of("d", long_one)}) == 2);
}

TEST_CASE("rows that were added or taken away leave the others comparable") {
  const auto rows_of = [](Tensor a, Tensor b) { return difference(a, b)->common_rows; };
  CHECK(rows_of(counting("t", {3, 4}), counting("t", {5, 4})) == 3);
  CHECK(rows_of(counting("t", {5, 4}), counting("t", {3, 4})) == 3);
  CHECK_FALSE(rows_of(counting("t", {3, 4}), counting("t", {5, 4}, 1)));
  CHECK_FALSE(rows_of(counting("t", {3, 4}), counting("t", {3, 5})));
  CHECK_FALSE(rows_of(counting("t", {3}), counting("t", {3, 1})));
  CHECK_FALSE(rows_of(counting("t", {3}), counting("t", {0})));
  CHECK(difference(counting("t", {3, 4}), counting("t", {5, 4}))->what == What::shape);
}

TEST_CASE("any number of threads finds the same") {
  std::vector<Tensor> left, right;
  for (int i = 0; i < 40; ++i) {
    left.push_back(counting("t" + std::to_string(i), {50}));
    right.push_back(counting("t" + std::to_string(i), {50}, static_cast<float>(i % 3)));
  }
  const Checkpoint a = checkpoint_of(left);
  const Checkpoint b = checkpoint_of(right);
  const Comparison one = compare_with({.threads = 1}, a, b);
  const Comparison many = compare_with({.threads = 5}, a, b);
  CHECK(one.different.size() == 26);
  REQUIRE(many.different.size() == one.different.size());
  CHECK(many.max_abs == one.max_abs);
  for (std::size_t i = 0; i < one.different.size(); ++i)
    CHECK(many.different[i].a->name == one.different[i].a->name);
  // Of several that cannot be read, some error comes out.
  Checkpoint broken = checkpoint_of(left);
  for (Tensor& tensor : broken.tensors) tensor.view.offset = 8;
  CHECK_THROWS(compare_with({.threads = 3}, broken, b));
}

TEST_CASE("without values no data is read") {
  Checkpoint a = checkpoint_of({counting("t", {4}), counting("u", {4}), counting("only", {4})});
  for (Tensor& tensor : a.tensors) tensor.view.offset = 1000;
  Checkpoint b = checkpoint_of({counting("t", {4}), counting("u", {5}), counting("other", {4})});
  const Comparison comparison = compare_with({.reads_values = false}, a, b);
  CHECK(comparison.equal == 1);
  CHECK(comparison.different.size() == 1);
  CHECK(comparison.only_in_a.size() == 1);
  CHECK(comparison.renamed.empty());
}
