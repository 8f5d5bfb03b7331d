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

TEST_CASE("a tar container whose first checksum is wrong is told as one") {
  std::string file = good();
  file[0] ^= 1;
  CHECK_THAT(support::error_of(file), Contains("tar"));
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

TEST_CASE("what is wrong in a tar container is named") {
  const auto error = [](const std::string& storages, const std::string& tensors,
                        const std::string& pickle = object) {
    return support::error_of(container(storages, tensors, pickle));
  };
  const std::string one = count_one + storage(100, 6, six);
  const std::string tensors = count_two + tensor(1, 100, 2, 3) + tensor(2, 100, 1, 2);
  const auto views = [](const std::string& opcodes) {
    return PickleWriter().raw("](").raw(opcodes).raw("e").done();
  };
  const auto view = [](std::int64_t root, std::int64_t offset, std::int64_t size) {
    PickleWriter writer;
    const std::string all =
        writer.raw("(").integer(200).integer(root).integer(offset).integer(size).raw("t").done();
    return all.substr(2, all.size() - 3);
  };
  CHECK_THAT(error(PickleWriter().raw("N").done(), tensors),
             Contains("the number of storages is not a number"));
  CHECK_THAT(error(count_one + PickleWriter().raw(")").done(), tensors),
             Contains("the description of a storage is") && Contains("not a tuple of 3"));
  CHECK_THAT(error(count_one + PickleWriter().raw("(NNNt").done(), tensors), Contains("a key is None"));
  CHECK_THAT(error(count_one + PickleWriter().raw("(").text("k").raw("NNt").done(), tensors),
             Contains("storage k: its class is None"));
  CHECK_THAT(error(count_two + storage(100, 6, six) + storage(100, 6, six) + no_views, tensors),
             Contains("storage 100 is listed twice"));
  CHECK_THAT(error(one + PickleWriter().raw("N").done(), tensors), Contains("the list of views is None"));
  CHECK_THAT(error(one + views("N"), tensors), Contains("not a tuple of 4"));
  CHECK_THAT(error(one + views(view(300, 0, 1)), tensors),
             Contains("a view of storage 300, which is not in the file"));
  CHECK_THAT(error(one + views(view(100, 5, 2)), tensors),
             Contains("a view goes beyond the 6 elements of storage 100"));
  CHECK_THAT(error(one + views(view(100, -1, 2)), tensors), Contains("the offset of a view is -1"));
  CHECK_THAT(error(one + no_views, count_one + PickleWriter().raw("N").done()),
             Contains("the description of a tensor is None"));
  std::string many = tensor(1, 100, 2, 3);
  many.replace(many.size() - 48, 4, le(4097, 4));
  CHECK_THAT(error(one + no_views, count_one + many), Contains("tensor 1 has 4097 dimensions"));
  CHECK_THAT(error(one + no_views, count_one + tensor(1, 100, UINT64_MAX, 3)),
             Contains("tensor 1: a size is -1"));
  CHECK_THAT(error(one + no_views, count_one + tensor(1, 100, 1, 1, UINT64_MAX)),
             Contains("tensor 1: its offset is -1"));
  CHECK_THAT(error(one + no_views, count_one + "\x80\x63."),
             Contains("member tensors") && Contains("protocol 99"));
  CHECK_THAT(support::error_of(support::tar({{"pickle", object}, {"./pickle", object}})),
             Contains("two members are named pickle"));
}

TEST_CASE("what a tar container holds beside its four members, and without the one of tensors, is told") {
  const std::string storages = count_one + storage(100, 6, six) + no_views;
  const std::string file = support::tar(
      {{"./pickle", PickleWriter().raw("}").done() + "tail"}, {"./storages", storages}, {"readme", "x"}});
  const Checkpoint checkpoint = read(file);
  CHECK(checkpoint.tensors.empty());
  REQUIRE(checkpoint.hidden.size() == 2);
  CHECK_THAT(checkpoint.hidden[0], Contains("member readme is none of PyTorch's"));
  CHECK_THAT(checkpoint.hidden[1], Contains("4 bytes follow the object in member pickle"));
  CHECK_THAT(checkpoint.notes.at(0), Contains("there is no member tensors"));
}

TEST_CASE("without a member of tensors, a tuple in place of a storage is one where it names its key") {
  const auto file = [](PickleWriter id) {
    const std::string parts = id.done();
    const std::string pickle = PickleWriter()
                                   .raw("}")
                                   .text("w")
                                   .global("torch._utils", "_rebuild_tensor")
                                   .raw("(")
                                   .raw(parts.substr(2, parts.size() - 3))
                                   .raw("K\x01")
                                   .raw("K\x01K\x03\x86K\x03K\x01\x86tRs")
                                   .done();
    return support::tar({{"pickle", pickle}, {"storages", count_one + storage(100, 6, six) + no_views}});
  };
  const PickleWriter two = PickleWriter().raw("(").text("storage").text("FloatStorage").raw("t");
  CHECK_THAT(support::error_of(file(two)), Contains("its storage is a tuple"));
  const auto three = [](std::string_view key) {
    return PickleWriter().raw("(").text("storage").text("FloatStorage").text(key).raw("t");
  };
  CHECK_THAT(support::error_of(file(three("101"))), Contains("its storage is a tuple"));
  const Tensor tensor = read(file(three("100"))).tensors.at(0);
  CHECK(tensor.shape == Shape{1, 3});
  CHECK(support::gathered(tensor) == floats({2, 3, 4}));
}
