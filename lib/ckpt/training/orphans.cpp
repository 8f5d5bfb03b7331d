#include "ckpt/training/orphans.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "ckpt/training/burn_state.hpp"

namespace ckpt {
namespace {

/// FNV-1a, and the finish of splitmix64 over it, since burn's own ids are random in all bits.
std::uint64_t hash(std::string_view text) {
  std::uint64_t state = 0xcbf29ce484222325;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27U)) * 0x94d049bb133111eb;
  return state ^ (state >> 31U);
}

}  // namespace

DroppedOrphans drop_orphans(Checkpoint& record, const Checkpoint& model) {
  std::set<std::uint64_t> known;
  for (const Tensor& tensor : model.tensors)
    if (tensor.param_id) known.insert(*tensor.param_id);
  std::set<std::uint64_t> orphans;
  const auto is_orphan = [&](std::string_view name) {
    const std::optional<RecordKey> key = parse_record_key(name);
    if (!key || known.contains(key->id)) return false;
    orphans.insert(key->id);
    return true;
  };
  DroppedOrphans dropped;
  std::erase_if(record.tensors, [&](const Tensor& tensor) {
    if (!is_orphan(tensor.name)) return false;
    dropped.tensors.push_back(tensor.name);
    return true;
  });
  std::erase_if(record.scalars, [&](const auto& scalar) { return is_orphan(scalar.first); });
  std::erase_if(record.metadata, [&](const auto& text) { return is_orphan(text.first + "."); });
  dropped.ids.assign(orphans.begin(), orphans.end());
  return dropped;
}

void give_param_ids(Checkpoint& model) {
  std::set<std::uint64_t> used;
  for (const Tensor& tensor : model.tensors)
    if (tensor.param_id) used.insert(*tensor.param_id);
  for (Tensor& tensor : model.tensors) {
    if (tensor.param_id) continue;
    std::uint64_t id = hash(tensor.name + to_string(tensor.shape));
    while (!used.insert(id).second) ++id;
    tensor.param_id = id;
  }
}

}  // namespace ckpt
