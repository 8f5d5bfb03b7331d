#include "ckpt/report/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "ckpt/core/edit_distance.hpp"

namespace ckpt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number(std::string_view segment) {
  return !segment.empty() && std::ranges::all_of(segment, is_digit);
}

std::string_view without_zeros(std::string_view number) {
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size() - 1));
  return number;
}

using Group = std::array<std::string_view, 12>;

/// What a row of the table below is one of: a tensor of one row is none of another row of its family.
enum class Family { none, parameter, projection, norm, embedding };

// Segments that stand for one thing in the models of this world: Hugging Face's, Meta's, OpenAI's, timm's,
// fairseq's, burn's.
struct Synonyms {
  Family family;
  Group words;
};

constexpr std::array<Synonyms, 24> synonyms{{
    {Family::parameter, {"weight", "gamma", "scale"}},
    {Family::parameter, {"bias", "beta", "shift"}},
    {Family::none, {"layers", "layer", "blocks", "block", "h", "resblocks"}},
    {Family::none, {"self_attn", "attn", "attention", "self_attention", "self"}},
    {Family::none, {"cross_attn", "encoder_attn", "crossattention", "cross_attention"}},
    {Family::none, {"mlp", "feed_forward", "ffn", "feedforward"}},
    {Family::projection, {"q_proj", "query", "wq", "to_q", "q_lin", "q", "linear_q"}},
    {Family::projection, {"k_proj", "key", "wk", "to_k", "k_lin", "k", "linear_k"}},
    {Family::projection, {"v_proj", "value", "wv", "to_v", "v_lin", "v", "linear_v"}},
    {Family::projection, {"o_proj", "out_proj", "wo", "to_out", "out_lin", "out", "o", "linear_out"}},
    {Family::projection, {"gate_proj", "w1", "gate"}},
    {Family::projection, {"up_proj", "w3", "up"}},
    {Family::projection, {"down_proj", "w2", "down"}},
    {Family::projection, {"fc1", "c_fc", "lin1", "linear1", "dense_h_to_4h"}},
    {Family::projection, {"fc2", "lin2", "linear2", "dense_4h_to_h"}},
    {Family::norm,
     {"input_layernorm", "attention_norm", "ln_1", "ln1", "norm1", "attn_ln", "self_attn_layer_norm",
      "layernorm_before", "attn_norm"}},
    {Family::norm,
     {"post_attention_layernorm", "ffn_norm", "ln_2", "ln2", "norm2", "mlp_ln", "final_layer_norm",
      "layernorm_after", "mlp_norm"}},
    {Family::norm, {"cross_attn_ln", "encoder_attn_layer_norm", "cross_attn_norm"}},
    {Family::embedding,
     {"embed_tokens", "tok_embeddings", "wte", "token_embedding", "word_embeddings", "tok_emb", "embed_in",
      "shared"}},
    {Family::embedding,
     {"wpe", "positional_embedding", "embed_positions", "position_embeddings", "pos_emb", "pos_embed"}},
    {Family::none,
     {"norm", "ln_f", "final_layernorm", "ln_post", "layer_norm", "final_norm", "layernorm", "ln"}},
    {Family::none, {"lm_head", "output", "proj_out", "embed_out", "head", "classifier"}},
    {Family::parameter, {"running_mean", "moving_mean"}},
    {Family::parameter, {"running_var", "moving_var", "moving_variance"}},
}};

// The parts of a gated feed-forward layer: their numbers, and the names that others have for them.
constexpr std::array<std::array<std::string_view, 3>, 3> gated_set{{
    {"w1", "gate_proj", "gate"},
    {"w2", "down_proj", "down"},
    {"w3", "up_proj", "up"},
}};

// Words that mean the same inside a segment, the first being the common one.
constexpr std::array<Group, 15> word_synonyms{{
    {"norm", "ln", "layernorm", "rmsnorm", "batchnorm", "bn"},
    {"attn", "attention"},
    {"emb", "embed", "embedding", "embeddings", "embd"},
    {"tok", "token", "tokens", "word"},
    {"pos", "position", "positions", "positional"},
    {"conv", "convolution"},
    {"q", "query", "wq"},
    {"k", "key", "wk"},
    {"v", "value", "wv"},
    {"out", "output", "o", "wo"},
    {"cross", "crossattention"},
    {"layer", "layers", "block", "blocks"},
    {"mlp", "ffn", "feedforward"},
    {"fc", "linear", "dense", "lin"},
    {"proj", "projection"},
}};

// Words of which a tensor has one: two of a row are never the same thing.
constexpr std::array<Group, 15> opposites{{
    {"weight", "bias", "mean", "var", "tracked"},
    {"attn", "mlp"},
    {"gamma", "beta"},
    {"encoder", "decoder", "enc", "dec"},
    {"q", "k", "v", "out", "qkv", "norm"},
    {"gate", "up", "down"},
    {"up", "mid", "down"},
    {"conv", "norm"},
    {"mean", "var"},
    {"ih", "hh"},
    {"tok", "pos", "type"},
    {"in", "out"},
    {"left", "right"},
    {"self", "cross"},
    {"min", "max"},
}};

// Words that say little beside others.
constexpr std::array<std::string_view, 5> fillers{"proj", "to", "c", "module", "layer"};

template <std::size_t Rows> std::size_t row_of(const std::array<Group, Rows>& table, std::string_view word) {
  for (std::size_t i = 0; i < Rows; ++i)
    if (std::ranges::find(table[i], word) != table[i].end()) return i;
  return Rows;
}

/// `self_attnNorm2` as `self`, `attn`, `norm`, `2`; words that mean the same become one.
std::vector<std::string> words_of(std::string_view segment) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!is_letter && !is_digit(c) && static_cast<unsigned char>(c) < 0x80) {
      end_word();
      continue;
    }
    if (i > 0 && !word.empty()) {
      const char before = segment[i - 1];
      const bool is_hump = std::islower(static_cast<unsigned char>(before)) != 0 &&
                           std::isupper(static_cast<unsigned char>(c)) != 0;
      if (is_hump || is_digit(before) != is_digit(c)) end_word();
    }
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  end_word();
  if (words.size() > 1 && words.back() == "norm" && words[words.size() - 2] == "layer")
    words.erase(words.end() - 2);
  for (std::string& w : words)
    if (const std::size_t row = row_of(word_synonyms, w); row < word_synonyms.size())
      w = word_synonyms[row].front();
  if (words.size() > 1)
    std::erase_if(words, [&](const std::string& w) {
      return words.size() > 1 && std::ranges::find(fillers, w) != fillers.end();
    });
  return words;
}

bool are_opposites(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (const std::string& x : a)
    for (const std::string& y : b) {
      if (x == y || std::ranges::find(b, x) != b.end() || std::ranges::find(a, y) != a.end()) continue;
      for (const Group& group : opposites)
        if (std::ranges::find(group, x) != group.end() && std::ranges::find(group, y) != group.end())
          return true;
    }
  return false;
}

/// The end of a name, from which prefixes were left out.
std::string_view last_segments(std::string_view name, std::size_t count) {
  std::size_t at = name.size();
  while (count-- > 0 && at != 0 && at != std::string_view::npos) at = name.rfind('.', at - 1);
  return at == 0 || at == std::string_view::npos ? name : name.substr(at + 1);
}

/// What the table of synonyms says of two segments, where it says anything.
std::optional<double> synonym_likeness(std::string_view a, std::string_view b) {
  const auto holds = [](const Synonyms& row, std::string_view segment) {
    return std::ranges::find(row.words, segment) != row.words.end();
  };
  // Rows can share a member: the segments need only stand together in one.
  for (const Synonyms& row : synonyms)
    if (holds(row, a) && holds(row, b)) return 0.9;
  for (const Synonyms& row : synonyms)
    for (const Synonyms& other : synonyms)
      if (row.family != Family::none && row.family == other.family && holds(row, a) && holds(other, b))
        return -0.5;
  return std::nullopt;
}

/// Whether two segments differ in their numbers only: `conv1` and `conv2`.
bool differ_in_numbers(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a == b || a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && !(is_number(a[i]) && is_number(b[i]))) return false;
  return true;
}

/// Edits of characters between two texts, a run of digits being one character.
std::size_t name_distance(std::string_view a, std::string_view b) {
  const auto symbols = [](std::string_view text) {
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i + 1;
      while (is_digit(text[i]) && end < text.size() && is_digit(text[end])) ++end;
      out.push_back(text.substr(i, end - i));
      i = end;
    }
    return out;
  };
  return edit_distance(symbols(a), symbols(b));
}

}  // namespace

bool may_be_same(const NamedShape& a, const NamedShape& b) {
  if (info(a.dtype).kind != info(b.dtype).kind || a.shape.size() != b.shape.size()) return false;
  std::array<std::size_t, 2> places{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] == b.shape[i]) continue;
    if (count == 2) return false;
    places.at(count++) = i;
  }
  return count == 0 ||
         (count == 2 && a.shape[places[0]] == b.shape[places[1]] && a.shape[places[1]] == b.shape[places[0]]);
}

std::vector<std::string_view> split_segments(std::string_view name) {
  std::vector<std::string_view> segments;
  for (std::size_t at = 0;;) {
    const std::size_t dot = name.find('.', at);
    segments.push_back(name.substr(at, dot == std::string_view::npos ? dot : dot - at));
    if (dot == std::string_view::npos) return segments;
    at = dot + 1;
  }
}

double segment_likeness(std::string_view a, std::string_view b) {
  if (a == b) return 1;
  if (a.empty() || b.empty()) return 0;
  if (is_number(a) && is_number(b)) return without_zeros(a) == without_zeros(b) ? 0.95 : -0.5;
  if (is_number(a) || is_number(b)) return 0;
  if (const std::optional<double> likeness = synonym_likeness(a, b)) return *likeness;
  const std::vector<std::string> x = words_of(a);
  const std::vector<std::string> y = words_of(b);
  if (are_opposites(x, y) || differ_in_numbers(x, y)) return -0.5;
  std::size_t shared = 0;
  for (const std::string& word : x)
    if (std::ranges::find(y, word) != y.end()) ++shared;
  if (x.empty() || y.empty()) return 0;
  return 0.8 * 2 * static_cast<double>(shared) / static_cast<double>(x.size() + y.size());
}

bool numbers_gated_set(std::string_view a, std::string_view b) {
  return std::ranges::any_of(gated_set, [&](const auto& row) {
    const auto is_named = [&](std::string_view text) { return text == row[1] || text == row[2]; };
    return (a == row[0] && is_named(b)) || (b == row[0] && is_named(a));
  });
}

bool holds_gated_set(const std::function<bool(std::string_view)>& contains) {
  for (std::size_t column = 0; column < gated_set.front().size(); ++column)
    if (std::ranges::all_of(gated_set, [&](const auto& row) { return contains(row.at(column)); }))
      return true;
  return false;
}

double name_likeness(std::string_view a, std::string_view b) {
  const auto x = split_segments(a);
  const auto y = split_segments(b);
  std::vector<double> row(y.size() + 1);
  for (const std::string_view segment : x) {
    double diagonal = row[0];
    for (std::size_t j = 1; j <= y.size(); ++j) {
      const double above = row[j];
      row[j] = std::max({row[j], row[j - 1], diagonal + segment_likeness(segment, y[j - 1])});
      diagonal = above;
    }
  }
  return 2 * row.back() / static_cast<double>(x.size() + y.size());
}

std::vector<std::size_t> nearest_names(std::string_view name, std::span<const std::string> candidates,
                                       std::size_t at_most) {
  struct Near {
    double distance;
    std::size_t index;
  };
  const auto segments = static_cast<std::size_t>(std::ranges::count(name, '.')) + 1;
  std::vector<Near> near;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t edits = std::min(name_distance(name, candidates[i]),
                                       name_distance(name, last_segments(candidates[i], segments)));
    const bool is_slip = edits <= std::max<std::size_t>(2, name.size() / 5);
    const double likeness = name_likeness(name, candidates[i]);
    if (!is_slip && likeness < 0.6) continue;
    near.push_back({static_cast<double>(edits) / static_cast<double>(name.size() + 1) - likeness, i});
  }
  std::ranges::stable_sort(near, {}, &Near::distance);
  std::vector<std::size_t> indices;
  for (const Near& n : near)
    if (indices.size() < at_most) indices.push_back(n.index);
  // One letter has nothing near it: in a short list the list itself is the answer.
  if (indices.empty() && candidates.size() <= at_most)
    for (std::size_t i = 0; i < candidates.size(); ++i) indices.push_back(i);
  return indices;
}

std::optional<std::size_t> did_you_mean(const NamedShape& wanted, std::span<const NamedShape> candidates) {
  std::optional<std::size_t> best;
  double best_score = 0;
  bool is_tie = false;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double edits = static_cast<double>(name_distance(wanted.name, candidates[i].name));
    const double likeness = name_likeness(wanted.name, candidates[i].name);
    const double closeness =
        1 - edits / static_cast<double>(wanted.name.size() + candidates[i].name.size() + 1);
    if (likeness < 0.3 && closeness < 0.8) continue;
    const double score = (may_be_same(wanted, candidates[i]) ? 4 : 0) + likeness + 0.2 * closeness;
    is_tie = best && score == best_score;
    if (best && score < best_score) continue;
    if (!is_tie) best = i, best_score = score;
  }
  // Another shape needs a much likelier name.
  if (is_tie || (best && best_score < 4 && best_score < 0.9)) return std::nullopt;
  return best;
}

}  // namespace ckpt
