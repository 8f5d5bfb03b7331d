#include "ckpt/report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {
namespace {

constexpr std::array table{
    FindingKind{"CK001", true, "loading it with PyTorch runs code"},
    FindingKind{"CK002", true, "a global that is neither data nor allowed"},
    FindingKind{"CK003", true, "data that belongs to nothing"},
    FindingKind{"CK004", false, "a tensor that cannot be delivered"},
    FindingKind{"CK010", true, "NaN"},
    FindingKind{"CK011", true, "infinite values"},
    FindingKind{"CK012", true, "a boolean that is neither 0 nor 1"},
    FindingKind{"CK013", false, "all zero"},
    FindingKind{"CK014", false, "constant"},
    FindingKind{"CK015", false, "no elements"},
    FindingKind{"CK016", false, "no tensors"},
    FindingKind{"CK020", false, "an oddity of the file"},
    FindingKind{"CK021", false, "burn would refuse it"},
    FindingKind{"CK022", false, "transformers would refuse it"},
    FindingKind{"CK023", false, "a PyTorch would refuse it"},
    FindingKind{"CK030", true, "a tensor of the target is missing"},
    FindingKind{"CK031", true, "a tensor that the target does not know"},
    FindingKind{"CK032", true, "another shape than the target's"},
    FindingKind{"CK033", true, "another data type than the target's"},
    FindingKind{"CK034", true, "too little of the target is covered"},
    FindingKind{"CK035", false, "tied in the target and different in the file"},
    FindingKind{"CK036", true, "a layout that nothing decides"},
    FindingKind{"CK040", true, "an optimizer's state of parameters that the model does not have"},
    FindingKind{"CK041", true, "an optimizer's state that does not fit its parameter"},
    FindingKind{"CK042", true, "an optimizer's state that is not complete"},
    FindingKind{"CK043", true, "an optimizer's tensor without its ParamId"},
    FindingKind{"CK044", false, "parameters without an optimizer's state"},
    FindingKind{"CK045", false, "a moment that is all zero after some steps"},
    FindingKind{"CK046", true, "an optimizer's state that it has no place for"},
    FindingKind{"CK047", false, "an optimizer's state that is counted in another order than the model"},
    FindingKind{"CK048", false, "an optimizer's state that fits the model's parameters in several ways"},
};
static_assert(table.size() == static_cast<std::size_t>(FindingId::ambiguous_state) + 1);

}  // namespace

std::span<const FindingKind> finding_table() { return table; }

const FindingKind& info(FindingId id) { return table.at(static_cast<std::size_t>(id)); }

std::optional<FindingId> find_finding(std::string_view code) {
  const auto upper = [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); };
  for (std::size_t i = 0; i < table.size(); ++i)
    if (std::ranges::equal(table.at(i).code, code, {}, upper, upper)) return static_cast<FindingId>(i);
  return std::nullopt;
}

std::vector<Finding> check_catalogue(const Checkpoint& checkpoint,
                                     const std::function<bool(std::string_view global)>& is_allowed) {
  std::vector<Finding> findings;
  for (const ForeignGlobal& global : checkpoint.globals) {
    if (is_allowed(global.name)) continue;
    if (global.hostile)
      findings.push_back({FindingId::runs_code,
                          {},
                          fmt::format("the pickle names {}, which runs code when PyTorch loads it",
                                      printable(global.name))});
    else
      findings.push_back({FindingId::foreign_global,
                          {},
                          fmt::format("the pickle names {}, which is neither plain data nor known",
                                      printable(global.name))});
  }
  for (const std::string& text : checkpoint.hidden)
    findings.push_back({FindingId::hidden_data, {}, printable(text)});
  for (const Refused& refused : checkpoint.refused)
    findings.push_back(
        {FindingId::cannot_be_delivered, refused.name,
         fmt::format("{} cannot be delivered: {}", printable(refused.name), printable(refused.what))});
  Unfolding unfolding;
  for (const Tensor& tensor : checkpoint.tensors)
    if (const std::string excess = unfolding.excess(tensor); !excess.empty())
      findings.push_back({FindingId::cannot_be_delivered, tensor.name,
                          fmt::format("{} cannot be delivered: it {}", printable(tensor.name), excess)});
  // ZeRO-3 leaves parameters of shape [0] behind; buffers may be whole.
  const auto empty = static_cast<std::uint64_t>(
      std::ranges::count_if(checkpoint.tensors, [](const Tensor& t) { return t.elements() == 0; }));
  const auto shells = static_cast<std::uint64_t>(
      std::ranges::count_if(checkpoint.tensors, [](const Tensor& t) { return t.shape == Shape{0}; }));
  const bool is_shell = (empty > 0 && empty == checkpoint.tensors.size()) ||
                        (shells > 1 && 2 * shells > checkpoint.tensors.size());
  if (checkpoint.tensors.empty() && checkpoint.refused.empty())
    findings.push_back({FindingId::no_tensors, {}, "the file holds no tensors"});
  // One sentence for a whole shell, not one for each of its thousand tensors.
  if (is_shell)
    findings.push_back({FindingId::empty,
                        {},
                        fmt::format("{} of {} tensors {} empty: this looks like the shell that ZeRO-3 saves; "
                                    "the weights are in its zero_pp_rank files",
                                    empty, checkpoint.tensors.size(), empty == 1 ? "is" : "are")});
  else
    for (const Tensor& tensor : checkpoint.tensors)
      if (tensor.elements() == 0)
        findings.push_back(
            {FindingId::empty, tensor.name,
             fmt::format("{}: shape {} has no elements", printable(tensor.name), to_string(tensor.shape))});
  for (const std::string& note : checkpoint.notes)
    findings.push_back({FindingId::oddity, {}, printable(note)});
  return findings;
}

}  // namespace ckpt
