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

/// The number that a record of an older burn means by a base-32 text of up to 13 characters: ids of six
/// bytes are filled with zeros at the high end. Nothing for any other text (the UUIDs of the first
/// versions, which burn hashes in a way of its own).
std::optional<std::uint64_t> decode_param_id(std::string_view text);

}  // namespace ckpt
