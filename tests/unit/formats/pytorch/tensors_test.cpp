#include "ckpt/formats/pytorch/tensors.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::PickleWriter;
using support::read;
using support::torch_zip;

namespace {

/// A zip container of {"x": …} with the storage 0; `x` is given by its opcodes.
std::string file_of(const std::string& opcodes, const std::string& data) {
  return torch_zip(PickleWriter().raw("}").text("x").raw(opcodes).raw("s").done(), {{"data/0", data}});
}
Checkpoint read_opcodes(const std::string& opcodes, const std::string& data) {
  return read(file_of(opcodes, data));
}

/// The opcodes that a writer made, without PROTO and STOP.
std::string opcodes(PickleWriter& writer) {
  const std::string bytes = writer.done();
  return bytes.substr(2, bytes.size() - 3);
}

std::string v3(std::string_view dtype, std::int64_t bytes, std::int64_t elements,
               const std::string& metadata = "") {
  PickleWriter writer;
  writer.global("torch._utils", "_rebuild_tensor_v3")
      .raw("(")
      .storage("UntypedStorage", "0", bytes)
      .integer(0);
  writer.integers({elements})
      .integers({1})
      .raw("\x89")
      .ordered_dict()
      .global("torch", dtype)
      .raw(metadata)
      .raw("tR");
  return opcodes(writer);
}

std::string v2_with_metadata(std::string_view type, const std::string& flag) {
  PickleWriter writer;
  writer.global("torch._utils", "_rebuild_tensor_v2")
      .raw("(")
      .storage(type, "0", 2)
      .integer(0)
      .integers({2})
      .integers({1});
  writer.raw("\x89").ordered_dict().raw("}").text(flag).raw("\x88stR");
  return opcodes(writer);
}

}  // namespace

TEST_CASE("every typed storage gives its dtype") {
  for (const DTypeInfo& row : dtype_table()) {
    if (row.torch_storage.empty()) continue;
    PickleWriter writer;
    writer.tensor(row.torch_storage, "0", 1, 0, {}, {});
    const Checkpoint checkpoint = read_opcodes(opcodes(writer), std::string(16, 'x').substr(0, row.bits / 8));
    CHECK(checkpoint.tensors.at(0).dtype == row.dtype);
    CHECK(checkpoint.tensors.at(0).shape.empty());
  }
}

TEST_CASE("untyped storages hold any dtype that ckpt has, and others are refused by name") {
  for (const DTypeInfo& row : dtype_table()) {
    if (row.torch_dtype.empty()) continue;
    const Checkpoint checkpoint =
        read_opcodes(v3(row.torch_dtype, row.bits / 4, 2), std::string(row.bits / 4, 'x'));
    CHECK(checkpoint.tensors.at(0).dtype == row.dtype);
  }
  const Checkpoint checkpoint = read_opcodes(v3("bits8", 2, 2), "xx");
  CHECK(checkpoint.tensors.empty());
  REQUIRE(checkpoint.refused.size() == 1);
  CHECK(checkpoint.refused[0].name == "x");
  CHECK_THAT(checkpoint.refused[0].what, Contains("torch.bits8"));
}

TEST_CASE("parameters and subclasses are looked through") {
  PickleWriter inner;
  const std::string tensor = opcodes(inner.vector("0", 2));
  const std::string data = floats({1, 2});
  PickleWriter parameter;
  parameter.global("torch._utils", "_rebuild_parameter")
      .raw("(")
      .raw(tensor)
      .raw("\x88")
      .ordered_dict()
      .raw("tR");
  CHECK(support::gathered(read_opcodes(opcodes(parameter), data).tensors.at(0)) == data);

  PickleWriter made;
  made.global("torch.nn.parameter", "Parameter").raw("(").raw(tensor).raw("\x88t\x81");
  CHECK(support::gathered(read_opcodes(opcodes(made), data).tensors.at(0)) == data);

  PickleWriter subclass;
  subclass.global("torch._tensor", "_rebuild_from_type_v2")
      .raw("(")
      .global("torch._utils", "_rebuild_tensor_v2");
  subclass.global("__main__", "Mine")
      .raw("(")
      .storage("FloatStorage", "0", 2)
      .integer(0)
      .integers({2})
      .integers({1});
  subclass.raw("\x89").ordered_dict().raw("tNtR");
  CHECK(support::gathered(read_opcodes(opcodes(subclass), data).tensors.at(0)) == data);
}

TEST_CASE("tensors of the first versions are made by BUILD") {
  PickleWriter writer;
  writer.global("torch", "FloatTensor")
      .raw(")\x81(")
      .storage("FloatStorage", "0", 2)
      .integer(0)
      .integers({2})
      .integers({1})
      .raw("tb");
  CHECK(read_opcodes(opcodes(writer), floats({1, 2})).tensors.at(0).shape == Shape{2});
}

TEST_CASE("lazy conjugation and negation change signs while the data is read") {
  const std::string data = floats({1, 2, 3, -4});
  CHECK(
      support::gathered(read_opcodes(v2_with_metadata("ComplexFloatStorage", "conj"), data).tensors.at(0)) ==
      floats({1, -2, 3, 4}));
  CHECK(support::gathered(read_opcodes(v2_with_metadata("ComplexFloatStorage", "neg"), data).tensors.at(0)) ==
        floats({-1, -2, -3, 4}));
  CHECK(support::gathered(
            read_opcodes(v2_with_metadata("FloatStorage", "neg"), data.substr(0, 8)).tensors.at(0)) ==
        floats({-1, -2}));
}

TEST_CASE("quantised, sparse, nested, meta and wrapped tensors are refused with what they are") {
  const auto what = [](PickleWriter& writer) {
    const Checkpoint checkpoint =
        read(torch_zip(PickleWriter().raw("}").text("x").raw(opcodes(writer)).raw("s").done()));
    CHECK(checkpoint.tensors.empty());
    return checkpoint.refused.at(0).what;
  };
  PickleWriter meta;
  meta.global("torch._utils", "_rebuild_meta_tensor_no_storage")
      .raw("(")
      .global("torch", "float32")
      .integers({3, 5})
      .integers({5, 1})
      .raw("\x89tR");
  CHECK_THAT(what(meta), Contains("meta tensor") && Contains("[3, 5]"));

  PickleWriter sparse;
  sparse.global("torch._utils", "_rebuild_sparse_tensor")
      .raw("(")
      .global("torch.serialization", "_get_layout")
      .raw("(")
      .text("torch.sparse_coo");
  sparse.raw("tR(NN").integers({10}).raw("ttR");
  CHECK_THAT(what(sparse), Contains("torch.sparse_coo") && Contains("[10]"));

  PickleWriter nested;
  nested.global("torch._utils", "_rebuild_nested_tensor").raw("(NNNNtR");
  CHECK_THAT(what(nested), Contains("nested"));

  PickleWriter wrapper;
  wrapper.global("torch._utils", "_rebuild_wrapper_subclass")
      .raw("(")
      .global("torch.distributed.tensor", "DTensor")
      .global("torch", "float32");
  wrapper.integers({4, 3}).raw("tR");
  CHECK_THAT(what(wrapper), Contains("DTensor") && Contains("[4, 3]"));

  PickleWriter quantized;
  quantized.global("torch._utils", "_rebuild_qtensor")
      .raw("(NN")
      .integers({2})
      .integers({1})
      .raw("(")
      .global("torch", "per_tensor_affine")
      .raw("ttR");
  CHECK_THAT(what(quantized), Contains("per_tensor_affine"));
}

TEST_CASE("numbers that describe a tensor are checked, and the error names the tensor") {
  const auto error = [](PickleWriter& writer) {
    return support::error_of(file_of(opcodes(writer), floats({1, 2, 3, 4, 5, 6})));
  };
  PickleWriter negative_size;
  CHECK_THAT(error(negative_size.tensor("FloatStorage", "0", 6, 0, {-1}, {1})),
             Contains("tensor `x`") && Contains("negative"));
  PickleWriter negative_stride;
  CHECK_THAT(error(negative_stride.tensor("FloatStorage", "0", 6, 0, {2}, {-1})),
             Contains("stride is negative"));
  PickleWriter past_end;
  CHECK_THAT(error(past_end.tensor("FloatStorage", "0", 6, 1, {2, 3}, {3, 1})),
             Contains("28") && Contains("24"));
  PickleWriter overflow;
  CHECK_THAT(error(overflow.tensor("FloatStorage", "0", 6, 1LL << 62, {1}, {1})), Contains("tensor `x`"));
  PickleWriter product;
  CHECK_THAT(error(product.tensor("FloatStorage", "0", 6, 0, {1LL << 32, 1LL << 32}, {0, 0})),
             Contains("counted"));
  PickleWriter ranks;
  CHECK_THAT(error(ranks.tensor("FloatStorage", "0", 6, 0, {2, 3}, {1})),
             Contains("1 strides for 2 dimensions"));
  PickleWriter unknown;
  CHECK_THAT(error(unknown.tensor("FancyStorage", "0", 6, 0, {2}, {1})), Contains("torch.FancyStorage"));
  PickleWriter few;
  CHECK_THAT(error(few.global("torch._utils", "_rebuild_tensor_v2")
                       .raw("(")
                       .storage("FloatStorage", "0", 6)
                       .raw("tR")),
             Contains("1 arguments"));
  PickleWriter no_storage;
  CHECK_THAT(error(no_storage.global("torch._utils", "_rebuild_tensor_v2")
                       .raw("(")
                       .text("0")
                       .integer(0)
                       .integers({1})
                       .integers({1})
                       .raw("tR")),
             Contains("its storage is a text"));
}
