#include "ckpt/formats/burn_record.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>

#include "ckpt/codec/gzip.hpp"
#include "ckpt/codec/json.hpp"
#include "ckpt/codec/msgpack.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/param_id.hpp"
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

/// Builds the catalogue from either encoding: both walk the record and call in here.
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

  void tensor(std::string name, DType dtype, Shape shape, Bytes source, std::uint64_t offset,
              std::uint64_t size, const std::optional<std::string>& id) {
    const std::optional<std::uint64_t> wanted = byte_count(shape, dtype);
    if (!wanted || *wanted != size)
      fail(ErrorKind::corrupt, "tensor {}: {} {} needs {} bytes, but {} are there", printable(name),
           ckpt::name(dtype), to_string(shape), wanted ? std::to_string(*wanted) : "more than can be counted",
           size);
    spend(name);
    if (!names_.insert(name).second) fail(ErrorKind::corrupt, "two tensors are called {}", printable(name));
    Tensor tensor{.name = std::move(name), .dtype = dtype, .shape = std::move(shape)};
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
  std::uint64_t path_bytes_left_;
  std::unordered_set<std::string> names_;
  std::uint64_t values_ = 0;
  std::uint64_t lost_ids_ = 0;
  std::string lost_id_;
};

std::string join(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

void check_dimensions(const std::string& path, std::uint64_t count) {
  if (count > limits::dimensions)
    fail(ErrorKind::corrupt, "tensor {} has {} dimensions; {} are the limit", printable(path), count,
         limits::dimensions);
}

/// Numbers of the settings' type as little-endian bytes. A `long double` holds every number of either
/// encoding.
std::vector<std::byte> encode_numbers(const std::vector<long double>& numbers, DType dtype,
                                      const std::string& name) {
  std::vector<std::byte> out;
  const auto put = [&out](const auto& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
  };
  const auto put_integer = [&]<typename Integer>(Integer /*type*/, long double number) {
    using Limits = std::numeric_limits<Integer>;
    if (!(number >= Limits::min() && number <= Limits::max()) || number != std::trunc(number))
      fail(ErrorKind::corrupt, "tensor {}: {} is no number of {}", printable(name),
           static_cast<double>(number), ckpt::name(dtype));
    put(static_cast<Integer>(number));
  };
  for (const long double number : numbers) {
    switch (dtype) {
      case DType::f64:
        put(static_cast<double>(number));
        break;
      case DType::f32:
        put(static_cast<float>(number));
        break;
      case DType::boolean:
        put_integer(bool{}, number);
        break;
      case DType::i64:
        put_integer(std::int64_t{}, number);
        break;
      case DType::i32:
        put_integer(std::int32_t{}, number);
        break;
      case DType::i16:
        put_integer(std::int16_t{}, number);
        break;
      case DType::i8:
        put_integer(std::int8_t{}, number);
        break;
      default:
        fail(ErrorKind::unsupported, "tensor {}: a list of {} numbers is not read", printable(name),
             ckpt::name(dtype));
    }
  }
  return out;
}

/// Walks a record of named MessagePack.
class MsgpackRecord {
 public:
  MsgpackRecord(Bytes source, RecordBuilder& builder)
      : source_(source), reader_(std::move(source)), builder_(builder) {}

  void run() {
    const MsgpackReader::Item top = expect(MsgpackReader::Kind::map, "the record");
    bool has_item = false;
    for (std::uint64_t i = 0; i < top.count; ++i) {
      const std::string key = expect(MsgpackReader::Kind::text, "a key").text;
      if (key == first_key) {
        metadata();
      } else if (key == "item") {
        has_item = true;
        node("", reader_.next(), 0);
      } else {
        skip(reader_.next(), 0);
      }
    }
    if (!has_item) fail(ErrorKind::corrupt, "the record has no item");
    if (reader_.offset() != reader_.size())
      fail(ErrorKind::corrupt, "the record ends at byte {}, and {} bytes follow it", reader_.offset(),
           reader_.size() - reader_.offset());
  }

 private:
  using Kind = MsgpackReader::Kind;
  using Item = MsgpackReader::Item;

  Item expect(Kind kind, std::string_view what) {
    Item item = reader_.next();
    if (item.kind != kind)
      fail(ErrorKind::corrupt, "offset {}: {} is not what a burn record has there", item.offset, what);
    return item;
  }

  void metadata() {
    const Item map = expect(Kind::map, "metadata");
    for (std::uint64_t i = 0; i < map.count; ++i) {
      const std::string key = expect(Kind::text, "a key").text;
      const Item value = reader_.next();
      if (value.kind == Kind::text) builder_.metadata(key, value.text);
      else skip(value, 0);
    }
  }

  static void check_depth(unsigned depth, std::uint64_t offset) {
    if (depth > limits::nesting)
      fail(ErrorKind::corrupt, "offset {}: nested more than {} deep", offset, limits::nesting);
  }

  void skip(const Item& item, unsigned depth) {
    check_depth(depth, item.offset);
    const std::uint64_t members = item.kind == Kind::array ? item.count
                                  : item.kind == Kind::map ? 2 * item.count
                                                           : 0;
    for (std::uint64_t i = 0; i < members; ++i) skip(reader_.next(), depth + 1);
  }

  /// A struct, list, parameter, tensor or plain value at `path`.
  void node(const std::string& path, const Item& item, unsigned depth) {
    check_depth(depth, item.offset);
    switch (item.kind) {
      case Kind::array:
        for (std::uint64_t i = 0; i < item.count; ++i)
          node(join(path, std::to_string(i)), reader_.next(), depth + 1);
        return;
      case Kind::map:
        return map(path, item, depth);
      case Kind::nil:
        return;  // None, or a field without a record
      case Kind::boolean:
        return builder_.value(path, item.boolean);
      case Kind::signed_integer:
        return builder_.value(path, item.integer);
      case Kind::unsigned_integer:
        return builder_.value(path, item.natural);
      case Kind::real:
        return builder_.value(path, item.real);
      case Kind::text:
        return builder_.value(path, item.text);
      case Kind::binary:
      case Kind::extension:
        return builder_.value(path, fmt::format("{} bytes", item.count));
    }
  }

  void map(const std::string& path, const Item& item, unsigned depth) {
    std::optional<std::string> id;
    for (std::uint64_t i = 0; i < item.count; ++i) {
      const Item key_item = expect(Kind::text, "a field's name");
      const std::string& key = key_item.text;
      const bool begins_tensor =
          i == 0 && item.count >= 2 && (key == "bytes" || key == "value" || key == "shape" || key == "dtype");
      if (begins_tensor) return tensor(path, key_item, item.count, std::nullopt, depth);
      if (i == 0 && key == "id" && item.count == 2) {
        const Item value = reader_.next();
        if (value.kind == Kind::text) id = value.text;
        else node(join(path, key), value, depth + 1);
        continue;
      }
      if (i == 1 && id && key == "param") {
        const Item param = reader_.next();
        if (param.kind == Kind::map && param.count >= 2) {
          check_depth(depth + 1, param.offset);
          return tensor(path, expect(Kind::text, "a field's name"), param.count, id, depth + 1);
        }
        fail(ErrorKind::corrupt, "offset {}: parameter {} has no tensor", param.offset, printable(path));
      }
      node(join(path, key), reader_.next(), depth + 1);
    }
  }

  /// The fields of a tensor; the first key has been read.
  void tensor(const std::string& path, const Item& first, std::uint64_t fields,
              const std::optional<std::string>& id, unsigned depth) {
    std::optional<Item> bytes;
    std::optional<Item> shape_item;
    std::optional<std::vector<long double>> numbers;
    bool is_integer = true;
    bool is_boolean = false;
    Shape shape;
    std::optional<DType> dtype;
    for (std::uint64_t i = 0; i < fields; ++i) {
      const Item key_item = i == 0 ? first : expect(Kind::text, "a field's name");
      const Item value = reader_.next();
      if (key_item.text == "bytes" && value.kind == Kind::binary) {
        bytes = value;
      } else if ((key_item.text == "bytes" || key_item.text == "value") && value.kind == Kind::array) {
        numbers.emplace();
        for (std::uint64_t n = 0; n < value.count; ++n) {
          const Item number = reader_.next();
          is_integer = is_integer && number.kind != Kind::real;
          is_boolean = is_boolean || number.kind == Kind::boolean;
          numbers->push_back(to_number(number, path));
        }
        if (key_item.text == "bytes") throw_list_of_bytes(path, value.offset);
      } else if (key_item.text == "shape" && value.kind == Kind::array) {
        check_dimensions(path, value.count);
        for (std::uint64_t n = 0; n < value.count; ++n)
          shape.push_back(expect(Kind::unsigned_integer, "a dimension").natural);
        shape_item = value;
      } else if (key_item.text == "dtype" && value.kind == Kind::text) {
        dtype = record_dtype(value.text, value.offset);
      } else if (key_item.text == "dtype") {
        fail(ErrorKind::unsupported, "tensor {}: quantized records of burn before 0.22 are not read",
             printable(path));
      } else {
        skip(value, depth + 1);
      }
    }
    if (!shape_item || (!bytes && !numbers))
      fail(ErrorKind::corrupt, "offset {}: {} is neither a tensor nor a struct", first.offset,
           printable(path));
    if (bytes) {
      if (!dtype)
        fail(ErrorKind::corrupt, "offset {}: tensor {} has no dtype", first.offset, printable(path));
      return builder_.tensor(path, *dtype, std::move(shape), slice(source_, bytes->data, bytes->count), 0,
                             bytes->count, id);
    }
    const DType of = dtype                             ? *dtype
                     : is_boolean                      ? DType::boolean
                     : is_integer && !numbers->empty() ? builder_.settings_dtype("int", DType::i32)
                                                       : builder_.settings_dtype("float", DType::f32);
    std::vector<std::byte> encoded = encode_numbers(*numbers, of, path);
    const std::uint64_t size = encoded.size();
    builder_.tensor(path, of, std::move(shape), memory_bytes(std::move(encoded)), 0, size, id);
  }

  [[noreturn]] static void throw_list_of_bytes(const std::string& path, std::uint64_t offset) {
    fail(ErrorKind::corrupt, "offset {}: tensor {} has a list in place of its bytes", offset,
         printable(path));
  }

  static long double to_number(const Item& item, const std::string& path) {
    switch (item.kind) {
      case Kind::real:
        return item.real;
      case Kind::signed_integer:
        return static_cast<long double>(item.integer);
      case Kind::unsigned_integer:
        return static_cast<long double>(item.natural);
      case Kind::boolean:
        return item.boolean ? 1 : 0;
      default:
        fail(ErrorKind::corrupt, "offset {}: tensor {} holds something that is no number", item.offset,
             printable(path));
    }
  }

  Bytes source_;
  MsgpackReader reader_;
  RecordBuilder& builder_;
};

/// Walks a record of JSON.
class JsonRecord {
 public:
  explicit JsonRecord(RecordBuilder& builder) : builder_(builder) {}

  void run(const Value& top) {
    if (const Value* metadata = top.find(first_key); metadata != nullptr && metadata->is_object())
      for (const auto& [key, value] : *metadata->as<Value::Object>())
        if (const auto* text = value.as<std::string>()) builder_.metadata(key, *text);
    const Value* item = top.find("item");
    if (item == nullptr) fail(ErrorKind::corrupt, "the record has no item");
    node("", *item);
  }

 private:
  void node(const std::string& path, const Value& value) {
    if (const auto* array = value.as<Value::Array>()) {
      for (std::size_t i = 0; i < array->size(); ++i) node(join(path, std::to_string(i)), (*array)[i]);
    } else if (const auto* object = value.as<Value::Object>()) {
      const Value* id = value.find("id");
      const Value* param = value.find("param");
      if (object->size() == 2 && id != nullptr && id->as<std::string>() != nullptr && param != nullptr &&
          is_tensor(*param))
        tensor(path, *param, *id->as<std::string>());
      else if (is_tensor(value)) tensor(path, value, std::nullopt);
      else
        for (const auto& [key, member] : *object) node(join(path, key), member);
    } else if (!value.is_null()) {
      builder_.value(path, value);
    }
  }

  static bool is_tensor(const Value& value) {
    return value.is_object() && value.find("shape") != nullptr &&
           (value.find("bytes") != nullptr || value.find("value") != nullptr);
  }

  void tensor(const std::string& path, const Value& value, const std::optional<std::string>& id) {
    Shape shape;
    const auto* sizes = value.find("shape")->as<Value::Array>();
    if (sizes == nullptr) fail(ErrorKind::corrupt, "tensor {}: its shape is no list", printable(path));
    check_dimensions(path, sizes->size());
    for (const Value& size : *sizes) shape.push_back(natural(size, path));
    const Value* bytes = value.find("bytes");
    const auto* list = (bytes != nullptr ? bytes : value.find("value"))->as<Value::Array>();
    if (list == nullptr) fail(ErrorKind::corrupt, "tensor {}: its data is no list", printable(path));
    std::vector<std::byte> data;
    DType dtype = DType::f32;
    if (bytes != nullptr) {
      const Value* type = value.find("dtype");
      if (type == nullptr || type->as<std::string>() == nullptr)
        fail(ErrorKind::unsupported, "tensor {}: its dtype is not known here", printable(path));
      dtype = record_dtype(*type->as<std::string>(), 0);
      data.reserve(list->size());
      for (const Value& byte : *list) {
        const std::uint64_t number = natural(byte, path);
        if (number > 255) fail(ErrorKind::corrupt, "tensor {}: {} is no byte", printable(path), number);
        data.push_back(static_cast<std::byte>(number));
      }
    } else {
      std::vector<long double> numbers;
      bool is_integer = !list->empty();
      bool is_boolean = false;
      for (const Value& number : *list) {
        is_integer = is_integer && number.as<double>() == nullptr && !number.is_null();
        is_boolean = is_boolean || number.as<bool>() != nullptr;
        numbers.push_back(real(number, path));
      }
      dtype = is_boolean   ? DType::boolean
              : is_integer ? builder_.settings_dtype("int", DType::i32)
                           : builder_.settings_dtype("float", DType::f32);
      data = encode_numbers(numbers, dtype, path);
    }
    const std::uint64_t size = data.size();
    builder_.tensor(path, dtype, std::move(shape), memory_bytes(std::move(data)), 0, size, id);
  }

  static std::uint64_t natural(const Value& value, const std::string& path) {
    if (const auto* number = value.as<std::int64_t>(); number != nullptr && *number >= 0)
      return static_cast<std::uint64_t>(*number);
    if (const auto* number = value.as<std::uint64_t>()) return *number;
    fail(ErrorKind::corrupt, "tensor {}: a number of 0 or more is due, {} is there", printable(path),
         json::dump(value).substr(0, 40));
  }

  static long double real(const Value& value, const std::string& path) {
    if (const auto* number = value.as<double>()) return *number;
    if (const auto* number = value.as<std::int64_t>()) return static_cast<long double>(*number);
    if (const auto* number = value.as<std::uint64_t>()) return static_cast<long double>(*number);
    if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
    if (value.is_null())
      return std::numeric_limits<double>::quiet_NaN();  // serde_json writes NaN and infinities so
    fail(ErrorKind::corrupt, "tensor {}: {} is no number", printable(path), json::dump(value).substr(0, 40));
  }

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
  if (is_json) {
    if (source->size() > limits::json_record)
      fail(ErrorKind::unsupported, "a JSON record of {} is too large to be read; {} is the limit",
           human_size(source->size()), human_size(limits::json_record));
    const std::vector<std::byte> text = read_range(*source, 0, source->size());
    JsonRecord(builder).run(json::parse(as_text(text)));
  } else {
    MsgpackRecord(source, builder).run();
  }
  Checkpoint checkpoint = std::move(builder).finish();
  if (is_packed) checkpoint.notes.push_back("the record is gzipped: it was unfolded to be read");
  return checkpoint;
}

}  // namespace ckpt
