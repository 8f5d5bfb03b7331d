#include "ckpt/stages/filter.hpp"

#include <catch2/catch.hpp>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

/// What is kept of four tensors and one that cannot be delivered, and what went.
struct Result {
  Names kept, dropped, refused;
};

Result filtered(const Names& include, const Names& exclude) {
  Checkpoint checkpoint = checkpoint_of({counting("encoder.weight", {1}), counting("encoder.bias", {1}),
                                         counting("decoder.weight", {1}), counting("head", {1})});
  checkpoint.refused = {{"encoder.sparse", "sparse COO tensor"}};
  Filters filters;
  for (const std::string& pattern : include) filters.include.emplace_back(pattern);
  for (const std::string& pattern : exclude) filters.exclude.emplace_back(pattern);
  Result result;
  const Checkpoint kept = filter(std::move(checkpoint), filters, result.dropped);
  result.kept = names_of(kept);
  for (const Refused& refused : kept.refused) result.refused.push_back(refused.name);
  return result;
}

}  // namespace

TEST_CASE("without filters everything is kept") {
  CHECK(filtered({}, {}).kept.size() == 4);
  CHECK(filtered({}, {}).dropped.empty());
  CHECK(filtered({}, {}).refused.size() == 1);
}

TEST_CASE("a name is kept when some include matches, anywhere in it") {
  CHECK(filtered({"^encoder", "^head$"}, {}).kept == Names{"encoder.weight", "encoder.bias", "head"});
  CHECK(filtered({"^encoder", "^head$"}, {}).dropped == Names{"decoder.weight"});
  CHECK(filtered({"weight"}, {}).kept == Names{"encoder.weight", "decoder.weight"});
  CHECK(filtered({"weight"}, {}).refused.empty());
  CHECK(filtered({"nothing"}, {}).kept.empty());
}

TEST_CASE("exclude beats include") {
  CHECK(filtered({"encoder"}, {"bias$"}).kept == Names{"encoder.weight"});
  CHECK(filtered({}, {"encoder"}).kept == Names{"decoder.weight", "head"});
  CHECK(filtered({}, {"encoder"}).refused.empty());
  CHECK(filtered({"."}, {"."}).dropped.size() == 4);
}
