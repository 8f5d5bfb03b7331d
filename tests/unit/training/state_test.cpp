#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/configuration.hpp"
#include "ckpt/training/lint.hpp"
#include "ckpt/training/orphans.hpp"
#include "ckpt/training/torch_state.hpp"
#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Value numbers(std::initializer_list<int> items) {
  Value array = Value::array();
  for (const int item : items) array.push(item);
  return array;
}

/// A checkpoint with one optimizer at `place`, whose group has these settings and parameters 0 and 1.
Checkpoint torch_checkpoint(const std::string& place, Value group) {
  group.set("params", numbers({0, 1}));
  Value groups = Value::array();
  groups.push(std::move(group));
  Checkpoint checkpoint;
  checkpoint.file = "train.pt";
  checkpoint.values.set(place, Value::object().set("param_groups", std::move(groups)));
  return checkpoint;
}

Value adam_group() {
  Value betas = Value::array();
  betas.push(0.9).push(0.999);
  return Value::object().set("lr", 0.1).set("betas", std::move(betas)).set("eps", 1e-8).set("amsgrad", false);
}

double read_float(const Tensor& tensor) {
  return static_cast<double>(values_of<float>(gathered(tensor)).at(0));
}

/// Adam's record of the parameters 5 and 6, made as burn writes it.
Checkpoint burn_record() {
  Checkpoint record;
  record.file = "optim.bpk";
  for (const std::uint64_t id : {5U, 6U}) {
    const std::string prefix = std::to_string(id) + ".";
    for (const char* moment : {"momentum.moment_1", "momentum.moment_2"}) {
      record.tensors.push_back(counting(prefix + moment, {2, 3}, 1));
      record.tensors.back().param_id = id;
    }
    record.scalars.emplace(prefix + "__rank", std::uint64_t{2});
    record.scalars.emplace(prefix + "momentum.time", std::uint64_t{3});
  }
  record.metadata.emplace("5", "fc.weight");
  return record;
}

std::vector<StateFault> lint(const Checkpoint& record, const Checkpoint* model = nullptr) {
  return lint_state(read_burn_optimizer(record), record, model, [](const Tensor& tensor) {
    return gathered(tensor) == std::vector<std::byte>(tensor.byte_size());
  });
}

}  // namespace

TEST_CASE("PyTorch's state is read with steps that are numbers and tensors") {
  Checkpoint checkpoint = torch_checkpoint("optimizer", adam_group());
  checkpoint.tensors = {
      counting("optimizer.state.0.step", {}, 7),     counting("optimizer.state.0.exp_avg", {2}),
      counting("optimizer.state.0.exp_avg_sq", {2}), counting("optimizer.state.1.step", {1}, 7),
      counting("optimizer.state.1.exp_avg", {3}),    counting("optimizer.state.1.exp_avg_sq", {3})};
  CHECK(find_torch_optimizers(checkpoint) == std::vector<std::string>{"optimizer"});
  const OptimizerState state = read_torch_optimizer(checkpoint, "optimizer", read_float);
  REQUIRE(state.kind != nullptr);
  CHECK(state.kind->name == "Adam");
  REQUIRE(state.parameters.size() == 2);
  CHECK(state.parameters[0].step == 7U);
  CHECK(state.parameters[1].step == 7U);
  CHECK(state.parameters[1].moment("exp_avg_sq") != nullptr);
  CHECK(state.unknown.empty());
}

TEST_CASE("Adam and AdamW are told apart by what PyTorch leaves in a group") {
  const auto kind_of = [](Value group) {
    return read_torch_optimizer(torch_checkpoint("o", std::move(group)), "o", read_float).kind->name;
  };
  CHECK(kind_of(adam_group().set("decoupled_weight_decay", true)) == "AdamW");
  CHECK(kind_of(adam_group().set("foreach", nullptr).set("maximize", false)) == "AdamW");
  CHECK(kind_of(adam_group().set("maximize", false).set("foreach", nullptr)) == "Adam");
  CHECK(kind_of(adam_group().set("weight_decay", 0.01)) == "AdamW");
}

TEST_CASE("what no row has a place for is named, and optimizers that burn lacks are known") {
  Checkpoint checkpoint = torch_checkpoint("o", adam_group());
  checkpoint.tensors = {counting("o.state.0.exp_avg_sq", {2}), counting("o.state.0.extra", {2})};
  CHECK(read_torch_optimizer(checkpoint, "o", read_float).unknown ==
        std::vector<std::string>{"o.state.0.extra"});
  const Value nadam = adam_group().set("momentum_decay", 0.004);
  CHECK(read_torch_optimizer(torch_checkpoint("o", nadam), "o", read_float).kind->config.empty());
}

TEST_CASE("settings that are tensors of one element are their numbers; others have no place") {
  Value group = adam_group();
  group.as<Value::Object>()->front() = {"name", "all"};
  Value betas = Value::array();
  betas.push(0.9).push(nullptr);
  group.as<Value::Object>()->at(1).second = std::move(betas);
  Checkpoint checkpoint = torch_checkpoint("o", std::move(group));
  checkpoint.tensors = {counting("o.param_groups.0.lr", {}, 0.5F),
                        counting("o.param_groups.0.betas.1", {1}, 0.25F),
                        plain("o.param_groups.0.warmup", DType::i64, {}, std::vector<std::int64_t>{7}),
                        counting("o.param_groups.0.scales", {3}), counting("o.param_groups.0.eps", {}, 1)};
  const OptimizerState state = read_torch_optimizer(checkpoint, "o", [](const Tensor& tensor) {
    return tensor.dtype == DType::i64 ? 7 : read_float(tensor);
  });
  const Value& hypers = state.groups.at(0).hypers;
  CHECK(learning_rate(hypers) == 0.5);
  CHECK(*hypers.find("warmup") == Value(7));
  CHECK(hypers.find("betas")->as<Value::Array>()->at(1) == Value(0.25));
  CHECK(state.tensor_settings.size() == 3);
  // More than one element; a setting that the group has as a number, too.
  CHECK(state.unknown == std::vector<std::string>{"o.param_groups.0.scales", "o.param_groups.0.eps"});
}

TEST_CASE("a step that is no number of steps is refused") {
  Checkpoint checkpoint = torch_checkpoint("o", adam_group());
  checkpoint.tensors = {counting("o.state.0.step", {}, 0.5F)};
  CHECK(message_of([&] { read_torch_optimizer(checkpoint, "o", read_float); }) ==
        "o.state.0.step is no whole number of steps");
}

TEST_CASE("param_groups that were too large to be shown are refused") {
  Value group = adam_group();
  Value params = Value::array();
  params.push(0).push("…");
  group.set("params", std::move(params));
  Value groups = Value::array();
  groups.push(std::move(group));
  Checkpoint checkpoint;
  checkpoint.values.set("o", Value::object().set("param_groups", std::move(groups)));
  CHECK(message_of([&] { read_torch_optimizer(checkpoint, "o", read_float); }) ==
        "o.param_groups were left out on reading in part: they are too large, or not a list of numbers");
}

TEST_CASE("every optimizer's record is read back from what is written") {
  for (const OptimizerKind& kind : optimizer_table()) {
    if (kind.config.empty()) continue;
    CAPTURE(kind.name);
    OptimizerState state;
    state.kind = &kind;
    ParameterGroup& group = state.groups.emplace_back();
    group.hypers.set("lr", 0.25);
    group.keys = {"9"};
    ParameterState& parameter = state.parameters.emplace_back();
    parameter = {.key = "9", .name = "w", .param_id = 9, .step = 6, .rank = 2};
    for (const MomentRow& row : kind.moments)
      if (!row.torch.empty()) parameter.moments.push_back(counting(std::string(row.torch), {2, 2}));
    const Checkpoint record = make_burn_optimizer(state);
    CHECK(is_burn_optimizer(record));
    for (const Tensor& tensor : record.tensors) CHECK(tensor.param_id == 9U);
    const OptimizerState back = read_burn_optimizer(record);
    CHECK(back.kind == &kind);
    CHECK(back.unknown.empty());
    REQUIRE(back.parameters.size() == 1);
    CHECK(back.parameters[0].missing.empty());
    CHECK(back.parameters[0].rank == 2U);
    CHECK(back.parameters[0].path == "w");
    if (kind.torch_counts) CHECK(back.parameters[0].step == 6U);
    CHECK(back.parameters[0].moments.size() == parameter.moments.size());
    CHECK(back.groups.at(0).keys == std::vector<std::string>{"9"});
    CHECK(learning_rate(back.groups.at(0).hypers) == 0.25);
  }
}

TEST_CASE("RMSprop's centered.avg, which burn computes anew, is there in the right shape") {
  OptimizerState state;
  state.kind = find_optimizer("RMSprop");
  state.parameters.push_back(
      {.key = "9", .name = "w", .param_id = 9, .rank = 1, .moments = {counting("square_avg", {3})}});
  const Checkpoint record = make_burn_optimizer(state);
  CHECK(names_of(record) == std::vector<std::string>{"9.square_avg.square_avg", "9.centered.avg"});
}

TEST_CASE("a configuration names what differs from burn's defaults") {
  const BurnConfiguration adam =
      burn_configuration(*find_optimizer("Adam"), adam_group().set("maximize", true));
  CHECK(adam.code == "AdamConfig::new().with_epsilon(1e-8)");
  CHECK(adam.differences == std::vector<std::string>{"epsilon is 1e-8 (burn's default: 1e-5)"});
  CHECK(adam.lacking == std::vector<std::string>{"maximize is true: burn's AdamConfig has no such setting"});
  const Value sgd =
      Value::object().set("momentum", 0.9).set("dampening", 0).set("nesterov", true).set("weight_decay", 0.1);
  CHECK(burn_configuration(*find_optimizer("SGD"), sgd).code ==
        "SgdConfig::new().with_momentum(Some(MomentumConfig::new().with_dampening(0.0).with_nesterov(true)))"
        ".with_weight_decay(Some(WeightDecayConfig::new(0.1)))");
  CHECK(burn_configuration(*find_optimizer("SGD"), Value::object().set("momentum", 0)).code ==
        "SgdConfig::new()");
  const Value muon = Value::object().set("momentum", 0.95).set("nesterov", true).set("weight_decay", 0.1);
  CHECK(burn_configuration(*find_optimizer("Muon"), muon).code ==
        "MuonConfig::new().with_momentum(MomentumConfig::new().with_momentum(0.95).with_dampening(0.0)"
        ".with_nesterov(true)).with_weight_decay(Some(WeightDecayConfig::new(0.1)))");
}

TEST_CASE("a state without settings gets those that show in it") {
  OptimizerState state;
  state.kind = find_optimizer("Adam");
  state.parameters.push_back({.key = "0", .name = "w", .moments = {counting("max_exp_avg_sq", {2})}});
  const ParameterGroup group = default_group(state, {"w"});
  CHECK(*group.hypers.find("amsgrad") == Value(true));
  CHECK(*group.hypers.find("eps") == Value(1e-5));
  CHECK(*group.hypers.find("lr") == Value(1e-3));
  state.groups.push_back(group);
  set_hyper(state, "eps=1e-8");
  CHECK(*state.groups[0].hypers.find("eps") == Value(1e-8));
  CHECK(message_of([&] { set_hyper(state, "alpha=1"); }) == "--hyper alpha=1: not a setting of Adam");
}

TEST_CASE("a setting is of the type and the range that PyTorch's constructors take") {
  OptimizerState state;
  state.groups.emplace_back();
  const auto refused = [&](std::string_view kind, const std::string& assignment) {
    state.kind = find_optimizer(kind);
    return message_of([&] { set_hyper(state, assignment); });
  };
  const std::string betas = "betas of Adam is a list of 2, each a number from 0 to below 1";
  for (const char* value : {"0.5", "[0.9]", "[0.9, 0.99, 0.999]", "[0.9, 1]", "[-0.1, 0.9]", "[0.9, true]"})
    CHECK(refused("Adam", fmt::format("betas={}", value)) ==
          fmt::format("--hyper betas={}: {}", value, betas));
  for (const char* value : {"-1", "true", "null", "[0.1]", "\"0.1\"", "{}"})
    CHECK(refused("SGD", fmt::format("lr={}", value)) ==
          fmt::format("--hyper lr={}: lr of SGD is a number, 0 or more", value));
  CHECK(refused("Adam", "amsgrad=1") == "--hyper amsgrad=1: amsgrad of Adam is true or false");
  CHECK(refused("Muon", "ns_steps=2.5") ==
        "--hyper ns_steps=2.5: ns_steps of Muon is a whole number, 0 or more");
  CHECK(refused("Muon", "ns_coefficients=[1, 2]") ==
        "--hyper ns_coefficients=[1, 2]: ns_coefficients of Muon is a list of 3, each a number");
  CHECK(refused("Adan", "betas=[0.9, 0.9]").ends_with("a list of 3, each a number from 0 to below 1"));
  CHECK(state.groups[0].hypers == Value::object());
  state.kind = find_optimizer("SGD");
  set_hyper(state, "dampening=-0.5");
  state.kind = find_optimizer("Muon");
  set_hyper(state, "ns_coefficients=[3, -4.5, 2]");
  set_hyper(state, "ns_steps=6");
  state.kind = find_optimizer("Adan");
  set_hyper(state, "betas=[0.9, 0, 0.99]");
  CHECK(state.groups[0].hypers.as<Value::Object>()->size() == 4);
}

TEST_CASE("a setting that takes a moment which PyTorch does not begin by itself needs it in the state") {
  OptimizerState state;
  state.groups.emplace_back();
  state.parameters.push_back({.key = "0", .name = "w", .moments = {counting("exp_avg", {2})}});
  state.kind = find_optimizer("Adam");
  CHECK(message_of([&] { set_hyper(state, "amsgrad=true"); }) ==
        "--hyper amsgrad=true: this takes max_exp_avg_sq in the state, which has none: PyTorch would fail in "
        "the next step");
  set_hyper(state, "amsgrad=false");
  state.kind = find_optimizer("RMSprop");
  CHECK(message_of([&] { set_hyper(state, "momentum=0.9"); }).find("takes momentum_buffer") !=
        std::string::npos);
  state.kind = find_optimizer("SGD");
  set_hyper(state, "momentum=0.9");
  state.kind = find_optimizer("Adam");
  state.parameters[0].moments.push_back(counting("max_exp_avg_sq", {2}));
  set_hyper(state, "amsgrad=true");
}

TEST_CASE("a sound record has no faults, and each fault is told once") {
  CHECK(lint(burn_record()).empty());

  Checkpoint record = burn_record();
  record.tensors[0].param_id.reset();
  record.tensors[1] = plain("5.momentum.moment_2", DType::f32, {2, 3}, std::vector<float>(6));
  record.tensors[1].param_id = 5;
  record.scalars["6.__rank"] = std::uint64_t{1};
  record.scalars.erase("6.momentum.time");
  const std::vector<StateFault> faults = lint(record);
  std::vector<StateFault::Kind> kinds;
  for (const StateFault& fault : faults) kinds.push_back(fault.kind);
  using enum StateFault::Kind;
  CHECK(kinds == std::vector<StateFault::Kind>{no_id, zero, misfit, incomplete});
  CHECK(faults[1].text == "fc.weight: exp_avg_sq is all zero after 3 steps");
}

TEST_CASE("orphans are found and dropped, with everything that speaks of them") {
  Checkpoint model = checkpoint_of({counting("fc.weight", {2, 3}), counting("fc.bias", {3})});
  model.tensors[0].param_id = 6;
  model.tensors[1].param_id = 7;
  Checkpoint record = burn_record();
  const std::vector<StateFault> faults = lint(record, &model);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].text ==
        "2 of 4 tensors are orphans, of 1 parameter that the model does not have (fc.weight; at step 3)");
  CHECK(faults[1].text == "1 of the model's 2 parameters have no state: fc.bias");

  const DroppedOrphans dropped = drop_orphans(record, model);
  CHECK(dropped.ids == std::vector<std::uint64_t>{5});
  CHECK(names_of(record) == std::vector<std::string>{"6.momentum.moment_1", "6.momentum.moment_2"});
  CHECK(record.scalars.size() == 2);
  CHECK(record.metadata.empty());
}

TEST_CASE("ids are given once, the same ones every time, and none twice") {
  Checkpoint a = checkpoint_of({counting("a", {2}), counting("b", {2}), counting("c", {2})});
  a.tensors[1].param_id = 77;
  Checkpoint b = a;
  give_param_ids(a);
  give_param_ids(b);
  CHECK(a.tensors[1].param_id == 77U);
  CHECK(a.tensors[0].param_id == b.tensors[0].param_id);
  CHECK(a.tensors[0].param_id != a.tensors[2].param_id);
}

TEST_CASE("a state of PyTorch's that is not what its optimizers write is refused by its place") {
  const auto error = [](const Checkpoint& checkpoint) {
    return message_of([&] { read_torch_optimizer(checkpoint, "o", read_float); });
  };
  CHECK(error(Checkpoint{}) == "there is no optimizer's state under o");
  const auto with_state = [](Value state) {
    Checkpoint checkpoint = torch_checkpoint("o", adam_group());
    Value* place = &checkpoint.values.as<Value::Object>()->front().second;
    place->set("state", std::move(state));
    return checkpoint;
  };
  CHECK(error(with_state(Value::object().set("0", 5))) == "o.state.0 is no dict");
  CHECK(error(with_state(Value::object().set("0", Value::object().set("step", -1)))) ==
        "o.state.0.step is no whole number of steps");
  CHECK(error(with_state(Value::object().set("0", Value::object().set("step", "x")))) ==
        "o.state.0.step is no whole number of steps");
  const OptimizerState counted =
      read_torch_optimizer(with_state(Value::object().set(
                               "0", Value::object().set("step", 7).set("other", 1).set("none", nullptr))),
                           "o", read_float);
  CHECK(counted.parameters.at(0).step == 7U);
  CHECK(counted.unknown == std::vector<std::string>{"o.state.0.other"});
  Checkpoint loose = torch_checkpoint("o", adam_group());
  loose.tensors = {counting("o.state.exp_avg", {2})};
  CHECK(error(loose) == "o.state.exp_avg belongs to no parameter");
  Checkpoint names = torch_checkpoint("o", adam_group().set("param_names", numbers({1})));
  CHECK(error(names) == "o.param_groups: 1 names for 2 parameters");
  Checkpoint long_step = torch_checkpoint("o", adam_group());
  long_step.tensors = {counting("o.state.0.step", {2})};
  CHECK(error(long_step) == "o.state.0.step is no whole number of steps");
}

TEST_CASE("places of optimizers are found in dicts and lists, and read from there") {
  Value groups = Value::array();
  groups.push(adam_group().set("params", numbers({0})));
  Value list = Value::array();
  list.push(5).push(Value::object().set("param_groups", groups));
  Checkpoint checkpoint;
  checkpoint.values.set(
      "all", Value::object().set("a.b", Value::object().set("param_groups", groups)).set("of", list));
  CHECK(find_torch_optimizers(checkpoint) == std::vector<std::string>{"all.a.b", "all.of.1"});
  for (const char* place : {"all.a.b", "all.of.1"})
    CHECK(read_torch_optimizer(checkpoint, place, read_float).groups.at(0).keys ==
          std::vector<std::string>{"0"});
  for (const char* place : {"all.of.2", "all.of.1.x", "all.c", "all.of"})
    CHECK(message_of([&] { read_torch_optimizer(checkpoint, place, read_float); }) ==
          "there is no optimizer's state under " + std::string(place));
}

TEST_CASE("a note that a conversion did not write is refused with what is wrong in it") {
  const auto error = [](const char* note) {
    Checkpoint record = burn_record();
    record.metadata["ckpt.optimizer"] = note;
    const std::string message = message_of([&] { read_burn_optimizer(record); });
    CHECK(message.starts_with("the metadata `ckpt.optimizer` is not what ckpt writes: "));
    return message.substr(message.find(": ") + 2);
  };
  CHECK(contains(error("{"), "not valid JSON"));
  for (const char* note :
       {"[]", "{}", R"({"kind":5,"param_groups":[]})", R"({"kind":"None","param_groups":[]})",
        R"({"kind":"Adam"})", R"({"kind":"Adam","param_groups":5})"})
    CHECK(error(note) == "no kind or no param_groups");
  CHECK(error(R"({"kind":"Adam","param_groups":[5]})") == "a group is no object");
  CHECK(error(R"({"kind":"Adam","param_groups":[{"params":[-1]}]})") == "an id is no number");
  CHECK(error(R"({"kind":"Adam","param_groups":[{"params":["5"]}]})") == "an id is no number");
}

TEST_CASE("a record whose entries no row has is read as far as it is known") {
  Checkpoint record = burn_record();
  record.tensors.push_back(counting("7.strange", {2}));
  record.tensors.push_back(counting("strange", {2}));
  record.scalars.emplace("x.__rank", std::uint64_t{1});
  record.scalars.emplace("5.other", true);
  record.scalars["5.__rank"] = std::int64_t{-1};
  const OptimizerState state = read_burn_optimizer(record);
  CHECK(state.kind == find_optimizer("Adam"));
  CHECK(state.unknown == std::vector<std::string>{"strange", "x.__rank", "5.other", "7.strange"});
  CHECK_FALSE(state.parameters.at(0).rank);
  CHECK(state.parameters.at(1).rank == 2U);
}

TEST_CASE("parameters with state that are in no group are not dropped without a word") {
  OptimizerState state;
  state.kind = find_optimizer("Adam");
  state.groups.emplace_back().keys = {"a"};
  state.parameters.push_back({.key = "0", .name = "a"});
  state.parameters.push_back({.key = "1", .name = "b"});
  CHECK(message_of([&] { make_torch_optimizer(state); }) ==
        "1 parameters with state are in no parameter group of the optimizer");
}

TEST_CASE("settings that are no numbers are told, tuples written, and whole numbers kept whole") {
  Value betas = Value::array();
  betas.push("x").push(0.9);
  const BurnConfiguration odd =
      burn_configuration(*find_optimizer("Adam"), Value::object().set("betas", betas).set("eps", "small"));
  CHECK(std::ranges::find(odd.lacking, R"(eps is "small", which is no number)") != odd.lacking.end());
  CHECK(rust_float(std::nan("")) == "f64::NAN");
  CHECK(rust_float(-HUGE_VAL) == "f64::NEG_INFINITY");
  CHECK(rust_float(HUGE_VAL) == "f64::INFINITY");
  CHECK(rust_float(1e+30) == "1e30");
  CHECK(rust_float(1e-07) == "1e-7");
  CHECK(rust_float(3) == "3.0");
  OptimizerState state;
  state.kind = find_optimizer("Adam");
  state.groups.emplace_back();
  CHECK(message_of([&] { set_hyper(state, "eps=tiny"); }) == "--hyper eps=tiny: the value is no number");
  CHECK(message_of([&] { set_hyper(state, "eps"); }) == "--hyper eps: not a setting of Adam");
}

TEST_CASE("settings that a pickle spells in ways that a record loses are named") {
  OptimizerState state;
  ParameterGroup& group = state.groups.emplace_back();
  Value list = Value::array();
  list.push(1);
  group.hypers.set("betas", list).set("lr", 0.1).set("schedule", list).set("dtype", "torch.float32");
  group.hypers.set("array", "dtype <f4").set("blob", "12 bytes").set("long", "abc…").set("name", "adam");
  group.hypers.set("object", Value::object().set("class", "m.C")).set("empty", Value::object());
  group.hypers.set("keys", Value::object().set("12", 1)).set("plain", Value::object().set("a", 1));
  state.groups.push_back(group);
  CHECK(inexact_settings(state) ==
        std::vector<std::string>{"schedule", "dtype", "array", "blob", "long", "object", "empty", "keys"});
}

namespace {

/// A record with these moments, `ID.PATH` by their shapes, and the rank of each parameter.
Checkpoint record_of(const std::vector<std::pair<std::string, Shape>>& moments) {
  Checkpoint record;
  record.file = "optim.bpk";
  for (const auto& [name, shape] : moments) {
    record.tensors.push_back(counting(name, shape, 1));
    record.scalars[name.substr(0, name.find('.')) + ".__rank"] = std::uint64_t{shape.size()};
  }
  return record;
}

}  // namespace

TEST_CASE("a velocity of matrices beside another optimizer is Muon's, of anything else SGD's") {
  const std::string velocity(find_optimizer("SGD")->moments.front().burn);
  const std::string first = "momentum.moment_1";
  const std::string second = "momentum.moment_2";
  const OptimizerState muon =
      read_burn_optimizer(record_of({{"1." + velocity, {2, 3}}, {"2." + first, {3}}, {"2." + second, {3}}}));
  CHECK(muon.kind == find_optimizer("Muon"));
  CHECK(muon.other_kinds == std::vector<std::string>{"Adam"});
  const OptimizerState behind =
      read_burn_optimizer(record_of({{"1." + first, {3}}, {"1." + second, {3}}, {"2." + velocity, {2, 3}}}));
  CHECK(behind.kind == find_optimizer("Adam"));
  CHECK(behind.other_kinds == std::vector<std::string>{"Muon"});
  const OptimizerState sgd =
      read_burn_optimizer(record_of({{"1." + velocity, {3}}, {"2." + first, {3}}, {"2." + second, {3}}}));
  CHECK(sgd.kind == find_optimizer("SGD"));
}

TEST_CASE("a moment that is missing, and a record of ranks alone, are told") {
  const OptimizerState half = read_burn_optimizer(record_of({{"1.momentum.moment_1", {3}}}));
  CHECK(half.parameters.at(0).missing == std::vector<std::string>{"momentum.moment_2", "momentum.time"});
  Checkpoint ranks;
  ranks.scalars.emplace("1.__rank", std::int64_t{2});
  const OptimizerState bare = read_burn_optimizer(ranks);
  CHECK(bare.kind == find_optimizer("SGD"));
  CHECK(bare.evidence == "it has ranks and no tensors");
  CHECK(bare.parameters.at(0).rank == 2U);
}

TEST_CASE("what a record holds that its optimizer has no place for, or a model no shape, is a fault") {
  Checkpoint record = burn_record();
  record.tensors.push_back(counting("loose", {2}));
  record.tensors[0].param_id = 7;
  const std::vector<StateFault> faults = lint(record);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].text ==
        "5.momentum.moment_1 has another ParamId than its name says: burn ends with a panic when it "
        "loads this");
  CHECK(faults[1].kind == StateFault::Kind::unknown);
  CHECK(faults[1].text == "Adam has no place for loose");

  Checkpoint model = checkpoint_of({counting("fc.weight", {2, 3}), counting("fc.bias", {3})});
  model.tensors[0].param_id = 5;
  model.tensors[1].param_id = 6;
  const std::vector<StateFault> misfits = lint(burn_record(), &model);
  REQUIRE(misfits.size() == 2);
  CHECK(misfits[0].text == "fc.bias: exp_avg has the shape [2, 3], the parameter [3]");
}

TEST_CASE("of a state of PyTorch's that no order of the model fits, that is the fault") {
  Checkpoint file = torch_checkpoint("o", adam_group());
  file.tensors = {counting("o.state.0.exp_avg", {7}), counting("o.state.0.exp_avg_sq", {7})};
  const Checkpoint model = checkpoint_of({counting("fc.weight", {2, 3}), counting("fc.bias", {3})});
  const std::vector<StateFault> faults = lint_state(read_torch_optimizer(file, "o", read_float), file, &model,
                                                    [](const Tensor&) { return false; });
  REQUIRE_FALSE(faults.empty());
  CHECK(faults[0].text ==
        "the state of parameter 0 has the shape [7], but the model's is fc.weight [2, 3]; no order of "
        "the model's parameters fits");
}

TEST_CASE("settings of several numbers, steps that are no tensors and refused settings keep their places") {
  for (const OptimizerKind& kind : optimizer_table()) {
    OptimizerState state;
    state.kind = &kind;
    const ParameterGroup group = default_group(state, {"w"});
    for (const HyperRow& row : kind.hypers)
      if (row.type == HyperType::tuple) {
        const auto* items = group.hypers.find(row.torch)->as<Value::Array>();
        REQUIRE(items != nullptr);
        CHECK(items->size() == row.tuple_default.size());
        CHECK(burn_configuration(kind, group.hypers).code.find("ns_coefficients") == std::string::npos);
      }
  }
  OptimizerState rmsprop;
  rmsprop.kind = find_optimizer("RMSprop");
  rmsprop.groups.emplace_back().keys = {"w"};
  rmsprop.parameters.push_back(
      {.key = "0", .name = "w", .step = 6, .moments = {counting("square_avg", {2})}});
  const Checkpoint written = make_torch_optimizer(rmsprop);
  CHECK(*written.values.find("state") ==
        Value::object().set("0", Value::object().set("step", std::uint64_t{6})));

  Checkpoint refused = torch_checkpoint("o", adam_group());
  refused.refused.push_back({.name = "o.param_groups.0.scale", .what = "sparse tensor"});
  CHECK(read_torch_optimizer(refused, "o", read_float).unknown ==
        std::vector<std::string>{"o.param_groups.0.scale"});

  Checkpoint grouped =
      torch_checkpoint("o", adam_group().set("step", std::uint64_t{9}));  // Adan's authors count there
  grouped.tensors = {counting("o.state.0.exp_avg", {2})};
  CHECK(read_torch_optimizer(grouped, "o", read_float).parameters.at(0).step == 9U);
}

TEST_CASE("settings that a group has not are added, tuples that differ are written") {
  OptimizerState state;
  state.kind = find_optimizer("Muon");
  state.groups.emplace_back().hypers.set("lr", 0.1);
  set_hyper(state, "momentum=0.9");
  set_hyper(state, "lr=0.2");
  CHECK(*state.groups[0].hypers.find("momentum") == Value(0.9));
  CHECK(learning_rate(state.groups[0].hypers) == 0.2);
  CHECK_FALSE(learning_rate(Value::object()));
  CHECK(learning_rate(Value::object().set("lr", std::uint64_t{2})) == 2.0);

  const OptimizerKind& muon = *find_optimizer("Muon");
  const auto row = std::ranges::find(muon.hypers, HyperType::tuple, &HyperRow::type);
  REQUIRE(row != muon.hypers.end());
  Value same = Value::array();
  for (const double item : row->tuple_default) same.push(item);
  const std::string key(row->torch);
  CHECK(burn_configuration(muon, Value::object().set(key, same)).code == "MuonConfig::new()");
  CHECK(burn_configuration(muon, Value::object().set(key, 5)).code == "MuonConfig::new()");
  same.as<Value::Array>()->front() = 9.5;
  CHECK(contains(burn_configuration(muon, Value::object().set(key, same)).code,
                 ".with_ns_coefficients((9.5, "));
  Value longer = same;
  longer.push(1.5);
  CHECK(contains(burn_configuration(muon, Value::object().set(key, longer)).code, ", 1.5))"));
}

TEST_CASE("an optimizer alone in a file, and one whose groups were cut, are told from none") {
  Checkpoint alone;
  Value groups = Value::array();
  groups.push(adam_group().set("params", numbers({0})));
  alone.values.set("param_groups", groups);
  CHECK(find_torch_optimizers(alone) == std::vector<std::string>{""});
  CHECK(read_torch_optimizer(alone, "", read_float).groups.at(0).keys == std::vector<std::string>{"0"});
  CHECK(message_of([] { read_torch_optimizer(Checkpoint{}, "", read_float); }) ==
        "there is no optimizer's state under .");
  groups.push("…");
  Checkpoint cut;
  cut.values.set("param_groups", groups);
  CHECK(message_of([&] { read_torch_optimizer(cut, "", read_float); }) ==
        "param_groups were left out on reading: they are too large");
  Checkpoint flat = torch_checkpoint("o", adam_group().set("decoupled_weight_decay", "yes"));
  flat.values.as<Value::Object>()->front().second.set("state", 5);
  CHECK(read_torch_optimizer(flat, "o", read_float).kind->name == "Adam");
}

TEST_CASE("of many parameters without a state the first are named") {
  Checkpoint model;
  for (int i = 0; i < 8; ++i) model.tensors.push_back(counting("p" + std::to_string(i), {2, 3}));
  model.tensors[0].param_id = 5;
  model.tensors[1].param_id = 6;
  const std::vector<StateFault> faults = lint(burn_record(), &model);
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].text == "6 of the model's 8 parameters have no state: p2, p3, p4, p5, p6, …");
  CHECK(faults[0].tensor.empty());
}
