#include "outputs.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "ckpt/core/error.hpp"
#include "ckpt/core/input.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/format.hpp"
#include "ckpt/formats/sharded.hpp"
#include "ckpt/io/file.hpp"
#include "ckpt/io/output.hpp"

namespace ckpt {
namespace {

/// Keeps the names of what is opened beside an input.
class WatchedInput final : public Input {
 public:
  WatchedInput(std::unique_ptr<Input> input, std::vector<std::string>& opened)
      : input_(std::move(input)), opened_(opened) {}
  const std::string& name() const noexcept override { return input_->name(); }
  Bytes bytes() const override { return input_->bytes(); }
  std::vector<std::string> siblings() const override { return input_->siblings(); }
  std::unique_ptr<Input> open_sibling(std::string_view name) const override {
    opened_.emplace_back(name);
    return std::make_unique<WatchedInput>(input_->open_sibling(name), opened_);
  }

 private:
  std::unique_ptr<Input> input_;
  std::vector<std::string>& opened_;
};

bool is_folder(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The folder of a set: `path`, or where that index lies.
std::string set_folder(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return is_folder(path)              ? path
         : slash == std::string::npos ? "."
                                      : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// The file of the set `input` that `output` is, if it is one that reading the set opens.
std::optional<std::string> part_of_set(const std::string& input, const std::string& output) {
  if (!is_folder(input) && !is_index_name(input)) return std::nullopt;
  const std::string folder = set_folder(input);
  const auto is_output = [&](const std::string& name) { return is_same_file(folder + "/" + name, output); };
  if (std::ranges::none_of(open_input(folder)->siblings(), is_output)) return std::nullopt;  // as a rule
  std::vector<std::string> opened;
  try {
    read_checkpoint(WatchedInput(open_input(input), opened));
  } catch (const Error&) {  // the command itself will meet it
  }
  const auto found = std::ranges::find_if(opened, is_output);
  return found == opened.end() ? std::nullopt : std::optional(folder + "/" + *found);
}

bool is_device(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/// Whether both names are, or will be, one file.
bool is_same_place(const std::string& a, const std::string& b) {
  if (is_same_file(a, b)) return true;
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(output_target(path), ignored),
                                             ignored);
  };
  return place(a) == place(b);
}

void require_other_file(const std::string& input, const std::string& output) {
  if (input.empty() || input == "-") return;
  std::string same;
  if (is_same_file(input, output)) same = fmt::format("the input {}", printable(input));
  else if (const std::optional<std::string> part = part_of_set(input, output))
    same = fmt::format("{}, which is part of the input", printable(*part));
  if (!same.empty())
    throw Error(ErrorKind::usage, "the output is the same file as " + same)
        .in_file(output)
        .with_hint("write to another name, then rename it");
}

}  // namespace

void require_other_folder(const std::string& input, const std::string& output) {
  struct stat status{};
  if (input == "-" || ::stat(input.c_str(), &status) != 0) return;
  const std::string folder = set_folder(input);
  if (is_same_file(folder, output))
    throw Error(
        ErrorKind::usage,
        fmt::format("the set would replace files of the input: {} lies in the same folder", printable(input)))
        .in_file(output)
        .with_hint("write the set into another folder");
}

void require_readable_back(const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs)
    if (is_written_in_place(output))
      throw Error(ErrorKind::usage, "--verify reads the output back, which a device or a pipe cannot give")
          .in_file(output)
          .with_hint("leave out --verify, or write to a file");
}

void require_own_stream(const std::vector<std::string>& outputs, bool reports) {
  const auto require_other = [&](int stream, const char* what) {
    struct stat standard{};
    struct stat nowhere{};
    if (::fstat(stream, &standard) != 0 || ::stat("/dev/null", &nowhere) != 0) return;
    if (standard.st_dev == nowhere.st_dev && standard.st_ino == nowhere.st_ino) return;
    for (const std::string& output : outputs) {
      struct stat status{};
      if (!output.empty() && ::stat(output.c_str(), &status) == 0 && status.st_dev == standard.st_dev &&
          status.st_ino == standard.st_ino)
        throw Error(ErrorKind::usage, fmt::format("{}, so that both would be mixed", what))
            .in_file(output)
            .with_hint("write to a file");
    }
  };
  if (reports) require_other(STDOUT_FILENO, "the report goes to standard output");
  require_other(STDERR_FILENO, "messages go to standard error");
}

void require_unread(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (const std::string& output : outputs)
    if (!output.empty() && !is_device(output))
      for (const std::string& input : inputs) require_other_file(input, output);
}

void require_separate(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  require_unread(inputs, outputs);
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->empty()) continue;
    if (*output == "-")
      throw Error(ErrorKind::usage, "an output is named; `-` is standard input only")
          .with_hint("/dev/stdout is standard output");
    if (is_same_file(*output, "/dev/null")) continue;
    const auto same = std::find_if(outputs.begin(), output, [&](const std::string& earlier) {
      return !earlier.empty() && is_same_place(earlier, *output);
    });
    if (same != output)
      throw Error(ErrorKind::usage, fmt::format("would be written twice, as {} too", printable(*same)))
          .in_file(*output)
          .with_hint("give each output a name of its own");
  }
}

}  // namespace ckpt
