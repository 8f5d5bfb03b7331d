#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <system_error>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/edit_distance.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "command.hpp"
#include "sarif.hpp"
#include "terminal.hpp"

namespace ckpt {
namespace {

constexpr std::array commands{
    Command{"inspect", "what is in a checkpoint", add_inspect},
    Command{"convert", "another format, other names, layout, data type", add_convert, true},
    Command{"remap", "try key rules, or write the renamed checkpoint", add_remap, true},
    Command{"diff", "same names, shapes, types, values?", add_diff},
    Command{"check", "is the file sound; does it fit a target", add_check},
    Command{"lock", "a small reviewable text of what a checkpoint must have", add_lock},
};

/// CLI11 says of a mistyped command only that one is required.
[[noreturn]] void fail_unknown_command(std::string_view word) {
  const Command& nearest =
      *std::ranges::min_element(commands, {}, [&](const Command& c) { return edit_distance(word, c.name); });
  Error error(ErrorKind::usage, fmt::format("`{}` is not a command", word));
  if (2 * edit_distance(word, nearest.name) <= word.size())
    error.with_hint(fmt::format("did you mean: ckpt {}", nearest.name));
  else error.with_hint("ckpt --help lists the commands");
  throw error;
}

/// CLI11 takes an option with an empty argument, as an unset variable leaves it, for one that is not given.
void require_no_empty_argument(std::span<const char* const> words) {
  const auto require = [](bool is_right, const std::string& what) {
    if (!is_right)
      throw Error(ErrorKind::usage, what).with_hint("a variable that it comes from may be unset");
  };
  std::string_view option;  // the word before, where it is one without a value
  bool are_over = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    require(!word.empty(), option.empty() ? fmt::format("argument {} is empty", i + 1)
                                          : fmt::format("the argument of {} is empty", printable(option)));
    are_over = are_over || word == "--";
    const bool is_option = !are_over && word.starts_with("--");
    const std::size_t equals = word.find('=');
    require(!is_option || equals != word.size() - 1,
            fmt::format("the argument of {} is empty", printable(word.substr(0, equals))));
    option = is_option && equals == std::string_view::npos ? word : std::string_view();
  }
}

/// The limits on what a file may ask for, one paragraph each.
std::string limits_text() {
  std::string text =
      "What a file may ask for. What goes beyond a limit is refused or left out, and a message says so.\n";
  for (const limits::Limit& limit : limits::all)
    text += fmt::format("\n{}: {} {}\n  {}\n", limit.name, grouped(limit.value), limit.unit, limit.reason);
  text.pop_back();  // whoever prints it adds one
  return text;
}

/// Whoever asked for a document gets one with every answer: a refusal is one, trouble is not. A log of
/// findings tells of trouble too.
struct Documents {
  bool json = false;
  bool sarif = false;

  Documents(int argc, char** argv) {
    for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
      if (word == "--") break;
      json = json || word == "--json";
      sarif = sarif || word == "--sarif";
    }
  }

  void print(const Error& error, ExitStatus status) const {
    if (json && status == ExitStatus::no) {
      Value row = Value::object();
      row.set("kind", "refused").set("text", error.message());
      if (!error.file().empty()) row.set("file", error.file());
      if (!error.hint().empty()) row.set("hint", error.hint());
      print_json(Value::object().set("schema", 1).set("error", std::move(row)));
    } else if (sarif && !error.file().empty()) {
      print_json(sarif_failure(error.file(), error.message()));
    }
  }
};

ExitStatus status_of(const Error& error, std::string_view command) {
  const auto* const row = std::ranges::find(commands, command, &Command::name);
  const bool is_answer =
      error.kind() == ErrorKind::refused && row != commands.end() && row->answers_by_refusal;
  return is_answer ? ExitStatus::no : ExitStatus::trouble;
}

/// A full disk is noticed only when what was printed is flushed.
ExitStatus flushed(ExitStatus status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fputs("ckpt: standard output: cannot be written\n", stderr);
  return ExitStatus::trouble;
}

ExitStatus run(int argc, char** argv) {
  require_no_empty_argument(std::span(argv, static_cast<std::size_t>(argc)).subspan(argc > 0 ? 1 : 0));
  CLI::App app{"Inspect, convert, remap and compare model checkpoints: PyTorch, safetensors, burnpack.",
               "ckpt"};
  app.set_version_flag("--version", "ckpt " CKPT_VERSION, "Show the version");
  app.add_flag_callback(
      "--help-limits", [] { throw CLI::CallForVersion(limits_text(), CLI::ExitCodes::Success); },
      "Show the limits on what a file may ask for, with their reasons");
  app.require_subcommand(1);
  app.footer(
      "`ckpt COMMAND --help` has the options of a command, with examples.\n"
      "Exit status: 0 done, 1 the answer is no (a difference, a misfit, a refused conversion), 2 trouble.");
  std::vector<std::function<ExitStatus()>> actions;
  std::vector<CLI::App*> parsers;
  for (const Command& command : commands) {
    CLI::App* parser = app.add_subcommand(std::string(command.name), std::string(command.summary));
    actions.push_back(command.add(*parser));
    parsers.push_back(parser);
  }
  if (argc > 1 && argv[1][0] != '-' &&
      std::ranges::find(commands, std::string_view(argv[1]), &Command::name) == commands.end())
    fail_unknown_command(argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_answer = error.get_exit_code() == 0;  // --help, --version
    if (is_answer) {
      app.exit(error);
      return flushed(ExitStatus::done);
    }
    const auto used = std::ranges::find_if(parsers, [](const CLI::App* parser) { return parser->parsed(); });
    const std::string command = used == parsers.end() ? "" : (*used)->get_name() + " ";
    throw Error(ErrorKind::usage, error.what()).with_hint(fmt::format("ckpt {}--help", command));
  }
  for (std::size_t i = 0; i < parsers.size(); ++i)
    if (parsers[i]->parsed()) return flushed(actions[i]());
  return ExitStatus::trouble;
}

/// `run`, with errors told and turned into the status.
ExitStatus answer(int argc, char** argv) {
  const Documents documents(argc, argv);
  const auto fail_with = [&](const Error& error) {
    const ExitStatus status = status_of(error, argc > 1 ? argv[1] : "");
    documents.print(error, status);
    std::fflush(stdout);
    print_error(error);
    return status;
  };
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    return fail_with(error);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {
    const bool is_of_thread = error.code() == std::errc::resource_unavailable_try_again;
    const std::string_view what = is_of_thread          ? "no thread can be started: "
                                  : std::ferror(stdout) ? "standard output: "  // {fmt} says so
                                                        : "";
    return fail_with(Error(ErrorKind::io, fmt::format("{}{}", what, error.what())));
  } catch (const std::exception& error) {
    return fail_with(Error(ErrorKind::io, error.what()));
  }
}

/// `text` is printed without an allocation.
[[noreturn]] void end_in_trouble(const char* text) {
  std::fputs(text, stderr);
  std::_Exit(static_cast<int>(ExitStatus::trouble));
}

constexpr const char* out_of_memory = "ckpt: out of memory\n";

/// Memory may also run out where the libraries promise that nothing is thrown.
[[noreturn]] void on_terminate() {
  const std::exception_ptr error = std::current_exception();
  // g++ does not always keep what was thrown there.
  if (!error && std::uncaught_exceptions() > 0) end_in_trouble("ckpt: most likely out of memory\n");
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_in_trouble(out_of_memory);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

/// A file that is opened while a standard stream is closed would become that stream: what is printed would go
/// into it, and /dev/stdout would name it. What takes the stream's place can be neither read nor written.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0 && ::open("/", O_PATH) != stream)
      std::_Exit(static_cast<int>(ExitStatus::trouble));
}

/// A set may have thousands of shards, each of which is open while it is read or written.
void raise_descriptor_limit() {
  struct rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace
}  // namespace ckpt

int main(int argc, char** argv) {
  std::set_terminate(ckpt::on_terminate);
  ckpt::occupy_closed_streams();
  ckpt::raise_descriptor_limit();
  // A heap for each thread would take 64 MiB of address space each, which `ulimit -v` counts.
  static_cast<void>(::mallopt(M_ARENA_MAX, 1));
  // Large blocks go back to the system when they are freed; by itself the C library learns to keep them.
  static_cast<void>(::mallopt(M_MMAP_THRESHOLD, 1 << 20));
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no further is an error of `write`, which says so
  try {
    return static_cast<int>(ckpt::answer(argc, argv));
  } catch (const std::bad_alloc&) {
    ckpt::end_in_trouble(ckpt::out_of_memory);
  }
}
