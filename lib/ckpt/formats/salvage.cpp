#include "ckpt/formats/salvage.hpp"

#include <fmt/format.h>

#include <memory>
#include <unordered_set>
#include <utility>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/format.hpp"

namespace ckpt {
namespace {

/// The same bytes, their end not told: readers then believe the header.
class EndlessBytes final : public ByteSource {
 public:
  explicit EndlessBytes(Bytes bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const noexcept override { return UINT64_MAX; }
  bool is_open_ended() const noexcept override { return true; }

 private:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes_->read_at(offset, out);
  }
  Bytes bytes_;
};

class EndlessInput final : public Input {
 public:
  explicit EndlessInput(const Input& input)
      : input_(input), bytes_(std::make_shared<EndlessBytes>(input.bytes())) {}
  const std::string& name() const noexcept override { return input_.name(); }
  Bytes bytes() const override { return bytes_; }
  std::unique_ptr<Input> open_sibling(std::string_view name) const override {
    return input_.open_sibling(name);
  }

 private:
  const Input& input_;
  Bytes bytes_;
};

/// A few bytes that are repeated until they are terabytes are whole, but not to be written.
void leave_out_repeated(Salvaged& out) {
  Unfolding unfolding;
  std::erase_if(out.checkpoint.tensors, [&](Tensor& tensor) {
    const std::string excess = unfolding.excess(tensor);
    if (excess.empty()) return false;
    out.lost.push_back({std::move(tensor.name), fmt::format("it {}, which is not written", excess)});
    return true;
  });
}

/// Where several tensors have the name of a lost one (paths may be spelled alike), which is which cannot be
/// told.
void give_up_namesakes(Salvaged& out) {
  std::unordered_set<std::string> names;
  for (const Lost& lost : out.lost) names.insert(lost.name);
  std::erase_if(out.checkpoint.tensors, [&](const Tensor& tensor) {
    if (!names.contains(tensor.name)) return false;
    out.lost.push_back({tensor.name, "a lost tensor has the same name; which is which cannot be told"});
    return true;
  });
}

}  // namespace

Salvaged salvage_by_header(const Input& input, Checkpoint (*read)(const Input& input)) {
  const Bytes bytes = input.bytes();
  Salvaged out;
  try {
    out.checkpoint = read(input);
    return out;
  } catch (const Error& strict) {
    if (strict.kind() == ErrorKind::io) throw;
    // What is wrong with a header, the strict reader says best; it alone knows where the file ends.
    try {
      out.checkpoint = read(EndlessInput(input));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::corrupt) throw strict;
      throw;
    }
  }
  const std::uint64_t due = std::exchange(out.checkpoint.size, bytes->size());
  std::vector<Tensor> whole;
  for (Tensor& tensor : out.checkpoint.tensors) {
    if (range_fits(tensor.view.offset, tensor.view.bytes, bytes->size())) {
      tensor.view.source = bytes;
      whole.push_back(std::move(tensor));
      continue;
    }
    out.lost.push_back(
        {std::move(tensor.name),
         fmt::format("its bytes {} to {} go beyond the end of the file at byte {}", tensor.view.offset,
                     tensor.view.offset + tensor.view.bytes, bytes->size())});
  }
  out.checkpoint.tensors = std::move(whole);
  if (bytes->size() > due)
    out.checkpoint.hidden.push_back(
        fmt::format("{} bytes follow the last tensor, which ends at byte {}", bytes->size() - due, due));
  return out;
}

Salvaged salvage(const Input& input) {
  try {
    const Bytes bytes = input.bytes();
    if (!bytes)
      throw Error(ErrorKind::usage, "is a folder; one file at a time can be salvaged")
          .with_hint("name the shard that is damaged");
    const Format& format = recognise_format(input, *bytes);
    Salvaged out = format.salvage != nullptr ? format.salvage(input) : Salvaged{format.read(input), {}};
    out.checkpoint.file = input.name();
    out.checkpoint.format = format.name;
    for (Refused& refused : out.checkpoint.refused)
      out.lost.push_back({std::move(refused.name), "no plain tensor: " + refused.what});
    out.checkpoint.refused.clear();
    leave_out_repeated(out);
    give_up_namesakes(out);
    return out;
  } catch (Error& error) {
    throw error.in_file(input.name());
  }
}

}  // namespace ckpt
