#include "ckpt/formats/safetensors.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "ckpt/core/limits.hpp"
#include "support/emit.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace ckpt;
using Catch::Contains;
using test::error_of;
using test::message_of;

namespace {

// A file with this header and that many bytes of data.
std::string file(std::string_view header, std::size_t data) {
  std::string out(8, '\0');
  for (unsigned i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i));
  return out + std::string(header) + std::string(data, '\1');
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, std::uint64_t begin,
                  std::uint64_t end) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, dtype, shape,
                     begin, end);
}

std::string refusal(std::string_view header, std::size_t data) {
  return message_of([&] { test::read(file(header, data)); });
}

std::string text(const std::vector<std::byte>& bytes) { return std::string(as_text(bytes)); }

std::string written(const Checkpoint& checkpoint) {
  return text(test::emit(plan_safetensors(checkpoint), checkpoint));
}

Checkpoint one_tensor(std::string name, DType dtype, std::uint64_t bytes) {
  Checkpoint checkpoint;
  Tensor& tensor = checkpoint.tensors.emplace_back();
  tensor.name = std::move(name);
  tensor.dtype = dtype;
  tensor.shape = {bytes / std::max(1U, element_size(dtype))};
  tensor.view = View{.source = memory_bytes(std::string(bytes, '\1')), .bytes = bytes, .stored = dtype};
  return checkpoint;
}

}  // namespace

TEST_CASE("a safetensors file is listed in the order of its header") {
  const std::string header = R"({"__metadata__":{"format":"pt","":"x"},)" + entry("b", "F32", "2,1", 2, 10) +
                             "," + entry("a", "BF16", "", 0, 2) + "}  ";
  const Checkpoint checkpoint = test::read(file(header, 10));
  CHECK(checkpoint.format == "safetensors");
  CHECK(checkpoint.container.empty());
  CHECK(checkpoint.size == 8 + header.size() + 10);
  CHECK(checkpoint.metadata == std::map<std::string, std::string>{{"", "x"}, {"format", "pt"}});
  REQUIRE(checkpoint.tensors.size() == 2);
  const Tensor& b = checkpoint.tensors[0];
  CHECK(b.name == "b");
  CHECK(b.dtype == DType::f32);
  CHECK(b.shape == Shape{2, 1});
  CHECK(b.view.offset == 8 + header.size() + 2);
  CHECK(b.view.bytes == 8);
  CHECK_FALSE(b.view.strides);
  CHECK(checkpoint.tensors[1].shape.empty());
}

TEST_CASE("what the crate ignores or allows is allowed") {
  CHECK(test::read(file("{}", 0)).tensors.empty());
  CHECK(test::read(file(R"( {"__metadata__":null} )", 0)).metadata.empty());
  CHECK_NOTHROW(test::read(file(R"({"a":{"x":[{}],"shape":[],"dtype":"U8","data_offsets":[0,1]}})", 1)));
  CHECK_NOTHROW(test::read(file("{" + entry("a", "F32", "0,4294967296,4294967296", 0, 0) + "}", 0)));
  CHECK_NOTHROW(test::read(file("{" + entry("a", "F6_E2M3", "4", 0, 3) + "}", 3)));
}

TEST_CASE("the header's length is checked before anything is read by it") {
  CHECK_THAT(message_of([] { test::read("abc", "x.safetensors"); }),
             Contains("the file has 3") || Contains("this one has 3"));
  std::string bytes = file("{}", 0);
  bytes[7] = '\x7f';
  CHECK_THAT(message_of([&] { test::read(bytes, "x.safetensors"); }), Contains("allows up to 100000000"));
  bytes = file("{}", 0);
  bytes[0] = 120;
  CHECK_THAT(message_of([&] { test::read(bytes); }),
             Contains("the file has 10 bytes") && Contains("118 bytes are missing"));
}

TEST_CASE("a header that is not JSON of the right kinds is refused, with the tensor's name") {
  CHECK_THAT(refusal(R"({"w":5})", 0), Contains("tensor \"w\""));
  CHECK_THAT(refusal(R"({"w":{"dtype":"f32","shape":[],"data_offsets":[0,4]}})", 4),
             Contains("no dtype \"f32\""));
  CHECK_THAT(refusal("{" + entry("w", "C128", "1", 0, 16) + "}", 16), Contains("no dtype \"C128\""));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4), Contains("shape"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), Contains("negative"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4), Contains("1 numbers"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[1]}})", 4), Contains("no data_offsets"));
  CHECK_THAT(refusal(R"({"__metadata__":{"a":1}})", 0), Contains("\"a\" to a number instead of a text"));
  CHECK_THAT(refusal(R"({"a":)", 0), Contains("not valid JSON"));
  CHECK_THAT(refusal(R"({"__metadata__":[]})", 0), Contains("__metadata__ is a list instead of an object"));
  CHECK_THAT(refusal(R"({"w":{"dtype":1,"shape":[],"data_offsets":[0,4]}})", 4), Contains("a number"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":4,"data_offsets":[0,4]}})", 4),
             Contains("shape is a number instead of a list"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[],"data_offsets":true}})", 4),
             Contains("data_offsets is true or false instead of a list"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,"4"]}})", 4),
             Contains("data_offsets holds a text instead of a whole number"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"F32","shape":[null],"data_offsets":[0,4]}})", 4),
             Contains("shape holds null instead of a whole number"));
  CHECK_THAT(refusal(R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4), Contains("no dtype"));
  CHECK_THAT(refusal(R"({"w":{"dtype":"U8","data_offsets":[0,4]}})", 4), Contains("no shape"));
}

TEST_CASE("a name or a metadata key that stands twice is refused") {
  CHECK_THAT(refusal("{" + entry("a", "U8", "1", 0, 1) + "," + entry("a", "U8", "1", 1, 2) + "}", 2),
             Contains("stands twice"));
  CHECK_THAT(refusal("{" + entry("a", "U8", "1", 0, 1) + "," + entry("\\u0061", "U8", "1", 1, 2) + "}", 2),
             Contains("stands twice"));
  CHECK_THAT(refusal(R"({"__metadata__":{"a":"1","a":"2"}})", 0), Contains("stands twice"));
  CHECK_THAT(refusal(R"({"a":{"dtype":"U8","shape":[],"shape":[1],"data_offsets":[0,1]}})", 1),
             Contains("stands twice"));
}

TEST_CASE("offsets that no file can hold are refused") {
  // Eight tensors that are as large as can be, which leaves no room for the header.
  constexpr std::uint64_t size = (1ULL << 61U) - 1;
  std::string header;
  for (std::uint64_t i = 0; i < 8; ++i)
    header +=
        (i == 0 ? "{" : ",") + entry(std::to_string(i), "U8", std::to_string(size), i * size, (i + 1) * size);
  CHECK_THAT(refusal(header + "}", 8), Contains("the data offsets reach beyond 2^64 bytes"));
}

TEST_CASE("holes and overlaps are told with both tensors") {
  CHECK_THAT(refusal("{" + entry("a", "U8", "4", 0, 4) + "," + entry("b", "U8", "4", 6, 10) + "}", 10),
             Contains("hole") && Contains("bytes 4 to 6") && Contains("\"a\"") && Contains("\"b\""));
  CHECK_THAT(refusal("{" + entry("b", "U8", "4", 2, 6) + "," + entry("a", "U8", "4", 0, 4) + "}", 6),
             Contains("\"b\" (data bytes 2 to 6) overlaps tensor \"a\" (data bytes 0 to 4)"));
  CHECK_THAT(refusal("{" + entry("a", "U8", "4", 4, 8) + "}", 8),
             Contains("hole") && Contains("bytes 0 to 4"));
  CHECK_THAT(refusal("{" + entry("a", "U8", "4", 4, 0) + "}", 8), Contains("before they begin"));
}

TEST_CASE("shape, type and range must agree, without overflow") {
  CHECK_THAT(refusal("{" + entry("a", "F32", "3", 0, 8) + "}", 8),
             Contains("needs 12 bytes") && Contains("hold 8"));
  CHECK_THAT(refusal("{" + entry("a", "F4", "3", 0, 1) + "}", 1), Contains("do not fill whole bytes"));
  CHECK_THAT(refusal("{" + entry("a", "U8", "4294967296,4294967296,0", 0, 0) + "}", 0), Contains("64 bits"));
  CHECK_THAT(refusal("{" + entry("a", "U8", "2305843009213693952", 0, 0) + "}", 0), Contains("64 bits"));
}

TEST_CASE("a safetensors file that was cut or goes on is told by exact numbers") {
  const std::string header = "{" + entry("a", "F32", "4", 0, 16) + "}";
  const std::size_t whole = 8 + header.size() + 16;
  CHECK_NOTHROW(test::read(file(header, 16)));
  CHECK_THAT(refusal(header, 6),
             Contains(fmt::format("has {} bytes, its header describes {}: 10 bytes are missing", whole - 10,
                                  whole)));
  CHECK_THAT(refusal(header, 19),
             Contains("3 trailing bytes") && Contains(fmt::format("ends at offset {}", whole)));
}

TEST_CASE("a safetensors file in a stream is listed without looking for its end") {
  const std::string header = "{" + entry("a", "F32", "4", 0, 16) + "}";
  const std::string bytes = file(header, 600);
  const std::span<const std::byte> span = as_bytes(bytes);
  const auto stream = std::make_shared<test::StreamBytes>(std::vector(span.begin(), span.end()));
  const Checkpoint checkpoint = read_checkpoint(MemoryInput("-", stream));
  CHECK(checkpoint.tensors.size() == 1);
  CHECK(checkpoint.size == 8 + header.size() + 16);
}

// Written by the reference crate from the file of the same name.
TEST_CASE("the bytes of the reference crate are written") {
  for (const std::string name :
       {"all_dtypes", "escaped_names", "keys_reordered", "many_dims", "metadata_null", "only_metadata",
        "order_reverse", "special_floats", "f4_vector", "zero_elements_many_same_offset"}) {
    INFO(name);
    const Checkpoint checkpoint = test::read(test::load("safetensors/" + name + ".safetensors"));
    const std::vector<std::byte> expected = test::load("safetensors/" + name + ".crate.safetensors");
    CHECK(written(checkpoint) == text(expected));
    const Checkpoint again = test::read(expected);
    CHECK(written(again) == text(expected));
  }
}

TEST_CASE("tensors are written by alignment and name, behind the metadata, padded to eight") {
  const std::string header = "{" + entry("z", "U8", "1", 0, 1) + "," + entry("b", "F32", "1", 1, 5) + "," +
                             entry("a", "F32", "", 5, 9) + "," + entry("i", "I64", "1", 9, 17) +
                             R"(,"__metadata__":{"k":"v"}})";
  const std::string due = R"({"__metadata__":{"k":"v"},)" + entry("i", "I64", "1", 0, 8) + "," +
                          entry("a", "F32", "", 8, 12) + "," + entry("b", "F32", "1", 12, 16) + "," +
                          entry("z", "U8", "1", 16, 17) + "}";
  const std::string out = written(test::read(file(header, 17)));
  CHECK(out.substr(8, due.size()) == due);
  CHECK((out.size() - 17) % 8 == 0);
  CHECK(out.size() - 17 - 8 - due.size() < 8);
  CHECK(out.find_first_not_of(' ', 8 + due.size()) == out.size() - 17);
}

TEST_CASE("what safetensors cannot hold is refused with the tensor's name") {
  for (const DType dtype : {DType::c128, DType::flex32, DType::bool_u8, DType::bool_u32, DType::qfloat}) {
    CHECK_FALSE(safetensors_holds(dtype));
    const Error error = error_of([&] { plan_safetensors(one_tensor("a.b", dtype, 16)); });
    CHECK(error.kind() == ErrorKind::refused);
    CHECK_THAT(error.message(), Contains("tensor \"a.b\" is " + std::string(name(dtype))));
    CHECK_THAT(error.hint(), Contains("--exclude '^a\\.b$'"));
  }
  CHECK(error_of([] { plan_safetensors(one_tensor("__metadata__", DType::f32, 4)); }).kind() ==
        ErrorKind::refused);
  CHECK(error_of([] { plan_safetensors(one_tensor("\xFF", DType::f32, 4)); }).kind() == ErrorKind::refused);
  Checkpoint checkpoint = one_tensor("a", DType::f32, 4);
  checkpoint.metadata["k"] = "\xED\xA0\x80";
  CHECK(error_of([&] { plan_safetensors(checkpoint); }).kind() == ErrorKind::refused);
}

TEST_CASE("a header beyond the limit is not written") {
  Checkpoint checkpoint = one_tensor(std::string(limits::safetensors_header, 'n'), DType::f32, 4);
  CHECK_THAT(message_of([&] { plan_safetensors(checkpoint); }), Contains("allows up to 100000000"));
}

TEST_CASE("a safetensors shape has as many dimensions as are allowed, and no more") {
  const auto ones = [](std::size_t count) {
    std::string text = "1";
    while (--count > 0) text += ",1";
    return text;
  };
  CHECK_NOTHROW(test::read(file("{" + entry("a", "U8", ones(limits::dimensions), 0, 1) + "}", 1)));
  CHECK_THAT(refusal("{" + entry("a", "U8", ones(limits::dimensions + 1), 0, 1) + "}", 1),
             Contains("tensor \"a\"") && Contains("the shape has 4097 dimensions; at most 4096 are allowed"));
}
