#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/files.hpp"

using namespace ckpt;

// A reader may refuse a damaged file or read it, but only in these two ways; the sanitizers watch.

namespace {

void read_or_refuse(const std::vector<std::byte>& bytes, const std::string& name) {
  try {
    const Checkpoint checkpoint = test::read(bytes, name);
    for (const Tensor& tensor : checkpoint.tensors)
      static_cast<void>(read_range(*tensor.view.source, tensor.view.offset, tensor.view.bytes));
  } catch (const Error&) {
  }
}

const std::vector<std::string> files{"burnpack/net.bpk",
                                     "burnpack/combined.bpk",
                                     "burnpack/v019_net3.bpk",
                                     "burnpack/v019_dtypes.bpk",
                                     "burnpack/v020_qfloat_block.bpk",
                                     "burnpack/qfloat_scales.bpk",
                                     "safetensors/linear.safetensors",
                                     "safetensors/all_dtypes.safetensors",
                                     "safetensors/escaped_names.safetensors"};

}  // namespace

TEST_CASE("a file that was cut anywhere is refused") {
  for (const std::string& name : files) {
    std::vector<std::byte> bytes = test::load(name);
    while (!bytes.empty()) {
      bytes.pop_back();
      const Error error = test::error_of([&] { test::read(bytes, name); });
      if (error.kind() == ErrorKind::usage)
        FAIL(name << " is accepted when cut to " << bytes.size() << " bytes");
    }
  }
}

TEST_CASE("a byte that was changed does no harm") {
  for (const std::string& name : files) {
    const std::vector<std::byte> whole = test::load(name);
    const std::size_t head = std::min<std::size_t>(whole.size(), 1700);
    for (std::size_t i = 0; i < head; ++i) {
      std::vector<std::byte> bytes = whole;
      for (const unsigned flip : {0x01U, 0x20U, 0x80U, 0xFFU}) {
        bytes[i] = whole[i] ^ static_cast<std::byte>(flip);
        read_or_refuse(bytes, name);
      }
    }
  }
  SUCCEED();
}
