#pragma once

#include <string_view>

namespace ckpt {

/// What to do about damaged data.
inline constexpr std::string_view salvage_hint =
    "fetch the file again, or write the tensors that are whole: ckpt check FILE --salvage OUT";

}  // namespace ckpt
