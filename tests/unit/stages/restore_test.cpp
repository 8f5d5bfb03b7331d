#include "ckpt/stages/restore.hpp"

#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Ties = std::vector<std::pair<std::string, std::string>>;

}  // namespace

TEST_CASE("counters of batches come back as 0 where the target has them beside statistics") {
  Target target{.file = "t.pt", .tensors = {}};
  target.tensors = {{"bn.num_batches_tracked", DType::i64, {}},
                    {"other.num_batches_tracked", DType::i64, {}},
                    {"odd.num_batches_tracked", DType::i64, {2}}};
  const Edited edited = restore_counters(
      checkpoint_of({counting("bn.running_mean", {3}), counting("odd.running_mean", {3})}), target);
  CHECK(names_of(edited.checkpoint) ==
        std::vector<std::string>{"bn.running_mean", "odd.running_mean", "bn.num_batches_tracked"});
  const Tensor& counter = edited.checkpoint.tensors.back();
  CHECK(counter.dtype == DType::i64);
  CHECK(counter.shape.empty());
  CHECK(gathered(counter) == std::vector<std::byte>(8));
  CHECK(edited.report.added == 1);
}

TEST_CASE("a counter that is there is kept") {
  Target target{.file = "t.pt", .tensors = {}};
  target.tensors = {{"bn.num_batches_tracked", DType::i64, {}}};
  const Edited edited =
      restore_counters(checkpoint_of({counting("bn.running_mean", {3}),
                                      plain<std::int64_t>("bn.num_batches_tracked", DType::i64, {}, {7})}),
                       target);
  CHECK(edited.report.edits.empty());
  CHECK(edited.report.summary.empty());
}

TEST_CASE("a tied name that is missing is the other one") {
  const std::vector<Tensor> tensors{counting("wte.weight", {4, 2})};
  for (const Ties& ties : {Ties{{"lm_head.weight", "wte.weight"}}, Ties{{"wte.weight", "lm_head.weight"}}}) {
    const Edited edited = restore_ties(checkpoint_of(tensors), ties);
    REQUIRE(edited.checkpoint.tensors.size() == 2);
    CHECK(edited.checkpoint.tensors[1].name == "lm_head.weight");
    CHECK(same_place(edited.checkpoint.tensors[0], edited.checkpoint.tensors[1]));
    CHECK(edited.report.added == 1);
    CHECK(edited.report.edits.front().from == std::vector<std::string>{"wte.weight"});
  }
  CHECK(restore_ties(checkpoint_of(tensors), {{"a", "b"}}).report.added == 0);
}
