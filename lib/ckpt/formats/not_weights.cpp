#include "ckpt/formats/not_weights.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "ckpt/core/bytes.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"

// What people hand to a reader of checkpoints when a download, a clone or a path went wrong, by the
// first bytes (the signatures are those of the formats' own specifications and of file(1)).

namespace ckpt {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  Certainty certainty;
  std::string_view what;
  std::string_view hint;
};

using enum Certainty;

constexpr std::string_view unpack = "unpack it first";

constexpr std::array signatures{
    Signature{0, "GGUF"sv, certain, "a GGUF model of llama.cpp, which is not read", ""},
    Signature{0, "lmgg"sv, certain, "a GGML model of early llama.cpp, which is not read", ""},
    Signature{0, "tjgg"sv, certain, "a GGML model of early llama.cpp, which is not read", ""},
    Signature{0, "\x89HDF\r\n\x1a\n"sv, certain,
              "an HDF5 file (Keras keeps weights in them), which is not read", ""},
    Signature{0, "\x93NUMPY"sv, certain, "a NumPy array (.npy), which has no names and is not read", ""},
    Signature{4, "TFL3"sv, certain, "a TensorFlow Lite model, which is not read", ""},
    Signature{0, "\x08\x0a\x12"sv, certain, "an ONNX model, which is not read", ""},
    Signature{0, "\x08\x09\x12"sv, certain, "an ONNX model, which is not read", ""},
    Signature{0, "\x08\x08\x12"sv, certain, "an ONNX model, which is not read", ""},
    Signature{0, "\x08\x07\x12"sv, certain, "an ONNX model, which is not read", ""},
    Signature{0, "\x08\x06\x12"sv, certain, "an ONNX model, which is not read", ""},
    Signature{0,
              "\xfd"
              "7zXZ\0"sv,
              certain, "compressed with xz", unpack},
    Signature{0, "\x28\xb5\x2f\xfd"sv, certain, "compressed with Zstandard", unpack},
    Signature{0, "BZh"sv, certain, "compressed with bzip2", unpack},
    Signature{0, "\x04\x22\x4d\x18"sv, certain, "compressed with lz4", unpack},
    Signature{0, "7z\xbc\xaf\x27\x1c"sv, certain, "a 7-Zip archive", unpack},
    Signature{0, "Rar!\x1a\x07"sv, certain, "a RAR archive", unpack},
    Signature{0, "%PDF-"sv, certain, "a PDF document", ""},
    Signature{0, "\x89PNG\r\n\x1a\n"sv, certain, "a PNG image", ""},
    Signature{0, "\xff\xd8\xff"sv, certain, "a JPEG image", ""},
    Signature{0,
              "\x7f"
              "ELF"sv,
              certain, "a program or a shared library (ELF)", ""},
    Signature{0, "SQLite format 3\0"sv, certain, "an SQLite database", ""},
    Signature{0, "\x1f\x8b"sv, likely, "compressed with gzip", unpack},
};

[[noreturn]] void refuse(std::string_view what, std::string_view hint) {
  throw Error(ErrorKind::unsupported, "this is no checkpoint: it is " + std::string(what))
      .with_hint(std::string(hint));
}

bool starts_with_any_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, [](char c) {
           return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
         });
}

// The file that Git keeps in place of a large one: a few lines of `key value`, of which the last
// states the size of what is missing (git-lfs, docs/spec.md).
void refuse_lfs_pointer(std::string_view text) {
  if (!text.starts_with("version https://git-lfs.github.com/spec/") &&
      !text.starts_with("version https://hawser.github.com/spec/"))
    return;
  constexpr std::string_view key = "\nsize ";
  std::string size = "of unknown size";
  if (const std::size_t at = text.find(key); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + key.size());
    size = "of " + printable(rest.substr(0, rest.find('\n'))) + " bytes";
  }
  refuse("a Git LFS pointer to a file " + size + ", which has not been fetched", "git lfs pull");
}

void refuse_markup(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), text.size()));
  constexpr std::string_view page = "an HTML page, probably an error or a login in place of the download";
  for (const std::string_view start : {"<!doctype html", "<html", "<head", "<body", "<script"})
    if (starts_with_any_case(text, start)) refuse(page, "download it again and look at what the server says");
  if (starts_with_any_case(text, "<?xml"))
    refuse("an XML document, probably an error in place of the download", "");
}

bool is_plain_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
}

void refuse_text(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) {
    const bool index = text.find("\"weight_map\"") != std::string_view::npos ||
                       text.find("\"total_size\"") != std::string_view::npos;
    // Text of eight bytes and more cannot be the length at the front of a safetensors file.
    if (is_plain_text(text.substr(0, std::min<std::size_t>(text.size(), 16))))
      refuse("JSON text", index ? "the index of a sharded set keeps its name, which ends in .index.json, and "
                                  "lies beside its shards"
                                : "");
  }
  constexpr std::size_t telling = 8;  // a few printable bytes may be anything
  if (text.size() >= telling && is_plain_text(text))
    refuse("plain text: " + printable(text.substr(0, std::min<std::size_t>(text.find('\n'), 60))), "");
}

}  // namespace

void refuse_not_weights(std::span<const std::byte> head, std::uint64_t size, Certainty certainty) {
  const std::string_view text = as_text(head);
  if (certainty == certain) {
    if (size == 0)
      throw Error(ErrorKind::unsupported, "the file is empty").with_hint("was the download interrupted?");
    refuse_lfs_pointer(text);
    refuse_markup(text);
  }
  for (const Signature& row : signatures)
    if (row.certainty == certainty && text.size() >= row.offset &&
        text.substr(row.offset).starts_with(row.bytes))
      refuse(row.what, row.hint);
  if (certainty == likely) refuse_text(text);
}

}  // namespace ckpt
