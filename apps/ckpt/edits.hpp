#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "ckpt/stages/dequantize.hpp"
#include "ckpt/stages/rope.hpp"
#include "ckpt/stages/stack.hpp"
#include "pipeline.hpp"

namespace ckpt {

/// The options that change what tensors hold: nothing of it happens unless it is asked for.
class EditOptions {
 public:
  void add(CLI::App& app);

  struct Parsed {
    bool dequantize = false;
    std::optional<BlockSize> block;
    RopeOptions rope;
    std::vector<Rule> unstack;
    std::vector<Rule> stack;

    bool any() const { return dequantize || !rope.names.empty() || !unstack.empty() || !stack.empty(); }
  };
  Parsed parse() const;

 private:
  bool dequantize_ = false, inverse_ = false;
  std::string block_size_;
  std::vector<std::string> permute_rope_, stack_, unstack_;
  std::uint64_t heads_ = 0, kv_heads_ = 0;
};

/// Goes on through what was asked for of tensors as they are before the layout, always in this order:
/// dequantize, rotary rows, unstack. Names are those that the rules made.
void edit(Prepared& prepared, const EditOptions::Parsed& options);

/// Gives the names the segments of burn's enum variants that the target has, or takes away those that it has
/// not. Before the layout.
void fit_names(Prepared& prepared, const Target& target);

/// Adds names that are tied to others in the target, where that was in the source's layout. Before the
/// layout.
void restore_before_layout(Prepared& prepared, const Target& target);

/// Adds what the target has and what follows from other tensors: tied names, counters of batches. After the
/// layout.
void restore_after_layout(Prepared& prepared, const Target& target);

/// Tells of every step what edits did to the tensor before: call once after the layout.
void tell_edits(Prepared& prepared);

/// Stacks what was asked for, each part in the layout and under the name that the result has: what a part is
/// decides what happens to it, and a stack would not say. After `tell_edits`.
void stack_parts(Prepared& prepared, const EditOptions::Parsed& options);

}  // namespace ckpt
