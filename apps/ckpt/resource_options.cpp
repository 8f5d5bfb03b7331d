#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "ckpt/core/checked.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "options.hpp"

namespace ckpt {

std::uint64_t parse_size(const std::string& text, std::string_view option) {
  struct Unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr std::array units{
      Unit{"", 1},
      Unit{"b", 1},
      Unit{"kb", 1000},
      Unit{"mb", 1000'000},
      Unit{"gb", 1000'000'000},
      Unit{"tb", 1000'000'000'000},
      Unit{"kib", 1ULL << 10},
      Unit{"mib", 1ULL << 20},
      Unit{"gib", 1ULL << 30},
      Unit{"tib", 1ULL << 40},
  };
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string suffix(end, text.data() + text.size());
  std::ranges::transform(suffix, suffix.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto unit = std::ranges::find(units, suffix, &Unit::name);
  const std::optional<std::uint64_t> bytes =
      unit == units.end() ? std::nullopt : checked_multiply(number, unit->bytes);
  if (error != std::errc() || !bytes || *bytes == 0)
    throw Error(ErrorKind::usage, fmt::format("{}: `{}` is not a size", option, printable(text)))
        .with_hint("write 5GB, 500MiB or a number of bytes");
  return *bytes;
}

namespace {

std::uint64_t parse_memory(const std::string& text) {
  constexpr std::uint64_t least = 1U << 20;
  const std::uint64_t memory = parse_size(text, "--memory");
  if (memory < least)
    throw Error(ErrorKind::usage, fmt::format("--memory: {} is too little", printable(text)))
        .with_hint("1MiB is the least");
  return memory;
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[least, most](const std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most)
              return std::string();
            return fmt::format("`{}` is no whole number from {}{}", printable(text), least,
                               most == UINT64_MAX ? "" : fmt::format(" to {}", most));
          },
          ""};
}

void ResourceOptions::add(CLI::App& app) {
  app.add_option("--threads", threads_, "Threads that read and compute (as many as there are processors)")
      ->check(whole_number(1, 1024));
  app.add_option("--memory", memory_, "What all buffers may take together (64MiB; at least 1MiB)")
      ->type_name("SIZE")
      ->each([](const std::string& size) { static_cast<void>(parse_memory(size)); });
}

Resources ResourceOptions::parse() const {
  Resources resources{.threads = threads_};
  if (!memory_.empty()) resources.memory = parse_memory(memory_);
  return resources;
}

}  // namespace ckpt
