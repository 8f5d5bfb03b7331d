#include "ckpt/report/likeness.hpp"

#include <algorithm>

namespace ckpt {

double Likeness::of(std::size_t a, std::size_t b) {
  if (a == b) return 1;
  // There are many numbers, and little to be known of each.
  if (texts_.is_number(a) || texts_.is_number(b)) return number_likeness(texts_.text(a), texts_.text(b));
  const auto [found, is_new] = known_.try_emplace(static_cast<std::uint64_t>(a) << 32U | b, 0.0);
  if (is_new)
    found->second = !may_number_ && numbers_gated_set(texts_.text(a), texts_.text(b))
                        ? 0
                        : segment_likeness(meaning(a), meaning(b));
  return found->second;
}

const SegmentMeaning& Likeness::meaning(std::size_t id) {
  const auto found = meanings_.find(id);
  return found != meanings_.end() ? found->second : meanings_.emplace(id, texts_.text(id)).first->second;
}

double Likeness::of_names(Segments a, Segments b) {
  align(a, b);
  const double sum = at(a.size(), b.size());
  bool has_opposites = false;
  each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
    // Two numbers contradict each other only where nothing else stands beside them.
    const bool is_alone = end == begin + 1 && to_end == to_begin + 1;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = to_begin; j < to_end; ++j)
        has_opposites |= of(a[i], b[j]) < 0 && (is_alone || !texts_.is_number(a[i]));
  });
  return 2 * sum / static_cast<double>(a.size() + b.size()) - (has_opposites ? 1 : 0);
}

std::set<Likeness::Exchange> Likeness::exchanged(Segments a, Segments b) {
  align(a, b);
  std::set<Exchange> all;
  const auto joined = [&](Segments segments) {
    std::string text;
    for (const std::size_t segment : segments) {
      text += '.';
      for (const char c : texts_.text(segment))
        if (c < '0' || c > '9') text += c;
        else if (text.back() != '#') text += '#';
    }
    return text;
  };
  each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
    if (begin < end && to_begin < to_end)
      all.emplace(joined(a.subspan(begin, end - begin)), joined(b.subspan(to_begin, to_end - to_begin)));
  });
  return all;
}

void Likeness::learn(Segments a, Segments b) {
  align(a, b);
  for (const auto& [i, j] : steps_) teach(a[i], b[j]);
  each_gap(a, b, [&](std::size_t begin, std::size_t end, std::size_t to_begin, std::size_t to_end) {
    if (end - begin == 1 && to_end - to_begin == 1) teach(a[begin], b[to_begin]);
  });
}

void Likeness::teach(std::size_t a, std::size_t b) {
  // What is called by opposites stays apart, however often it stands in each other's place.
  if (a == b || texts_.is_number(a) || texts_.is_number(b) || of(a, b) < 0) return;
  double& known = known_[static_cast<std::uint64_t>(a) << 32U | b];
  known = std::max(known, 0.95);
}

void Likeness::each_gap(Segments a, Segments b, const TakeGap& take) {
  constexpr double well = 0.5;
  std::size_t i = 0;
  std::size_t j = 0;
  for (const auto& [x, y] : steps_) {
    if (of(a[x], b[y]) < well) continue;
    take(i, x, j, y);
    i = x + 1, j = y + 1;
  }
  take(i, a.size(), j, b.size());
}

void Likeness::align(Segments a, Segments b) {
  width_ = b.size() + 1;
  table_.assign((a.size() + 1) * width_, 0.0);
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j < width_; ++j)
      at(i, j) = std::max({at(i - 1, j), at(i, j - 1), at(i - 1, j - 1) + of(a[i - 1], b[j - 1])});
  steps_.clear();
  std::size_t i = a.size();
  std::size_t j = b.size();
  while (i > 0 && j > 0) {
    const double likeness = of(a[i - 1], b[j - 1]);
    if (likeness > 0 && at(i, j) == at(i - 1, j - 1) + likeness) steps_.emplace_back(--i, --j);
    else if (at(i - 1, j) >= at(i, j - 1)) --i;
    else --j;
  }
  std::ranges::reverse(steps_);
}

}  // namespace ckpt
