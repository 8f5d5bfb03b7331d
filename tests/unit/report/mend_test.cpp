#include "ckpt/report/mend.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

TEST_CASE("a renamed module is explained by one rule") {
  const std::vector<NamedShape> missing{{"fc1.weight", {4, 3}}, {"fc1.bias", {3}}};
  const std::vector<NamedShape> unused{{"fc.weight", {4, 3}}, {"fc.bias", {3}}, {"extra", {9}}};
  CHECK(did_you_mean(missing, unused).at("fc1.weight") == "fc.weight");
  const auto rule = best_rule(missing, unused);
  REQUIRE(rule);
  CHECK(rule->text == "^fc\\. => fc1.");
  CHECK(rule->explains == 2);
}

TEST_CASE("a prefix that is too much is deleted") {
  const auto rule = best_rule({{"a.w", {1}}, {"b.w", {2}}}, {{"model.a.w", {1}}, {"model.b.w", {2}}});
  REQUIRE(rule);
  CHECK(rule->text == "^model\\. => ");
  CHECK(rule->explains == 2);
}

TEST_CASE("a name of another shape is not suggested") {
  CHECK(did_you_mean({{"fc1.weight", {4, 3}}}, {{"fc.weight", {5, 3}}}).empty());
  CHECK_FALSE(best_rule({{"fc1.weight", {4, 3}}}, {{"fc.weight", {5, 3}}}));
}
