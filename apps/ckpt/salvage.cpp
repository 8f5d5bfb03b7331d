#include "salvage.hpp"

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/salvage.hpp"
#include "ckpt/io/file.hpp"
#include "outputs.hpp"
#include "pipeline.hpp"
#include "writing.hpp"

namespace ckpt {
namespace {

/// Tensors are written as they stand: a format that wants another layout would hold wrong ones.
void require_same_layout(const Checkpoint& checkpoint, const Format& format, const std::string& output) {
  if (default_direction(convention_of(checkpoint), format.convention) == Direction::none) return;
  throw Error(ErrorKind::usage,
              fmt::format("tensors are salvaged as they stand, but {} and {} lay them out differently",
                          checkpoint.format, format.name))
      .in_file(output)
      .with_hint("salvage to .safetensors or to the same format, then convert that");
}

Value document(const SalvageOptions& options, const Prepared& prepared, const std::vector<Lost>& all_lost,
               std::uint64_t size) {
  Value lost = Value::array();
  for (const Lost& tensor : all_lost)
    lost.push(Value::object().set("name", tensor.name).set("why", tensor.why));
  Value doc = Value::object();
  doc.set("schema", 1).set("file", options.input).set("output", options.output).set("size", size);
  doc.set("whole", prepared.read);
  doc.set("lost", std::move(lost));
  return doc;
}

}  // namespace

ExitStatus run_salvage(const SalvageOptions& options) {
  const Talk talk(options.talk);
  const Format& format = output_format("", options.output);
  if (options.input == "-")
    throw Error(ErrorKind::usage,
                "--salvage wants a file; where standard input ends says nothing of where it should");
  require_separate({options.input}, {options.output});
  require_own_stream({options.output}, true);

  Salvaged salvaged = salvage(*open_input(options.input));
  const std::uint64_t whole = salvaged.checkpoint.tensors.size();
  const std::uint64_t all = whole + salvaged.lost.size();
  if (whole == 0 && all > 0)
    throw Error(ErrorKind::corrupt,
                fmt::format("none of {} is whole; {}: {}", count(all, "tensor"),
                            printable(salvaged.lost.front().name), printable(salvaged.lost.front().why)))
        .in_file(options.input);
  require_same_layout(salvaged.checkpoint, format, options.output);

  Prepared prepared;
  prepared.read = whole;
  prepared.checkpoint = std::move(salvaged.checkpoint);
  warn_of_losses(prepared, format);
  const std::uint64_t size = write_checkpoint(prepared, format, options.output,
                                              {.force = options.force, .resources = options.resources}, talk)
                                 .size;

  print_warnings(prepared, talk);
  if (options.json) {
    print_json(document(options, prepared, salvaged.lost, size));
  } else {
    std::vector<std::string> names;
    for (const Lost& tensor : salvaged.lost) {
      fmt::print("lost {}: {}\n", printable(tensor.name), printable(tensor.why));
      names.push_back(tensor.name);
    }
    fmt::print("{}: {} of {} {} whole", printable(options.output), grouped(whole), count(all, "tensor"),
               all == 1 ? "is" : "are");
    if (!names.empty()) fmt::print("; lost: {}", some_names(names, talk));
    fmt::print("\n");
  }
  return salvaged.lost.empty() ? ExitStatus::done : ExitStatus::no;
}

}  // namespace ckpt
