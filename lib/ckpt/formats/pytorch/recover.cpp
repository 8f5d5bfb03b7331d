#include "ckpt/formats/pytorch/recover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ckpt/codec/zip_walk.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/storage_ids.hpp"

namespace ckpt::pytorch {
namespace {

using Sizes = std::unordered_map<std::string, std::uint64_t>;

/// Bytes of each storage by the name of its member. Empty for a pickle that cannot be read: whoever reads the
/// archive then says why.
Sizes storage_sizes(const Bytes& source, const zip::WalkedMember& member) {
  Sizes sizes;
  try {
    const zip::Archive alone = zip::Archive::of(source, std::span(&member, 1));
    pickle::Graph graph = pickle::parse(alone.read(alone.members().front(), limits::pickle_bytes));
    const Document document = make_document(std::move(graph), source);
    const std::string prefix = member.name.substr(0, member.name.rfind('/') + 1) + "data/";
    for (const NodeId node : document.graph.persistents()) {
      const auto parts = tagged(document, node, "storage");
      if (!parts) continue;
      const StorageId id = parse_storage_id(document, *parts);
      std::uint64_t& size = sizes[prefix + id.key];
      size = std::max(size, id.bytes);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    sizes.clear();
  }
  return sizes;
}

}  // namespace

Recovered recover_archive(const Bytes& source) {
  Sizes sizes;
  const auto guess = [&](const std::string& name) {
    const auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<zip::WalkedMember> members;
  zip::Walk walk(source);
  while (std::optional<zip::WalkedMember> member = walk.next(guess)) {
    if (members.size() == limits::zip_members)
      fail(ErrorKind::corrupt, "zip: more than {} members", limits::zip_members);
    members.push_back(std::move(*member));
    if (sizes.empty() && members.back().name.ends_with("/data.pkl"))
      sizes = storage_sizes(source, members.back());
  }
  Recovered out{.archive = zip::Archive::of(source, members)};
  out.is_cut = !walk.at_directory();
  out.storages = sizes.size();
  out.intact =
      static_cast<std::uint64_t>(std::ranges::count_if(members, [&](const zip::WalkedMember& member) {
        const auto found = sizes.find(member.name);
        return found != sizes.end() && member.size >= found->second;
      }));
  return out;
}

std::string describe_cut(const Recovered& recovered, std::uint64_t file_size) {
  const std::span<const zip::Member> members = recovered.archive.members();
  std::string text = fmt::format("the file ends at byte {}", file_size);
  if (members.empty()) return text + ", inside its first member";
  text += fmt::format("; the last complete member is {}", printable(members.back().name));
  if (recovered.storages == 0) return text + "; the object itself, data.pkl, is not there";
  return text + fmt::format("; {} of {} storages are intact", recovered.intact, recovered.storages);
}

}  // namespace ckpt::pytorch
