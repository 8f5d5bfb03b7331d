// A rules file, applied to names.
#include "ckpt/stages/remap.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_lines)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::attempt([&] {
    const std::vector<Rule> rules = parse_rules(fuzz::text_of(data, size), "rules");
    if (rules.size() > 16) return;  // time grows with each
    Checkpoint checkpoint;
    for (const std::string_view name :
         {"model.layers.10.self_attn.q_proj.weight", "encoder.0.bias", "h\xc3\xa4", ""})
      checkpoint.tensors.push_back({.name = std::string(name)});
    static_cast<void>(remap(std::move(checkpoint), rules));
  });
}
