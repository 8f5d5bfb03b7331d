#pragma once

#include <string>
#include <vector>

namespace ckpt {

/// The names as a target has them as far as the variants of burn's enums go. A burn record holds the variant
/// as a segment of the path (`norm.Batch.gamma` of a field `norm`), PyTorch has no such segment: where all
/// that the target has below a path is one CamelCase segment with tensors below it, names get that segment,
/// and where such a segment is alone in `names` and unknown to the target, they lose it. Names come back in
/// the same order.
std::vector<std::string> fit_variants(const std::vector<std::string>& names,
                                      const std::vector<std::string>& target);

}  // namespace ckpt
