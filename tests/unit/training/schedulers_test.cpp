#include "ckpt/training/schedulers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;

namespace {

Value rates(double rate) {
  Value array = Value::array();
  array.push(rate);
  return array;
}

/// A scheduler's state after `steps` of its steps.
TorchScheduler scheduler(Value members, std::int64_t steps, double rate = 0.1) {
  Checkpoint checkpoint;
  checkpoint.values.set("scheduler",
                        std::move(members.set("base_lrs", rates(rate)).set("last_epoch", steps)));
  return find_torch_schedulers(checkpoint, {}).at(0);
}

Value cosine() { return Value::object().set("T_max", 10).set("eta_min", 0); }
Value linear() {
  return Value::object().set("start_factor", 1.0).set("end_factor", 0.1).set("total_iters", 10);
}
Value step() { return Value::object().set("step_size", 2).set("gamma", 0.1); }
Value exponential() { return Value::object().set("gamma", 0.9); }

Scalar count(Value members, std::int64_t steps, double rate = 0.1) {
  return to_burn(scheduler(std::move(members), steps, rate)).record.scalars.begin()->second;
}

}  // namespace

// What burn's own schedulers hold before the first call and after three.
TEST_CASE("burn's counts are one call behind, and begin as burn's do") {
  CHECK(count(cosine(), 0) == Scalar(UINT64_MAX));
  CHECK(count(cosine(), 3) == Scalar(std::uint64_t{2}));
  CHECK(count(linear(), 0) == Scalar(std::uint64_t{11}));
  CHECK(count(linear(), 3) == Scalar(std::uint64_t{8}));
  CHECK(count(linear(), 30) == Scalar(std::uint64_t{0}));
  CHECK(count(step(), 0) == Scalar(std::int64_t{-1}));
  CHECK(count(step(), 3) == Scalar(std::int64_t{2}));
  CHECK(count(exponential(), 0, 0.01) == Scalar(0.011111111111111112));
  CHECK(count(exponential(), 3, 0.01) == Scalar(0.008100000000000001));
}

TEST_CASE("the configuration to write is told, and an initial rate that burn refuses") {
  CHECK(to_burn(scheduler(linear(), 3)).configurations ==
        std::vector<std::string>{"LinearLrSchedulerConfig::new(0.1, 0.010000000000000002, 10)"});
  CHECK(to_burn(scheduler(step(), 3)).configurations ==
        std::vector<std::string>{"StepLrSchedulerConfig::new(0.1, 2).with_gamma(0.1)"});
  CHECK(to_burn(scheduler(exponential(), 3, 1.5)).warnings.at(0) ==
        "the initial rate is 1.5: burn's ExponentialLrSchedulerConfig refuses one above 1");
}

TEST_CASE("a scheduler that burn lacks is refused by its name") {
  CHECK(ckpt::test::message_of([] {
          to_burn(scheduler(Value::object().set("milestones", Value::object()).set("gamma", 0.1), 1));
        }) == "scheduler: burn has no counterpart of MultiStepLR");
}

TEST_CASE("PyTorch gets back what it gave, or what burn has counted since") {
  for (const Value& members : {cosine(), linear(), step(), exponential()})
    for (const std::int64_t steps : {0, 3}) {
      const TorchScheduler before = scheduler(members, steps);
      BurnScheduler burn = to_burn(before);
      CHECK(to_torch_scheduler(burn.record) == before.members);
    }
  BurnScheduler burn = to_burn(scheduler(cosine(), 3));
  burn.record.scalars["0.current_iter"] = std::uint64_t{6};
  const Value back = to_torch_scheduler(burn.record);
  CHECK(*back.find("last_epoch") == Value(std::uint64_t{7}));
  CHECK(*back.find("_step_count") == Value(std::uint64_t{8}));
}

TEST_CASE("what burn has not touched comes back as it was: rates that differ, a warm-up that is over") {
  Value bases = rates(0.25);
  bases.push(0.5);
  const auto comes_back = [](Value members) {
    const BurnScheduler burn =
        to_burn({"scheduler",
                 &*std::ranges::find(scheduler_table(),
                                     members.find("gamma") != nullptr ? "ExponentialLR" : "LinearLR",
                                     &SchedulerKind::torch),
                 members});
    return to_torch_scheduler(burn.record) == members;
  };
  CHECK(comes_back(exponential().set("base_lrs", bases).set("last_epoch", 5)));
  CHECK(comes_back(linear().set("base_lrs", bases).set("last_epoch", 25)));
}

TEST_CASE("burn's count of rates that differ is told by each group's own") {
  Value bases = rates(0.25);
  bases.push(0.5);
  const TorchScheduler two{"scheduler", scheduler(exponential(), 0).kind,
                           exponential().set("base_lrs", bases).set("last_epoch", 2)};
  Checkpoint record = to_burn(two).record;
  for (auto& [key, scalar] : record.scalars) scalar = std::get<double>(scalar) * 0.9;
  CHECK(*to_torch_scheduler(record).find("last_epoch") == Value(std::uint64_t{3}));
}

TEST_CASE("rates that are tensors are numbers, and a chained scheduler is one place") {
  Checkpoint checkpoint;
  checkpoint.values.set("s", exponential().set("last_epoch", 2));
  checkpoint.tensors = {test::counting("s.base_lrs.0", {}, 0.5F)};
  const auto found = find_torch_schedulers(checkpoint, [](const Tensor&) { return 0.5; });
  REQUIRE(found.size() == 1);
  CHECK(*found[0].members.find("base_lrs") == rates(0.5));

  Value inner = Value::array();
  inner.push(exponential().set("base_lrs", rates(1)).set("last_epoch", 2));
  inner.push(step().set("base_lrs", rates(1)).set("last_epoch", 2));
  Checkpoint chained;
  chained.values.set("s", Value::object().set("_schedulers", inner).set("_last_lr", rates(1)));
  REQUIRE(find_torch_schedulers(chained, {}).size() == 1);
  CHECK(find_torch_schedulers(chained, {})[0].kind->torch == "ChainedScheduler");
}

TEST_CASE("a record that does not tell its count is refused") {
  Checkpoint record;
  record.scalars.emplace("0.remaining_iters", std::uint64_t{8});
  CHECK(ckpt::test::message_of([&] { to_torch_scheduler(record); }) ==
        "0.remaining_iters does not tell how many steps were done: that takes the settings of the "
        "LinearLrSchedulerConfig");
  Checkpoint noam;
  noam.scalars.emplace("0.step", 3.0);
  CHECK(ckpt::test::message_of([&] { to_torch_scheduler(noam); }) ==
        "0.step: PyTorch has no counterpart of burn's NoamLrSchedulerConfig");
  Checkpoint composed;
  composed.scalars.emplace("0.0.step", 3.0);
  CHECK(ckpt::test::message_of([&] { to_torch_scheduler(composed); }) ==
        "0.0.step: of burn's schedulers only single ones are carried to PyTorch");
  Checkpoint groups;
  groups.scalars.emplace("0.current_iter", std::uint64_t{8});
  groups.scalars.emplace("1.iter_idx", std::int64_t{2});
  CHECK(ckpt::test::message_of([&] { to_torch_scheduler(groups); }) ==
        "0.current_iter and 1.iter_idx are schedulers that differ: PyTorch's has one count for all groups");
}

TEST_CASE("a scheduler whose settings are not what it needs is refused by name") {
  const auto error = [](const TorchScheduler& of) { return ckpt::test::message_of([&] { to_burn(of); }); };
  CHECK(error(scheduler(cosine(), -1)) == "scheduler: last_epoch of CosineAnnealingLR is no whole number");
  CHECK(error(scheduler(Value::object().set("T_max", 1.5).set("eta_min", 0), 1)) ==
        "scheduler: T_max of CosineAnnealingLR is no whole number");
  CHECK(error(scheduler(Value::object().set("T_max", 1e300).set("eta_min", 0), 1)) ==
        "scheduler: T_max of CosineAnnealingLR is no whole number");
  CHECK(error(scheduler(Value::object().set("T_max", 10).set("eta_min", "low"), 1)) ==
        "scheduler: CosineAnnealingLR has no number eta_min");
  TorchScheduler bare = scheduler(cosine(), 1);
  std::erase_if(*bare.members.as<Value::Object>(),
                [](const auto& member) { return member.first == "base_lrs"; });
  CHECK(error(bare) == "scheduler: CosineAnnealingLR has no base_lrs");
  CHECK(error({"s", nullptr, Value::object()}) == "s: burn has no counterpart of this scheduler");
}

TEST_CASE("a burn record says how far each of its schedulers is") {
  Checkpoint record;
  record.scalars.emplace("0.current_iter", std::uint64_t{8});
  record.scalars.emplace("1.iter_idx", std::int64_t{-1});
  record.scalars.emplace("2.remaining_iters", std::uint64_t{5});
  record.scalars.emplace("3.previous_lr", 0.25);
  record.scalars.emplace("4.step", 3.0);                     // Noam's
  record.scalars.emplace("current.step", std::uint64_t{7});  // a sequence's own
  CHECK(is_burn_scheduler(record));
  std::vector<std::string> states;
  for (const SchedulerRow& row : describe_burn_scheduler(record)) states.push_back(row.state);
  CHECK(states == std::vector<std::string>{"9 steps done", "0 steps done", "5 left", "last rate 0.25",
                                           "3 steps done", "7 steps done"});
  record.scalars.emplace("other", true);
  CHECK_FALSE(is_burn_scheduler(record));
}

TEST_CASE("a note that somebody has changed does not tell what it no longer holds") {
  const auto told = [](std::string_view note, Scalar scalar, const char* key) {
    Checkpoint record;
    record.scalars.emplace(key, scalar);
    record.metadata.emplace("ckpt.scheduler", note);
    return ckpt::test::message_of([&] { to_torch_scheduler(record); });
  };
  const std::string untold =
      "0.remaining_iters does not tell how many steps were done: that takes the settings of the "
      "LinearLrSchedulerConfig";
  for (const char* note :
       {"{}", R"({"total_iters":"many"})", R"({"total_iters":{"$number":"nan"}})",
        R"({"total_iters":{"$number":"inf"}})", R"({"total_iters":3})", R"({"total_iters":-9})"}) {
    CAPTURE(note);
    CHECK(told(note, std::uint64_t{8}, "0.remaining_iters") == untold);
  }
  CHECK(told(R"({"total_iters":30})", std::uint64_t{0}, "0.remaining_iters") == untold);
  CHECK(told("[]", std::uint64_t{8}, "0.remaining_iters") ==
        "the metadata `ckpt.scheduler` is not what ckpt writes");
  for (const char* note :
       {"{}", R"({"gamma":0.5})", R"({"gamma":0.5,"base_lrs":[]})", R"({"gamma":1,"base_lrs":[0.1]})",
        R"({"gamma":-1,"base_lrs":[0.1]})", R"({"gamma":0.5,"base_lrs":[0]})",
        R"({"gamma":0.5,"base_lrs":["x"]})", R"({"gamma":0.5,"base_lrs":[1e-300]})"}) {
    CAPTURE(note);
    CHECK(told(note, 0.25, "0.previous_lr").starts_with("0.previous_lr does not tell"));
  }
  CHECK(told(R"({"gamma":0.5,"base_lrs":[1]})", -0.5, "0.previous_lr")
            .starts_with("0.previous_lr does not tell"));
  CHECK(told("{}", 3.0, "0.step") == "0.step: PyTorch has no counterpart of burn's NoamLrSchedulerConfig");
  CHECK(ckpt::test::message_of([] { to_torch_scheduler({}); }) ==
        "the record holds no scheduler's count: a constant rate needs none");
}

TEST_CASE("steps by the rate are those that the rate has fallen by") {
  // 0.1 * 0.5^3 = 0.0125 is the rate of the fourth call.
  Checkpoint record;
  record.scalars.emplace("0.previous_lr", 0.0125);
  record.metadata.emplace("ckpt.scheduler", R"({"gamma":0.5,"base_lrs":[0.1]})");
  CHECK(*to_torch_scheduler(record).find("last_epoch") == Value(std::uint64_t{4}));
}

TEST_CASE("long schedules are counted by a power instead of a loop, and numbers without a sign are numbers") {
  // 0.5 / g * g^2000000 with g = 1 - 2^-20 is 0.5 * g^1999999.
  const double gamma = 1 - 0x1p-20;
  const Scalar rate = count(Value::object().set("gamma", gamma), 2'000'000, 0.5);
  CHECK(std::get<double>(rate) == Approx(0.5 * std::exp(1999999 * std::log1p(-0x1p-20))).epsilon(1e-9));
  CHECK(count(Value::object().set("T_max", std::uint64_t{10}).set("eta_min", 0), 3) ==
        Scalar(std::uint64_t{2}));
  Checkpoint none;
  none.values = nullptr;
  CHECK(find_torch_schedulers(none, {}).empty());
  Checkpoint list;
  Value inner = Value::array();
  inner.push(5).push(cosine().set("last_epoch", 1).set("base_lrs", rates(0.1)));
  list.values.set("all", inner);
  CHECK(find_torch_schedulers(list, {}).at(0).place == "all.1");
}
