#include "options.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/file.hpp"

namespace ckpt {
namespace {

constexpr std::array<std::pair<std::string_view, Direction>, 3> adapters{{
    {"none", Direction::none},
    {"pytorch-to-burn", Direction::pytorch_to_burn},
    {"burn-to-pytorch", Direction::burn_to_pytorch},
}};

std::vector<Regex> parse_all(const std::vector<std::string>& patterns) {
  std::vector<Regex> all;
  for (const std::string& pattern : patterns) all.emplace_back(pattern);
  return all;
}

void append(std::vector<Rule>& rules, std::vector<Rule> more) {
  std::ranges::move(more, std::back_inserter(rules));
}

}  // namespace

void TalkOptions::add(CLI::App& app) {
  app.add_flag("-q,--quiet", quiet, "Say only what is wrong");
  app.add_flag("-v,--verbose", verbose, "Say more, and list everything");
  app.add_option("--color", color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

/// Those of one side stand together in the help.
CLI::Option* StageOptions::placed(CLI::Option* option) const {
  return side_.empty() ? option : option->group("One side only");
}

/// An option that may be repeated.
CLI::Option* StageOptions::add(const std::string& name, std::vector<std::string>& into,
                               const std::string& help) const {
  return placed(app_->add_option(flag(name), into, help)->take_all()->allow_extra_args(false));
}

void StageOptions::add_choice(CLI::App& app) {
  app_ = &app;
  add("include", include_, "Keep tensors whose name matches REGEX (repeatable)")->type_name("REGEX");
  add("exclude", exclude_, "Drop tensors whose name matches REGEX (repeatable)")->type_name("REGEX");
  placed(app.add_option(flag("top-level-key"), top_level_key_,
                        "Take the tensors under KEY of a nested checkpoint; . is all of it"))
      ->type_name("KEY");
}

void StageOptions::add_rename(CLI::App& app) {
  app_ = &app;
  add("remap", remap_, "Rename by the rules of a file, - for standard input (repeatable)")
      ->type_name("RULES");
  add("rename", rename_, "One rule (repeatable; rules keep the order of the command line)")
      ->type_name("'PATTERN => REPLACEMENT'");
  placed(app.add_flag(flag("strip-wrappers"), strip_wrappers_, "Drop module. and _orig_mod. from names"));
  placed(app.add_flag(flag("renumber"), renumber_,
                      "Close the gaps in list indices (net.0, net.2 become net.0, net.1)"));
  placed(app.add_flag(flag("strict-rules"), strict_rules_, "A rule that matches no name is an error"));
}

void StageOptions::add_layout(CLI::App& app) {
  app_ = &app;
  placed(
      app.add_option(flag("adapter"), adapter_,
                     side_.empty()
                         ? "none, pytorch-to-burn or burn-to-pytorch; default: what the two formats call for"
                         : "none, pytorch-to-burn or burn-to-pytorch"))
      ->check(CLI::IsMember({"none", "pytorch-to-burn", "burn-to-pytorch"}));
  add("module", module_, "The modules whose path matches REGEX are of KIND (repeatable)")
      ->type_name("'REGEX => KIND'");
  add("modules", modules_, "Such lines from a file (repeatable)")->type_name("FILE");
}

void StageOptions::add_cast(CLI::App& app) {
  app_ = &app;
  add("dtype", dtype_, "Cast floating-point tensors to TYPE; the first match wins (repeatable)")
      ->type_name("TYPE|'REGEX=TYPE'");
  app.add_flag(
      flag("half"), half_,
      "burn's mixed-precision storage: F32 becomes F16, but for BatchNorm and what belongs to no layer");
  app.add_flag(flag("allow-overflow"), allow_overflow_, "A finite number may become infinite");
  app.add_option(flag("require"), require_, "lossless: refuse a cast that could change a number")
      ->check(CLI::IsMember({"lossless"}));
}

void StageOptions::add_like(CLI::App& app) {
  app_ = &app;
  placed(app.add_option(
             flag("like"), like_,
             "A checkpoint or lock file whose names, shapes, layout and param ids the result must have"))
      ->type_name("TARGET");
}

void StageOptions::add_target(CLI::App& app) {
  add_like(app);
  app.add_flag(flag("allow-missing") + "{.*}", allow_missing_,
               "Tensors of the target may be missing (=REGEX: those that match)");
  app.add_flag(flag("allow-unused") + "{.*}", allow_unused_,
               "The target need not know every tensor (=REGEX: those that match)");
}

std::vector<std::string> StageOptions::files() const {
  std::vector<std::string> all = remap_;
  all.insert(all.end(), modules_.begin(), modules_.end());
  return all;
}

StageOptions::Parsed StageOptions::parse() const {
  Parsed parsed;
  parsed.renumber = renumber_;
  for (const std::string& rule : dtype_) parsed.casts.rules.push_back(parse_cast_rule(rule));
  parsed.casts.half = half_;
  for (const CastRule& rule : parsed.casts.rules)
    if (half_ && !rule.name && rule.to != DType::f32)
      throw Error(ErrorKind::usage, fmt::format("--half and --dtype {} both say what every tensor becomes",
                                                printable(rule.text)))
          .with_hint(
              "leave out one of the two, or name tensors with --dtype 'REGEX=TYPE'; --half --dtype f32 "
              "is the way back");
  parsed.allow_overflow = allow_overflow_;
  parsed.require_lossless = !require_.empty();
  parsed.like = like_;
  if (!allow_missing_.empty()) parsed.match.allow_missing.emplace_back(allow_missing_);
  if (!allow_unused_.empty()) parsed.match.allow_unused.emplace_back(allow_unused_);
  parsed.filters = {parse_all(include_), parse_all(exclude_)};
  if (!top_level_key_.empty()) parsed.top_level_key = top_level_key_;
  parsed.strip_wrappers = strip_wrappers_;
  parsed.strict_rules = strict_rules_;

  // CLI11 keeps the order in which options were met: each stands there once for each of its values.
  std::unordered_map<std::string, std::size_t> next;
  for (const CLI::Option* option : app_->parse_order()) {
    const std::string name = option->get_name();
    const std::size_t i = next[name]++;
    if (name == flag("remap") && i < remap_.size())
      append(parsed.rules, parse_rules(read_text(remap_[i]), remap_[i]));
    else if (name == flag("rename") && i < rename_.size()) parsed.rules.push_back(parse_rule(rename_[i]));
    else if (name == flag("module") && i < module_.size())
      parsed.kinds.push_back(parse_kind_rule(module_[i]));
    else if (name == flag("modules") && i < modules_.size())
      std::ranges::move(parse_kind_rules(read_text(modules_[i]), modules_[i]),
                        std::back_inserter(parsed.kinds));
  }
  for (const auto& [name, direction] : adapters)
    if (name == adapter_) parsed.adapter = direction;
  return parsed;
}

namespace {

void require_rules_size(const std::string& path, std::uint64_t size) {
  if (size > limits::rules_bytes)
    throw Error(ErrorKind::usage, fmt::format("{} is too much for a file of rules; {} is the limit",
                                              human_size(size), human_size(limits::rules_bytes)))
        .in_file(path);
}

}  // namespace

std::string read_text(const std::string& path) {
  if (const auto bytes = read_pipe(path, limits::rules_bytes + 1)) {
    require_rules_size(path, bytes->size());
    return std::string(as_text(*bytes));
  }
  const auto input =
      path == "-" ? open_standard_input([](std::span<const std::byte>) { return false; }) : open_input(path);
  try {
    const Bytes bytes = input->bytes();
    if (!bytes) fail(ErrorKind::io, "is a directory");
    require_rules_size(input->name(), bytes->size());
    const std::vector<std::byte> content = read_range(*bytes, 0, bytes->size());
    return std::string(as_text(content));
  } catch (Error& error) {
    throw error.in_file(input->name());
  }
}

double parse_tolerance(const std::string& text, std::string_view option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    fail(ErrorKind::usage, "{}: `{}` is not a number of 0 or more", option, printable(text));
  return value;
}

std::string_view direction_name(Direction direction) {
  for (const auto& [name, value] : adapters)
    if (value == direction) return name;
  return "none";
}

}  // namespace ckpt
