#include "ckpt/stages/variants.hpp"

#include <catch2/catch.hpp>

using ckpt::fit_variants;
using Names = std::vector<std::string>;

TEST_CASE("names get the variants that the target has below the same path") {
  const Names target{"conv.weight", "norm.Batch.gamma", "norm.Batch.beta", "act.PRelu.alpha"};
  CHECK(fit_variants({"conv.weight", "norm.weight", "norm.bias", "act.weight"}, target) ==
        Names{"conv.weight", "norm.Batch.weight", "norm.Batch.bias", "act.PRelu.weight"});
}

TEST_CASE("variants inside lists, and inside variants, are found") {
  const Names target{"blocks.0.Conv.norm.Layer.gamma", "blocks.1.Linear.weight"};
  CHECK(fit_variants({"blocks.0.norm.weight", "blocks.1.weight"}, target) ==
        Names{"blocks.0.Conv.norm.Layer.weight", "blocks.1.Linear.weight"});
}

TEST_CASE("names lose the variants that the target does not have") {
  const Names source{"norm.Batch.gamma", "norm.Batch.beta", "blocks.0.Conv.weight"};
  CHECK(fit_variants(source, {"norm.weight", "norm.bias", "blocks.0.weight"}) ==
        Names{"norm.gamma", "norm.beta", "blocks.0.weight"});
}

TEST_CASE("names that fit stay as they are") {
  const Names names{"norm.Batch.gamma", "head.weight", "T", "", ".a", "..", "../../etc/passwd", "b..c", "d."};
  CHECK(fit_variants(names, names) == names);
  CHECK(fit_variants(names, {}) == names);
}

TEST_CASE("what only looks like a variant is left alone") {
  // A field beside it, a constant's spelling, a tensor of that name.
  CHECK(fit_variants({"n.weight"}, {"n.Batch.gamma", "n.scale"}) == Names{"n.weight"});
  CHECK(fit_variants({"n.weight"}, {"n.FC.weight"}) == Names{"n.weight"});
  CHECK(fit_variants({"n.weight"}, {"n.Weight"}) == Names{"n.weight"});
  CHECK(fit_variants({"n.Attn.q.weight", "n.other.weight"}, {"n.q.weight"}) ==
        Names{"n.Attn.q.weight", "n.other.weight"});
}
