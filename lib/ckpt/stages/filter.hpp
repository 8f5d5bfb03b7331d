#pragma once

#include <string>
#include <vector>

#include "ckpt/codec/regex.hpp"
#include "ckpt/core/checkpoint.hpp"

namespace ckpt {

struct Filters {
  std::vector<Regex> include;
  std::vector<Regex> exclude;
  bool empty() const noexcept { return include.empty() && exclude.empty(); }
};

/// A name is kept if some `include` matches it, or there is none, and no `exclude` does. What cannot be
/// delivered (`refused`) is filtered alike. The names that went are added to `dropped`.
Checkpoint filter(Checkpoint checkpoint, const Filters& filters, std::vector<std::string>& dropped);

}  // namespace ckpt
