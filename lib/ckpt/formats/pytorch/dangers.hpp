#pragma once

#include <string_view>

namespace ckpt::pytorch {

/// Whether unpickling that global is known to run code, reach files or the network. A list of this kind is
/// never complete; it only sharpens the warning about a name that is not plain data.
bool is_dangerous(std::string_view module, std::string_view name);

}  // namespace ckpt::pytorch
