#include "ckpt/formats/burnpack/burnpack.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>

#include "ckpt/codec/cbor.hpp"
#include "ckpt/core/limits.hpp"
#include "support/emit.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/hex.hpp"

using namespace ckpt;
using Catch::Contains;
using test::error_of;
using test::from_hex;
using test::message_of;

namespace {

using Blob = std::vector<std::byte>;

// A burnpack with this metadata, `padding` zeros and `data` bytes of data.
Blob file(const Blob& metadata, std::size_t padding, std::size_t data, unsigned version = 1) {
  Blob out = from_hex("\"NRUB\"");
  out.push_back(static_cast<std::byte>(version));
  out.push_back(std::byte{0});
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>(metadata.size() >> (8 * i)));
  out.insert(out.end(), metadata.begin(), metadata.end());
  out.resize(out.size() + padding);
  for (std::size_t i = 0; i < data; ++i) out.push_back(static_cast<std::byte>(i + 1));
  return out;
}

// The same with the padding of today.
Blob padded(const std::string& metadata, std::size_t data) {
  const Blob blob = from_hex(metadata);
  return file(blob, 256 - (10 + blob.size()) % 256, data);
}

// The CBOR of a descriptor without param id, in hexadecimal digits and quoted text; the numbers are
// items themselves ("18 30").
std::string descriptor(const std::string& name, const std::string& dtype, const std::string& shape,
                       const std::string& range) {
  return fmt::format("{:02x} \"{}\" A3 65\"dtype\" {} 65\"shape\" {} 6C\"data_offsets\" {} ",
                     0x60 + name.size(), name, dtype, shape, range);
}

const std::string one = "A1 67\"tensors\" A1 ";
const std::string w48 = descriptor("w", "63\"F32\"", "82 04 03", "82 00 18 30");

std::string refusal(const std::string& metadata, std::size_t data) {
  return message_of([&] { test::read(padded(metadata, data)); });
}

Blob written(const Checkpoint& checkpoint) { return test::emit(plan_burnpack(checkpoint), checkpoint); }

Tensor tensor(std::string name, DType dtype, Shape shape) {
  Tensor out;
  out.name = std::move(name);
  out.dtype = dtype;
  out.shape = std::move(shape);
  const std::uint64_t bytes = byte_count(out.shape, dtype).value();
  out.view = View{.source = memory_bytes(std::string(bytes, '\1')), .bytes = bytes, .stored = dtype};
  return out;
}

Checkpoint of(Tensor tensor) {
  Checkpoint checkpoint;
  checkpoint.tensors.push_back(std::move(tensor));
  return checkpoint;
}

std::vector<std::string> names(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (const Tensor& tensor : checkpoint.tensors) out.push_back(tensor.name);
  return out;
}

}  // namespace

TEST_CASE("a net of three tensors is laid out in 792 bytes, 210 of them metadata") {
  Checkpoint net;
  net.tensors = {tensor("fc.weight", DType::f32, {4, 3}), tensor("fc.bias", DType::f32, {3}),
                 tensor("head.weight", DType::f32, {3, 2})};
  net.tensors[0].param_id = 14101554053607715927U;
  net.tensors[1].param_id = 14755144371902836595U;
  net.tensors[2].param_id = 3222552515581354512U;
  const Blob out = written(net);
  CHECK(out.size() == 792);
  const Blob start = from_hex(
      "4E525542 0100 D2000000 A1 67\"tensors\" A3 67\"fc.bias\" A4 65\"dtype\" 63\"F32\" 65\"shape\" 8103"
      "6C\"data_offsets\" 82 190100 19010C 68\"param_id\" 1B CCC4CDA9C5CF5F73");
  const std::size_t known = start.size() - 8;  // up to the id of fc.bias, which is checked below
  CHECK(Blob(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(known)) ==
        Blob(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(known)));

  const Checkpoint again = test::read(out);
  CHECK(names(again) == std::vector<std::string>{"fc.weight", "fc.bias", "head.weight"});
  CHECK(again.tensors[0].view.offset == 256);
  CHECK(again.tensors[1].view.offset == 512);
  CHECK(again.tensors[2].view.offset == 768);
  for (std::size_t i = 0; i < 3; ++i) CHECK(again.tensors[i].param_id == net.tensors[i].param_id);
  CHECK(again.container.empty());
  CHECK(again.notes.empty());
}

// burn's own files, and one by cbor2 in their image.
TEST_CASE("what burn wrote is written again byte for byte") {
  for (const std::string name :
       {"net", "combined", "order_reversed", "param_id_widths", "qfloat_blocks", "qfloat_scales",
        "names_unicode", "shape_widths", "empty_only", "no_tensors", "exact_256", "optim_adam"}) {
    INFO(name);
    const Blob golden = test::load("burnpack/" + name + ".bpk");
    const Checkpoint checkpoint = test::read(golden);
    CHECK(checkpoint.format == "burnpack");
    CHECK(checkpoint.notes.empty());
    CHECK(written(checkpoint) == golden);
  }
}

TEST_CASE("tensors come in the order of their data") {
  CHECK(names(test::read(test::load("burnpack/order_reversed.bpk"))) ==
        std::vector<std::string>{"zzz", "yyy", "xxx", "ccc", "bbb", "aaa"});
}

TEST_CASE("metadata, scalars of four kinds and quantisation are read") {
  const Checkpoint checkpoint = test::read(test::load("burnpack/combined.bpk"));
  CHECK(checkpoint.metadata.at("producer") == "golden");
  CHECK(checkpoint.scalars.at("delta") == Scalar(std::int64_t{-1}));
  CHECK(checkpoint.scalars.at("done") == Scalar(false));
  CHECK(checkpoint.scalars.at("epoch") == Scalar(std::uint64_t{3}));
  CHECK(checkpoint.scalars.at("lr") == Scalar(0.05));
  CHECK(checkpoint.tensors[1].dtype == DType::boolean);
  const Tensor& q = checkpoint.tensors.back();
  CHECK(q.dtype == DType::qfloat);
  CHECK(q.quantization == "value=Q8S store=Native mode=Symmetric tensor=none block=F32[4]");
}

TEST_CASE("burn 0.19 put the data right behind the metadata") {
  const Checkpoint net = test::read(test::load("burnpack/v019_net3.bpk"));
  CHECK(net.container == "0.19");
  REQUIRE(net.notes.size() == 1);
  CHECK_THAT(net.notes[0], Contains("burn 0.19 layout"));
  REQUIRE(names(net) == std::vector<std::string>{"fc.weight", "fc.bias", "head.weight"});
  CHECK(net.tensors[0].view.offset == 300 - 84);
  CHECK(net.tensors[2].view.offset == 300 - 24);
  CHECK(written(net).size() == 792);
  CHECK(test::read(test::load("burnpack/v019_dtypes.bpk")).tensors.size() == 13);
}

TEST_CASE("a file of burn 0.19 is not taken for a newer one that was cut, nor the reverse") {
  const Blob metadata = from_hex(one + w48);
  const std::size_t padding = 256 - (10 + metadata.size());
  CHECK(test::read(file(metadata, 0, 48)).container == "0.19");
  CHECK(test::read(file(metadata, padding, 48)).container.empty());
  // As long as a file of 0.19, but all that is there is padding.
  Blob cut = file(metadata, padding, 48);
  cut.resize(10 + metadata.size() + 48);
  CHECK_THAT(message_of([&] { test::read(cut); }), Contains("bytes are missing"));
}

TEST_CASE("booleans and quantised types are read as older versions of burn spelled them") {
  const Checkpoint booleans = test::read(test::load("burnpack/v020_bool.bpk"));
  CHECK(booleans.tensors[0].name == "mask");
  CHECK(booleans.tensors[0].dtype == DType::boolean);
  const Checkpoint blocks = test::read(test::load("burnpack/v020_qfloat_block.bpk"));
  CHECK(blocks.tensors[0].quantization == "value=Q8S store=Native mode=Symmetric tensor=none block=F16[32]");
}

TEST_CASE("a burnpack that was cut or goes on is told by exact numbers") {
  CHECK_THAT(refusal(one + w48, 47),
             Contains("the file has 303 bytes, its metadata describes 304") && Contains("1 byte is missing"));
  const Checkpoint longer = test::read(padded(one + w48, 50));
  REQUIRE(longer.hidden.size() == 1);
  CHECK_THAT(longer.hidden[0], Contains("2 trailing bytes") && Contains("304"));
}

TEST_CASE("the header is checked field by field") {
  const Blob metadata = from_hex(one + w48);
  CHECK_NOTHROW(test::read(file(metadata, 256 - 10 - metadata.size(), 48, 0)));
  CHECK(error_of([&] { test::read(file(metadata, 256 - 10 - metadata.size(), 48, 2)); }).kind() ==
        ErrorKind::unsupported);
  CHECK_THAT(message_of([] { test::read(from_hex("\"NRUB\" 0100 FFFFFFFF")); }),
             Contains("burn reads up to 104857600"));
  CHECK_THAT(message_of([] { test::read(from_hex("\"NRUB\" 0100 05000000 A1")); }),
             Contains("4 bytes are missing"));
  CHECK_THAT(message_of([] { test::read(from_hex("\"NRUB\" 01")); }), Contains("header of 10 bytes"));
  CHECK_THAT(message_of([] { test::read(from_hex("\"BURN\" 0100 01000000 A0"), "x.bpk"); }),
             Contains("NRUB"));
}

TEST_CASE("sizes, shapes and ranges must agree") {
  const auto with = [](const char* dtype, const char* shape, const char* range) {
    return refusal(one + descriptor("w", dtype, shape, range), 96);
  };
  CHECK_THAT(with("63\"F32\"", "82 04 04", "82 00 18 30"), Contains("needs 64 bytes") && Contains("hold 48"));
  CHECK_THAT(with("63\"F32\"", "81 0C", "82 18 30 00"), Contains("before they begin"));
  CHECK_THAT(with("63\"F32\"", "82 1B4000000000000000 04", "82 00 00"),
             Contains("more bytes than can be counted"));
  CHECK_THAT(with("A1 64\"Bool\" 63\"U32\"", "81 0C", "82 00 0C"), Contains("needs 48 bytes"));
  CHECK_THAT(
      with("A1 66\"QFloat\" A3 65\"value\" 63\"Q8S\" 65\"store\" 66\"Native\" 64\"mode\" 69\"Symmetric\"",
           "81 0C", "82 00 0C"),
      Contains("needs at least 16 bytes"));
}

TEST_CASE("tensors that overlap are refused with both names") {
  const std::string two = "A1 67\"tensors\" A2 " + descriptor("a", "62\"U8\"", "81 18 30", "82 00 18 30") +
                          descriptor("b", "62\"U8\"", "81 18 30", "82 18 2F 18 5F");
  CHECK_THAT(refusal(two, 95),
             Contains("\"b\" (data bytes 47 to 95) overlaps tensor \"a\" (data bytes 0 to 48)"));
  // An empty one covers nothing.
  const std::string empty = "A1 67\"tensors\" A2 " + descriptor("a", "62\"U8\"", "81 00", "82 04 04") +
                            descriptor("b", "62\"U8\"", "81 18 30", "82 00 18 30");
  CHECK_NOTHROW(test::read(padded(empty, 48)));
}

TEST_CASE("what burn takes is taken: unknown keys, any order, tags, null ids, ends instead of counts") {
  CHECK_NOTHROW(test::read(padded("A2 61\"x\" 82 A0 F7 67\"tensors\" A1 " + w48, 48)));
  CHECK_NOTHROW(test::read(padded("D9D9F7 BF 67\"tensors\" BF " + w48 + "FF FF", 48)));
  const Checkpoint other =
      test::read(padded("A1 67\"tensors\" A1 7F 61\"w\" 61\"2\" FF A4 68\"param_id\" F6 6C\"data_offsets\" "
                        "82 00 1B0000000000000030 45\"shape\" 42 0403 65\"dtype\" C1 63\"F32\"",
                        48));
  CHECK(other.tensors[0].name == "w2");
  CHECK(other.tensors[0].shape == Shape{4, 3});
  CHECK_FALSE(other.tensors[0].param_id);
}

TEST_CASE("names, keys and fields that stand twice are refused") {
  CHECK_THAT(refusal("A1 67\"tensors\" A2 " + w48 + w48, 48), Contains("tensor \"w\" stands twice"));
  CHECK_THAT(refusal("A2 67\"tensors\" A1 " + w48 + "67\"tensors\" A0", 48), Contains("\"tensors\" twice"));
  CHECK_THAT(refusal(one + "61\"w\" A4 65\"dtype\" 63\"F32\" 65\"dtype\" 63\"F32\" 65\"shape\" 80 "
                           "6C\"data_offsets\" 82 00 04",
                     4),
             Contains("\"dtype\" twice"));
  CHECK_THAT(refusal("A2 67\"tensors\" A0 68\"metadata\" A2 61\"k\" 61\"a\" 61\"k\" 61\"b\"", 0),
             Contains("\"k\" stands twice"));
  CHECK_THAT(
      refusal("A2 67\"tensors\" A0 67\"scalars\" A2 61\"k\" A1 64\"Bool\" F4 61\"k\" A1 64\"Bool\" F4", 0),
      Contains("\"k\" stands twice"));
}

TEST_CASE("what burn refuses in its metadata is refused, with the offset") {
  const auto scalar = [](const std::string& value) {
    return "A2 67\"tensors\" A0 67\"scalars\" A1 61\"s\" " + value;
  };
  CHECK_NOTHROW(test::read(padded(scalar("A1 65\"Float\" F93C00"), 0)));
  for (const std::string& value :
       {scalar("A1 65\"Float\" 01"), scalar("A1 63\"Int\" F93C00"), scalar("A1 64\"Bool\" 01"),
        scalar("A1 64\"UInt\" 20"), scalar("A1 63\"Str\" 61\"x\""), scalar("A2 63\"Int\" 01 64\"UInt\" 01"),
        std::string("A0"), std::string("80"), std::string("A1 67\"tensors\" F6"),
        std::string("A1 67\"tensors\" A1 41\"w\" A0"), one + "61\"w\" 80",
        one + descriptor("w", "A1 63\"F32\" F6", "80", "82 00 04"),
        one + descriptor("w", "63\"F31\"", "80", "82 00 04"),
        one + descriptor("w", "63\"F32\"", "80", "83 00 04 04"),
        one + descriptor("w", "63\"F32\"", "80", "82 00 F94400"),
        one + descriptor("w", "66\"QFloat\"", "80", "82 00 04")}) {
    INFO(value);
    CHECK_THAT(refusal(value, 4), Contains("offset"));
  }
}

TEST_CASE("of what is refused in the metadata the error names the trouble") {
  const auto scalar = [](const std::string& value) {
    return refusal("A2 67\"tensors\" A0 67\"scalars\" A1 61\"s\" " + value, 0);
  };
  CHECK_THAT(scalar("A1 63\"Str\" 61\"x\""), Contains("offset 31: burn knows no scalar of kind \"Str\""));
  CHECK_THAT(scalar("A0"), Contains("burn knows no scalar of kind \"\""));
  CHECK_THAT(scalar("A2 63\"Int\" 01 64\"UInt\" 01"), Contains("a scalar names two kinds"));
  CHECK_THAT(scalar("A1 63\"Int\" 1B8000000000000000"), Contains("an Int is beyond 64 bits"));
  const auto dtype = [](const std::string& of) {
    return refusal(one + descriptor("w", of, "80", "82 00 04"), 4);
  };
  CHECK_THAT(dtype("63\"F31\""), Contains("tensor \"w\": CBOR at offset 29: burn knows no dtype \"F31\""));
  CHECK_THAT(dtype("66\"QFloat\""), Contains("burn knows no dtype \"QFloat\""));
  CHECK_THAT(dtype("A1 63\"F32\" F6"), Contains("burn knows no dtype {\"F32\": …}"));
  CHECK_THAT(dtype("A0"), Contains("burn knows no dtype {\"\": …}"));
  CHECK_THAT(dtype("A1 64\"Bool\" 62\"U4\""), Contains("offset 35: burn knows no store \"U4\" of booleans"));
  CHECK_THAT(dtype("A2 64\"Bool\" 62\"U8\" 63\"F32\" F6"), Contains("dtype names two types"));
  CHECK_THAT(refusal(one + descriptor("w", "63\"F32\"", "80", "83 00 04 04"), 4),
             Contains("data_offsets has 3 numbers instead of two"));
  CHECK_THAT(refusal(one + "61\"w\" A2 65\"dtype\" 63\"F32\" 65\"shape\" 80", 4),
             Contains("the descriptor has no field \"data_offsets\""));
  CHECK_THAT(refusal("A0", 0), Contains("offset 10: the metadata has no field \"tensors\""));
}

TEST_CASE("numbers of a burnpack that no file can hold are refused") {
  CHECK_THAT(
      refusal(one + descriptor("w", "62\"U8\"", "81 08", "82 1BFFFFFFFFFFFFFFF0 1BFFFFFFFFFFFFFFF8"), 8),
      Contains("beyond 2^64 bytes"));
  const std::string quantized =
      "A1 66\"QFloat\" A3 65\"value\" 63\"Q8S\" 65\"store\" 66\"Native\" 64\"mode\" 69\"Symmetric\"";
  CHECK_THAT(refusal(one + descriptor("w", quantized, "82 1B4000000000000000 04", "82 00 00"), 0),
             Contains("more elements than can be counted"));
}

TEST_CASE("a spelling of burn 0.19 in a layout that it never wrote is refused") {
  const std::string u32 =
      "A1 66\"QFloat\" A3 65\"value\" 63\"Q8S\" 65\"store\" 63\"U32\" 64\"mode\" 69\"Symmetric\"";
  const std::string metadata = one + descriptor("w", u32, "81 04", "82 00 08");
  CHECK_THAT(refusal(metadata, 8), Contains("as only burn 0.19 did"));
  CHECK(test::read(file(from_hex(metadata), 0, 8)).container == "0.19");
}

TEST_CASE("what burn would not open is told in notes") {
  // Ten gigabytes and one byte, of which little is there: a stream has no end.
  const std::string large = descriptor("w", "62\"U8\"", "81 1B0000000280000001", "82 00 1B0000000280000001");
  const auto stream = std::make_shared<test::StreamBytes>(padded(one + large, 512));
  const Checkpoint checkpoint = read_checkpoint(MemoryInput("-", stream));
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("burn itself refuses tensor \"w\": it has more than 10737418240"));
  const std::string huge = descriptor("w", "62\"U8\"", "81 1B0000001900000001", "82 00 1B0000001900000001");
  const auto longer = std::make_shared<test::StreamBytes>(padded(one + huge, 512));
  const Checkpoint larger = read_checkpoint(MemoryInput("-", longer));
  REQUIRE(larger.notes.size() == 2);
  CHECK_THAT(larger.notes[0], Contains("burn itself refuses files of more than 107374182400 bytes"));
}

TEST_CASE("tensors that do not begin where burn puts them, and bytes behind the metadata, are told") {
  const std::string two = "A1 67\"tensors\" A2 " + descriptor("a", "62\"U8\"", "81 04", "82 00 04") +
                          descriptor("b", "62\"U8\"", "81 04", "82 05 09");
  const Checkpoint checkpoint = test::read(padded(two, 9));
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("tensor \"b\" begins at data offset 5"));
  const Checkpoint followed = test::read(padded(one + w48 + "00 00", 48));
  REQUIRE(followed.notes.size() == 1);
  CHECK_THAT(followed.notes[0], Contains("2 bytes at offset 59 follow the metadata"));
}

TEST_CASE("a burnpack in a stream is listed in the layout that its offsets tell") {
  for (const char* name : {"burnpack/net.bpk", "burnpack/v019_dtypes.bpk"}) {
    const Blob bytes = test::load(name);
    const Checkpoint from_file = test::read(bytes);
    const Checkpoint from_stream =
        read_checkpoint(MemoryInput("-", std::make_shared<test::StreamBytes>(bytes)));
    CHECK(from_stream.container == from_file.container);
    CHECK(from_stream.tensors[1].view.offset == from_file.tensors[1].view.offset);
    CHECK(from_stream.size == bytes.size());
  }
  // One tensor and no size: the padding that is not there shows that it cannot be told.
  const auto ambiguous = std::make_shared<test::StreamBytes>(file(from_hex(one + w48), 0, 1000));
  CHECK(error_of([&] { read_checkpoint(MemoryInput("-", ambiguous)); }).kind() == ErrorKind::unsupported);
}

TEST_CASE("an empty tensor takes a place of its own at the next multiple of 256") {
  Checkpoint checkpoint;
  checkpoint.tensors = {tensor("a", DType::u8, {1}), tensor("empty", DType::f32, {0, 3})};
  const Blob out = written(checkpoint);
  CHECK(out.size() == 512);
  const Checkpoint again = test::read(out);
  CHECK(again.tensors[1].view.offset == 512);
  CHECK(again.tensors[1].view.bytes == 0);
}

TEST_CASE("what burn has no type for, or would not read back, is refused with the tensor's name") {
  for (const DType dtype :
       {DType::c64, DType::c128, DType::f8_e4m3, DType::f8_e5m2, DType::f6_e2m3, DType::f4}) {
    CHECK_FALSE(burnpack_holds(dtype));
    const Error error = error_of([&] { plan_burnpack(of(tensor("spectrum", dtype, {8}))); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK_THAT(error.message(), Contains("tensor \"spectrum\"") && Contains(std::string(name(dtype))));
    CHECK_FALSE(error.hint().empty());
  }
  CHECK(error_of([] { plan_burnpack(of(tensor("\xFF", DType::f32, {}))); }).kind() == ErrorKind::refused);
  CHECK(error_of([] { plan_burnpack(of(tensor("q", DType::qfloat, {4}))); }).kind() == ErrorKind::refused);
  Checkpoint many;
  many.tensors.resize(limits::burnpack_tensors + 1);
  CHECK_THAT(message_of([&] { plan_burnpack(many); }), Contains("100001 tensors"));
  Tensor large = tensor("large", DType::u8, {0});
  large.shape = {limits::burnpack_tensor + 1};
  large.view.bytes = limits::burnpack_tensor + 1;
  CHECK_THAT(message_of([&] { plan_burnpack(of(large)); }), Contains("tensor \"large\""));
}

TEST_CASE("booleans of every store are written as burn spells them") {
  for (const auto& [dtype, store] : std::vector<std::pair<DType, std::string>>{
           {DType::boolean, "66\"Native\""}, {DType::bool_u8, "62\"U8\""}, {DType::bool_u32, "63\"U32\""}}) {
    const Blob out = written(of(tensor("m", dtype, {2})));
    const Blob due = from_hex("61\"m\" A3 65\"dtype\" A1 64\"Bool\" " + store + " 65\"shape\" 81 02");
    CHECK(std::search(out.begin(), out.end(), due.begin(), due.end()) != out.end());
    CHECK(test::read(out).tensors.at(0).dtype == dtype);
  }
}

TEST_CASE("a file beyond what burn opens is not planned") {
  Checkpoint checkpoint;
  for (int i = 0; i < 11; ++i) {
    Tensor& large = checkpoint.tensors.emplace_back(tensor(std::to_string(i), DType::u8, {0}));
    large.shape = {limits::burnpack_tensor};
    large.view.bytes = limits::burnpack_tensor;
  }
  CHECK_THAT(message_of([&] { plan_burnpack(checkpoint); }), Contains("more than the 107374182400 bytes"));
  checkpoint.tensors.pop_back();
  CHECK_THAT(message_of([&] { plan_burnpack(checkpoint); }), Contains("more than the 107374182400 bytes"));
  checkpoint.tensors.pop_back();
  CHECK(plan_burnpack(checkpoint).size > 9 * limits::burnpack_tensor);
}

TEST_CASE("a burnpack shape has as many dimensions as are allowed, and no more") {
  const auto ones = [](std::size_t count) {
    std::string items = fmt::format("99 {:04x}", count);
    for (std::size_t i = 0; i < count; ++i) items += " 01";
    return one + descriptor("w", "62\"U8\"", items, "82 00 01");
  };
  CHECK(test::read(padded(ones(limits::dimensions), 1)).tensors.front().shape.size() == limits::dimensions);
  CHECK_THAT(refusal(ones(limits::dimensions + 1), 1), Contains("the shape has more than 4096 dimensions"));
}
