#include "outputs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/io/file.hpp"

namespace ckpt {
namespace {

/// Every file that reading `path` may touch: of a set, those of its folder.
std::vector<std::string> files_of(const std::string& path) {
  std::vector<std::string> files{path};
  const bool is_index = path.ends_with(".json");
  if (path == "-") return {};
  struct stat status{};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!is_index && !is_folder) return files;
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = is_folder ? path : slash == std::string::npos ? "." : path.substr(0, slash + 1);
  for (const std::string& name : open_input(folder)->siblings()) files.push_back(folder + "/" + name);
  return files;
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
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  return place(a) == place(b);
}

void require_other_file(const std::string& input, const std::string& output) {
  if (input.empty() || input == "-") return;
  for (const std::string& file : files_of(input))
    if (is_same_file(file, output))
      throw Error(ErrorKind::usage, fmt::format("the output is the same file as {}{}",
                                                file == input ? "the input " : "", printable(file)) +
                                        (file == input ? "" : ", which is part of the input"))
          .in_file(output)
          .with_hint("write to another name, then rename it");
}

}  // namespace

void require_other_folder(const std::string& input, const std::string& output) {
  struct stat status{};
  if (input == "-" || ::stat(input.c_str(), &status) != 0) return;
  const std::size_t slash = input.find_last_of('/');
  const std::string folder = S_ISDIR(status.st_mode)      ? input
                             : slash == std::string::npos ? "."
                                                          : input.substr(0, slash + 1);
  if (is_same_file(folder, output))
    throw Error(
        ErrorKind::usage,
        fmt::format("the set would replace files of the input: {} lies in the same folder", printable(input)))
        .in_file(output)
        .with_hint("write the set into another folder");
}

void require_separate(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (output->empty()) continue;
    if (*output == "-")
      throw Error(ErrorKind::usage, "an output is named; `-` is standard input only")
          .with_hint("/dev/stdout with --to FORMAT writes to standard output");
    if (is_device(*output)) continue;
    for (const std::string& input : inputs) require_other_file(input, *output);
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
