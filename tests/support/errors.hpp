#pragma once

#include <optional>
#include <string>

#include "ckpt/core/error.hpp"

namespace ckpt::test {

/// The error that `action` throws; an `Error` that says so when it throws none.
template <typename Action> Error error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::usage, "nothing was thrown"};
}

template <typename Action> std::string message_of(Action action) { return error_of(action).message(); }

}  // namespace ckpt::test
