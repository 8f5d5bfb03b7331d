#include "ckpt/formats/pytorch/numpy.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
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

TEST_CASE("scalars of every number type are values, others are not") {
  const auto scalar = [](std::string_view code, const std::string& data) {
    PickleWriter writer;
    writer.raw("}").text("s").global("numpy.core.multiarray", "scalar").raw("(");
    dtype(writer, code, "<").raw(bytes(data)).raw("tRs");
    return *read(writer.done()).values.find("s");
  };
  const std::string minus_two = le(static_cast<std::uint64_t>(-2), 8);
  CHECK(scalar("f4", floats({-2.5F})) == Value(-2.5));
  CHECK(scalar("i4", minus_two.substr(0, 4)) == Value(std::int64_t{-2}));
  CHECK(scalar("i2", minus_two.substr(0, 2)) == Value(std::int64_t{-2}));
  CHECK(scalar("i1", minus_two.substr(0, 1)) == Value(std::int64_t{-2}));
  CHECK(scalar("u4", minus_two.substr(0, 4)) == Value(std::int64_t{4294967294}));
  CHECK(scalar("u2", minus_two.substr(0, 2)) == Value(std::int64_t{65534}));
  CHECK(scalar("u1", minus_two.substr(0, 1)) == Value(std::int64_t{254}));
  CHECK(scalar("?", std::string(1, '\0')) == Value(false));
  // IEEE 754: the least subnormal half is 2^-24, 0x0400 the least normal one, 0x7C00 is infinity.
  CHECK(scalar("f2", le(0x0001, 2)) == Value(0x1p-24));
  CHECK(scalar("f2", le(0x8400, 2)) == Value(-0x1p-14));
  CHECK(scalar("f2", le(0xFC00, 2)) == Value(-HUGE_VAL));
  CHECK(std::isnan(*scalar("f2", le(0x7C01, 2)).as<double>()));
  for (const Value& opaque : {scalar("c8", le(0, 8)), scalar("M8", le(0, 8)), scalar("f8", le(0, 4))})
    CHECK(opaque.find("class") != nullptr);
}

TEST_CASE("a scalar or array whose parts are not what NumPy writes is told, not misread") {
  const auto opaque = [](PickleWriter& writer) {
    return read(writer.raw("s").done()).values.find("s")->find("class") != nullptr;
  };
  PickleWriter no_data;
  no_data.raw("}").text("s").global("numpy.core.multiarray", "scalar").raw("(");
  CHECK(opaque(dtype(no_data, "f8", "<").raw("tR")));
  PickleWriter no_type;
  CHECK(opaque(no_type.raw("}")
                   .text("s")
                   .global("numpy.core.multiarray", "scalar")
                   .raw("(N")
                   .raw(bytes("x"))
                   .raw("tR")));

  const auto error = [](PickleWriter& writer) { return support::error_of(writer.raw("s").done()); };
  const auto reconstruct = [](PickleWriter& writer) -> PickleWriter& {
    return writer.raw("}").text("a").global("numpy.core.multiarray", "_reconstruct").raw(")R");
  };
  PickleWriter bare;
  CHECK_THAT(error(reconstruct(bare)), Contains("a numpy array without its data"));
  PickleWriter three;
  CHECK_THAT(error(reconstruct(three).raw("NNN\x87"
                                          "b")),
             Contains("whose state has 3 parts instead of 5"));
  PickleWriter few;
  CHECK_THAT(error(few.raw("}").text("a").global("numpy._core.numeric", "_frombuffer").raw("NN\x86R")),
             Contains("_frombuffer with 2 arguments instead of 4"));
  CHECK_THAT(support::error_of(array("i4", "<", {-1}, false, bytes("abcd"))),
             Contains("a numpy array whose shape is"));
  CHECK_THAT(support::error_of(array("i4", "<", {1}, false, "K\x01")), Contains("not bytes"));
  CHECK_THAT(support::error_of(array("i8", "<", {INT64_MAX, 4}, false, bytes("abcd"))), Contains("4 bytes"));
}

TEST_CASE("shapes of one number, states without a version and codes with an order of their own are read") {
  PickleWriter writer;
  writer.raw("}").text("a").global("numpy._core.numeric", "_frombuffer").raw("(C\x02\x01\x02");
  writer.global("numpy", "dtype").raw("(").text(">i2").raw("tRK\x01").text("C").raw("tRs");
  const Tensor tensor = read(writer.done()).tensors.at(0);
  CHECK(tensor.shape == Shape{1});
  CHECK(support::gathered(tensor) == "\x02\x01");

  PickleWriter cut;  // a state of two items, the second the order
  cut.raw("}").text("a").global("numpy._core.numeric", "_frombuffer").raw("(C\x02\x01\x02");
  cut.global("numpy", "dtype")
      .raw("(")
      .text("i2")
      .raw("tR(K\x03")
      .text(">")
      .raw("tbK\x01")
      .text("C")
      .raw("tRs");
  CHECK(support::gathered(read(cut.done()).tensors.at(0)) == "\x02\x01");

  PickleWriter old;  // (shape, dtype, fortran, bytes), before NumPy numbered its states
  old.raw("}").text("a").global("numpy.core.multiarray", "_reconstruct").raw(")R(").integers({2});
  dtype(old, "u1", "|").raw("\x89").raw(bytes("ab")).raw("tbs");
  CHECK(support::gathered(read(old.done()).tensors.at(0)) == "ab");
}

TEST_CASE("bytes are found in every way that Python 2 and 3 pickle them") {
  const auto made = [](const std::string& data) {
    const Checkpoint checkpoint = read(array("u1", "|", {2}, false, data));
    return support::gathered(checkpoint.tensors.at(0));
  };
  const auto call = [](std::string_view name, const std::string& args) {
    PickleWriter writer;
    const std::string all = writer.global("__builtin__", name).raw("(").raw(args).raw("tR").done();
    return all.substr(2, all.size() - 3);
  };
  CHECK(made("U\x02"
             "ab") == "ab");  // a string of Python 2
  CHECK(made("S'ab'\n") == "ab");
  CHECK(made(call("bytearray", bytes("ab"))) == "ab");
  CHECK(made(call("bytearray", "X" + le(2, 4) + "abX" + le(7, 4) + "latin-1")) == "ab");
  CHECK_THAT(support::error_of(array("u1", "|", {2}, false, call("bytearray", ""))),
             Contains("holds 0 bytes"));
  CHECK_THAT(support::error_of(array("u1", "|", {2}, false, call("bytearray", "K\x02"))),
             Contains("not bytes"));
  // Text that Latin-1 cannot hold.
  CHECK_THAT(
      support::error_of(array("u1", "|", {2}, false, call("bytearray", "X" + le(3, 4) + "\xe2\x82\xac"))),
      Contains("not bytes"));
}
