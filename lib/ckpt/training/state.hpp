#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/core/checkpoint.hpp"
#include "ckpt/training/optimizers.hpp"

namespace ckpt {

/// What an optimizer keeps for one parameter. Nothing of the moments is read.
struct ParameterState {
  std::string key;        ///< in the file: PyTorch's position (or name), burn's ParamId in decimals
  std::string name;       ///< of the parameter in the model; empty while that is not known
  std::string path = {};  ///< what burn's record itself calls it
  std::optional<std::uint64_t> param_id = {};
  std::optional<std::uint64_t> step = {};
  std::optional<std::uint64_t> rank = {};  ///< that burn's record states
  std::vector<Tensor> moments = {};        ///< named as the table's row has it in PyTorch
  std::vector<std::string> missing = {};   ///< moments without which burn starts afresh, by burn's path

  const Tensor* moment(std::string_view name_of_row) const {
    for (const Tensor& tensor : moments)
      if (tensor.name == name_of_row) return &tensor;
    return nullptr;
  }
};

/// One entry of `param_groups`: hyper-parameters, and whose they are.
struct ParameterGroup {
  Value hypers = Value::object();       ///< all members but the parameters
  std::vector<std::string> keys = {};   ///< of its parameters, in order, also of those without state
  std::vector<std::string> names = {};  ///< where the file states them
};

/// The state of an optimizer, read from either side.
struct OptimizerState {
  std::string place;                    ///< where it lies in the checkpoint; empty for a file of its own
  const OptimizerKind* kind = nullptr;  ///< null where no row fits
  std::string evidence;                 ///< one clause: what the kind rests on
  std::vector<ParameterState> parameters;
  std::vector<ParameterGroup> groups;        ///< empty where the file does not say
  std::vector<std::string> unknown;          ///< what the row has no place for, by its name in the file
  std::vector<std::string> tensor_settings;  ///< settings that are tensors of one number, by their name there
  std::vector<std::string> other_kinds;      ///< further kinds in the same record (burn's Muon with Adam)
};

/// Reads the one number of a tensor of one element.
using NumberReader = std::function<double(const Tensor&)>;

}  // namespace ckpt
