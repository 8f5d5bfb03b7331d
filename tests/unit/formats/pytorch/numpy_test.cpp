#include "ckpt/formats/pytorch/numpy.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::le;
using support::PickleWriter;
using support::read;

namespace {

PickleWriter& dtype(PickleWriter& writer, std::string_view code, std::string_view order) {
  writer.global("numpy", "dtype").raw("(").text(code).raw("\x89\x88tR(K\x03").text(order);
  return writer.raw("NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK").raw({"\0", 1}).raw("tb");
}

/// An array by _reconstruct and BUILD; `data` is given as opcodes.
std::string array(std::string_view code, std::string_view order, std::initializer_list<std::int64_t> shape,
                  bool fortran, const std::string& data) {
  PickleWriter writer;
  writer.raw("}")
      .text("a")
      .global("numpy.core.multiarray", "_reconstruct")
      .raw("(")
      .global("numpy", "ndarray")
      .raw("(K")
      .raw({"\0", 1})
      .raw(
          "tC\x01"
          "btR(K\x01");
  writer.integers(shape);
  dtype(writer, code, order).raw(fortran ? "\x88" : "\x89").raw(data);
  return writer.raw("tbs").done();
}

std::string bytes(const std::string& data) { return "C" + le(data.size(), 1) + data; }

}  // namespace

TEST_CASE("an array of plain numbers is a tensor whose data stays in the pickle") {
  const std::string data = le(1, 4) + le(2, 4) + le(3, 4) + le(4, 4) + le(5, 4) + le(6, 4);
  const Checkpoint checkpoint = read(array("i4", "<", {2, 3}, false, bytes(data)));
  CHECK(checkpoint.container == "pickle");
  CHECK(checkpoint.tensors.at(0).name == "a");
  CHECK(checkpoint.tensors[0].dtype == DType::i32);
  CHECK(checkpoint.tensors[0].shape == Shape{2, 3});
  CHECK(support::gathered(checkpoint.tensors[0]) == data);
  CHECK(checkpoint.globals.empty());
}

TEST_CASE("Fortran order and big-endian elements are seen through the view") {
  const std::string columns = le(1, 4) + le(4, 4) + le(2, 4) + le(5, 4) + le(3, 4) + le(6, 4);
  const std::string rows = le(1, 4) + le(2, 4) + le(3, 4) + le(4, 4) + le(5, 4) + le(6, 4);
  CHECK(support::gathered(read(array("i4", "<", {2, 3}, true, bytes(columns))).tensors.at(0)) == rows);
  const Tensor big = read(array("i2", ">", {2}, false, bytes(std::string("\0\1\0\2", 4)))).tensors.at(0);
  CHECK(big.view.big_endian);
  CHECK(support::gathered(big) == le(1, 2) + le(2, 2));
}

TEST_CASE("protocol 2 hides the bytes in Latin-1 text") {
  PickleWriter encoded;
  encoded.global("_codecs", "encode")
      .raw("(")
      .text(
          "\xc3\xbf"
          "a")
      .text("latin1")
      .raw("tR");
  const std::string opcodes = encoded.done();
  const Checkpoint checkpoint = read(array("u1", "|", {2}, false, opcodes.substr(2, opcodes.size() - 3)));
  CHECK(support::gathered(checkpoint.tensors.at(0)) ==
        "\xff"
        "a");
}

TEST_CASE("arrays of one text share the bytes that it hides") {
  PickleWriter writer;
  writer.raw("}(").text("a").global("numpy._core.numeric", "_frombuffer").raw("(");
  writer.global("_codecs", "encode").raw("(").text("ab").text("latin1").raw("tRq\x01");
  dtype(writer, "u1", "|").integers({2}).text("C").raw("tR");
  writer.text("b").global("numpy._core.numeric", "_frombuffer").raw("(h\x01");
  dtype(writer, "u1", "|").integers({2}).text("C").raw("tRu");
  const Checkpoint checkpoint = read(writer.done());
  CHECK(support::gathered(checkpoint.tensors.at(1)) == "ab");
  CHECK(checkpoint.tensors[0].view.source == checkpoint.tensors[1].view.source);
}

TEST_CASE("protocol 5 arrays come from a buffer") {
  PickleWriter writer;
  writer.raw("}")
      .text("a")
      .global("numpy._core.numeric", "_frombuffer")
      .raw("(\x96")
      .raw(le(4, 8))
      .raw("abcd");
  dtype(writer, "u2", "<").integers({2}).text("C").raw("tRs");
  CHECK(support::gathered(read(writer.done()).tensors.at(0)) == "abcd");
}

TEST_CASE("arrays of strings and objects are told in a line") {
  CHECK(*read(array("U2", "<", {1}, false, bytes("a\0\0\0b\0\0\0"))).values.find("a") ==
        Value("numpy array of <U2, shape [1]"));
  CHECK(*read(array("O8", "|", {3}, false, "](K\x01NNe")).values.find("a") ==
        Value("numpy array of |O8, shape [3]"));
}

TEST_CASE("an array whose data has another length is an error that names it") {
  CHECK_THAT(support::error_of(array("i4", "<", {2}, false, bytes("abcd"))),
             Contains("tensor `a`") && Contains("4 bytes"));
}

TEST_CASE("scalars are values") {
  const auto scalar = [](std::string_view code, std::string_view order, const std::string& data) {
    PickleWriter writer;
    writer.raw("}").text("s").global("numpy.core.multiarray", "scalar").raw("(");
    dtype(writer, code, order).raw(bytes(data)).raw("tRs");
    return *read(writer.done()).values.find("s");
  };
  CHECK(scalar("f8", "<", std::string("\0\0\0\0\0\0\xf8\x3f", 8)) == Value(1.5));
  CHECK(scalar("f8", ">", std::string("\x3f\xf8\0\0\0\0\0\0", 8)) == Value(1.5));
  CHECK(scalar("f2", "<", std::string("\x00\xbe", 2)) == Value(-1.5));
  CHECK(scalar("i8", "<", le(7, 8)) == Value(std::int64_t{7}));
  CHECK(scalar("u8", "<", le(UINT64_MAX, 8)) == Value(UINT64_MAX));
  CHECK(scalar("b1", "|", "\x01") == Value(true));
}
