#include "ckpt/formats/pytorch/archive.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::PickleWriter;
using support::read;
using support::torch_zip;
using Strings = std::vector<std::string>;

namespace {

/// {"w": a 2x3 tensor of storage 0}
std::string one_tensor() {
  return PickleWriter().raw("}(").text("w").tensor("FloatStorage", "0", 6, 0, {2, 3}, {3, 1}).raw("u").done();
}
const std::string six = floats({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("a state dict of the zip container is listed with its data in place") {
  const std::string file = torch_zip(one_tensor(), {{"data/0", six}});
  const Checkpoint checkpoint = read(file);
  CHECK(checkpoint.format == "pytorch");
  CHECK(checkpoint.container == "zip");
  CHECK(checkpoint.file == "test.pt");
  CHECK(checkpoint.size == file.size());
  REQUIRE(support::names(checkpoint) == Strings{"w"});
  const Tensor& w = checkpoint.tensors.front();
  CHECK(w.dtype == DType::f32);
  CHECK(w.shape == Shape{2, 3});
  CHECK_FALSE(w.view.strides);
  CHECK(support::gathered(w) == six);
  REQUIRE(checkpoint.integrity.size() == 1);
  CHECK(checkpoint.integrity[0].what == "data/0");
  CHECK(checkpoint.integrity[0].crc32 == support::crc32_of(six));
  CHECK(checkpoint.notes.empty());
  CHECK(checkpoint.globals.empty());
}

TEST_CASE("a deflated storage is read like a stored one") {
  const Checkpoint checkpoint = read(torch_zip(one_tensor(), {{"data/0", six, true}}));
  CHECK(support::gathered(checkpoint.tensors.front()) == six);
  CHECK(checkpoint.integrity.empty());
}

TEST_CASE("tensors that share a storage hold the same source") {
  const std::string pickle = PickleWriter()
                                 .raw("}(")
                                 .text("a")
                                 .tensor("FloatStorage", "0", 6, 0, {2}, {1})
                                 .text("b")
                                 .tensor("FloatStorage", "0", 6, 0, {2}, {1})
                                 .text("c")
                                 .tensor("FloatStorage", "0", 6, 1, {2, 2}, {1, 2})
                                 .raw("u")
                                 .done();
  const Checkpoint checkpoint = read(torch_zip(pickle, {{"data/0", six}}));
  CHECK(same_place(checkpoint.tensors[0], checkpoint.tensors[1]));
  CHECK(checkpoint.tensors[0].view.source == checkpoint.tensors[2].view.source);
  CHECK(support::gathered(checkpoint.tensors[2]) == floats({2, 4, 3, 5}));
  CHECK(checkpoint.integrity.size() == 1);
}

TEST_CASE("a storage that is shorter than the pickle says, or missing, is an error that names the tensor") {
  CHECK_THAT(support::error_of(torch_zip(one_tensor(), {{"data/0", six.substr(1)}})),
             Contains("tensor `w`") && Contains("24 bytes") && Contains("data/0 holds 23"));
  CHECK_THAT(support::error_of(torch_zip(one_tensor())), Contains("tensor `w`") && Contains("data/0"));
}

TEST_CASE("a tensor may not reach beyond the storage that the pickle describes, however long the record is") {
  const std::string pickle =
      PickleWriter().raw("}(").text("w").tensor("FloatStorage", "0", 3, 0, {4}, {1}).raw("u").done();
  CHECK_THAT(support::error_of(torch_zip(pickle, {{"data/0", six}})),
             Contains("tensor `w`") && Contains("12 bytes"));
}

TEST_CASE("one storage cannot have elements of two types") {
  const std::string pickle = PickleWriter()
                                 .raw("}(")
                                 .text("a")
                                 .vector("0", 2)
                                 .text("b")
                                 .tensor("LongStorage", "0", 1, 0, {1}, {1})
                                 .raw("u")
                                 .done();
  CHECK_THAT(support::error_of(torch_zip(pickle, {{"data/0", std::string(8, 'x')}})),
             Contains("F32") && Contains("I64"));
}

TEST_CASE("big-endian storages are marked, and an unknown byte order is an error") {
  const std::string big = {"\x3f\x80\x00\x00\x40\x00\x00\x00", 8};
  const std::string pickle = PickleWriter().raw("}(").text("w").vector("0", 2).raw("u").done();
  const Checkpoint checkpoint = read(torch_zip(pickle, {{"data/0", big}, {"byteorder", "big"}}));
  CHECK(checkpoint.tensors[0].view.big_endian);
  CHECK(support::gathered(checkpoint.tensors[0]) == floats({1, 2}));
  CHECK_FALSE(read(torch_zip(pickle, {{"data/0", big}, {"byteorder", "little"}})).tensors[0].view.big_endian);
  CHECK_THAT(support::error_of(torch_zip(pickle, {{"data/0", big}, {"byteorder", "middle"}})),
             Contains("`middle`"));
}

TEST_CASE("the checksum of data.pkl is compared before it is parsed") {
  std::string file = torch_zip(one_tensor(), {{"data/0", six}});
  file[file.find("FloatStorage")] = 'f';
  CHECK_THAT(support::error_of(file), Contains("data.pkl") && Contains("CRC-32"));
}

TEST_CASE("archives that are not PyTorch's are told so") {
  CHECK_THAT(support::error_of(support::zip({})), Contains("no data.pkl"));
  CHECK_THAT(support::error_of(support::zip({{"w.npy", "x"}})), Contains("no data.pkl") && Contains("w.npy"));
}

TEST_CASE("second pickles and odd versions are worth a note") {
  const std::string file = support::zip({{"archive/data.pkl", one_tensor() + "cos\nsystem\n."},
                                         {"archive/data/0", six},
                                         {"archive/extra.pkl", "N."},
                                         {"archive/version", "999\n"},
                                         {"../evil", "x"}});
  const Checkpoint checkpoint = read(file);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("`999`"));
  REQUIRE(checkpoint.hidden.size() == 3);
  CHECK_THAT(checkpoint.hidden[0], Contains("12 bytes follow the object"));
  CHECK_THAT(checkpoint.hidden[1], Contains("extra.pkl"));
  CHECK_THAT(checkpoint.hidden[2], Contains("../evil"));
  CHECK(checkpoint.globals.empty());
}

TEST_CASE("tensors of a TorchScript archive are named by attribute, constants of the program left out") {
  const std::string pickle = PickleWriter()
                                 .global("__torch__", "Net")
                                 .raw(")\x81}(")
                                 .text("fc")
                                 .global("__torch__.torch.nn.modules.linear.___torch_mangle_3", "Linear")
                                 .raw(")\x81}(")
                                 .text("weight")
                                 .vector("0", 6)
                                 .raw("ub")
                                 .text("k")
                                 .vector("0", 6)
                                 .text("list")
                                 .raw("](")
                                 .vector("0", 2)
                                 .vector("0", 1)
                                 .raw("e")
                                 .text("sizes")
                                 .raw(
                                     "](K\x01K\x02"
                                     "e")
                                 .raw("ub")
                                 .done();
  const Checkpoint checkpoint = read(
      torch_zip(pickle, {{"data/0", six},
                         {"constants.pkl", "\x80\x02)."},
                         {"code/__torch__.py",
                          "class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n  k : Tensor\n"}}));
  CHECK(checkpoint.container == "torchscript");
  REQUIRE(support::names(checkpoint) == Strings{"fc.weight"});
  CHECK(checkpoint.tensors[0].module_class == "torch.nn.modules.linear.Linear");
  CHECK(checkpoint.globals.empty());
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("3 tensors of modules left out") && Contains("(first: k)"));
}

TEST_CASE("a zip container that is cut or flipped anywhere gives a catalogue or an error") {
  const std::string file = torch_zip(one_tensor(), {{"data/0", six}, {"byteorder", "little"}});
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_FALSE(support::error_of(file.substr(0, size)).empty());
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int mask : {0x01, 0x10, 0x80, 0xFF}) {
      std::string bad = file;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      support::error_of(bad);
    }
  }
  SUCCEED();
}
