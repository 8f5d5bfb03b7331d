#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ckpt::support {

/// `value` in `size` bytes, least significant first.
inline std::string le(std::uint64_t value, std::size_t size) {
  std::string out;
  for (std::size_t i = 0; i < size; ++i, value >>= 8U)
    out += static_cast<char>(static_cast<unsigned char>(value));
  return out;
}

/// Writes a pickle of protocol 2, opcode by opcode, as torch.save does (but without memo).
class PickleWriter {
 public:
  explicit PickleWriter(std::string_view start = {"\x80\x02", 2}) : bytes_(start) {}

  PickleWriter& raw(std::string_view opcodes) { return bytes_ += opcodes, *this; }
  PickleWriter& text(std::string_view text) { return raw("X").raw(le(text.size(), 4)).raw(text); }
  PickleWriter& integer(std::int64_t value) {
    return raw("\x8a\x08").raw(le(static_cast<std::uint64_t>(value), 8));
  }
  PickleWriter& global(std::string_view module, std::string_view name) {
    return raw("c").raw(module).raw("\n").raw(name).raw("\n");
  }
  PickleWriter& integers(std::initializer_list<std::int64_t> values) {
    raw("(");
    for (const std::int64_t value : values) integer(value);
    return raw("t");
  }
  PickleWriter& ordered_dict() { return global("collections", "OrderedDict").raw(")R"); }
  PickleWriter& storage(std::string_view type, std::string_view key, std::int64_t elements) {
    return raw("(").text("storage").global("torch", type).text(key).text("cpu").integer(elements).raw("tQ");
  }
  /// A call of _rebuild_tensor_v2.
  PickleWriter& tensor(std::string_view type, std::string_view key, std::int64_t elements,
                       std::int64_t offset, std::initializer_list<std::int64_t> size,
                       std::initializer_list<std::int64_t> stride) {
    global("torch._utils", "_rebuild_tensor_v2").raw("(").storage(type, key, elements).integer(offset);
    return integers(size).integers(stride).raw("\x89").ordered_dict().raw("tR");
  }
  /// A tensor of one dimension that fills its storage.
  PickleWriter& vector(std::string_view key, std::int64_t elements) {
    return tensor("FloatStorage", key, elements, 0, {elements}, {1});
  }
  std::string done() { return bytes_ + "."; }

 private:
  std::string bytes_;
};

}  // namespace ckpt::support
