#include "ckpt/core/dtype.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace ckpt;

TEST_CASE("every type is found by its name in any case, and by no other") {
  for (const DTypeInfo& row : dtype_table()) {
    std::string lower(row.name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    CHECK(parse_dtype(row.name) == row.dtype);
    CHECK(parse_dtype(lower) == row.dtype);
    CHECK(name(row.dtype) == row.name);
  }
  CHECK(parse_dtype("bF16") == DType::bf16);
  for (const std::string_view unknown : {"", "F", "F3", "F322", " F32", "float32"})
    CHECK_FALSE(parse_dtype(unknown));
}

TEST_CASE("names are unique in each of the worlds") {
  std::set<std::string_view> names, dtypes, storages;
  for (const DTypeInfo& row : dtype_table()) {
    CHECK(names.insert(row.name).second);
    if (!row.torch_dtype.empty()) CHECK(dtypes.insert(row.torch_dtype).second);
    if (!row.torch_storage.empty()) CHECK(storages.insert(row.torch_storage).second);
  }
}

TEST_CASE("widths are those that the names say") {
  for (const DTypeInfo& row : dtype_table()) {
    CAPTURE(row.name);
    const std::size_t digit = row.name.find_first_of("0123456789");
    if (row.kind != DTypeClass::boolean && row.kind != DTypeClass::quantized)
      CHECK(row.bits == std::stoul(std::string(row.name.substr(digit))));
    CHECK(element_size(row.dtype) == (row.bits % 8 == 0 ? row.bits / 8 : 0));
    const unsigned parts = row.kind == DTypeClass::complex ? 2 : 1;
    if (element_size(row.dtype) != 0) CHECK(row.unit * parts == element_size(row.dtype));
    CHECK(is_floating(row.dtype) == (row.kind == DTypeClass::floating));
  }
  CHECK(element_size(DType::boolean) == 1);
  CHECK(element_size(DType::bool_u32) == 4);
  CHECK(element_size(DType::f4) == 0);
  CHECK(info(DType::c64).unit == 4);
}

TEST_CASE("PyTorch's names are those of torch and its typed storages") {
  CHECK(info(DType::f16).torch_storage == "HalfStorage");
  CHECK(info(DType::i64).torch_storage == "LongStorage");
  CHECK(info(DType::i8).torch_storage == "CharStorage");
  CHECK(info(DType::u8).torch_storage == "ByteStorage");
  CHECK(info(DType::c128).torch_storage == "ComplexDoubleStorage");
  CHECK(info(DType::f8_e4m3).torch_dtype == "float8_e4m3fn");
  CHECK(info(DType::f8_e8m0).torch_dtype == "float8_e8m0fnu");
}
