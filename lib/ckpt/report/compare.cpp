#include "ckpt/report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/computed_source.hpp"
#include "ckpt/kernels/parallel.hpp"
#include "ckpt/report/compare_values.hpp"
#include "ckpt/report/identity.hpp"

namespace ckpt {
namespace {

/// Runs `work(index, comparer)` for every index below `count`, on some threads, each with a comparer of
/// its own. The first error by index comes out.
template <typename Work>
void for_each_index(std::size_t count, const CompareOptions& options, const Work& work) {
  const unsigned wanted =
      options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t threads = std::clamp<std::size_t>(count, 1, wanted);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto make_task = [&] {
    const auto comparer = std::make_shared<ValueComparer>(options.tolerance, options.memory / threads);
    return [comparer, &work](std::size_t i) { work(i, *comparer); };
  };
  in_parallel(order, make_task, wanted);
}

bool is_other_type(const Tensor& a, const Tensor& b) {
  return a.dtype != b.dtype || a.quantization != b.quantization;
}

/// Whether only the first dimension differs, and rows can be cut off.
bool differ_in_rows(const Tensor& a, const Tensor& b) {
  return a.shape.size() == b.shape.size() && !a.shape.empty() &&
         std::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1) && !is_other_type(a, b) &&
         a.pieces.empty() && b.pieces.empty() && element_size(a.dtype) != 0 && a.dtype != DType::qfloat &&
         a.elements() > 0 && b.elements() > 0;
}

void compare_pair(Difference& pair, std::optional<ValueDifference>& found, ValueComparer& comparer) {
  if (pair.a->shape == pair.b->shape) {
    found = comparer.run(*pair.a, *pair.b);
  } else if (differ_in_rows(*pair.a, *pair.b)) {
    const std::uint64_t common = std::min(pair.a->shape.front(), pair.b->shape.front());
    if (comparer.run(rows(*pair.a, 0, common), rows(*pair.b, 0, common)).count == 0)
      pair.common_rows = common;
  }
}

/// What must be the same of two tensors before their bytes are looked at.
using Kind = std::tuple<DType, Shape, std::string>;
using Tensors = std::vector<const Tensor*>;

Kind kind_of(const Tensor& tensor) { return {tensor.dtype, tensor.shape, tensor.quantization}; }

/// A digest of the first piece: most tensors differ there.
Digest sample(const Tensor& tensor) {
  constexpr std::uint64_t small = 128U << 10;
  TensorReader reader(small);
  reader.start(tensor);
  Blake3 hasher;
  hasher.update(reader.next());
  return hasher.finish();
}

struct Candidates {
  Tensors a, b;
};

template <typename Key, typename KeyOf>
std::map<Key, Candidates> grouped_by(const Candidates& all, const KeyOf& key_of) {
  std::map<Key, Candidates> groups;
  for (const Tensor* tensor : all.a) groups[key_of(*tensor)].a.push_back(tensor);
  for (const Tensor* tensor : all.b) groups[key_of(*tensor)].b.push_back(tensor);
  std::erase_if(groups, [](const auto& group) { return group.second.a.empty() || group.second.b.empty(); });
  return groups;
}

/// Tensors of equal bytes of which either side has just one.
std::vector<std::pair<const Tensor*, const Tensor*>> find_renamed(const Candidates& all) {
  std::vector<std::pair<const Tensor*, const Tensor*>> renamed;
  TensorReader reader(2U << 20);
  for (const auto& [kind, same_kind] : grouped_by<Kind>(all, kind_of))
    for (const auto& [begin, alike] : grouped_by<Digest>(same_kind, sample)) {
      const auto whole = [&](const Tensor& tensor) { return tensor_digest(tensor, reader); };
      for (const auto& [digest, equal] : grouped_by<Digest>(alike, whole))
        if (equal.a.size() == 1 && equal.b.size() == 1)
          renamed.emplace_back(equal.a.front(), equal.b.front());
    }
  return renamed;
}

/// What only one side has and may be what only the other has.
Candidates unpaired(const Comparison& result) {
  Candidates all;
  const auto is_worth_it = [](const Tensor* t) { return t->elements() > 0 && !repeats_too_much(*t); };
  std::ranges::copy_if(result.only_in_a, std::back_inserter(all.a), is_worth_it);
  std::ranges::copy_if(result.only_in_b, std::back_inserter(all.b), is_worth_it);
  return all;
}

/// Takes the renamed tensors out of the lists of what only one side has.
void set_renamed(Comparison& result) {
  result.renamed = find_renamed(unpaired(result));
  std::unordered_set<const Tensor*> found;
  for (const auto& [a, b] : result.renamed) found.insert({a, b});
  std::unordered_map<const Tensor*, std::size_t> order;
  for (const Tensor* tensor : result.only_in_a) order.emplace(tensor, order.size());
  std::ranges::sort(result.renamed, {}, [&](const auto& pair) { return order.at(pair.first); });
  std::erase_if(result.only_in_a, [&](const Tensor* t) { return found.contains(t); });
  std::erase_if(result.only_in_b, [&](const Tensor* t) { return found.contains(t); });
}

/// Where the data lie that are read of either side: not those of tensors that shapes or types answer for.
struct Read {
  std::unordered_set<const ByteSource*> a, b;

  Read(const std::vector<Difference>& pairs, const Comparison& result) {
    for (const Difference& pair : pairs)
      if (pair.a->shape == pair.b->shape || differ_in_rows(*pair.a, *pair.b)) {
        add_origins(*pair.a, a);
        add_origins(*pair.b, b);
      }
    for (const auto& [kind, alike] : grouped_by<Kind>(unpaired(result), kind_of)) {
      for (const Tensor* tensor : alike.a) add_origins(*tensor, a);
      for (const Tensor* tensor : alike.b) add_origins(*tensor, b);
    }
  }
};

}  // namespace

Comparison compare_with(const CompareOptions& options, const Checkpoint& a, const Checkpoint& b) {
  Comparison result;
  std::unordered_map<std::string_view, const Tensor*> in_b;
  for (const Tensor& tensor : b.tensors) in_b.emplace(tensor.name, &tensor);
  std::unordered_set<std::string_view> in_a;
  std::vector<Difference> pairs;
  for (const Tensor& tensor : a.tensors) {
    in_a.insert(tensor.name);
    const auto other = in_b.find(tensor.name);
    if (other == in_b.end()) result.only_in_a.push_back(&tensor);
    else pairs.push_back({.a = &tensor, .b = other->second, .values = std::nullopt});
  }
  for (const Tensor& tensor : b.tensors)
    if (!in_a.contains(tensor.name)) result.only_in_b.push_back(&tensor);

  std::vector<std::optional<ValueDifference>> found(pairs.size());
  if (options.reads_values) {
    Read read(pairs, result);
    IntegrityCheck integrity_a(a, std::move(read.a)), integrity_b(b, std::move(read.b));
    for_each_index(pairs.size(), options, [&](std::size_t i, ValueComparer& comparer) {
      compare_pair(pairs[i], found[i], comparer);
    });
    set_renamed(result);
    integrity_a.require();
    integrity_b.require();
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Difference& pair = pairs[i];
    if (found[i] && !std::isnan(result.max_abs) &&
        (std::isnan(found[i]->max_abs) || found[i]->max_abs > result.max_abs))
      result.max_abs = found[i]->max_abs;
    if (found[i] && found[i]->count > 0) pair.values = std::move(found[i]);
    const bool is_same_shape = pair.a->shape == pair.b->shape;
    if (!is_same_shape) pair.what = Difference::What::shape;
    else if (is_other_type(*pair.a, *pair.b)) pair.what = Difference::What::dtype;
    else if (!pair.values) {
      ++result.equal;
      continue;
    }
    result.different.push_back(std::move(pair));
  }
  return result;
}

Comparison compare(const Checkpoint& a, const Checkpoint& b, const Tolerance& tolerance,
                   std::uint64_t memory) {
  return compare_with({.tolerance = tolerance, .memory = memory}, a, b);
}

}  // namespace ckpt
