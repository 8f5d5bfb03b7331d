// The state of optimizers and schedulers in any file: read, joined with what else the file holds, checked,
// turned into the other side's.
#include "ckpt/formats/format.hpp"
#include "ckpt/training/burn_state.hpp"
#include "ckpt/training/configuration.hpp"
#include "ckpt/training/join.hpp"
#include "ckpt/training/lint.hpp"
#include "ckpt/training/schedulers.hpp"
#include "ckpt/training/torch_state.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

namespace {

using namespace ckpt;

void convert(OptimizerState state) {
  if (state.kind == nullptr || state.kind->config.empty()) return;
  for (const ParameterGroup& group : state.groups)
    static_cast<void>(burn_configuration(*state.kind, group.hypers));
  std::uint64_t id = 0;
  for (ParameterState& parameter : state.parameters) parameter.param_id = ++id;
  fuzz::attempt([&] { static_cast<void>(read_burn_optimizer(make_burn_optimizer(state))); });
  fuzz::attempt([&] { static_cast<void>(make_torch_optimizer(state)); });
}

void read_training(const Checkpoint& checkpoint) {
  const auto is_zero = [](const Tensor& tensor) { return tensor.shape.empty(); };
  const NumberReader number = [](const Tensor& tensor) { return static_cast<double>(tensor.name.size()); };
  for (const std::string& place : find_torch_optimizers(checkpoint))
    fuzz::attempt([&] {
      const OptimizerState state = read_torch_optimizer(checkpoint, place, number);
      static_cast<void>(lint_state(state, checkpoint, &checkpoint, is_zero));
      convert(state);
    });
  if (is_burn_optimizer(checkpoint))
    fuzz::attempt([&] {
      const OptimizerState state = read_burn_optimizer(checkpoint);
      static_cast<void>(lint_state(state, checkpoint, &checkpoint, is_zero));
      convert(state);
    });
  for (const TorchScheduler& scheduler : find_torch_schedulers(checkpoint, number))
    fuzz::attempt([&] { static_cast<void>(to_torch_scheduler(to_burn(scheduler).record)); });
  static_cast<void>(describe_burn_scheduler(checkpoint));
  fuzz::attempt([&] { static_cast<void>(to_torch_scheduler(checkpoint)); });
}

}  // namespace

MUTATES(mutate_file)
FUZZ(data, size) {
  return fuzz::attempt(
      [&] { read_training(read_checkpoint(MemoryInput("input", fuzz::bytes_of(data, size)))); });
}
