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

using Group = std::array<std::string_view, 20>;

/// What a row of the table below is one of: a tensor of one row is none of another row of its family.
enum class Family { none, parameter, attention, projection, norm, embedding };

// Segments that stand for one thing in the models of this world: Hugging Face's, Meta's, OpenAI's, timm's,
// fairseq's, burn's.
struct Synonyms {
  Family family;
  Group words;
};

constexpr std::array<Synonyms, 26> synonyms{{
    {Family::parameter, {"weight", "gamma", "scale", "kernel", "lambda1"}},
    {Family::parameter, {"bias", "beta", "shift"}},
    {Family::parameter, {"running_mean", "moving_mean"}},
    {Family::parameter, {"running_var", "moving_var", "moving_variance"}},
    {Family::none, {"layers", "layer", "blocks", "block", "h", "resblocks"}},
    {Family::attention,
     {"self_attn", "attn", "attention", "self_attention", "self", "SelfAttention", "att", "mha"}},
    {Family::attention,
     {"cross_attn", "encoder_attn", "crossattention", "cross_attention", "encoder_decoder_attention",
      "EncDecAttention", "multihead_attn"}},
    {Family::none, {"mlp", "feed_forward", "ffn", "feedforward", "pwff"}},
    {Family::projection, {"q_proj", "query", "wq", "to_q", "q_lin", "q", "linear_q", "query_proj"}},
    {Family::projection, {"k_proj", "key", "wk", "to_k", "k_lin", "k", "linear_k", "key_proj"}},
    {Family::projection, {"v_proj", "value", "wv", "to_v", "v_lin", "v", "linear_v", "value_proj"}},
    {Family::projection,
     {"qkv", "query_key_value", "c_attn", "Wqkv", "wqkv", "to_qkv", "qkv_proj", "in_proj"}},
    {Family::projection,
     {"o_proj", "out_proj", "wo", "to_out", "out_lin", "out", "o", "linear_out", "proj", "c_proj", "dense",
      "output", "proj_out"}},
    {Family::projection, {"gate_proj", "w1", "gate", "linear_inner"}},
    {Family::projection, {"up_proj", "w3", "up", "linear_outer"}},
    {Family::projection, {"down_proj", "w2", "down", "c_proj", "wo"}},
    {Family::projection,
     {"fc1", "c_fc", "lin1", "linear1", "linear_1", "dense_h_to_4h", "wi", "intermediate_dense",
      "linear_inner", "pwconv1", "fc", "fc_in", "dense"}},
    {Family::projection,
     {"fc2", "c_proj", "lin2", "linear2", "linear_2", "dense_4h_to_h", "wo", "output_dense", "linear_outer",
      "pwconv2", "proj", "fc_out", "dense", "output"}},
    {Family::norm,
     {"input_layernorm", "attention_norm", "ln_1", "ln1", "norm1", "norm_1", "layer_norm1", "attn_ln",
      "self_attn_layer_norm", "layernorm_before", "attn_norm", "sa_layer_norm", "pre_attention_layer_norm",
      "pre_self_attention_layer_norm", "ln"}},
    {Family::norm,
     {"post_attention_layernorm", "ffn_norm", "ln_2", "ln2", "norm2", "norm_2", "layer_norm2", "mlp_ln",
      "final_layer_norm", "layernorm_after", "mlp_norm", "output_layer_norm", "pre_mlp_layer_norm"}},
    {Family::norm,
     {"cross_attn_ln", "encoder_attn_layer_norm", "cross_attn_norm", "pre_cross_attention_layer_norm"}},
    {Family::none, {"ls1", "layer_scale1", "gamma_1"}},
    {Family::none, {"ls2", "layer_scale2", "gamma_2"}},
    {Family::embedding,
     {"embed_tokens", "tok_embeddings", "wte", "token_embedding", "word_embeddings", "tok_emb", "embed_in",
      "shared", "token_embedder", "embedder"}},
    {Family::embedding,
     {"wpe", "positional_embedding", "embed_positions", "position_embeddings", "pos_emb", "pos_embed",
      "position_embedding", "pos_embedding"}},
    {Family::none,
     {"norm", "ln_f", "final_layernorm", "ln_post", "layer_norm", "final_norm", "layernorm", "ln", "ln_final",
      "norm_f", "ln_out"}},
}};

// Layers that end a network. They are not a family: `output` is a projection as well.
constexpr Group heads{"lm_head",    "output", "proj_out",          "embed_out",
                      "classifier", "head",   "output_projection", "final_linear"};

/// What several segments say that others say in one, the longest first.
struct Phrase {
  std::array<std::string_view, 3> segments;
  std::string_view stands_for;
};
constexpr std::array<Phrase, 7> phrases{{
    {{"attention", "output", "LayerNorm"}, "attention_norm"},
    {{"attention", "output", "dense"}, "attention.out_proj"},
    {{"attention", "self"}, "attention"},
    {{"attention", "attention"}, "attention"},
    {{"intermediate", "dense"}, "fc1"},
    {{"output", "dense"}, "fc2"},
    {{"output", "LayerNorm"}, "ffn_norm"},
}};

// Parameters that some call by a letter.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> letters{
    {{"w", "weight"}, {"g", "gamma"}, {"b", "bias"}}};

// The parts of a gated feed-forward layer: their numbers, and the names that others have for them.
constexpr std::array<std::array<std::string_view, 3>, 3> gated_set{{
    {"w1", "gate_proj", "gate"},
    {"w2", "down_proj", "down"},
    {"w3", "up_proj", "up"},
}};

// Words that mean the same inside a segment, the first being the common one.
constexpr std::array<Group, 21> word_synonyms{{
    {"norm", "ln", "layernorm", "rmsnorm", "batchnorm", "bn", "normalization", "groupnorm", "gn"},
    {"attn", "attention", "att"},
    {"emb", "embed", "embedding", "embeddings", "embd", "embedder"},
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
    {"encoder", "enc"},
    {"decoder", "dec"},
    {"cls", "class"},
    {"head", "classifier"},
    {"rel", "relative"},
    {"mid", "middle"},
}};

// Words of which a tensor has one: two of a row are never the same thing.
constexpr std::array<Group, 14> opposites{{
    {"weight", "bias", "mean", "var", "tracked"},
    {"attn", "mlp"},
    {"gamma", "beta"},
    {"encoder", "decoder"},
    {"q", "k", "v", "out", "qkv"},
    {"gate", "up", "down"},
    {"up", "mid", "down"},
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
std::vector<std::string> split_words(std::string_view segment) {
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

using Words = std::vector<SegmentMeaning::Word>;

bool holds(const Words& words, std::string_view text) {
  return std::ranges::find(words, text, &SegmentMeaning::Word::text) != words.end();
}

bool are_opposites(const Words& a, const Words& b) {
  for (const auto& x : a)
    for (const auto& y : b)
      if ((x.opposites & y.opposites) != 0 && !holds(b, x.text) && !holds(a, y.text)) return true;
  return false;
}

/// The same, or short for it: `mask` and `masked`, `dist` and `distillation`.
bool is_same_word(const std::string& a, const std::string& b) {
  constexpr std::size_t least = 4;
  return a == b || (std::min(a.size(), b.size()) >= least && (a.starts_with(b) || b.starts_with(a)));
}

/// The end of a name, from which prefixes were left out.
std::string_view last_segments(std::string_view name, std::size_t count) {
  std::size_t at = name.size();
  while (count-- > 0 && at != 0 && at != std::string_view::npos) at = name.rfind('.', at - 1);
  return at == 0 || at == std::string_view::npos ? name : name.substr(at + 1);
}

/// What the table of synonyms says of two segments, where it says anything.
std::optional<double> synonym_likeness(const SegmentMeaning& a, const SegmentMeaning& b) {
  // Rows can share a member: the segments need only stand together in one.
  if ((a.synonyms & b.synonyms) != 0) return 0.9;
  if ((a.families & b.families) != 0) return -0.5;
  return std::nullopt;
}

/// Whether two segments differ in their numbers only: `conv1` and `conv2`.
bool differ_in_numbers(const Words& a, const Words& b) {
  if (a.size() != b.size()) return false;
  bool differ = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].text == b[i].text) continue;
    if (!is_number(a[i].text) || !is_number(b[i].text)) return false;
    differ = true;
  }
  return differ;
}

/// The rows of a table that hold a word, as bits.
template <std::size_t Rows>
std::uint32_t rows_of(const std::array<Group, Rows>& table, std::string_view word) {
  static_assert(Rows <= 32);
  std::uint32_t rows = 0;
  for (std::size_t i = 0; i < Rows; ++i)
    if (std::ranges::find(table[i], word) != table[i].end()) rows |= 1U << i;
  return rows;
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

std::vector<std::string_view> spoken_segments(std::string_view name) {
  std::vector<std::string_view> segments;
  const auto add = [&](std::string_view text) {
    for (std::size_t at = 0;;) {
      const std::size_t end = text.find_first_of("./", at);
      segments.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
      if (end == std::string_view::npos) return;
      at = end + 1;
    }
  };
  add(name);
  for (const Phrase& phrase : phrases) {
    const auto size = std::ranges::find(phrase.segments, "") - phrase.segments.begin();
    const auto words = std::span(phrase.segments).first(static_cast<std::size_t>(size));
    const auto found = std::ranges::search(segments, words);
    if (found.empty()) continue;
    std::vector<std::string_view> after(found.end(), segments.end());
    segments.erase(found.begin(), segments.end());
    add(phrase.stands_for);
    segments.insert(segments.end(), after.begin(), after.end());
  }
  for (const auto& [letter, stands_for] : letters)
    if (segments.size() > 1 && segments.back() == letter) segments.back() = stands_for;
  return segments;
}

SegmentMeaning::SegmentMeaning(std::string_view segment)
    : text(segment), is_number(ckpt::is_number(segment)) {
  if (is_number || text.empty()) return;
  static_assert(ckpt::synonyms.size() < 32);
  for (std::size_t i = 0; i < ckpt::synonyms.size(); ++i) {
    const auto& [family, row] = ckpt::synonyms.at(i);
    if (std::ranges::find(row, segment) == row.end()) continue;
    synonyms |= 1U << i;
    if (family != Family::none) families |= 1U << static_cast<unsigned>(family);
  }
  if (std::ranges::find(heads, segment) != heads.end()) synonyms |= 1U << ckpt::synonyms.size();
  for (std::string& word : split_words(segment)) {
    const std::uint32_t rows = rows_of(opposites, word);
    words.push_back({std::move(word), rows});
  }
}

double segment_likeness(const SegmentMeaning& a, const SegmentMeaning& b) {
  if (a.text == b.text) return 1;
  if (a.text.empty() || b.text.empty() || a.is_number || b.is_number) return number_likeness(a.text, b.text);
  if (const std::optional<double> likeness = synonym_likeness(a, b)) return *likeness;
  const Words& x = a.words;
  const Words& y = b.words;
  if (are_opposites(x, y) || differ_in_numbers(x, y)) return -0.5;
  const auto shared = static_cast<std::size_t>(std::ranges::count_if(x, [&](const auto& word) {
    return std::ranges::any_of(y, [&](const auto& other) { return is_same_word(word.text, other.text); });
  }));
  if (x.empty() || y.empty()) return 0;
  return 0.8 * 2 * static_cast<double>(shared) / static_cast<double>(x.size() + y.size());
}

double number_likeness(std::string_view a, std::string_view b) {
  if (!is_number(a) || !is_number(b)) return 0;
  return without_zeros(a) == without_zeros(b) ? 0.95 : -0.5;
}

bool numbers_gated_set(std::string_view a, std::string_view b) {
  const auto holds = [](std::string_view text, std::size_t from, std::size_t to) {
    return std::ranges::any_of(gated_set, [&](const auto& row) {
      return std::ranges::find(row.begin() + from, row.begin() + to, text) != row.begin() + to;
    });
  };
  return (holds(a, 0, 1) && !holds(b, 0, 1)) || (holds(b, 0, 1) && !holds(a, 0, 1));
}

bool holds_gated_set(const std::function<bool(std::string_view)>& contains) {
  for (std::size_t column = 0; column < gated_set.front().size(); ++column)
    if (std::ranges::all_of(gated_set, [&](const auto& row) { return contains(row.at(column)); }))
      return true;
  return false;
}

double name_likeness(std::string_view a, std::string_view b) {
  const auto meanings = [](std::string_view name) {
    std::vector<SegmentMeaning> all;
    for (const std::string_view segment : split_segments(name)) all.emplace_back(segment);
    return all;
  };
  const std::vector<SegmentMeaning> x = meanings(a);
  const std::vector<SegmentMeaning> y = meanings(b);
  std::vector<double> row(y.size() + 1);
  for (const SegmentMeaning& segment : x) {
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
  for (const bool is_of_that_shape : {true, false}) {
    std::optional<std::size_t> best;
    double best_score = 0;
    bool is_tie = false;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (may_be_same(wanted, candidates[i]) != is_of_that_shape) continue;
      const double edits = static_cast<double>(name_distance(wanted.name, candidates[i].name));
      const double likeness = name_likeness(wanted.name, candidates[i].name);
      const double closeness =
          1 - edits / static_cast<double>(wanted.name.size() + candidates[i].name.size() + 1);
      if (likeness < 0.3 && closeness < 0.8) continue;
      const double score = likeness + 0.2 * closeness;
      if (best && score < best_score) continue;
      is_tie = best && score == best_score;
      if (!is_tie) best = i, best_score = score;
    }
    // Another shape needs a much likelier name.
    if (is_tie || (best && !is_of_that_shape && best_score < 0.9)) return std::nullopt;
    if (best) return best;
  }
  return std::nullopt;
}

}  // namespace ckpt
