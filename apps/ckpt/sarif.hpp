#pragma once

#include <string_view>
#include <vector>

#include "ckpt/core/value.hpp"
#include "ckpt/report/findings.hpp"

namespace ckpt {

/// The findings of one file as a SARIF 2.1.0 log, for code scanning. Every code of the table stands among the
/// rules; a tensor is a logical location.
Value sarif_log(std::string_view file, const std::vector<Finding>& findings);

/// The log of a run that came to no findings: why, as a notification.
Value sarif_failure(std::string_view file, std::string_view text);

}  // namespace ckpt
