#include "ckpt/formats/pytorch/tar_container.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::le;
using support::PickleWriter;
using support::read;
using Strings = std::vector<std::string>;

namespace {

std::string storage(std::int64_t key, std::int64_t count, const std::string& bytes) {
  return PickleWriter().raw("(").integer(key).text("cpu").global("torch", "FloatStorage").raw("t").done() +
         le(static_cast<std::uint64_t>(count), 8) + bytes;
}

/// A tensor of two dimensions.
std::string tensor(std::int64_t key, std::int64_t storage, std::uint64_t rows, std::uint64_t columns,
                   std::uint64_t offset = 0) {
  return PickleWriter()
             .raw("(")
             .integer(key)
             .integer(storage)
             .global("torch", "FloatTensor")
             .raw("t")
             .done() +
         le(2, 4) + le(0, 4) + le(rows, 8) + le(columns, 8) + le(columns, 8) + le(1, 8) + le(offset, 8);
}

std::string container(const std::string& storages, const std::string& tensors, const std::string& object) {
  return support::tar({{"sys_info", PickleWriter().raw("}").done()},
                       {"pickle", object},
                       {"tensors", tensors},
                       {"storages", storages}});
}

const std::string object =
    PickleWriter().raw("}(").text("w").integer(1).raw("Q").text("v").integer(2).raw("Qu").done();
const std::string count_two = PickleWriter().integer(2).done();
const std::string count_one = PickleWriter().integer(1).done();
const std::string no_views = PickleWriter().raw("]").done();
const std::string one_view =
    PickleWriter().raw("]((").integer(200).integer(100).integer(4).integer(2).raw("te").done();
const std::string six = floats({1, 2, 3, 4, 5, 6});

std::string good() {
  return container(count_one + storage(100, 6, six) + one_view,
                   count_two + tensor(1, 100, 2, 3) + tensor(2, 200, 1, 2), object);
}

}  // namespace

TEST_CASE("tensors of the tar container are found by their keys, views are windows") {
  const Checkpoint checkpoint = read(good());
  CHECK(checkpoint.container == "tar");
  CHECK(support::names(checkpoint) == Strings{"w", "v"});
  CHECK(support::gathered(checkpoint.tensors[0]) == six);
  CHECK(support::gathered(checkpoint.tensors[1]) == floats({5, 6}));
  CHECK(checkpoint.notes.empty());
}

TEST_CASE("counts and bounds of the tar container are checked") {
  const auto error = [](const std::string& storages, const std::string& tensors) {
    return support::error_of(container(storages, tensors, object));
  };
  const std::string tensors = count_two + tensor(1, 100, 2, 3) + tensor(2, 100, 1, 2);
  CHECK_THAT(error(count_one + storage(100, -1, six) + no_views, tensors), Contains("-1"));
  CHECK_THAT(error(count_one + storage(100, 1LL << 62, six) + no_views, tensors), Contains("counted"));
  CHECK_THAT(error(count_one + storage(100, 7, six), tensors), Contains("cut off"));
  CHECK_THAT(error(PickleWriter().integer(1LL << 40).done() + storage(100, 6, six), tensors),
             Contains("storages"));
  CHECK_THAT(error(count_one + storage(100, 6, six) + no_views,
                   count_two + tensor(1, 100, 3, 3) + tensor(2, 100, 1, 2)),
             Contains("tensor `w`") && Contains("36"));
  CHECK_THAT(error(count_one + storage(100, 6, six) + no_views,
                   count_two + tensor(1, 300, 2, 3) + tensor(2, 100, 1, 2)),
             Contains("tensor `w`") && Contains("storage 300"));
  CHECK_THAT(error(count_one + storage(100, 6, six) + no_views, count_one + tensor(1, 100, 2, 3)),
             Contains("tensor 2 is not in the file"));
}

TEST_CASE("a tar of another kind, or one that is cut off, is told apart") {
  CHECK_THAT(support::error_of(support::tar({{"readme", "x"}})), Contains("not one of PyTorch"));
  CHECK_THAT(support::error_of(good().substr(0, 1024)), Contains("cut off"));
}

TEST_CASE("a tar container that is cut or flipped anywhere gives a catalogue or an error") {
  const std::string file = good();
  const std::size_t data_end = file.size() - 1024 - 512;  // before the padding of the last member and the end
  for (std::size_t size = 0; size < data_end; size += 7)
    CHECK_FALSE(support::error_of(file.substr(0, size)).empty());
  for (std::size_t i = 0; i < file.size(); i += 3) {
    for (const int mask : {0x01, 0x80}) {
      std::string bad = file;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      support::error_of(bad);
    }
  }
  SUCCEED();
}
