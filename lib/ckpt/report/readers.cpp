// What other programs refuse, one row a reason. From the source of burn-store (burn 0.22), of transformers
// (modeling_utils.py, load_state_dict) and of PyTorch (torch/serialization.py, c10/core/ScalarType.h).
#include "ckpt/report/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

/// `w (F8_E4M3), v (C64), …`: the tensors that `is_meant` picks; empty where there are none.
std::string listed(const Checkpoint& checkpoint, const std::function<bool(const Tensor&)>& is_meant) {
  constexpr std::size_t shown = 3;
  std::string text;
  std::size_t found = 0;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (!is_meant(tensor) || ++found > shown) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(tensor.name), name(tensor.dtype));
  }
  return found > shown ? text + fmt::format(" and {} more", found - shown) : text;
}

std::string types_burn_lacks(const Checkpoint& checkpoint) {
  const bool is_safetensors = checkpoint.format == "safetensors";
  const std::string names = listed(checkpoint, [&](const Tensor& tensor) {
    return info(tensor.dtype).burnpack.empty() || (is_safetensors && tensor.dtype == DType::u16);
  });
  return names.empty() ? "" : "it cannot read the type of " + names;
}

std::string tensors_burn_cannot_build(const Checkpoint& checkpoint) {
  if (checkpoint.refused.empty()) return {};
  const Refused& first = checkpoint.refused.front();
  return fmt::format("{} is no plain tensor: {}", printable(first.name), printable(first.what));
}

std::string metadata_without_format(const Checkpoint& checkpoint) {
  constexpr std::array<std::string_view, 4> accepted{"pt", "tf", "flax", "mlx"};
  const auto format = checkpoint.metadata.find("format");
  // Without any metadata it takes the file for PyTorch's.
  if (checkpoint.metadata.empty()) return {};
  if (format == checkpoint.metadata.end()) return "its metadata has no `format` (pt, tf, flax or mlx)";
  if (std::ranges::find(accepted, format->second) != accepted.end()) return {};
  return fmt::format("its metadata says format `{}`, which is none of pt, tf, flax and mlx",
                     printable(format->second));
}

struct Since {
  DType dtype;
  std::string_view version;
};
constexpr std::array torch_types{
    Since{DType::f8_e4m3, "2.1"},     Since{DType::f8_e5m2, "2.1"}, Since{DType::f8_e4m3fnuz, "2.2"},
    Since{DType::f8_e5m2fnuz, "2.2"}, Since{DType::u16, "2.3"},     Since{DType::u32, "2.3"},
    Since{DType::u64, "2.3"},         Since{DType::f8_e8m0, "2.7"},
};

std::string types_too_new(const Checkpoint& checkpoint) {
  const Since* newest = nullptr;
  for (const Since& row : torch_types)
    if (std::ranges::any_of(checkpoint.tensors, [&](const Tensor& t) { return t.dtype == row.dtype; }))
      newest = &row;
  if (newest == nullptr) return {};
  return fmt::format("versions before {} lack the type of {}", newest->version,
                     listed(checkpoint, [&](const Tensor& t) { return t.dtype == newest->dtype; }));
}

std::string not_only_weights(const Checkpoint& checkpoint) {
  std::string why;
  if (checkpoint.container == "tar") why = "it is in the tar format of before 0.1.10";
  else if (checkpoint.container == "torchscript") why = "it is a TorchScript archive";
  else if (!checkpoint.globals.empty())
    why = fmt::format("it names {}{}", printable(checkpoint.globals.front().name),
                      checkpoint.globals.size() == 1
                          ? ""
                          : fmt::format(" and {} more globals", checkpoint.globals.size() - 1));
  return why.empty() ? "" : why + ": from 2.6 on torch.load wants weights_only=False";
}

struct Row {
  FindingId id;
  std::string_view reader;
  std::string_view format;
  std::string (*why)(const Checkpoint&);  ///< empty where nothing is wrong
};

constexpr std::array table{
    Row{FindingId::burn_refuses, "burn 0.22", "safetensors", types_burn_lacks},
    Row{FindingId::burn_refuses, "burn 0.22", "pytorch", types_burn_lacks},
    Row{FindingId::burn_refuses, "burn 0.22", "pytorch", tensors_burn_cannot_build},
    Row{FindingId::transformers_refuses, "transformers", "safetensors", metadata_without_format},
    Row{FindingId::pytorch_refuses, "PyTorch", "pytorch", types_too_new},
    Row{FindingId::pytorch_refuses, "PyTorch", "pytorch", not_only_weights},
};

}  // namespace

std::vector<Finding> check_readers(const Checkpoint& checkpoint) {
  std::vector<Finding> findings;
  for (const Row& row : table) {
    if (row.format != checkpoint.format) continue;
    if (const std::string why = row.why(checkpoint); !why.empty())
      findings.push_back({row.id, {}, fmt::format("{} would refuse it: {}", row.reader, why)});
  }
  return findings;
}

}  // namespace ckpt
