#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::cbor {

enum class Kind { whole, negative, bytes, text, array, map, tag, boolean, null, undefined, floating, stop };

/// What one head says: for a text or a run of bytes with what follows it, for an array or a map
/// without its entries.
struct Item {
  Kind kind = Kind::null;
  bool indefinite = false;   ///< of a text, array or map whose end is a `stop`
  std::uint64_t number = 0;  ///< value, count, tag, 0 or 1; of `negative`, n for -1 - n; bits of a double
  std::span<const std::byte> payload = {};  ///< of bytes and text of stated length
  std::uint64_t offset = 0;                 ///< of its head, in the file
  std::optional<std::uint64_t> tag = {};    ///< the innermost tag around it
};

/// Reads CBOR (RFC 8949) from memory, item by item, and believes nothing: a count is compared with the
/// bytes that are left before anything is made of it, and nesting ends at `limits::nesting`. Tags are
/// stepped over, as ciborium does. Everything throws `corrupt` with the offset, and `what` (`shape`,
/// `a tensor's name`) says in the message what was due there.
class Reader {
 public:
  /// `base` is where `bytes` begin in the file.
  Reader(std::span<const std::byte> bytes, std::uint64_t base) : bytes_(bytes), base_(base) {}

  /// The entries of an array or a map that is being read.
  class Entries {
   public:
    /// Whether there is another entry; must be asked until it says no.
    bool next();
    /// How many there will be, as far as that is known; no more than there are bytes.
    std::uint64_t expected() const { return left_; }

   private:
    friend class Reader;
    Entries(Reader& reader, const Item& head)
        : reader_(reader), left_(head.number), indefinite_(head.indefinite) {}
    Reader& reader_;
    std::uint64_t left_;
    bool indefinite_;
  };

  Entries map(std::string_view what) { return enter(Kind::map, what); }
  Entries array(std::string_view what) { return enter(Kind::array, what); }

  /// An unsigned integer; a bignum that fits 64 bits is one.
  std::uint64_t whole(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// A half, single or double, widened as hardware does: exactly, and a NaN keeps sign and payload.
  double floating(std::string_view what);
  bool boolean(std::string_view what);
  /// UTF-8, in one piece or in many.
  std::string text(std::string_view what);
  /// The name of a field or a variant: text or bytes, in one piece. Points into the bytes.
  std::string_view identifier(std::string_view what);
  /// A run of bytes of stated length. Points into the bytes.
  std::span<const std::byte> bytes(std::string_view what);
  /// Steps over a null, if the next item is one.
  bool null();
  /// Steps over one item of any kind.
  void skip();

  /// What the next item is; tags do not count.
  Kind peek();
  /// Where the next head lies in the file.
  std::uint64_t offset() const { return base_ + at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }

 private:
  Item head();
  Item item();
  Item expect(Kind kind, std::string_view what);
  Entries enter(Kind kind, std::string_view what);
  Entries entries(const Item& head);

  std::span<const std::byte> bytes_;
  std::uint64_t base_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

/// Appends CBOR in the shortest form: what ciborium writes.
class Writer {
 public:
  void whole(std::uint64_t value);
  void integer(std::int64_t value);
  /// The shortest of half, single and double that gives the same 64 bits back.
  void floating(double value);
  void boolean(bool value);
  void null();
  void text(std::string_view value);
  /// Followed by `count` items, or by `count` pairs.
  void array(std::uint64_t count);
  void map(std::uint64_t count);

  std::size_t size() const noexcept { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace ckpt::cbor
