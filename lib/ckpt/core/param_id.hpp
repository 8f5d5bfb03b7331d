#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ckpt {

/// A burn ParamId as burn shows it: the eight bytes of the number, lowest first, in base 32 with the
/// alphabet 0-9 a-v, most significant bit of each byte first. Always 13 characters: `avq43klip2pc6`.
std::string param_id_text(std::uint64_t id);

/// The number of those 13 characters, or of a decimal number of another length (13 characters are
/// always base 32, also when all are digits); nothing for any other text.
std::optional<std::uint64_t> parse_param_id(std::string_view text);

}  // namespace ckpt
