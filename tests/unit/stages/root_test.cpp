#include "ckpt/stages/root.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;
using enum Root::Role;

Checkpoint nested(const Names& names, std::vector<Root> roots) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) tensors.push_back(counting(name, {1}));
  Checkpoint checkpoint = checkpoint_of(std::move(tensors));
  checkpoint.roots = std::move(roots);
  return checkpoint;
}

Checkpoint training_run() {
  return nested({"state_dict.fc.weight", "state_dict.fc.bias", "optimizer.state.0.exp_avg", "ema"},
                {{"state_dict", model, 2, 8}, {"optimizer", optimizer, 1, 4}});
}

struct Selected {
  Names names, dropped;
};

Selected select(Checkpoint checkpoint, const std::optional<std::string>& key) {
  Selected result;
  result.names = names_of(select_root(std::move(checkpoint), key, result.dropped));
  return result;
}

}  // namespace

TEST_CASE("a checkpoint that does not nest is taken whole") {
  CHECK(select(nested({"fc.weight"}, {}), std::nullopt).names == Names{"fc.weight"});
}

TEST_CASE("the one place of a model is taken, and its prefix goes") {
  const Selected result = select(training_run(), std::nullopt);
  CHECK(result.names == Names{"fc.weight", "fc.bias"});
  CHECK(result.dropped == Names{"optimizer.state.0.exp_avg", "ema"});
}

TEST_CASE("a model at the top level is taken without what lies under other places") {
  const Selected result =
      select(nested({"fc.weight", "optimizer.m"}, {{"", model, 1, 4}, {"optimizer", optimizer, 1, 4}}),
             std::nullopt);
  CHECK(result.names == Names{"fc.weight"});
  CHECK(result.dropped == Names{"optimizer.m"});
}

TEST_CASE("several models are refused with their counts and sizes, and a way out") {
  const Error error = error_of([] {
    select(nested({"a.w", "b.w", "b.v"}, {{"a", model, 1, 4}, {"b", model, 2, 2048}}), std::nullopt);
  });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "2 places"));
  CHECK(contains(error.message(), "a (1 tensor, 4 B)"));
  CHECK(contains(error.message(), "b (2 tensors, 2.00 KiB)"));
  CHECK(contains(error.hint(), "--top-level-key a takes"));
}

TEST_CASE("a key takes its place, whatever its role, and dots lead deeper") {
  CHECK(select(training_run(), "state_dict").names == Names{"fc.weight", "fc.bias"});
  CHECK(select(training_run(), "optimizer").names == Names{"state.0.exp_avg"});
  CHECK(select(training_run(), "optimizer.state").names == Names{"0.exp_avg"});
  CHECK(select(training_run(), "state_dict.fc").names == Names{"weight", "bias"});
}

TEST_CASE("a dot is the whole checkpoint") {
  const Selected result = select(training_run(), ".");
  CHECK(result.names.size() == 4);
  CHECK(result.names.front() == "state_dict.fc.weight");
  CHECK(result.dropped.empty());
}

TEST_CASE("a key is whole segments, and one that holds nothing is refused with those that do") {
  for (const std::string key : {"state", "state_dict.f", "nothing"}) {
    const Error error = error_of([&] { select(training_run(), key); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK(contains(error.message(), "no tensors under " + key));
    CHECK(contains(error.hint(), "state_dict (2 tensors, 8 B), optimizer (1 tensor, 4 B)"));
  }
}

TEST_CASE("a single tensor that is named by the key keeps its name") {
  const Selected result = select(training_run(), "ema");
  CHECK(result.names == Names{"ema"});
}
