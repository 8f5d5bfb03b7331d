#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt {

/// Writes a pickle of protocol 2, opcode by opcode, with none but the opcodes that the restricted
/// unpickler of newer PyTorch knows. Integers and sizes are what the caller says; nesting is the caller's.
class PickleWriter {
 public:
  PickleWriter();

  void mark() { put('('); }
  void tuple() { put('t'); }
  void empty_tuple() { put(')'); }
  void empty_dict() { put('}'); }
  void empty_list() { put(']'); }
  void reduce() { put('R'); }
  void set_items() { put('u'); }
  void append_items() { put('e'); }
  void persistent_id() { put('Q'); }
  void none() { put('N'); }
  void boolean(bool value) { put(value ? '\x88' : '\x89'); }
  /// Spelled out when it is first met, then taken from the memo, as Python's pickler does.
  void global(std::string_view module, std::string_view name);
  /// UTF-8, lone surrogates as Python's `surrogatepass` encodes them.
  void text(std::string_view value);
  void integer(std::uint64_t value);
  void negative_integer(std::int64_t value);
  /// A whole number of any size in decimals, with a sign or without. Throws `refused` for text that is none
  /// and for one of more than 255 bytes.
  void long_integer(std::string_view decimals);
  void real(double value);
  /// A tuple of integers.
  void integers(std::span<const std::uint64_t> values);

  /// Ends the pickle.
  std::vector<std::byte> finish() &&;

 private:
  void put(char opcode) { bytes_.push_back(static_cast<std::byte>(opcode)); }
  void put_bytes(std::string_view bytes);
  void put_little(std::uint64_t value, unsigned size);
  std::vector<std::byte> bytes_;
  std::map<std::string, std::uint32_t> globals_;  // by what stands in the pickle; the numbers of the memo
};

}  // namespace ckpt
