#include "ckpt/formats/shard_set.hpp"

#include <catch2/catch.hpp>

#include "ckpt/codec/json.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

const Format& format(std::string_view name) { return *find_format(name); }

/// Tensors of so many bytes each.
Checkpoint of_sizes(const std::vector<std::size_t>& sizes) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    tensors.push_back(plain(std::string(1, static_cast<char>('a' + i)), DType::u8, {sizes[i]},
                            std::vector<std::byte>(sizes[i])));
  Checkpoint checkpoint = checkpoint_of(std::move(tensors));
  checkpoint.metadata["k"] = "v";
  return checkpoint;
}

}  // namespace

TEST_CASE("tensors fill shards in order, and one that is too large has a shard of its own") {
  const ShardSet set = plan_shards(of_sizes({4, 6, 1, 30, 0, 10}), format("safetensors"), 10);
  std::vector<std::vector<std::string>> names;
  for (const Shard& shard : set.shards) {
    names.push_back(names_of(shard.checkpoint));
    CHECK(shard.checkpoint.metadata.at("k") == "v");
  }
  CHECK(names == std::vector<std::vector<std::string>>{{"a", "b"}, {"c"}, {"d", "e"}, {"f"}});
  CHECK(set.shards[2].file_name == "model-00003-of-00004.safetensors");
  CHECK(set.index_name == "model.safetensors.index.json");
  const Value index = json::parse(set.index);
  CHECK(*index.find("metadata")->find("total_size") == Value(51));
  CHECK(*index.find("weight_map")->find("f") == Value("model-00004-of-00004.safetensors"));
}

TEST_CASE("a set of one file has no index") {
  for (const Checkpoint& checkpoint : {of_sizes({4, 6}), of_sizes({})}) {
    const ShardSet set = plan_shards(checkpoint, format("pytorch"), 10);
    REQUIRE(set.shards.size() == 1);
    CHECK(set.shards[0].file_name == "pytorch_model.bin");
    CHECK(set.index.empty());
  }
}

TEST_CASE("formats without sets are refused, and no file belongs to one") {
  CHECK(contains(message_of([] { plan_shards(of_sizes({1}), format("burnpack"), 10); }),
                 "there are no sharded sets of burnpack"));
  CHECK_FALSE(belongs_to_set("model.safetensors", format("burnpack")));
}

TEST_CASE("files of a set are told by their names") {
  const Format& safetensors = format("safetensors");
  for (const char* name : {"model.safetensors", "model.safetensors.index.json",
                           "model-00001-of-00002.safetensors", "model-1-of-2.safetensors"})
    CHECK(belongs_to_set(name, safetensors));
  for (const char* name :
       {"model.bin", "other-00001-of-00002.safetensors", "model-00001.safetensors",
        "model-x-of-00002.safetensors", "model-00001-of-.safetensors", "model--of-1.safetensors",
        "model-00001-of-00002.bin", "model-00001-of-0000x.safetensors"})
    CHECK_FALSE(belongs_to_set(name, safetensors));
}
