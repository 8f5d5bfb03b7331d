#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt {

/// What kind of trouble an `Error` tells of. `refused` means that `ckpt` could go on but the
/// result would be wrong; everything else means that it cannot go on.
enum class ErrorKind { usage, io, corrupt, unsupported, refused };

/// The one exception of the library. Thrown where the fault is seen; the file and the tensor are
/// added on the way up; caught at the boundary (the command line, a test).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string what) : runtime_error(what), kind_(kind), what_(std::move(what)) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// What is wrong and where, without the file's name.
  const std::string& message() const noexcept { return what_; }
  /// The file that the fault lies in; empty when there is none (or not known yet).
  const std::string& file() const noexcept { return file_; }
  /// The command or option that mends it; empty when there is none.
  const std::string& hint() const noexcept { return hint_; }

  /// The same error, told of `file`; the innermost file wins.
  Error& in_file(std::string_view file) {
    if (file_.empty()) file_ = file;
    return *this;
  }
  /// The same error with `where` put before the message.
  Error& in(std::string_view where) {
    what_ = fmt::format("{}: {}", where, what_);
    return *this;
  }
  Error& with_hint(std::string hint) {
    hint_ = std::move(hint);
    return *this;
  }

 private:
  ErrorKind kind_;
  std::string what_;
  std::string file_;
  std::string hint_;
};

/// Throws an `Error` of `kind` with a formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ckpt
