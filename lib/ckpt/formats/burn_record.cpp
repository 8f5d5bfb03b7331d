#include "ckpt/formats/burn_record.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "ckpt/codec/gzip.hpp"
#include "ckpt/codec/json.hpp"
#include "ckpt/codec/json_reader.hpp"
#include "ckpt/codec/msgpack.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/param_id.hpp"
#include "ckpt/core/spool.hpp"
#include "ckpt/core/text.hpp"

// What burn's recorders wrote before 0.22 (NamedMpkFileRecorder, NamedMpkGzFileRecorder,
// PrettyJsonFileRecorder, JsonGzFileRecorder). One map:
//
//   metadata  float, int: the settings' element types; format: the recorder; version: of burn; settings
//   item      the record: structs are maps by field, Vec and tuples arrays, an enum a map of its variant,
//   None nil
//     a parameter:  { id: text, param: TENSOR }
//     a tensor:     { bytes: binary, shape: [..], dtype: name }       burn 0.14 on (in JSON: bytes as
//     numbers)
//                   { value: [numbers], shape: [..] }                 before; its type is the settings'
//
// burn 0.22 reads none of it; the names of the fields are the names of the tensors in a burnpack.

namespace ckpt {
namespace {

constexpr std::string_view first_key = "metadata";

DType record_dtype(std::string_view text, std::uint64_t offset) {
  if (text == "Bool") return DType::boolean;
  if (text == "Flex32") return DType::flex32;
  if (const std::optional<DType> dtype = parse_dtype(text); dtype && *dtype != DType::qfloat) return *dtype;
  fail(ErrorKind::unsupported, "offset {}: burn's element type {} is not known here", offset,
       printable(text));
}

/// Builds the catalogue. Numbers that a record lists are packed into one spool for all tensors.
class RecordBuilder {
 public:
  /// `size`: of the record, unfolded.
  RecordBuilder(std::string container, std::uint64_t size)
      : path_bytes_left_(limits::walk_step_bytes * limits::walk_free_steps + path_bytes_per_byte * size) {
    checkpoint_.format = "burn-record";
    checkpoint_.container = std::move(container);
  }

  void metadata(const std::string& key, const std::string& value) {
    checkpoint_.metadata.emplace(key, value);
  }

  /// The settings' type of floats or integers, for tensors that carry none.
  DType settings_dtype(std::string_view what, DType otherwise) const {
    const auto at = checkpoint_.metadata.find(std::string(what));
    if (at == checkpoint_.metadata.end()) return otherwise;
    return parse_dtype(at->second).value_or(otherwise);
  }

  /// Takes what a list of numbers is packed to, for the tensor that is told of next.
  void pack(std::span<const std::byte> bytes) { packed_.write(bytes); }

  /// `source`: where `size` bytes of data lie; null for the last ones that were packed.
  void tensor(std::string name, DType dtype, Shape shape, Bytes source, std::uint64_t size,
              const std::optional<std::string>& id) {
    const std::optional<std::uint64_t> wanted = byte_count(shape, dtype);
    if (!wanted || *wanted != size)
      fail(ErrorKind::corrupt, "tensor {}: {} {} needs {} bytes, but {} are there", printable(name),
           ckpt::name(dtype), to_string(shape), wanted ? std::to_string(*wanted) : "more than can be counted",
           size);
    spend(name);
    if (!names_.insert(name).second) fail(ErrorKind::corrupt, "two tensors are called {}", printable(name));
    Tensor tensor{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
    const std::uint64_t offset = source ? 0 : packed_.size() - size;
    tensor.view = {.source = std::move(source), .offset = offset, .bytes = size, .stored = dtype};
    if (id) {
      tensor.param_id = decode_param_id(*id);
      if (!tensor.param_id) {
        if (lost_ids_++ == 0) lost_id_ = *id;
      }
    }
    checkpoint_.tensors.push_back(std::move(tensor));
  }

  void value(const std::string& path, Value value) {
    if (++values_ > limits::shown_values) return;
    spend(path);
    checkpoint_.values.set(path, std::move(value));
  }

  Checkpoint finish() && {
    const Bytes packed = packed_.finish();
    for (Tensor& tensor : checkpoint_.tensors) {
      View& view = tensor.view;
      if (view.source) continue;
      view.source = slice(packed, view.offset, view.bytes);
      view.offset = 0;
    }
    if (lost_ids_ > 0)
      checkpoint_.notes.push_back(
          fmt::format("{} parameter ids are not base 32 ({}): they are left out, and burn will give new ones",
                      lost_ids_, printable(lost_id_)));
    return std::move(checkpoint_);
  }

 private:
  /// Every path repeats the keys that lead to it: a long one stands in all that are below it.
  static constexpr std::uint64_t path_bytes_per_byte = 16;

  void spend(const std::string& path) {
    if (path.size() > path_bytes_left_)
      fail(ErrorKind::corrupt, "the paths of tensors and values are far longer than the record; {} is one",
           printable(path.substr(0, 100)));
    path_bytes_left_ -= path.size();
  }

  Checkpoint checkpoint_;
  Spool packed_;
  std::uint64_t path_bytes_left_;
  std::unordered_set<std::string> names_;
  std::uint64_t values_ = 0;
  std::uint64_t lost_ids_ = 0;
  std::string lost_id_;
};

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

using Kind = ItemReader::Kind;
using Item = ItemReader::Item;

/// What a plain item says.
Value value_of(const Item& item) {
  switch (item.kind) {
    case Kind::boolean:
      return item.boolean;
    case Kind::signed_integer:
      return item.integer;
    case Kind::unsigned_integer:
      return item.natural;
    case Kind::real:
      return item.real;
    case Kind::text:
      return item.text;
    case Kind::binary:
    case Kind::extension:
      return fmt::format("{} bytes", item.count);
    default:
      return nullptr;
  }
}

std::string shown(const Item& item) {
  if (item.kind == Kind::array) return "a list";
  if (item.kind == Kind::map) return "a map";
  return json::dump(value_of(item)).substr(0, 40);
}

/// Of a map that is being read: JSON leaves open which of two members with one name counts.
class Keys {
 public:
  const std::string& add(std::string key) { return keys_.emplace_back(std::move(key)); }
  void check() {
    std::ranges::sort(keys_);
    const auto twin = std::ranges::adjacent_find(keys_);
    if (twin != keys_.end())
      fail(ErrorKind::corrupt, "the key \"{}\" stands twice in one map of the record", printable(*twin));
  }

 private:
  std::deque<std::string> keys_;  // which grows without a second copy
};

/// Numbers of one type as little-endian bytes. A `long double` holds every number of either encoding.
class NumberPacker {
 public:
  NumberPacker(RecordBuilder& builder, DType dtype, const std::string& name)
      : builder_(builder), dtype_(dtype), name_(name) {}

  void add(long double number) {
    switch (dtype_) {
      case DType::f64:
        return put(static_cast<double>(number));
      case DType::f32:
        if (std::isfinite(number) && std::isinf(static_cast<float>(number))) refuse(number);
        return put(static_cast<float>(number));
      case DType::boolean:
        return put_integer<bool>(number);
      case DType::i64:
        return put_integer<std::int64_t>(number);
      case DType::i32:
        return put_integer<std::int32_t>(number);
      case DType::i16:
        return put_integer<std::int16_t>(number);
      case DType::i8:
        return put_integer<std::int8_t>(number);
      default:
        fail(ErrorKind::unsupported, "tensor {}: a list of {} numbers is not read", printable(name_),
             ckpt::name(dtype_));
    }
  }

  void put(const auto& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= (64U << 10)) flush();
  }

  /// Hands on the rest; returns the bytes of all.
  std::uint64_t finish() {
    flush();
    return size_;
  }

 private:
  template <typename Integer> void put_integer(long double number) {
    using Limits = std::numeric_limits<Integer>;
    if (!(number >= Limits::min() && number <= Limits::max()) || number != std::trunc(number)) refuse(number);
    put(static_cast<Integer>(number));
  }

  [[noreturn]] void refuse(long double number) const {
    fail(ErrorKind::corrupt, "tensor {}: {} is no number of {}", printable(name_),
         static_cast<double>(number), ckpt::name(dtype_));
  }

  void flush() {
    builder_.pack(buffer_);
    size_ += buffer_.size();
    buffer_.clear();
  }

  RecordBuilder& builder_;
  DType dtype_;
  const std::string& name_;
  std::vector<std::byte> buffer_;
  std::uint64_t size_ = 0;
};

/// Walks a record. What looks like a tensor is passed over first; its numbers are read when their type is
/// known, straight into its bytes.
class RecordWalk {
 public:
  RecordWalk(Bytes source, ItemReader& reader, bool is_json, RecordBuilder& builder)
      : source_(std::move(source)), reader_(reader), is_json_(is_json), builder_(builder) {}

  void run() {
    const Item top = expect(Kind::map, "the record");
    bool has_item = false;
    Keys keys;
    for (std::uint64_t i = 0; reader_.more(top, i); ++i) {
      const std::string& key = keys.add(name());
      if (key == first_key) {
        metadata();
      } else if (key == "item") {
        has_item = true;
        node("", reader_.next(), 0);
      } else {
        skip(reader_.next(), 0);
      }
    }
    keys.check();
    if (!has_item) fail(ErrorKind::corrupt, "the record has no item");
    if (reader_.offset() != reader_.size())
      fail(ErrorKind::corrupt, "the record ends at byte {}, and {} bytes follow it", reader_.offset(),
           reader_.size() - reader_.offset());
  }

 private:
  /// A plain value or a list of such that was passed over, and what is in the list.
  struct Passed {
    Item item;
    std::uint64_t count = 0;
    bool has_integers_only = true;
    bool has_boolean = false;
    std::optional<Kind> container = {};  ///< it is a map, or a list of containers: of which the first was met
  };

  /// The fields of a tensor, passed over.
  struct Fields {
    std::optional<Passed> bytes;  ///< burn 0.14 on
    std::optional<Passed> value;  ///< before
    std::optional<Passed> shape;
    std::optional<Passed> dtype;

    std::optional<Passed>* named(std::string_view key) {
      return key == "bytes"   ? &bytes
             : key == "value" ? &value
             : key == "shape" ? &shape
             : key == "dtype" ? &dtype
                              : nullptr;
    }
    bool are_tensor() const { return shape && (bytes || value); }
  };

  std::string name() {
    Item key = reader_.key();
    if (key.kind != Kind::text) fail(ErrorKind::corrupt, "offset {}: a field's name is no text", key.offset);
    return std::move(key.text);
  }

  Item expect(Kind kind, std::string_view what) {
    Item item = reader_.next();
    if (item.kind != kind)
      fail(ErrorKind::corrupt, "offset {}: {} is not what a burn record has there", item.offset, what);
    return item;
  }

  void metadata() {
    const Item map = expect(Kind::map, "metadata");
    Keys keys;
    for (std::uint64_t i = 0; reader_.more(map, i); ++i) {
      const std::string& key = keys.add(name());
      const Item value = reader_.next();
      if (value.kind == Kind::text) builder_.metadata(key, value.text);
      else skip(value, 0);
    }
    keys.check();
  }

  static void check_depth(unsigned depth, std::uint64_t offset) {
    if (depth > limits::nesting)
      fail(ErrorKind::corrupt, "offset {}: nested more than {} deep", offset, limits::nesting);
  }

  void skip(const Item& item, unsigned depth) {
    check_depth(depth, item.offset);
    if (item.kind != Kind::array && item.kind != Kind::map) return;
    for (std::uint64_t i = 0; reader_.more(item, i); ++i) {
      if (item.kind == Kind::map) reader_.key();
      skip(reader_.next(), depth + 1);
    }
  }

  /// Reads past an item, as far as it is plain.
  Passed pass(Item item) {
    Passed passed{.item = std::move(item)};
    if (passed.item.kind == Kind::map) passed.container = Kind::map;
    if (passed.item.kind != Kind::array) return passed;
    for (; reader_.more(passed.item, passed.count); ++passed.count) {
      const Kind kind = reader_.next().kind;
      if (kind == Kind::array || kind == Kind::map) {
        passed.container = kind;
        break;
      }
      passed.has_boolean = passed.has_boolean || kind == Kind::boolean;
      passed.has_integers_only = passed.has_integers_only && kind != Kind::real && kind != Kind::nil;
    }
    return passed;
  }

  /// A struct, list, parameter, tensor or plain value at `path`.
  void node(const std::string& path, const Item& item, unsigned depth) {
    check_depth(depth, item.offset);
    if (item.kind == Kind::array) {
      for (std::uint64_t i = 0; reader_.more(item, i); ++i)
        node(join(path, std::to_string(i)), reader_.next(), depth + 1);
    } else if (item.kind == Kind::map) {
      map(path, item, depth);
    } else if (item.kind != Kind::nil) {  // None, or a field without a record
      builder_.value(path, value_of(item));
    }
  }

  void map(const std::string& path, const Item& map, unsigned depth) {
    if (tensor(path, map, std::nullopt)) return;
    Keys keys;
    std::optional<std::string> id;  // which a parameter begins with
    for (std::uint64_t i = 0; reader_.more(map, i); ++i) {
      const std::string& key = keys.add(name());
      const Item item = reader_.next();
      if (i == 0 && key == "id" && item.kind == Kind::text) {
        id = item.text;
        continue;
      }
      if (const std::optional<std::string> before = std::exchange(id, std::nullopt)) {
        if (key == "param" && item.kind != Kind::map)
          fail(ErrorKind::corrupt, "offset {}: parameter {} has no tensor", item.offset, printable(path));
        if (key == "param" && tensor(path, item, before)) continue;
        builder_.value(join(path, "id"), *before);
      }
      node(join(path, key), item, depth + 1);
    }
    if (id) builder_.value(join(path, "id"), *id);
    keys.check();
  }

  /// Reads a map that is a tensor, or stays at its first member. A struct may have fields of such names: they
  /// hold modules, lists of modules, or None.
  bool tensor(const std::string& path, const Item& map, const std::optional<std::string>& id) {
    const std::uint64_t start = reader_.offset();
    const auto is_struct = [&] {
      reader_.seek(start);
      return false;
    };
    Fields fields;
    Keys keys;
    std::uint64_t count = 0;
    for (; reader_.more(map, count); ++count) {
      const std::string& key = keys.add(name());
      std::optional<Passed>* const field = fields.named(key);
      if (count == 0 && field == nullptr && !id) return is_struct();
      Item item = reader_.next();
      if (count == 0 && item.kind == Kind::nil) return is_struct();
      if (field == &fields.dtype && item.kind != Kind::text)
        fail(ErrorKind::unsupported, "tensor {}: quantized records of burn before 0.22 are not read",
             printable(path));
      Passed passed = pass(std::move(item));
      if (passed.container) {
        const bool is_of_struct = count == 0 || (field == nullptr && !fields.are_tensor());
        if (id || !is_of_struct || passed.container != Kind::map) fail_neither(path, map);
        return is_struct();
      }
      if (field != nullptr) *field = std::move(passed);
    }
    keys.check();
    if (!fields.are_tensor()) {
      if (count > 1) fail_neither(path, map);
      return is_struct();
    }
    const std::uint64_t end = reader_.offset();
    read(path, fields, id);
    reader_.seek(end);
    return true;
  }

  [[noreturn]] static void fail_neither(const std::string& path, const Item& map) {
    fail(ErrorKind::corrupt, "offset {}: {} is neither a tensor nor a struct", map.offset, printable(path));
  }

  void read(const std::string& path, const Fields& fields, const std::optional<std::string>& id) {
    Shape shape = read_shape(path, *fields.shape);
    const Passed& data = fields.bytes ? *fields.bytes : *fields.value;
    const bool is_binary = fields.bytes && data.item.kind == Kind::binary;
    if (!is_binary && data.item.kind != Kind::array)
      fail(ErrorKind::corrupt, "tensor {}: its data is no list", printable(path));
    if (fields.bytes && !is_binary && !is_json_)
      fail(ErrorKind::corrupt, "offset {}: tensor {} has a list in place of its bytes", data.item.offset,
           printable(path));
    std::optional<DType> dtype;
    if (fields.dtype) dtype = record_dtype(fields.dtype->item.text, fields.dtype->item.offset);
    if (fields.bytes && !dtype)
      fail(ErrorKind::corrupt, "offset {}: tensor {} has no dtype", data.item.offset, printable(path));
    if (is_binary)
      return builder_.tensor(path, *dtype, std::move(shape), slice(source_, data.item.data, data.item.count),
                             data.item.count, id);
    if (!dtype)
      dtype = data.has_boolean                            ? DType::boolean
              : data.has_integers_only && data.count != 0 ? builder_.settings_dtype("int", DType::i32)
                                                          : builder_.settings_dtype("float", DType::f32);
    NumberPacker packer(builder_, *dtype, path);
    each_member(data.item, [&](const Item& member) {
      if (fields.bytes) packer.put(byte(member, path));
      else packer.add(number(member, path));
    });
    builder_.tensor(path, *dtype, std::move(shape), nullptr, packer.finish(), id);
  }

  Shape read_shape(const std::string& path, const Passed& list) {
    if (list.item.kind != Kind::array)
      fail(ErrorKind::corrupt, "tensor {}: its shape is no list", printable(path));
    if (list.count > limits::dimensions)
      fail(ErrorKind::corrupt, "tensor {} has {} dimensions; {} are the limit", printable(path), list.count,
           limits::dimensions);
    Shape shape;
    each_member(list.item, [&](const Item& size) { shape.push_back(natural(size, path)); });
    return shape;
  }

  template <typename Take> void each_member(const Item& list, Take take) {
    reader_.seek(list.offset);
    reader_.next();
    for (std::uint64_t i = 0; reader_.more(list, i); ++i) take(reader_.next());
  }

  static std::uint64_t natural(const Item& item, const std::string& path) {
    if (item.kind == Kind::unsigned_integer) return item.natural;
    if (item.kind == Kind::signed_integer && item.integer >= 0)
      return static_cast<std::uint64_t>(item.integer);
    fail(ErrorKind::corrupt, "tensor {}: a number of 0 or more is due, {} is there", printable(path),
         shown(item));
  }

  static std::byte byte(const Item& item, const std::string& path) {
    const std::uint64_t number = natural(item, path);
    if (number > 255) fail(ErrorKind::corrupt, "tensor {}: {} is no byte", printable(path), number);
    return static_cast<std::byte>(number);
  }

  long double number(const Item& item, const std::string& path) const {
    switch (item.kind) {
      case Kind::real:
        return item.real;
      case Kind::signed_integer:
        return static_cast<long double>(item.integer);
      case Kind::unsigned_integer:
        return static_cast<long double>(item.natural);
      case Kind::boolean:
        return item.boolean ? 1 : 0;
      case Kind::nil:
        if (is_json_) return std::numeric_limits<double>::quiet_NaN();  // as serde_json writes infinities too
        [[fallthrough]];
      default:
        fail(ErrorKind::corrupt, "tensor {}: {} is no number", printable(path), shown(item));
    }
  }

  Bytes source_;
  ItemReader& reader_;
  bool is_json_;
  RecordBuilder& builder_;
};

bool begins_msgpack(std::span<const std::byte> head) {
  // A map of two or three entries whose first key is `metadata`.
  return head.size() > 10 && (std::to_integer<unsigned>(head[0]) & 0xF0U) == 0x80U &&
         head[1] == std::byte{0xA8} && as_text(head.subspan(2, 8)) == first_key;
}

bool begins_json(std::span<const std::byte> head) {
  std::string_view text = as_text(head);
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  text.remove_prefix(brace + 1);
  const std::size_t key = text.find_first_not_of(" \t\r\n");
  return key != std::string_view::npos && text.substr(key).starts_with("\"metadata\"") &&
         (text.find("FileRecorder") != std::string_view::npos ||
          text.find("PrecisionSettings") != std::string_view::npos);
}

}  // namespace

bool recognise_burn_record(std::span<const std::byte> head, std::uint64_t) {
  if (!is_gzip(head)) return begins_msgpack(head) || begins_json(head);
  const std::vector<std::byte> unfolded = gunzip_head(head, 512);
  return begins_msgpack(unfolded) || begins_json(unfolded);
}

Checkpoint read_burn_record(const Input& input) {
  Bytes source = input.bytes();
  const std::vector<std::byte> start = read_range(*source, 0, std::min<std::uint64_t>(source->size(), 512));
  const bool is_packed = is_gzip(start);
  if (is_packed) source = gunzip(*source);
  const std::vector<std::byte> head = read_range(*source, 0, std::min<std::uint64_t>(source->size(), 512));
  const bool is_json = !begins_msgpack(head);
  RecordBuilder builder(is_json ? "json" : "mpk", source->size());
  if (is_json && source->size() > limits::json_record)
    fail(ErrorKind::unsupported, "a JSON record of {} is too large to be read; {} is the limit",
         human_size(source->size()), human_size(limits::json_record));
  std::unique_ptr<ItemReader> reader;
  if (is_json) reader = std::make_unique<JsonReader>(source);
  else reader = std::make_unique<MsgpackReader>(source);
  RecordWalk(source, *reader, is_json, builder).run();
  Checkpoint checkpoint = std::move(builder).finish();
  if (is_packed) checkpoint.notes.push_back("the record is gzipped: it was unfolded to be read");
  return checkpoint;
}

}  // namespace ckpt
