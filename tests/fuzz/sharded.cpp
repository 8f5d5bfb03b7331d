// The index of a sharded set, and two of the files beside it: none but those may be opened.
#include "ckpt/formats/sharded.hpp"

#include "ckpt/formats/format.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

namespace {

using namespace ckpt;

const std::vector<std::string> shards{"a.safetensors", "b.safetensors"};

class Set final : public Input {
 public:
  Set(std::string_view index, std::vector<std::string_view> parts)
      : index_(index), parts_(std::move(parts)) {}
  const std::string& name() const noexcept override { return name_; }
  Bytes bytes() const override { return of(index_); }
  std::vector<std::string> siblings() const override { return shards; }
  std::unique_ptr<Input> open_sibling(std::string_view name) const override {
    const auto shard = std::ranges::find(shards, name);
    if (shard == shards.end()) __builtin_trap();  // a reader asks for what it was told of
    const auto i = static_cast<std::size_t>(shard - shards.begin());
    return std::make_unique<MemoryInput>(*shard, of(i < parts_.size() ? parts_[i] : std::string_view()));
  }

 private:
  static Bytes of(std::string_view text) {
    const auto bytes = as_bytes(text);
    return memory_bytes({bytes.begin(), bytes.end()});
  }
  std::string name_ = "model.safetensors.index.json";
  std::string_view index_;
  std::vector<std::string_view> parts_;
};

}  // namespace

MUTATES(mutate_parts)
FUZZ(data, size) {
  return fuzz::attempt([&] {
    std::vector<std::string_view> parts = fuzz::parts_of(fuzz::text_of(data, size));
    const std::string_view index = parts.front();
    parts.erase(parts.begin());
    fuzz::touch(read_checkpoint(Set(index, std::move(parts))));
  });
}
