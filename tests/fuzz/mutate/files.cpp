#include <algorithm>
#include <string>
#include <vector>

#include "mutate/formats.hpp"
#include "mutate/tree.hpp"

namespace ckpt::fuzz {
namespace {

constexpr std::string_view cut = "\n--8<--\n";

std::string_view text_of(const Buffer& input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

using Take = std::optional<Item> (*)(std::string_view&);
using Format = std::string (*)(const Item&, Random&);

/// Mutates the document that `bytes` begins with; nothing where there is none.
std::optional<std::string> mutated(std::string_view& bytes, Random& random, Take take, Format format) {
  std::optional<Item> item = take(bytes);
  if (!item) return std::nullopt;
  mutate_item(*item, random);
  return format(*item, random);
}

bool mutate_document(Buffer& input, Random& random, Take take, Format format) {
  std::string_view rest = text_of(input);
  std::optional<std::string> text = mutated(rest, random, take, format);
  if (!text) return false;
  text->append(rest);
  input.assign(text->begin(), text->end());
  return true;
}

std::string number_bytes(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// A file of a head that ends in the length of a document, the document, and data.
bool mutate_headed(Buffer& input, Random& random, std::size_t length_at, std::size_t length_size, Take take,
                   Format format) {
  const std::string_view all = text_of(input);
  const std::size_t begin = length_at + length_size;
  if (all.size() < begin) return false;
  const std::uint64_t stated = number_at(all, length_at, length_size);
  if (stated > all.size() - begin) return false;
  std::string_view document = all.substr(begin, stated);
  std::string data(all.substr(begin + stated));
  std::optional<std::string> changed;
  if (random.one_in(10)) {
    data = mutate_text(std::move(data));
    changed = std::string(document);
  } else {
    changed = mutated(document, random, take, format);
    if (!changed) return false;
  }
  if (random.one_in(3)) changed->append((8 - changed->size() % 8) % 8, format == json_of ? ' ' : '\0');
  const std::uint64_t length = random.one_in(60) ? random.edge() : changed->size();
  const std::string whole =
      std::string(all.substr(0, length_at)) + number_bytes(length, length_size) + *changed + data;
  input.assign(whole.begin(), whole.end());
  return true;
}

}  // namespace

bool mutate_json(Buffer& input, Random& random) { return mutate_document(input, random, take_json, json_of); }
bool mutate_cbor(Buffer& input, Random& random) { return mutate_document(input, random, take_cbor, cbor_of); }
bool mutate_msgpack(Buffer& input, Random& random) {
  return mutate_document(input, random, take_msgpack, msgpack_of);
}
bool mutate_safetensors(Buffer& input, Random& random) {
  if (text_of(input).starts_with('{')) return mutate_json(input, random);
  return mutate_headed(input, random, 0, 8, take_json, json_of);
}
bool mutate_burnpack(Buffer& input, Random& random) {
  if (!text_of(input).starts_with("NRUB")) return mutate_cbor(input, random);
  return mutate_headed(input, random, 6, 4, take_cbor, cbor_of);
}

bool mutate_lines(Buffer& input, Random& random) {
  std::vector<std::string> lines{""};
  for (const std::uint8_t byte : input) {
    if (byte == '\n') lines.emplace_back();
    else lines.back() += static_cast<char>(byte);
  }
  std::string& line = random.pick(lines);
  const auto at = [&](std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random.below(6)) {
    case 0:
      lines.erase(at(random.below(lines.size())));
      break;
    case 1:
      lines.insert(at(random.below(lines.size())), std::string(line));
      break;
    case 2:
      std::swap(line, random.pick(lines));
      break;
    case 3:
      line.insert(random.below(line.size() + 1), random.pick(odd_names));
      break;
    default:
      line = mutate_text(std::move(line));
  }
  input.clear();
  for (const std::string& each : lines) {
    if (&each != lines.data()) input.push_back('\n');
    input.insert(input.end(), each.begin(), each.end());
  }
  return true;
}

bool mutate_file(Buffer& input, Random& random) {
  const std::string_view bytes = text_of(input);
  if (bytes.starts_with("PK")) return mutate_zip(input, random);
  if (bytes.starts_with("NRUB")) return mutate_burnpack(input, random);
  if (bytes.starts_with('{')) return mutate_json(input, random);
  if (bytes.starts_with('\x80')) return mutate_pickle(input, random) || mutate_msgpack(input, random);
  if (bytes.starts_with('#')) return mutate_lines(input, random);
  return mutate_safetensors(input, random) || mutate_msgpack(input, random) || mutate_pickle(input, random);
}

std::vector<std::string_view> parts_of(std::string_view input) {
  std::vector<std::string_view> parts;
  for (std::size_t end = input.find(cut); end != std::string_view::npos; end = input.find(cut)) {
    parts.push_back(input.substr(0, end));
    input.remove_prefix(end + cut.size());
  }
  parts.push_back(input);
  return parts;
}

bool mutate_parts(Buffer& input, Random& random) {
  std::vector<Buffer> parts;
  for (const std::string_view part : parts_of(text_of(input))) parts.emplace_back(part.begin(), part.end());
  Buffer& one = random.pick(parts);
  if (random.one_in(20)) one = random.pick(parts);
  else if (!mutate_file(one, random)) return false;
  input.clear();
  for (const Buffer& part : parts) {
    if (&part != parts.data()) input.insert(input.end(), cut.begin(), cut.end());
    input.insert(input.end(), part.begin(), part.end());
  }
  return true;
}

bool mutate_command(Buffer& input, Random& random) {
  if (input.empty()) return false;
  const std::uint8_t command = random.one_in(6) ? static_cast<std::uint8_t>(random.next()) : input.front();
  Buffer files(input.begin() + 1, input.end());
  if (!mutate_parts(files, random)) return false;
  input = std::move(files);
  input.insert(input.begin(), command);
  return true;
}

}  // namespace ckpt::fuzz
