#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "ckpt/core/error.hpp"

namespace ckpt::test {

/// The error that `act` ends in; the test fails when it ends in none.
template <typename Act> Error error_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  return {ErrorKind::io, ""};
}

template <typename Act> std::string message_of(const Act& act) { return error_of(act).message(); }

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace ckpt::test
