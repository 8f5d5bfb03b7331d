// The printed source of a TorchScript class (torch/csrc/jit/serialization/python_print.cpp) begins with what
// its attributes are:
//
//     class Linear(Module):
//       __parameters__ = ["weight", "bias", ]
//       __buffers__ = []
//
// in code/__torch__/torch/nn/modules/linear.py for the class __torch__.torch.nn.modules.linear.Linear.
#include "ckpt/formats/pytorch/script.hpp"

#include <algorithm>

#include "ckpt/core/limits.hpp"

namespace ckpt::pytorch {
namespace {

/// Adds each text in double quotes; names of attributes need no escapes.
void add_quoted(std::string_view list, std::unordered_set<std::string>& out) {
  while (true) {
    const std::size_t open = list.find('"');
    if (open == std::string_view::npos) return;
    const std::size_t close = list.find('"', open + 1);
    if (close == std::string_view::npos) return;
    out.emplace(list.substr(open + 1, close - open - 1));
    list.remove_prefix(close + 1);
  }
}

}  // namespace

void add_script_members(std::string_view source, std::string_view module, ScriptMembers& out) {
  std::unordered_set<std::string>* members = nullptr;
  std::string name;
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (line.starts_with("class ")) {
      name = std::string(module) + "." + std::string(line.substr(6, line.find_first_of("(:") - 6));
      members = nullptr;
    } else if (!name.empty() &&
               (line.starts_with("  __parameters__ = ") || line.starts_with("  __buffers__ = "))) {
      if (members == nullptr) members = &out[name];
      add_quoted(line, *members);
    }
  }
}

ScriptMembers read_script_members(const zip::Archive& archive, const std::string& top) {
  ScriptMembers out;
  const std::string folder = top + "code/";
  std::uint64_t left = limits::script_bytes;
  for (const zip::Member& member : archive.members()) {
    if (!member.name.starts_with(folder) || !member.name.ends_with(".py") || member.size > left) continue;
    left -= member.size;
    std::string module(member.name.substr(folder.size(), member.name.size() - folder.size() - 3));
    std::ranges::replace(module, '/', '.');
    const std::vector<std::byte> source = archive.read(member, limits::script_bytes);
    add_script_members(as_text(source), module, out);
  }
  return out;
}

}  // namespace ckpt::pytorch
