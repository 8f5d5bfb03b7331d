#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/input.hpp"

namespace ckpt {

/// A regular file as a byte source. Read with `pread`, never mapped: a mapped file that somebody
/// truncates ends in SIGBUS, and its pages count as resident memory. Throws `io`.
Bytes open_file(const std::string& path);

/// A file or a directory of the disk as an input. The name in messages is `path` as given.
/// Throws `io` when there is none, when it is neither, or when it may not be read.
std::unique_ptr<Input> open_input(const std::string& path);

/// Standard input. A redirected regular file is read as such. Of a pipe, `is_enough(head)` says
/// whether the format can be listed from its beginning (the source is then open-ended and is read
/// only as far as asked); otherwise everything is spooled first. It may throw where nothing that begins so
/// is wanted.
std::unique_ptr<Input> open_standard_input(
    const std::function<bool(std::span<const std::byte> head)>& is_enough);

/// The bytes of a pipe or device that has a name, as a shell's `<(…)` has, `at_most` of them; nothing where
/// `path` is a regular file, a directory, or not there. Throws `io`.
std::optional<std::vector<std::byte>> read_pipe(const std::string& path, std::size_t at_most);

/// Whether both paths lead to one file (by symlink, hard link or spelling). False when either is missing.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace ckpt
