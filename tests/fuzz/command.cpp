// Whole commands of the program on files in a folder: the first byte chooses the line, the rest are the files
// A and B. Whatever the files hold, the program must end by itself, show nothing that a terminal obeys, and
// be able to read what it wrote.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "ckpt/core/text.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

int ckpt_main(int argc, char** argv);  // main.cpp's, under another name

namespace {

using namespace ckpt;

// Words between blanks; A, B and OUT.* are files, SET a folder of an index A and a shard B.
constexpr std::array<std::string_view, 36> lines{
    "inspect A",
    "inspect A --json",
    "inspect A --id --sha256 --sort",
    "inspect A --stats",
    "inspect A --optimizer",
    "inspect A --tensor fc.weight",
    "inspect A --tensor fc.weight --json",
    "inspect A --tensor fc.weight --npy OUT.npy --force",
    "inspect SET --json",
    "check A",
    "check A --json --strict",
    "check A --sarif",
    "check A --salvage OUT.safetensors --force",
    "check A --salvage OUT.safetensors --force --json",
    "check A --model B --json",
    "check A --like B",
    "check A --like B --sarif --strip-wrappers",
    "check A --like B --json --remap B",
    "check SET",
    "lock A",
    "lock A --json",
    "convert A OUT.safetensors --force --explain",
    "convert A OUT.bpk --force --explain --json",
    "convert A OUT.pt --force --explain",
    "convert A OUT.bpk --force --half --allow-overflow --write-modules OUT.modules",
    "convert A OUT.bpk --force --like B --allow-missing --allow-unused",
    "convert A OUT.safetensors --force --modules B --adapter pytorch-to-burn --dequantize --dtype bf16",
    "convert A OUT.bpk --force --optimizer-out OUT.optim.bpk --scheduler-out OUT.sched.bpk",
    "convert B OUT.pt --force --optimizer A",
    "remap A --remap B",
    "remap A --remap B --json",
    "remap A --infer B",
    "remap A --infer B --json --renumber",
    "remap A --map B --map-out OUT.map",
    "diff A B",
    "diff A B --json --atol 1e-3",
};

/// The folder of this process, gone with it.
class Folder {
 public:
  Folder() {
    std::string pattern =
        std::filesystem::exists("/dev/shm") ? "/dev/shm/ckpt-fuzz-XXXXXX" : "/tmp/ckpt-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
    std::filesystem::create_directory(path_ / "set");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(std::string_view name) const { return (path_ / name).string(); }
  void write(std::string_view name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  void remove_outputs() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      if (entry.path().filename().string().starts_with("OUT")) std::filesystem::remove_all(entry);
  }

 private:
  std::filesystem::path path_;
};

/// A stream's text while this lives. libFuzzer and the sanitizers keep the real one.
class Captured {
 public:
  explicit Captured(std::FILE*& stream) : stream_(stream), real_(stream) {
    stream = ::open_memstream(&text_, &size_);
  }
  ~Captured() {
    std::fclose(std::exchange(stream_, real_));
    std::free(text_);
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string_view text() const {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  std::FILE*& stream_;
  std::FILE* real_;
  char* text_ = nullptr;
  std::size_t size_ = 0;
};

[[noreturn]] void fault(std::string_view what, std::string_view text) {
  std::fprintf(stderr, "%.*s\n%.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(std::min<std::size_t>(text.size(), 4000)), text.data());
  __builtin_trap();
}

/// What was shown is lines of what `printable` lets through.
bool is_shown_safely(std::string_view text) {
  std::string rest(text);
  std::erase(rest, '\n');
  return printable(rest) == rest;
}

/// Exceptions that are no answer, as `main` shows them: on a line that names no file.
bool is_surprise(std::string_view error) {
  constexpr std::array<std::string_view, 9> marks{"std::",     "vector::",  "basic_string",
                                                  "map::at",   "bad ",      "bad_",
                                                  "array::at", "_Map_base", "filesystem error"};
  const std::string shown = "\n" + std::string(error);
  return std::ranges::any_of(marks, [&](std::string_view mark) {
    return shown.find("\nckpt: " + std::string(mark)) != std::string::npos;
  });
}

int run(const Folder& folder, std::string_view line) {
  std::vector<std::string> words{"ckpt"};
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    std::string word(line.substr(at, end - at));
    if (word == "A" || word == "B" || word.starts_with("OUT.")) word = folder.path(word);
    if (word == "SET") word = folder.path("set");
    words.push_back(std::move(word));
    at = end + 1;
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto fail_on = [&](bool is_wrong, std::string_view what, std::string_view text) {
    if (is_wrong) fault(what, std::string(line) + "\n" + std::string(text));
  };
  int status = 0;
  std::string out;
  std::string error;
  {
    const Captured captured_out(stdout);
    const Captured captured_error(stderr);
    status = ckpt_main(static_cast<int>(words.size()), arguments.data());
    out = captured_out.text();
    error = captured_error.text();
  }
  fail_on(!is_shown_safely(out), "standard output is not fit for a terminal", out);
  fail_on(!is_shown_safely(error), "standard error is not fit for a terminal", error);
  fail_on(is_surprise(error), "an exception that is no answer", error);
  fail_on(status == 2 && error.empty(), "trouble without a word", error);
  fail_on(status == 2 && line.starts_with("inspect OUT"), "what was written cannot be read", error);
  return status;
}

}  // namespace

MUTATES(mutate_command)
FUZZ(data, size) {
  if (size == 0) return 0;
  static const Folder folder;
  const std::string_view line = lines.at(data[0] % lines.size());
  const std::vector<std::string_view> parts = fuzz::parts_of(fuzz::text_of(data + 1, size - 1));
  const std::string_view second = parts.size() > 1 ? parts[1] : parts[0];
  folder.write("A", parts[0]);
  folder.write("B", second);
  if (line.find("SET") != std::string_view::npos) {
    folder.write("set/model.safetensors.index.json", parts[0]);
    folder.write("set/a.safetensors", second);
  }
  const int status = run(folder, line);
  if (status == 0 && line.starts_with("convert")) {
    for (const std::string_view out : {"OUT.safetensors", "OUT.bpk", "OUT.pt"})
      if (std::filesystem::exists(folder.path(out))) run(folder, fmt::format("inspect {} --json", out));
  }
  folder.remove_outputs();
  return 0;
}
