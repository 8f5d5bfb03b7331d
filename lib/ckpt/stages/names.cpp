#include "ckpt/stages/names.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "ckpt/codec/regex.hpp"

namespace ckpt {
namespace {

constexpr std::array hints{
    NameHint{"^embed_out$", 2, "Linear", "GPT-NeoX's output head"},
    NameHint{"^(fc|linear|lin|dense)([_\\d].*)?$", 2, "Linear", "fully connected"},
    NameHint{"^(q|k|v|o|qkv|kv|in|out|gate|up|down|query|key|value)_proj$", 2, "Linear",
             "a projection of attention or MLP"},
    NameHint{"^(query|key|value|qkv|to_qkv|to_[qkv]|to_out|w[qkvo]|w[123])$", 2, "Linear",
             "a projection of attention or MLP"},
    NameHint{"^((lm_|score_|cls_)?head|classifier|score|logits|output|proj_out|decoder_head)$", 2, "Linear",
             "an output head"},
    NameHint{"^(wte|wpe|shared|.*emb(ed(ding)?s?(_.*)?)?|.*(embed|token|position|vocab|lookup).*)$", 2,
             "Embedding", "an embedding"},
    NameHint{"(norm|^ln(_|\\d|$)|_ln$|rms)", 1, "RmsNorm", "a norm without a bias"},
    NameHint{"(prelu|^act(ivation)?\\d*$|relu)", 1, "PRelu", "an activation"},
};

}  // namespace

const NameHint* find_name_hint(std::string_view segment, std::size_t rank) {
  // Compiled once for a thread: a hint is looked up for every open module.
  thread_local const std::vector<Regex> patterns = [] {
    std::vector<Regex> all;
    for (const NameHint& hint : hints) all.emplace_back("(?i)" + std::string(hint.pattern));
    return all;
  }();
  for (std::size_t i = 0; i < hints.size(); ++i)
    if (hints.at(i).rank == rank && patterns[i].matches(segment)) return &hints.at(i);
  return nullptr;
}

bool is_index(std::string_view segment) {
  return !segment.empty() && std::ranges::all_of(segment, [](char c) { return c >= '0' && c <= '9'; });
}

std::string join_path(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

}  // namespace ckpt
