#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/formats/pytorch/pytorch.hpp"
#include "support/archives.hpp"
#include "support/pickles.hpp"

namespace ckpt::support {

/// The little-endian bytes of some floats.
inline std::string floats(const std::vector<float>& values) {
  std::string out(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

/// A zip container around a pickle and its storages `data/KEY`.
inline std::string torch_zip(std::string pickle, const std::vector<ZipEntry>& records = {}) {
  std::vector<ZipEntry> entries{{"archive/data.pkl", std::move(pickle)}};
  for (const ZipEntry& record : records)
    entries.push_back({"archive/" + record.name, record.data, record.deflate});
  entries.push_back({"archive/version", "3\n"});
  return zip(entries);
}

inline Checkpoint read(std::string_view file) {
  return read_pytorch(MemoryInput("test.pt", memory_bytes(file)));
}

/// A tensor's elements as contiguous little-endian bytes, fetched one by one.
inline std::string gathered(const Tensor& tensor) {
  const std::size_t size = element_size(tensor.view.stored);
  const std::size_t unit = info(tensor.view.stored).unit;
  const std::vector<std::uint64_t> strides = tensor.view.strides.value_or(contiguous_strides(tensor.shape));
  std::vector<std::uint64_t> index(tensor.shape.size());
  std::string out;
  for (std::uint64_t n = 0; n < tensor.elements(); ++n) {
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    std::vector<std::byte> element = read_range(*tensor.view.source, tensor.view.offset + at * size, size);
    if (tensor.view.big_endian)
      for (std::size_t i = 0; i < size; i += unit)
        for (std::size_t j = 0; j < unit / 2; ++j) std::swap(element[i + j], element[i + unit - 1 - j]);
    out += as_text(element);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.shape[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

inline const Tensor* find(const Checkpoint& checkpoint, std::string_view name) {
  for (const Tensor& tensor : checkpoint.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

inline std::vector<std::string> names(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (const Tensor& tensor : checkpoint.tensors) out.push_back(tensor.name);
  return out;
}

/// The message of the error that reading `file` throws; empty when it throws none.
inline std::string error_of(std::string_view file) {
  try {
    read(file);
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace ckpt::support
