#include "ckpt/stages/remap.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "ckpt/core/input.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/io/file.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

using Names = std::vector<std::string>;

Checkpoint named(const Names& names) {
  std::vector<Tensor> tensors;
  for (const std::string& name : names) tensors.push_back(counting(name, {1}));
  return checkpoint_of(std::move(tensors));
}

std::vector<Rule> rules_of(const Names& lines) {
  std::vector<Rule> rules;
  for (const std::string& line : lines) rules.push_back(parse_rule(line));
  return rules;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("rules are a pipeline: each sees what the ones before made") {
  const Remapped result =
      remap(named({"conv1.conv", "fc"}), rules_of({"conv => c", "^c1 => first", "x => y", "^first => last"}));
  CHECK(names_of(result.checkpoint) == Names{"last.c", "fc"});
  CHECK(result.report.hits == std::vector<std::uint64_t>{1, 1, 0, 1});
  REQUIRE(result.report.names.size() == 2);
  CHECK(result.report.names[0].from == "conv1.conv");
  CHECK(result.report.names[0].to == "last.c");
  CHECK(result.report.names[0].fired == std::vector<std::size_t>{0, 1, 3});
  CHECK(result.report.names[1].fired.empty());
}

TEST_CASE("no rules change nothing") {
  const Remapped result = remap(named({"a", "b"}), {});
  CHECK(names_of(result.checkpoint) == Names{"a", "b"});
  CHECK(result.report.unstable.empty());
}

TEST_CASE("names that the rules would change again are told") {
  CHECK(remap(named({"a"}), rules_of({"a => aa"})).report.unstable == Names{"aa"});
  CHECK(remap(named({"a", "z"}), rules_of({"^a$ => b", "^z$ => y"})).report.unstable.empty());
  CHECK(remap(named({"fc.w"}), rules_of({"^ => model."})).report.unstable == Names{"model.fc.w"});
}

TEST_CASE("names that become one are refused, with both old names and the rules") {
  const Error error =
      error_of([] { remap(named({"a.w", "b.w", "c.w"}), rules_of({"^a => x", "^b => x", "\\.w => .v"})); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(error.file() == "model.pt");
  CHECK(error.message() ==
        "two tensors become x.v: a.w by `^a => x`, `\\.w => .v` and b.w by `^b => x`, `\\.w => .v`");
  CHECK(contains(error.hint(), "--exclude"));
  // A renamed tensor may not take the name of one that stays, whichever comes first.
  CHECK(error_of([] { remap(named({"a", "b"}), rules_of({"^a$ => b"})); }).kind() == ErrorKind::refused);
  CHECK(error_of([] { remap(named({"b", "a"}), rules_of({"^a$ => b"})); }).kind() == ErrorKind::refused);
}

TEST_CASE("a name of which nothing is left is refused") {
  const Error error = error_of([] { remap(named({"fc", "a"}), rules_of({"^a$ =>"})); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(error.message() == "nothing is left of a by `^a$ => `");
}

TEST_CASE("two names may change places") {
  const Remapped result = remap(named({"a", "b"}), rules_of({"^a$ => tmp", "^b$ => a", "^tmp$ => b"}));
  CHECK(names_of(result.checkpoint) == Names{"b", "a"});
}

TEST_CASE("what cannot be delivered is renamed alike") {
  Checkpoint checkpoint = named({"m.a"});
  checkpoint.refused = {{"m.sparse", "sparse COO tensor"}};
  const Remapped result = remap(std::move(checkpoint), rules_of({"^m\\. =>"}));
  CHECK(result.checkpoint.refused.front().name == "sparse");
}

TEST_CASE("the three Llama rules rename all 272 names without a collision") {
  const std::string testdata = CKPT_TESTDATA;
  const std::vector<Rule> rules = parse_rules(text_of(testdata + "/rules/llama.rules"), "llama.rules");
  const auto input = open_input(testdata + "/safetensors/llama_names.safetensors");
  const Checkpoint checkpoint = read_checkpoint(*input);
  REQUIRE(rules.size() == 3);
  REQUIRE(checkpoint.tensors.size() == 272);
  const Remapped result = remap(checkpoint, rules);
  const Names renamed = names_of(result.checkpoint);
  CHECK(std::set<std::string>(renamed.begin(), renamed.end()).size() == 272);
  // What the rules mean, spelled out without regular expressions.
  for (std::size_t i = 0; i < renamed.size(); ++i) {
    std::string expected = checkpoint.tensors[i].name;
    if (expected.starts_with("model.")) expected = expected.substr(6);
    expected = replaced(expected, ".self_attn.", ".attn.");
    expected = replaced(expected, ".input_layernorm.weight", ".input_norm.gamma");
    expected = replaced(expected, ".post_attention_layernorm.weight", ".post_attention_norm.gamma");
    CHECK(renamed[i] == expected);
  }
}

TEST_CASE("wrappers of DataParallel and torch.compile go wherever they stand, but the last segment stays") {
  CHECK(strip_wrappers("module.fc.weight") == "fc.weight");
  CHECK(strip_wrappers("_orig_mod.fc.weight") == "fc.weight");
  CHECK(strip_wrappers("module._orig_mod.module.fc.weight") == "fc.weight");
  CHECK(strip_wrappers("encoder._orig_mod.fc.weight") == "encoder.fc.weight");
  CHECK(strip_wrappers("encoder.module") == "encoder.module");
  CHECK(strip_wrappers("module") == "module");
  CHECK(strip_wrappers("module.module") == "module");
  CHECK(strip_wrappers("my_module.fc") == "my_module.fc");
  CHECK(strip_wrappers("modules.fc") == "modules.fc");
  CHECK(strip_wrappers("").empty());
  CHECK(strip_wrappers("a..b.") == "a..b.");
}

TEST_CASE("stripping counts the names that changed and refuses a collision") {
  std::uint64_t stripped = 0;
  CHECK(names_of(strip_wrappers(named({"module.a", "b"}), stripped)) == Names{"a", "b"});
  CHECK(stripped == 1);
  const Error error = error_of([&] { strip_wrappers(named({"module.a", "a"}), stripped); });
  CHECK(error.kind() == ErrorKind::refused);
  CHECK(contains(error.message(), "module.a by --strip-wrappers"));
}
