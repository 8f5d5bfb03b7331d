#include "ckpt/formats/burn_record.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "ckpt/core/error.hpp"
#include "ckpt/core/param_id.hpp"

using namespace ckpt;
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
std::string parameter(const std::string& id, const std::string& of) {
  return map(2) + text("id") + text(id) + text("param") + of;
}
std::string record(const std::string& item) {
  return map(2) + text("metadata") + map(2) + text("float") + text("f32") + text("int") + text("i32") +
         text("item") + item;
}

Checkpoint read(const std::string& bytes) {
  return read_burn_record(MemoryInput("m.mpk", memory_bytes(bytes)));
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
