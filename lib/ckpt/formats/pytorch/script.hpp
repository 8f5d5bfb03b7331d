#pragma once

#include <string>
#include <string_view>

#include "ckpt/codec/zip.hpp"
#include "ckpt/formats/pytorch/opened.hpp"

namespace ckpt::pytorch {

/// Collects what the classes of a TorchScript archive declare as parameters and buffers, from its members
/// TOP/code/….py. Nothing of them is executed.
ScriptMembers read_script_members(const zip::Archive& archive, const std::string& top);

/// Adds the declarations of one source text, whose classes have `module` in front of their names.
void add_script_members(std::string_view source, std::string_view module, ScriptMembers& out);

}  // namespace ckpt::pytorch
