#include "ckpt/formats/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "ckpt/core/error.hpp"
#include "ckpt/formats/burn_record.hpp"
#include "ckpt/formats/burnpack/burnpack.hpp"
#include "ckpt/formats/not_weights.hpp"
#include "ckpt/formats/pytorch/pytorch.hpp"
#include "ckpt/formats/pytorch/writer.hpp"
#include "ckpt/formats/safetensors.hpp"
#include "ckpt/formats/sharded.hpp"

namespace ckpt {
namespace {

constexpr std::size_t head_size = 512;

constexpr std::array<std::string_view, 1> burnpack_extensions{".bpk"};
constexpr std::array<std::string_view, 1> safetensors_extensions{".safetensors"};
constexpr std::array<std::string_view, 4> pytorch_extensions{".pt", ".pth", ".bin", ".ckpt"};

constexpr std::array table{
    Format{.name = "burnpack",
           .extensions = burnpack_extensions,
           .convention = Convention::burn,
           .is_header_first = true,
           .has_metadata = true,
           .has_scalars = true,
           .has_param_ids = true,
           .recognise = recognise_burnpack,
           .read = read_burnpack,
           .salvage = salvage_burnpack,
           .plan = plan_burnpack,
           .holds = burnpack_holds},
    Format{.name = "safetensors",
           .extensions = safetensors_extensions,
           .is_header_first = true,
           .has_metadata = true,
           .recognise = recognise_safetensors,
           .read = read_safetensors,
           .salvage = salvage_safetensors,
           .plan = plan_safetensors,
           .holds = safetensors_holds},
    Format{.name = "burn-record",
           .convention = Convention::burn,
           .recognise = recognise_burn_record,
           .read = read_burn_record},
    Format{.name = "pytorch",
           .extensions = pytorch_extensions,
           .convention = Convention::pytorch,
           .has_ties = true,
           .recognise = recognise_pytorch,
           .read = read_pytorch,
           .salvage = salvage_pytorch,
           .plan = plan_pytorch,
           .holds = pytorch_holds},
};

bool ends_in(std::string_view file_name, std::string_view extension) {
  if (file_name.size() <= extension.size()) return false;
  return std::ranges::equal(file_name.substr(file_name.size() - extension.size()), extension, {}, [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
}

Checkpoint read_file(const Input& input, const Bytes& bytes) {
  const Format& format = recognise_format(input, *bytes);
  Checkpoint checkpoint = format.read(input);
  checkpoint.file = input.name();
  checkpoint.format = format.name;
  if (!bytes->is_open_ended()) checkpoint.size = bytes->size();
  const Format* named = format_for_extension(input.name());
  if (named && named != &format)
    checkpoint.notes.push_back(
        fmt::format("the file is {} by its content, though its name is one of {}", format.name, named->name));
  return checkpoint;
}

}  // namespace

std::span<const Format> format_table() { return table; }

const Format* find_format(std::string_view name) {
  const auto row = std::ranges::find(table, name, &Format::name);
  return row == table.end() ? nullptr : &*row;
}

const Format* format_for_extension(std::string_view file_name) {
  for (const Format& format : table)
    for (const std::string_view extension : format.extensions)
      if (ends_in(file_name, extension)) return &format;
  return nullptr;
}

const Format& recognise_format(const Input& input, const ByteSource& bytes) {
  const std::vector<std::byte> head = read_range(bytes, 0, std::min<std::uint64_t>(bytes.size(), head_size));
  return recognise_head(input.name(), head, bytes.size());
}

const Format& recognise_head(std::string_view name, std::span<const std::byte> head, std::uint64_t size) {
  refuse_not_weights(head, size, Certainty::certain);
  for (const Format& format : table)
    if (format.recognise(head, size)) return format;
  refuse_not_weights(head, size, Certainty::likely);
  // Too broken to be recognised: the reader that the name calls for says best what is wrong.
  if (const Format* named = format_for_extension(name)) return *named;
  std::string start;
  for (std::size_t i = 0; i < std::min<std::size_t>(head.size(), 8); ++i)
    start += fmt::format(" {:02x}", std::to_integer<unsigned>(head[i]));
  fail(ErrorKind::unsupported, "this is no checkpoint of a known format: it begins with the bytes{}", start);
}

Checkpoint read_checkpoint(const Input& input) {
  try {
    const Bytes bytes = input.bytes();
    if (bytes && !is_index_name(input.name())) return read_file(input, bytes);
    Checkpoint set = read_sharded(input);
    set.file = input.name();
    return set;
  } catch (Error& error) {
    throw error.in_file(input.name());
  }
}

}  // namespace ckpt
