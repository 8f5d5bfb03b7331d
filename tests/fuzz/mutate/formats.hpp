#pragma once

#include "mutate/random.hpp"

/// Mutations of whole inputs, one for each thing that a target reads.
namespace ckpt::fuzz {

bool mutate_json(Buffer& input, Random& random);
bool mutate_cbor(Buffer& input, Random& random);
bool mutate_msgpack(Buffer& input, Random& random);
bool mutate_pickle(Buffer& input, Random& random);
/// A ZIP archive: its pickles as such, its records of sizes, places and names; the archive around them is
/// built anew, so that what was changed is reached.
bool mutate_zip(Buffer& input, Random& random);

/// A safetensors file, whose header stays as long as it says.
bool mutate_safetensors(Buffer& input, Random& random);
/// A burnpack, whose metadata stay as long as it says.
bool mutate_burnpack(Buffer& input, Random& random);
/// Lines of text: rules, kinds of modules, a lock.
bool mutate_lines(Buffer& input, Random& random);

/// A file of any of these formats, told by how it begins.
bool mutate_file(Buffer& input, Random& random);

/// Several files in one input, between lines `--8<--`.
std::vector<std::string_view> parts_of(std::string_view input);
bool mutate_parts(Buffer& input, Random& random);
/// The same after a byte that chooses a command.
bool mutate_command(Buffer& input, Random& random);

}  // namespace ckpt::fuzz
