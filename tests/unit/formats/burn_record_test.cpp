#include "ckpt/formats/burn_record.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "ckpt/core/error.hpp"
#include "ckpt/core/param_id.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using test::message_of;
using namespace std::string_literals;

namespace {

/// MessagePack by hand: fixmaps, fixstrs, fixarrays, fixints and bin 8 are all that a small record needs.
std::string map(unsigned pairs) { return std::string(1, static_cast<char>(0x80U | pairs)); }
std::string array(unsigned members) { return std::string(1, static_cast<char>(0x90U | members)); }
std::string text(const std::string& value) { return static_cast<char>(0xA0U | value.size()) + value; }
std::string number(unsigned value) { return std::string(1, static_cast<char>(value)); }
std::string binary(const std::string& value) { return "\xC4"s + static_cast<char>(value.size()) + value; }
const std::string nil = "\xC0"s;

std::string tensor(const std::string& bytes, unsigned size, const std::string& dtype) {
  return map(3) + text("bytes") + binary(bytes) + text("shape") + array(1) + number(size) + text("dtype") +
         text(dtype);
}
std::string listed(const std::string& numbers, unsigned size) {
  return map(2) + text("value") + array(size) + numbers + text("shape") + array(1) + number(size);
}
std::string parameter(const std::string& id, const std::string& of) {
  return map(2) + text("id") + text(id) + text("param") + of;
}
std::string record(const std::string& item, const std::string& floats = "f32",
                   const std::string& integers = "i32") {
  return map(2) + text("metadata") + map(2) + text("float") + text(floats) + text("int") + text(integers) +
         text("item") + item;
}
std::string json_record(const std::string& item, const std::string& floats = "f32",
                        const std::string& integers = "i32") {
  return R"({"metadata":{"float":")" + floats + R"(","int":")" + integers +
         R"(","format":"burn_core::record::file::PrettyJsonFileRecorder"},"item":)" + item + "}";
}

Checkpoint read(const std::string& bytes) {
  return read_burn_record(MemoryInput("m.mpk", memory_bytes(bytes)));
}

/// The bytes of the only tensor.
template <typename T> std::vector<T> numbers(const std::string& bytes, DType dtype) {
  const Checkpoint checkpoint = read(bytes);
  REQUIRE(checkpoint.tensors.size() == 1);
  CHECK(checkpoint.tensors.front().dtype == dtype);
  return test::values_of<T>(test::gathered(checkpoint.tensors.front()));
}

bool recognised(const std::string& bytes) {
  return recognise_burn_record(as_bytes(bytes).first(std::min<std::size_t>(bytes.size(), 512)), bytes.size());
}

}  // namespace

TEST_CASE("a parameter keeps its path, type, shape and id") {
  const std::string bytes =
      record(map(1) + text("fc") + map(2) + text("weight") +
             parameter("avq43klip2pc6", tensor("\0\0\x80\x3f"s, 1, "F32")) + text("bias") + nil);
  REQUIRE(recognised(bytes));
  const Checkpoint checkpoint = read(bytes);
  CHECK(checkpoint.container == "mpk");
  REQUIRE(checkpoint.tensors.size() == 1);
  const Tensor& weight = checkpoint.tensors.front();
  CHECK(weight.name == "fc.weight");
  CHECK(weight.dtype == DType::f32);
  CHECK(weight.shape == Shape{1});
  CHECK(weight.param_id == 14101554053607715927U);
  std::array<std::byte, 4> element{};
  weight.view.source->read_at(weight.view.offset, element);
  CHECK(as_text(element) == "\0\0\x80\x3f"s);
  CHECK(checkpoint.metadata.at("float") == "f32");
}

TEST_CASE("one long key above many parameters or fields is no reason to repeat it without end") {
  const std::string key = "\xDB\0\x0F\x42\x40"s + std::string(1'000'000, 'k');  // str 32
  const std::string one = parameter("avq43klip2pc6", tensor("a", 1, "U8"));
  for (const std::string& leaf : {one, number(7)}) {
    std::string list = "\xDC\0\x64"s;  // array 16
    for (int i = 0; i < 100; ++i) list += leaf;
    CHECK_THROWS_WITH(read(record(map(1) + key + list)), Catch::Contains("far longer than the record"));
  }
}

TEST_CASE("lists are entered by position, plain fields become values") {
  const Checkpoint checkpoint =
      read(record(map(2) + text("layers") + array(2) + parameter("0000000000000", tensor("ab", 2, "U8")) +
                  parameter("0000000000000", tensor("c", 1, "I8")) + text("epsilon") + number(7)));
  REQUIRE(checkpoint.tensors.size() == 2);
  CHECK(checkpoint.tensors[1].name == "layers.1");
  CHECK(*checkpoint.values.find("epsilon") == Value(std::uint64_t{7}));
}

TEST_CASE("a list of numbers has the element type of the settings") {
  const Checkpoint checkpoint =
      read(record(map(1) + text("w") + map(2) + text("value") + array(2) + "\xCA\x3f\x80\0\0"s +
                  "\xCA\x40\0\0\0"s + text("shape") + array(1) + number(2)));
  REQUIRE(checkpoint.tensors.size() == 1);
  CHECK(checkpoint.tensors.front().dtype == DType::f32);
  std::array<std::byte, 8> elements{};
  checkpoint.tensors.front().view.source->read_at(0, elements);
  CHECK(as_text(elements) == "\0\0\x80\x3f\0\0\0\x40"s);
}

TEST_CASE("lists of numbers are read in every type that the settings may name") {
  const auto check = [](const std::string& items, unsigned size, const std::string& json,
                        const std::string& floats, const std::string& integers, DType dtype,
                        const auto& expected) {
    using T = typename std::decay_t<decltype(expected)>::value_type;
    CAPTURE(json, floats, integers);
    CHECK(numbers<T>(record(map(1) + text("w") + listed(items, size), floats, integers), dtype) == expected);
    const std::string tensor = R"({"w":{"value":)" + json + R"(,"shape":[)" + std::to_string(size) + R"(]}})";
    CHECK(numbers<T>(json_record(tensor, floats, integers), dtype) == expected);
  };
  const std::string halves = "\xCB\x3F\xE0\0\0\0\0\0\0"s + "\xCA\xBF\0\0\0"s;  // float 64, float 32
  check(halves, 2, "[0.5, -0.5]", "f64", "i32", DType::f64, std::vector<double>{0.5, -0.5});
  check(halves, 2, "[0.5, -0.5]", "f32", "i32", DType::f32, std::vector<float>{0.5F, -0.5F});
  check("\x7F\xFF"s, 2, "[127, -1]", "f32", "i8", DType::i8, std::vector<std::int8_t>{127, -1});
  check("\xCD\x7F\xFF\xFF"s, 2, "[32767, -1]", "f32", "i16", DType::i16,
        std::vector<std::int16_t>{32767, -1});
  check("\xCE\x7F\xFF\xFF\xFF\xFF"s, 2, "[2147483647, -1]", "f32", "i32", DType::i32,
        std::vector<std::int32_t>{2147483647, -1});
  // Both lie between two doubles.
  check("\xCF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xD3\xFF\xDF\xFF\xFF\xFF\xFF\xFF\xFF"s, 2,
        "[9223372036854775807, -9007199254740993]", "f32", "i64", DType::i64,
        std::vector<std::int64_t>{INT64_MAX, -9007199254740993});
  check("\xC3\xC2"s, 2, "[true, false]", "f32", "i32", DType::boolean, std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("a number that its type cannot hold is refused, not bent") {
  const auto refusal = [](const std::string& item, const std::string& integers, const std::string& json) {
    const std::string message = message_of([&] { read(record(map(1) + text("w") + item, "f32", integers)); });
    CHECK(message_of([&] { read(json_record(R"({"w":)" + json + "}", "f32", integers)); }) == message);
    return message;
  };
  CHECK(refusal(listed("\xCC\x80"s, 1), "i8", R"({"value":[128],"shape":[1]})") ==
        "tensor w: 128 is no number of I8");
  CHECK(refusal(listed("\xD1\xFF\x7F"s, 1), "i8", R"({"value":[-129],"shape":[1]})") ==
        "tensor w: -129 is no number of I8");
  CHECK(refusal(listed("\xC3\x02"s, 2), "i8", R"({"value":[true,2],"shape":[2]})") ==
        "tensor w: 2 is no number of BOOL");
}

TEST_CASE("lists of numbers of a type that burn wrote none of are refused") {
  const std::string one = map(1) + text("w") + listed("\xCA\x3F\x80\0\0"s, 1);
  CHECK(message_of([&] { read(record(one, "f16")); }) == "tensor w: a list of F16 numbers is not read");
}

TEST_CASE("a JSON record writes NaN as null, and a list of nothing else is still one of floats") {
  const std::vector<float> read_back =
      numbers<float>(json_record(R"({"w":{"value":[null,null],"shape":[2]}})"), DType::f32);
  REQUIRE(read_back.size() == 2);
  CHECK((std::isnan(read_back[0]) && std::isnan(read_back[1])));
}

TEST_CASE("plain fields of every kind become values, nothing does not") {
  const auto check = [](const Checkpoint& checkpoint) {
    CHECK(*checkpoint.values.find("flag") == Value(true));
    CHECK(*checkpoint.values.find("below") == Value(std::int64_t{-3}));
    CHECK(*checkpoint.values.find("rate") == Value(1.5));
    CHECK(*checkpoint.values.find("name") == Value("ada"));
    CHECK(checkpoint.values.find("none") == nullptr);
  };
  const Checkpoint packed =
      read(record(map(7) + text("flag") + "\xC3"s + text("below") + "\xFD"s + text("rate") +
                  "\xCB\x3F\xF8\0\0\0\0\0\0"s + text("name") + text("ada") + text("none") + nil +
                  text("blob") + binary("abc") + text("type") + "\xD4\x01\x02"s));
  check(packed);
  CHECK(*packed.values.find("blob") == Value("3 bytes"));
  CHECK(*packed.values.find("type") == Value("2 bytes"));
  check(read(json_record(R"({"flag":true,"below":-3,"rate":1.5,"name":"ada","none":null})")));
}

TEST_CASE("a struct of an id and something else is no parameter") {
  const Checkpoint checkpoint =
      read(record(map(2) + text("a") + map(2) + text("id") + number(4) + text("param") + number(5) +
                  text("b") + map(2) + text("id") + text("x") + text("size") + number(6)));
  CHECK(checkpoint.tensors.empty());
  CHECK(*checkpoint.values.find("a.id") == Value(std::uint64_t{4}));
  CHECK(*checkpoint.values.find("a.param") == Value(std::uint64_t{5}));
  CHECK(*checkpoint.values.find("b.size") == Value(std::uint64_t{6}));
}

TEST_CASE("ids that are not burn's are left out and counted") {
  const std::string bytes = record(map(2) + text("a") + parameter("no id", tensor("a", 1, "U8")) + text("b") +
                                   parameter("nor this", tensor("b", 1, "U8")));
  const Checkpoint checkpoint = read(bytes);
  CHECK_FALSE(checkpoint.tensors.at(0).param_id);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes.front(), Catch::Contains("2 parameter ids are not base 32 (no id)"));
}

TEST_CASE("burn's own names of types are known, others are named in the error") {
  const auto dtype = [](const std::string& name, const std::string& bytes) {
    return read(record(map(1) + text("w") + tensor(bytes, 1, name))).tensors.at(0).dtype;
  };
  CHECK(dtype("Bool", "a") == DType::boolean);
  CHECK(dtype("Flex32", "abcd") == DType::flex32);
  CHECK(dtype("BF16", "ab") == DType::bf16);
  CHECK_THAT(message_of([&] { dtype("F128", "a"); }), Catch::Contains("element type F128 is not known"));
  CHECK_THAT(message_of([&] { dtype("QFLOAT", "a"); }), Catch::Contains("element type QFLOAT is not known"));
}

TEST_CASE("what is wrong with a MessagePack record is named with its place") {
  const auto error = [](const std::string& bytes) { return message_of([&] { read(bytes); }); };
  const auto item = [&](const std::string& of) { return error(record(map(1) + text("w") + of)); };
  const std::string shape = text("shape") + array(1) + number(1);
  CHECK_THAT(error(map(2) + text("metadata") + map(0) + text("other") + array(2) + nil + map(1) + nil + nil),
             Catch::Contains("the record has no item"));
  CHECK_THAT(
      error(map(2) + text("metadata") + map(1) + text("a") + array(1) + nil + text("item") + nil + "xy"),
      Catch::Contains("2 bytes follow it"));
  CHECK_THAT(error(map(2) + text("metadata") + array(0)), Catch::Contains("metadata is not what"));
  CHECK_THAT(error(record(map(1) + number(1) + nil)), Catch::Contains("a field's name is no text"));
  CHECK_THAT(item(parameter("avq43klip2pc6", nil)), Catch::Contains("parameter w has no tensor"));
  CHECK_THAT(item(map(2) + text("bytes") + binary("a") + text("other") + nil),
             Catch::Contains("w is neither a tensor nor a struct"));
  CHECK_THAT(item(map(2) + shape + text("other") + nil), Catch::Contains("neither a tensor nor a struct"));
  CHECK_THAT(item(map(2) + text("bytes") + binary("a") + shape), Catch::Contains("tensor w has no dtype"));
  CHECK_THAT(item(map(2) + text("bytes") + array(1) + number(1) + shape),
             Catch::Contains("a list in place of its bytes"));
  CHECK_THAT(
      item(map(3) + text("dtype") + map(1) + text("QFloat") + nil + shape + text("bytes") + binary("a")),
      Catch::Contains("quantized records"));
  CHECK_THAT(item(listed(text("a"), 1)), Catch::Contains(R"(tensor w: "a" is no number)"));
  CHECK_THAT(item(map(2) + text("value") + array(1) + number(1) + text("shape") + array(1) + "\xFF"s),
             Catch::Contains("tensor w: a number of 0 or more is due, -1 is there"));
  CHECK_THAT(item(map(2) + text("shape") + "\xDC\x10\x01"s + std::string(4097, '\1') + text("value") + nil),
             Catch::Contains("tensor w has 4097 dimensions"));
  CHECK_THAT(item(map(3) + text("bytes") + binary("a") + text("dtype") + text("U8") + text("shape") +
                  array(2) + "\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"s),
             Catch::Contains("needs more than can be counted bytes, but 1 are there"));
  CHECK_THAT(item(map(2) + text("a.b") + tensor("a", 1, "U8") + text("a") + map(1) + text("b") +
                  tensor("a", 1, "U8")),
             Catch::Contains("two tensors are called w.a.b"));
}

TEST_CASE("what is wrong with a JSON record is named") {
  const auto error = [](const std::string& tensor) {
    return message_of([&] { read(json_record(R"({"w":)" + tensor + "}")); });
  };
  CHECK(message_of([] { read(R"({"metadata":{"format":"JsonGzFileRecorder"}})"); }) ==
        "the record has no item");
  CHECK(error(R"({"shape":[1],"bytes":"AA"})") == "tensor w: its data is no list");
  CHECK(error(R"({"shape":1,"bytes":[1],"dtype":"U8"})") == "tensor w: its shape is no list");
  CHECK(error(R"({"shape":[1],"bytes":[1],"dtype":{"QFloat":1}})") ==
        "tensor w: quantized records of burn before 0.22 are not read");
  CHECK(error(R"({"shape":[1],"bytes":[256],"dtype":"U8"})") == "tensor w: 256 is no byte");
  CHECK(error(R"({"shape":[-1],"bytes":[1],"dtype":"U8"})") ==
        "tensor w: a number of 0 or more is due, -1 is there");
  for (const char* nested : {R"({"value":[[1]],"shape":[1]})", R"({"shape":[[1]],"value":[1]})",
                             R"({"shape":[1],"value":{"a":1}})", R"({"shape":[1],"value":[1,{}]})",
                             R"({"id":"avq43klip2pc6","param":{"value":[{}],"shape":[1]}})",
                             R"({"id":"avq43klip2pc6","param":{"values":[1],"shape":[1]}})"})
    CHECK_THAT(error(nested), Catch::Contains("w is neither a tensor nor a struct"));
  CHECK(error(R"({"shape":[1],"value":["x"]})") == R"(tensor w: "x" is no number)");
}

TEST_CASE("the JSON record has the same content") {
  const std::string bytes =
      R"({"metadata":{"float":"f32","int":"i32","format":"burn_core::record::file::PrettyJsonFileRecorder"},)"
      R"("item":{"fc":{"weight":{"id":"avq43klip2pc6","param":{"bytes":[0,0,128,63],"shape":[1],"dtype":"F32"}}}}})";
  REQUIRE(recognised(bytes));
  const Checkpoint checkpoint = read(bytes);
  CHECK(checkpoint.container == "json");
  REQUIRE(checkpoint.tensors.size() == 1);
  CHECK(checkpoint.tensors.front().name == "fc.weight");
  CHECK(checkpoint.tensors.front().param_id == 14101554053607715927U);
}

TEST_CASE("other JSON is not taken for a record") {
  CHECK_FALSE(recognised(R"({"metadata":{"total_size":4},"weight_map":{}})"));
  CHECK_FALSE(recognised(R"({"error":"not found"})"));
  CHECK_FALSE(recognised("  "));
  CHECK_FALSE(recognised("[1]"));
  CHECK_FALSE(recognised("{"));
  CHECK(recognised("\n{ \"metadata\": {\"settings\": \"FullPrecisionSettings\"}}"));
}

TEST_CASE("bytes that do not fit the shape are refused") {
  CHECK_THROWS_AS(read(record(map(1) + text("w") + tensor("abc", 1, "F32"))), Error);
}

TEST_CASE("counts beyond the end of the file are refused before anything is allocated") {
  CHECK_THROWS_AS(read(record("\xDD\xFF\xFF\xFF\xFF"s)), Error);
  CHECK_THROWS_AS(read(record("\xDF\xFF\xFF\xFF\xFF"s)), Error);
  CHECK_THROWS_AS(read(record(map(1) + text("w") + map(2) + text("bytes") + "\xC6\xFF\xFF\xFF\xFF"s)), Error);
}

TEST_CASE("a record that is cut or changed anywhere is an error or another record, never a crash") {
  const std::string whole = record(map(1) + text("fc") + map(1) + text("weight") +
                                   parameter("avq43klip2pc6", tensor("\0\0\x80\x3f"s, 1, "F32")));
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_THROWS_AS(read(whole.substr(0, size)), Error);
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ (1U << bit));
      try {
        static_cast<void>(read(changed));
      } catch (const Error&) {
      }
    }
}

TEST_CASE("deep nesting is refused") {
  CHECK_THROWS_AS(read(record(std::string(100000, '\x91') + nil)), Error);
}

TEST_CASE("ids of six bytes are filled with zeros at the high end") {
  // Five bits a character; the first byte is the lowest: 00000 001(00) is the byte 1.
  CHECK(decode_param_id("04") == 1U);
  CHECK(decode_param_id("0400000000") == 1U);
  CHECK(decode_param_id("avq43klip2pc6") == 14101554053607715927U);
  CHECK(decode_param_id("AVQ43KLIP2PC6") == 14101554053607715927U);
  CHECK_FALSE(decode_param_id("avq43klip2pc7"));
  CHECK_FALSE(decode_param_id("not an id"));
  CHECK_FALSE(decode_param_id("12345678901234"));
}

TEST_CASE("lists of a JSON record are entered by position, and what only looks like a parameter is none") {
  const Checkpoint checkpoint = read(json_record(
      R"({"layers":[{"bytes":[7],"shape":[1],"dtype":"U8"},[1,null]],"a":{"id":1,"param":2},"b":{"id":"x","c":3},)"
      R"("d":{"id":"x","param":{"shape":[1]}},"top":18446744073709551615})"));
  CHECK(test::names_of(checkpoint) == std::vector<std::string>{"layers.0"});
  CHECK(*checkpoint.values.find("layers.1.0") == Value(1));
  CHECK(*checkpoint.values.find("a.param") == Value(2));
  CHECK(*checkpoint.values.find("b.c") == Value(3));
  CHECK(*checkpoint.values.find("d.param.shape.0") == Value(1));
  CHECK(*checkpoint.values.find("top") == Value(std::uint64_t{UINT64_MAX}));
  const auto error = [](const std::string& tensor) {
    return message_of([&] { read(json_record(R"({"w":)" + tensor + "}", "f32", "i64")); });
  };
  CHECK(error(R"({"shape":[1],"value":[18446744073709551615]})").starts_with("tensor w: "));
  CHECK_THAT(error(R"({"shape":[18446744073709551615],"value":[1]})"),
             Catch::Contains("needs more than can be counted"));
  CHECK_THAT(error(R"({"shape":[1],"bytes":[1]})"), Catch::Contains("tensor w has no dtype"));
}

TEST_CASE("a record that says nothing of its types has burn's defaults") {
  const std::string bare = map(2) + text("metadata") + map(0) + text("item") + map(2) + text("i") +
                           listed("\x01"s, 1) + text("f") + listed("\xCA\x3F\x80\0\0"s, 1);
  const Checkpoint checkpoint = read(bare);
  CHECK(checkpoint.tensors.at(0).dtype == DType::i32);
  CHECK(checkpoint.tensors.at(1).dtype == DType::f32);
  const std::string typed = map(1) + text("w") + map(3) + text("dtype") + text("I8") + text("value") +
                            array(1) + number(5) + text("shape") + array(1) + number(1);
  CHECK(numbers<std::int8_t>(record(typed), DType::i8) == std::vector<std::int8_t>{5});
}

TEST_CASE("a struct may have fields that are called like those of a tensor") {
  const std::string one = R"({"bytes":[7],"shape":[1],"dtype":"U8"})";
  const auto names = [](const std::string& item) { return test::names_of(read(json_record(item))); };
  CHECK(names(R"({"value":{"w":)" + one + R"(},"shape":)" + one + "}") ==
        std::vector<std::string>{"value.w", "shape"});
  CHECK(names(R"({"value":[)" + one + "," + one + R"(],"out":)" + one + "}") ==
        std::vector<std::string>{"value.0", "value.1", "out"});
  CHECK(names(R"({"bytes":null,"w":)" + one + "}") == std::vector<std::string>{"w"});
  CHECK(names(R"({"value":[)" + one + "]}") == std::vector<std::string>{"value.0"});
  const std::string packed = tensor("a", 1, "U8");
  CHECK(test::names_of(read(record(map(2) + text("value") + map(1) + text("w") + packed + text("out") +
                                   packed))) == std::vector<std::string>{"value.w", "out"});
}

TEST_CASE("the fields of a tensor stand in any order, and tensors do not run into each other") {
  const Checkpoint checkpoint = read(json_record(
      R"({"a":{"shape":[2],"value":[1.0,2.0]},"b":{"dtype":"U8","shape":[0],"bytes":[]},)"
      R"("c":{"id":"avq43klip2pc6","param":{"shape":[3],"dtype":"U8","bytes":[ 7 , 8,9]}},"d":{"value":[5],"shape":[1]}})"));
  CHECK(test::names_of(checkpoint) == std::vector<std::string>{"a", "b", "c", "d"});
  CHECK(test::values_of<float>(test::gathered(checkpoint.tensors[0])) == std::vector<float>{1, 2});
  CHECK(test::values_of<std::uint8_t>(test::gathered(checkpoint.tensors[1])).empty());
  CHECK(test::values_of<std::uint8_t>(test::gathered(checkpoint.tensors[2])) ==
        std::vector<std::uint8_t>{7, 8, 9});
  CHECK(checkpoint.tensors[2].param_id == 14101554053607715927U);
  CHECK(test::values_of<std::int32_t>(test::gathered(checkpoint.tensors[3])) == std::vector<std::int32_t>{5});
}

TEST_CASE("a list that is longer than the windows it is read in keeps every number") {
  constexpr int count = 100'000;
  std::string list;
  std::vector<std::int32_t> expected;
  for (int i = 0; i < count; ++i) {
    expected.push_back(i * 7919 % 100'003);
    list += (i == 0 ? "" : ",") + std::to_string(expected.back());
  }
  CHECK(numbers<std::int32_t>(
            json_record(R"({"w":{"value":[)" + list + R"(],"shape":[)" + std::to_string(count) + "]}}"),
            DType::i32) == expected);
}

TEST_CASE("a JSON record is refused where it stops being one") {
  const auto error = [](const std::string& bytes) { return message_of([&] { read(bytes); }); };
  const auto item = [&](const std::string& of) { return error(json_record(of)); };
  CHECK_THAT(item(R"({"w":1,"w":2})"), Catch::Contains("the key \"w\" stands twice"));
  CHECK_THAT(item(R"({"w":{"value":[1],"value":[2],"shape":[1]}})"), Catch::Contains("stands twice"));
  CHECK_THAT(item(R"({"w":{"value":[1,],"shape":[1]}})"), Catch::Contains("not valid JSON: a value is due"));
  CHECK_THAT(item(R"({"w":{"value":[1e999],"shape":[1]}})"), Catch::Contains("a malformed number"));
  CHECK_THAT(item(R"({"w":{"bytes":[1.5],"shape":[1],"dtype":"U8"}})"),
             Catch::Contains("a number of 0 or more is due, 1.5 is there"));
  CHECK_THAT(item(R"({"w":{"bytes":[null],"shape":[1],"dtype":"U8"}})"), Catch::Contains("null is there"));
  CHECK_THAT(item("1}"), Catch::Contains("bytes follow it"));
  const std::string whole = json_record(R"({"w":{"bytes":[7],"shape":[1],"dtype":"U8"}})");
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_THROWS_AS(read(whole.substr(0, size)), Error);
  CHECK(read(whole + "\n").tensors.size() == 1);
  CHECK_THAT(item(std::string(100'000, '[')), Catch::Contains("nested more than 128 deep"));
}
