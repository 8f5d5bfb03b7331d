#include <catch2/catch.hpp>

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
