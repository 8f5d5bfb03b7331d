#include "ckpt/formats/burnpack/scheme.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/burnpack/fields.hpp"

// The names are those of burn-std's QuantScheme; the spellings of older versions were read from the
// tags v0.19.0 to v0.22.0-pre.2 of tracel-ai/burn.

namespace ckpt::burnpack {
namespace {

struct Named {
  std::string_view name;
  unsigned bits;
};

constexpr std::array values{Named{"Q8F", 8}, Named{"E5M2", 8}, Named{"E4M3", 8},
                            Named{"Q4F", 4}, Named{"E2M1", 4}, Named{"Q2F", 2},
                            Named{"Q8S", 8}, Named{"Q4S", 4},  Named{"Q2S", 2}};
constexpr std::array scales{Named{"F32", 32}, Named{"F16", 16}, Named{"BF16", 16}, Named{"UE8M0", 8},
                            Named{"UE4M3", 8}};
constexpr std::array modes{Named{"Symmetric", 0}, Named{"Lookup", 0}};
constexpr std::string_view native = "Native";
constexpr std::array packed{Named{"PackedNative", 0}, Named{"PackedU32", 0}};
constexpr std::size_t block_dimensions = 5;

constexpr std::array<std::string_view, 7> scheme_fields{"value", "store", "mode", "tensor",
                                                        "block", "param", "level"};
constexpr std::array<std::string_view, 2> block_fields{"size", "dtype"};
constexpr std::array<std::string_view, 2> block_size_fields{"storage", "len"};
constexpr std::array<std::string_view, 2> both_levels_fields{"block", "global"};

const Named* find(std::span<const Named> table, std::string_view name) {
  const auto row = std::ranges::find(table, name, &Named::name);
  return row == table.end() ? nullptr : &*row;
}

std::string read_name(cbor::Reader& reader, std::span<const Named> table, std::string_view what) {
  const std::uint64_t offset = reader.offset();
  const std::string_view name = reader.identifier(what);
  if (!find(table, name))
    fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no {} \"{}\"", offset, what, printable(name));
  return std::string(name);
}

std::string read_scale(cbor::Reader& reader, std::string_view what) {
  return reader.null() ? std::string() : read_name(reader, scales, what);
}

// `"Native"`, {"PackedNative": n} or {"PackedU32": n}; the text "U32" in burn 0.19.
void read_store(cbor::Reader& reader, Scheme& scheme) {
  if (reader.peek() == cbor::Kind::map) {
    cbor::Reader::Entries entries = reader.map("store");
    if (!entries.next())
      fail(ErrorKind::corrupt, "CBOR at offset {}: store is an empty map", reader.offset());
    scheme.store = read_name(reader, packed, "store");
    scheme.packed_dimension = reader.whole("packed dimension");
    if (entries.next()) fail(ErrorKind::corrupt, "CBOR at offset {}: store names two kinds", reader.offset());
    return;
  }
  const std::uint64_t offset = reader.offset();
  const std::string_view name = reader.identifier("store");
  scheme.only_in_019 = name == "U32";
  if (!scheme.only_in_019 && name != native)
    fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no store \"{}\"", offset, printable(name));
  scheme.store = scheme.only_in_019 ? "PackedU32" : name;
}

// {"storage": five sizes, "len": how many of them count}.
std::vector<std::uint64_t> read_block_size(cbor::Reader& reader) {
  std::vector<std::uint64_t> storage;
  std::uint64_t length = 0;
  const std::uint64_t offset = reader.offset();
  Fields names(block_size_fields, "a block size", reader);
  for (cbor::Reader::Entries fields = reader.map("block size"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "len") length = reader.whole("len");
    else if (field != "storage") reader.skip();
    else
      for (cbor::Reader::Entries sizes = reader.array("storage"); sizes.next();)
        storage.push_back(reader.whole("a size of the block"));
  }
  names.require(2);
  if (storage.size() != block_dimensions || length > block_dimensions)
    fail(ErrorKind::corrupt, "CBOR at offset {}: {} of {} sizes of a block count, but they are five", offset,
         length, storage.size());
  storage.resize(length);
  return storage;
}

// null or {"size": block size, "dtype": type of the scales}.
void read_block(cbor::Reader& reader, Scheme& scheme) {
  if (reader.null()) return;
  Fields names(block_fields, "a block", reader);
  for (cbor::Reader::Entries fields = reader.map("block"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "size") scheme.block_size = read_block_size(reader);
    else if (field == "dtype") scheme.block = read_name(reader, scales, "dtype of the scales");
    else reader.skip();
  }
  names.require(2);
}

// What burn up to 0.22.0-pre.2 had in place of `tensor` and `block`: a `level` and the type `param` of
// its scales. Read as if unknown, it would turn scales of blocks into one of the tensor.
struct Level {
  enum class Kind { absent, tensor, block, both } kind = Kind::absent;
  std::string param;   // type of the scales
  std::string global;  // of `both`: type of the tensor's scale
  std::vector<std::uint64_t> block_size;
};

// {"block": block size, "global": type}, the two levels of 0.22.0-pre.2.
void read_both_levels(cbor::Reader& reader, Level& level) {
  Fields names(both_levels_fields, "a level of blocks in a tensor", reader);
  for (cbor::Reader::Entries fields = reader.map("BlockTensor"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "block") level.block_size = read_block_size(reader);
    else if (field == "global") level.global = read_name(reader, scales, "global");
    else reader.skip();
  }
  names.require(2);
}

void read_level(cbor::Reader& reader, Level& level) {
  const std::uint64_t offset = reader.offset();
  if (reader.peek() != cbor::Kind::map) {
    const std::string_view name = reader.identifier("level");
    if (name != "Tensor")
      fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no level \"{}\"", offset, printable(name));
    level.kind = Level::Kind::tensor;
    return;
  }
  cbor::Reader::Entries entries = reader.map("level");
  const std::string_view name = entries.next() ? reader.identifier("level") : std::string_view();
  if (name == "Block") level.block_size = read_block_size(reader), level.kind = Level::Kind::block;
  else if (name == "BlockTensor") read_both_levels(reader, level), level.kind = Level::Kind::both;
  else fail(ErrorKind::corrupt, "CBOR at offset {}: burn knows no level \"{}\"", offset, printable(name));
  if (entries.next()) fail(ErrorKind::corrupt, "CBOR at offset {}: level names two kinds", offset);
}

void apply_level(const Level& level, std::uint64_t offset, Scheme& scheme) {
  if (level.kind == Level::Kind::absent) return;
  if (level.param.empty())
    fail(ErrorKind::corrupt, "CBOR at offset {}: a scheme with a level has no param", offset);
  if (level.kind == Level::Kind::tensor) {
    scheme.tensor = level.param;
    return;
  }
  scheme.block = level.param;
  scheme.block_size = level.block_size;
  scheme.tensor = level.global;
}

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Takes `key=word` off the front of the line.
std::optional<std::string_view> take(std::string_view& line, std::string_view key) {
  if (!line.starts_with(key) || !line.substr(key.size()).starts_with('=')) return std::nullopt;
  line.remove_prefix(key.size() + 1);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

bool parse_store(std::string_view word, Scheme& scheme) {
  if (word == native) return scheme.store = word, true;
  const std::size_t open = word.find('(');
  if (open == std::string_view::npos || !word.ends_with(')')) return false;
  const std::optional<std::uint64_t> dimension = parse_whole(word.substr(open + 1, word.size() - open - 2));
  scheme.store = word.substr(0, open);
  if (!dimension || !find(packed, scheme.store)) return false;
  scheme.packed_dimension = *dimension;
  return true;
}

bool parse_block(std::string_view word, Scheme& scheme) {
  if (word == "none") return true;
  const std::size_t open = word.find('[');
  if (open == std::string_view::npos || !word.ends_with(']')) return false;
  scheme.block = word.substr(0, open);
  std::string_view sizes = word.substr(open + 1, word.size() - open - 2);
  while (!sizes.empty()) {
    const std::string_view size = sizes.substr(0, sizes.find(','));
    const std::optional<std::uint64_t> number = parse_whole(size);
    if (!number) return false;
    scheme.block_size.push_back(*number);
    sizes.remove_prefix(std::min(size.size() + 1, sizes.size()));
  }
  return find(scales, scheme.block) && scheme.block_size.size() <= block_dimensions;
}

}  // namespace

Scheme read_scheme(cbor::Reader& reader) {
  Scheme scheme;
  Level level;
  const std::uint64_t offset = reader.offset();
  Fields names(scheme_fields, "the scheme of a QFloat", reader);
  for (cbor::Reader::Entries fields = reader.map("the scheme of a QFloat"); fields.next();) {
    const std::string_view field = names.read(reader);
    if (field == "value") scheme.value = read_name(reader, values, "value");
    else if (field == "store") read_store(reader, scheme);
    else if (field == "mode") scheme.mode = read_name(reader, modes, "mode");
    else if (field == "tensor") scheme.tensor = read_scale(reader, "scale of the tensor");
    else if (field == "block") read_block(reader, scheme);
    else if (field == "param") level.param = read_name(reader, scales, "param");
    else if (field == "level") read_level(reader, level);
    else reader.skip();
  }
  names.require(3);
  apply_level(level, offset, scheme);
  return scheme;
}

void write_scheme(cbor::Writer& writer, const Scheme& scheme) {
  const auto optional_text = [&](const std::string& text) {
    text.empty() ? writer.null() : writer.text(text);
  };
  writer.map(5);
  writer.text("value");
  writer.text(scheme.value);
  writer.text("store");
  if (scheme.store == native) writer.text(native);
  else {
    writer.map(1);
    writer.text(scheme.store);
    writer.whole(scheme.packed_dimension);
  }
  writer.text("mode");
  writer.text(scheme.mode);
  writer.text("tensor");
  optional_text(scheme.tensor);
  writer.text("block");
  if (scheme.block.empty()) return writer.null();
  writer.map(2);
  writer.text("size");
  writer.map(2);
  writer.text("storage");
  writer.array(block_dimensions);
  for (std::size_t i = 0; i < block_dimensions; ++i)
    writer.whole(i < scheme.block_size.size() ? scheme.block_size[i] : 1);
  writer.text("len");
  writer.whole(scheme.block_size.size());
  writer.text("dtype");
  writer.text(scheme.block);
}

std::string to_line(const Scheme& scheme) {
  const std::string store =
      scheme.store == native ? scheme.store : fmt::format("{}({})", scheme.store, scheme.packed_dimension);
  const std::string block =
      scheme.block.empty() ? "none" : fmt::format("{}[{}]", scheme.block, fmt::join(scheme.block_size, ","));
  return fmt::format("value={} store={} mode={} tensor={} block={}", scheme.value, store, scheme.mode,
                     scheme.tensor.empty() ? "none" : scheme.tensor, block);
}

std::optional<Scheme> parse_line(std::string_view line) {
  const auto value = take(line, "value");
  const auto store = value ? take(line, "store") : std::nullopt;
  const auto mode = store ? take(line, "mode") : std::nullopt;
  const auto tensor = mode ? take(line, "tensor") : std::nullopt;
  const auto block = tensor ? take(line, "block") : std::nullopt;
  if (!block || !line.empty() || !find(values, *value) || !find(modes, *mode)) return std::nullopt;
  Scheme scheme;
  scheme.value = *value;
  scheme.mode = *mode;
  if (*tensor != "none") scheme.tensor = *tensor;
  if (!scheme.tensor.empty() && !find(scales, scheme.tensor)) return std::nullopt;
  if (!parse_store(*store, scheme) || !parse_block(*block, scheme)) return std::nullopt;
  return scheme;
}

std::optional<std::uint64_t> least_bytes(const Scheme& scheme, const Shape& shape) {
  const std::optional<std::uint64_t> count = element_count(shape);
  const std::optional<std::uint64_t> bits =
      count ? checked_multiply(*count, find(values, scheme.value)->bits) : std::nullopt;
  if (!bits) return std::nullopt;
  const std::uint64_t bytes = *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
  if (*count == 0) return 0;
  std::uint64_t scale_bytes = 0;
  if (!scheme.block.empty()) {
    std::uint64_t block = 1;  // elements; saturates, which only makes the bound lower
    for (const std::uint64_t size : scheme.block_size)
      block = checked_multiply(block, std::max<std::uint64_t>(size, 1)).value_or(UINT64_MAX);
    const std::optional<std::uint64_t> all =
        checked_multiply(*count / block, find(scales, scheme.block)->bits / 8);
    if (!all) return std::nullopt;
    scale_bytes = *all;
  }
  const std::string_view tensor =
      scheme.tensor.empty() && scheme.block.empty() ? "F32" : std::string_view(scheme.tensor);
  const std::uint64_t tensor_bytes = tensor.empty() ? 0 : find(scales, tensor)->bits / 8;
  const std::optional<std::uint64_t> sum = checked_add(bytes, scale_bytes);
  return sum ? checked_add(*sum, tensor_bytes) : std::nullopt;
}

}  // namespace ckpt::burnpack
