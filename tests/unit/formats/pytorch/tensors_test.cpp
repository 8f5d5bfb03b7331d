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

TEST_CASE("a key of a tensor's metadata that is not known is told once") {
  const auto notes = [](const std::string& key) {
    return read_opcodes(v2_with_metadata("FloatStorage", key), floats({1, 2})).notes;
  };
  CHECK(notes("conj").empty());
  CHECK(notes("neg").empty());
  CHECK(notes("zzz") ==
        std::vector<std::string>{"1 tensor has metadata that is not known and left out (first: `zzz` of x)"});
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

TEST_CASE("calls that lack what a tensor is made of are refused by name") {
  const auto error = [](const std::string& made) { return support::error_of(file_of(made, floats({1, 2}))); };
  const auto call = [](std::string_view module, std::string_view name, const std::string& args) {
    PickleWriter writer;
    return opcodes(writer.global(module, name).raw("(").raw(args).raw("tR"));
  };
  PickleWriter inner;
  const std::string tensor = opcodes(inner.vector("0", 2));
  CHECK_THAT(error(call("torch._utils", "_rebuild_parameter", "")),
             Contains("_rebuild_parameter without a tensor"));
  CHECK_THAT(error(call("torch.nn.parameter", "Parameter", "")), Contains("a parameter without a tensor"));
  CHECK_THAT(error(call("torch._tensor", "_rebuild_from_type_v2", "NN")),
             Contains("_rebuild_from_type without the arguments of its function"));
  std::string wrapped = tensor;
  for (int i = 0; i < 33; ++i) wrapped = call("torch._utils", "_rebuild_parameter", wrapped + "\x88N");
  CHECK_THAT(error(wrapped), Contains("more than 32 wrappers around one tensor"));

  const std::string from_numpy = "_rebuild_device_tensor_from_numpy";
  CHECK_THAT(error(call("torch._utils", from_numpy, "")),
             Contains("it is rebuilt from 0 arguments; 4 are wanted"));
  CHECK_THAT(error(call("torch._utils", from_numpy, "NNNN")), Contains("it is rebuilt from None"));
  CHECK_THAT(error(call("torch._utils", from_numpy, tensor + "NNN")), Contains("its dtype is None"));
  PickleWriter few;
  few.global("torch._utils", "_rebuild_tensor_v3").raw("(").storage("UntypedStorage", "0", 8).integer(0);
  CHECK_THAT(error(opcodes(few.integers({2}).integers({1}).raw("tR"))),
             Contains("it is rebuilt from 4 arguments; 7 are wanted"));
  PickleWriter no_type;
  no_type.global("torch._utils", "_rebuild_tensor_v3").raw("(").storage("UntypedStorage", "0", 8).integer(0);
  CHECK_THAT(error(opcodes(no_type.integers({2}).integers({1}).raw("\x89NNtR"))),
             Contains("its dtype is None"));
}

TEST_CASE("sizes and offsets that are no numbers, or far too many, are refused") {
  const auto error = [](const std::string& offset, const std::string& size) {
    PickleWriter writer;
    writer.global("torch._utils", "_rebuild_tensor_v2").raw("(").storage("FloatStorage", "0", 2);
    return support::error_of(file_of(opcodes(writer.raw(offset).raw(size).raw(")tR")), floats({1, 2})));
  };
  const std::string zero("K\0", 2);
  CHECK_THAT(error("N", ")"), Contains("its offset is None, not a number that fits 64 bits"));
  CHECK_THAT(error(zero, "N"), Contains("its size is None, not a tuple"));
  std::string many = "(";
  for (int i = 0; i < 4097; ++i) many += "K\x01";
  CHECK_THAT(error(zero, many + "t"), Contains("its size has 4097 dimensions"));
}

TEST_CASE("tensors of other devices come by way of a NumPy array or a tensor, and have the dtype they name") {
  PickleWriter inner;
  const std::string tensor = opcodes(inner.vector("0", 2));
  const auto made = [&](std::string_view dtype) {
    PickleWriter writer;
    writer.global("torch._utils", "_rebuild_device_tensor_from_cpu_tensor").raw("(").raw(tensor);
    return read_opcodes(opcodes(writer.global("torch", dtype).text("xla:0").raw("\x89tR")), floats({1, 2}));
  };
  CHECK(made("bfloat16").tensors.at(0).dtype == DType::bf16);
  CHECK(made("bfloat16").tensors.at(0).view.stored == DType::f32);
  CHECK_THAT(made("bits8").refused.at(0).what, Contains("tensor of torch.bits8"));
}

TEST_CASE("a lazy sign of a type that has none, and parts of sparse tensors that are not told, are said so") {
  CHECK_THAT(read_opcodes(v2_with_metadata("LongStorage", "neg"), std::string(16, '\0')).refused.at(0).what,
             Contains("I64 tensor with a lazy sign"));
  const auto what = [](std::string_view name, const std::string& args) {
    PickleWriter writer;
    return read_opcodes(opcodes(writer.global("torch._utils", name).raw("(").raw(args).raw("tR")), "")
        .refused.at(0)
        .what;
  };
  CHECK(what("_rebuild_sparse_tensor", "NN") == "sparse tensor (unknown layout)");
  CHECK(what("_rebuild_qtensor", "NN(K\xffJ\xff\xff\xff\xfft") == "quantised tensor (unknown scheme)");
  CHECK(what("_rebuild_meta_tensor_no_storage", "N") == "meta tensor (no data in the file)");
  CHECK(what("_rebuild_sparse_csr_tensor", "NNN(K\x02K\x03t") ==
        "sparse tensor (torch.sparse_csr), shape [2, 3]");
}

TEST_CASE("wrappers of wrappers, and a Variable of the first versions, are looked through") {
  PickleWriter inner;
  const std::string tensor = opcodes(inner.vector("0", 2));
  const std::string data = floats({1, 2});
  PickleWriter subclass;  // a parameter of a subclass
  subclass.global("torch._tensor", "_rebuild_from_type_v2")
      .raw("(")
      .global("torch._utils", "_rebuild_parameter");
  subclass.global("__main__", "Mine").raw("(").raw(tensor).raw("\x88").ordered_dict().raw("tNtR");
  CHECK(support::gathered(read_opcodes(opcodes(subclass), data).tensors.at(0)) == data);

  PickleWriter variable;
  variable.global("torch", "FloatTensor").raw(")\x81(").raw(tensor).raw("\x89\x89NNtb");
  CHECK(support::gathered(read_opcodes(opcodes(variable), data).tensors.at(0)) == data);

  PickleWriter foreign;  // what a function of somebody else's would make
  foreign.global("torch._tensor", "_rebuild_from_type_v2").raw("(").global("m", "make").global("m", "Mine");
  foreign.raw("(").raw(tensor).raw("tNtR");
  CHECK_THAT(read_opcodes(opcodes(foreign), data).refused.at(0).what, Contains("tensor made from"));
}

TEST_CASE("elements of more than a byte in an untyped storage of a big-endian machine are refused") {
  const auto file = [](std::string_view dtype, std::int64_t elements) {
    PickleWriter writer;
    writer.raw("}").text("x").raw(v3(dtype, 4, elements)).raw("s");
    return read(torch_zip(writer.done(), {{"data/0", "abcd"}, {"byteorder", "big"}}));
  };
  CHECK_THAT(file("float32", 1).refused.at(0).what, Contains("big-endian F32 tensor in an untyped storage"));
  CHECK(support::gathered(file("uint8", 4).tensors.at(0)) == "abcd");
}
