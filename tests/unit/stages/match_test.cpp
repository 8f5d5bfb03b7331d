#include "ckpt/stages/match.hpp"

#include <catch2/catch.hpp>

#include "ckpt/stages/renumber.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Target target() {
  return {.file = "t",
          .tensors = {{"b", DType::f32, {3}, 7}, {"a", DType::f32, {2, 2}, {}}, {"c", DType::f32, {5}, {}}}};
}

Checkpoint source() {
  Checkpoint checkpoint;
  checkpoint.tensors = {counting("a", {2, 2}), counting("b", {3}), counting("x", {1})};
  return checkpoint;
}

}  // namespace

TEST_CASE("a result has the target's order and ids, and everything that does not fit is told") {
  const Matched matched = match(source(), target(), {});
  REQUIRE(matched.checkpoint.tensors.size() == 2);
  CHECK(matched.checkpoint.tensors[0].name == "b");
  CHECK(matched.checkpoint.tensors[0].param_id == 7U);
  CHECK(matched.checkpoint.tensors[1].name == "a");
  CHECK(matched.report.missing == std::vector<std::string>{"c"});
  CHECK(matched.report.unused == std::vector<std::string>{"x"});
  CHECK(matched.report.coverage() == Approx(7.0 / 12.0));
}

TEST_CASE("names that may be missing or unused are told apart") {
  MatchOptions options;
  options.allow_missing.emplace_back("^c$");
  options.allow_unused.emplace_back(".*");
  const Matched matched = match(source(), target(), options);
  CHECK(matched.report.missing.empty());
  CHECK(matched.report.missing_allowed == std::vector<std::string>{"c"});
  CHECK(matched.report.unused.empty());
  CHECK(matched.report.unused_allowed == std::vector<std::string>{"x"});
}

TEST_CASE("another shape does not cover a parameter, another type does") {
  Target wanted = target();
  wanted.tensors[0].shape = {4};
  wanted.tensors[1].dtype = DType::f16;
  const Matched matched = match(source(), wanted, {});
  REQUIRE(matched.report.mismatched.size() == 2);
  CHECK(matched.report.mismatched[0].name == "b");
  CHECK(matched.report.mismatched[0].is_shape);
  CHECK(matched.report.mismatched[0].found() == "[3]");
  CHECK(matched.report.mismatched[1].name == "a");
  CHECK_FALSE(matched.report.mismatched[1].is_shape);
  CHECK(matched.report.mismatched[1].found() == "F32");
  CHECK(matched.report.mismatched[1].wanted() == "F16");
  CHECK(matched.report.covered == 4);
}

TEST_CASE("another shape does not hide another type") {
  Target wanted = target();
  wanted.tensors[0].shape = {4};
  wanted.tensors[0].dtype = DType::f16;
  const Matched matched = match(source(), wanted, {});
  REQUIRE(matched.report.mismatched.size() == 2);
  CHECK(matched.report.mismatched[0].name == "b");
  CHECK(matched.report.mismatched[0].found() == "[3]");
  CHECK(matched.report.mismatched[1].name == "b");
  CHECK(matched.report.mismatched[1].wanted() == "F16");
  CHECK(matched.report.fitting == 1);
}

TEST_CASE("gaps close under every path on its own") {
  Checkpoint checkpoint;
  for (const char* name : {"l.0.c.0.w", "l.0.c.4.w", "l.2.c.0.w", "l.2.c.4.w", "fc.10.w", "fc.2.w", "plain"})
    checkpoint.tensors.push_back(counting(name, {1}));
  const Remapped result = renumber(std::move(checkpoint));
  std::vector<std::string> names;
  for (const Tensor& tensor : result.checkpoint.tensors) names.push_back(tensor.name);
  CHECK(names == std::vector<std::string>{"l.0.c.0.w", "l.0.c.1.w", "l.1.c.0.w", "l.1.c.1.w", "fc.1.w",
                                          "fc.0.w", "plain"});
}

TEST_CASE("two spellings of one index become one name, which is refused") {
  Checkpoint checkpoint;
  checkpoint.tensors = {counting("a.1", {1}), counting("a.01", {1})};
  CHECK(error_of([&] { static_cast<void>(renumber(checkpoint)); }).kind() == ErrorKind::refused);
}
