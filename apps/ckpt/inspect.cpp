#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>

#include "ckpt/codec/json.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/param_id.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/checksum.hpp"
#include "ckpt/kernels/computed_source.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/report/identity.hpp"
#include "ckpt/stages/filter.hpp"
#include "ckpt/stages/root.hpp"
#include "command.hpp"
#include "inspect_tensor.hpp"
#include "inspect_training.hpp"
#include "outputs.hpp"
#include "pipeline.hpp"

namespace ckpt {
namespace {

struct Inspect {
  std::vector<std::string> files;
  StageOptions stages;
  TalkOptions talk;
  bool json = false;
  bool sha256 = false;
  bool sort = false;
  bool id = false;
  bool names0 = false;
  bool stats = false;
  bool optimizer = false;
  std::string tensor;
  std::string npy;
  WriteOptions writing;
};

class Digester {
 public:
  std::string operator()(const Tensor& tensor) {
    reader_.start(tensor);
    for (auto piece = reader_.next(); !piece.empty(); piece = reader_.next()) sha_.update(piece);
    return hex(sha_.finish());
  }

 private:
  TensorReader reader_;
  Sha256 sha_;
};

struct Totals {
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;
  std::map<DType, std::uint64_t> bytes_by_type;
};

Totals totals(const Checkpoint& checkpoint) {
  Totals sum;
  const auto add = [](std::uint64_t& to, std::uint64_t n) {
    if (__builtin_add_overflow(to, n, &to)) to = UINT64_MAX;
  };
  for (const Tensor& tensor : checkpoint.tensors) {
    add(sum.parameters, tensor.elements());
    add(sum.bytes, tensor.byte_size());
    add(sum.bytes_by_type[tensor.dtype], tensor.byte_size());
  }
  return sum;
}

Value scalar_json(const Scalar& scalar) {
  return std::visit([](const auto& number) { return Value(number); }, scalar);
}

std::string_view role_name(Root::Role role) {
  switch (role) {
    case Root::Role::model:
      return "model";
    case Root::Role::optimizer:
      return "optimizer";
    case Root::Role::other:
      break;
  }
  return "other";
}

Value tensor_json(const Tensor& tensor, const Checkpoint& checkpoint, const std::vector<std::size_t>& same,
                  std::size_t index) {
  Value row = Value::object();
  row.set("name", tensor.name).set("dtype", name(tensor.dtype));
  Value shape = Value::array();
  for (const std::uint64_t size : tensor.shape) shape.push(size);
  row.set("shape", std::move(shape)).set("bytes", tensor.byte_size());
  if (tensor.param_id) row.set("param_id", param_id_text(*tensor.param_id));
  if (!tensor.quantization.empty()) row.set("quantization", tensor.quantization);
  if (!tensor.module_class.empty()) row.set("module_class", tensor.module_class);
  if (same[index] != index) row.set("same_as", checkpoint.tensors[same[index]].name);
  return row;
}

Value document(const std::string& file, const Checkpoint& checkpoint, const Inspect& options) {
  const Totals sum = totals(checkpoint);
  const std::vector<std::size_t> same = first_at_same_place(checkpoint.tensors);
  Value doc = Value::object();
  doc.set("schema", 1).set("file", file).set("format", checkpoint.format);
  if (!checkpoint.container.empty()) doc.set("container", checkpoint.container);
  doc.set("size", checkpoint.size)
      .set("tensor_count", static_cast<std::uint64_t>(checkpoint.tensors.size()))
      .set("parameter_count", sum.parameters)
      .set("data_bytes", sum.bytes);
  if (has_storages(checkpoint)) {
    const StorageUse use = storage_use(checkpoint.tensors);
    doc.set("storage_bytes", use.stored).set("used_storage_bytes", use.used);
  }
  std::optional<Identity> identity;
  if (options.id) {
    identity = identify(checkpoint, options.writing.resources.parse());
    doc.set("id", hex(identity->id)).set("weights_id", hex(identity->weights_id));
  }
  Value tensors = Value::array();
  std::vector<Value> statistics;
  if (options.stats) statistics = statistics_json(checkpoint, options.writing.resources.parse());
  Digester digest;
  Unfolding unfolding;
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    Value row = tensor_json(tensor, checkpoint, same, i);
    if (options.sha256 && unfolding.excess(tensor).empty()) row.set("sha256", digest(tensor));
    if (identity) row.set("digest", hex(identity->tensors[i]));
    if (options.stats) row.set("statistics", std::move(statistics[i]));
    tensors.push(std::move(row));
  }
  doc.set("tensors", std::move(tensors));
  Value metadata = Value::object();
  for (const auto& [key, value] : checkpoint.metadata) metadata.set(key, value);
  Value scalars = Value::object();
  for (const auto& [key, value] : checkpoint.scalars) scalars.set(key, scalar_json(value));
  doc.set("metadata", std::move(metadata))
      .set("scalars", std::move(scalars))
      .set("values", checkpoint.values);
  if (!checkpoint.roots.empty()) {
    Value roots = Value::array();
    for (const Root& root : checkpoint.roots)
      roots.push(Value::object()
                     .set("key", root.key)
                     .set("role", role_name(root.role))
                     .set("tensors", root.tensors)
                     .set("bytes", root.bytes));
    doc.set("roots", std::move(roots));
  }
  if (!checkpoint.refused.empty()) {
    Value refused = Value::array();
    for (const Refused& r : checkpoint.refused)
      refused.push(Value::object().set("name", r.name).set("what", r.what));
    doc.set("refused", std::move(refused));
  }
  if (!checkpoint.globals.empty()) {
    Value globals = Value::array();
    for (const ForeignGlobal& g : checkpoint.globals)
      globals.push(Value::object().set("name", g.name).set("hostile", g.hostile));
    doc.set("globals", std::move(globals));
  }
  if (!checkpoint.hidden.empty()) doc.set("hidden", strings_json(checkpoint.hidden));
  if (!checkpoint.notes.empty()) doc.set("notes", strings_json(checkpoint.notes));
  return doc;
}

/// The beginning of a text, not cut in the middle of a character.
std::string_view beginning(std::string_view text, std::size_t size) {
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

/// One line of a value: objects and arrays by their size, long text cut.
std::string brief(const Value& value) {
  if (const auto* object = value.as<Value::Object>()) {
    const Value* of = object->size() == 1 ? value.find("class") : nullptr;
    if (const auto* name = of == nullptr ? nullptr : of->as<std::string>())
      return "<" + printable(*name) + ">";
    return object->size() == 1 ? "{1 entry}" : fmt::format("{{{} entries}}", grouped(object->size()));
  }
  const std::string text = json::dump(value);
  if (const auto* array = value.as<Value::Array>(); array != nullptr && text.size() > 60)
    return fmt::format("[{}]", count(array->size(), "item"));
  return text.size() <= 80 ? printable(text) : printable(beginning(text, 77)) + "…";
}

void print_section(const Paint& paint, std::string_view title,
                   const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return;
  fmt::print("\n{}\n{}", paint.bold(title),
             format_table(rows, std::vector<bool>(rows.front().size(), false), "  "));
}

/// A name that many others point to: a long one would be shown as often.
std::string shortened(const std::string& name) {
  constexpr std::size_t at_most = 200;
  return name.size() <= at_most ? name : name.substr(0, at_most) + "…";
}

void print_document(const std::string& file, const Checkpoint& checkpoint, const Inspect& options,
                    const Paint& paint) {
  const Totals sum = totals(checkpoint);
  std::string types;
  for (const auto& [dtype, bytes] : sum.bytes_by_type)
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", name(dtype), human_size(bytes));
  fmt::print("{}: {}{}", paint.bold(printable(file)), checkpoint.format,
             checkpoint.container.empty() ? "" : fmt::format(" ({})", checkpoint.container));
  if (checkpoint.size > 0) fmt::print(", {}", human_size(checkpoint.size));
  fmt::print("\n{}, {}, {} of data{}\n", count(checkpoint.tensors.size(), "tensor"),
             count(sum.parameters, "parameter"), human_size(sum.bytes),
             types.empty() ? "" : " (" + types + ")");
  if (has_storages(checkpoint))
    if (const StorageUse use = storage_use(checkpoint.tensors); use.used < use.stored)
      fmt::print("of {} in storages the tensors use {}; a conversion leaves the rest behind\n",
                 human_size(use.stored), human_size(use.used));
  if (options.id) {
    const Identity identity = identify(checkpoint, options.writing.resources.parse());
    fmt::print("id          {}\nweights id  {}\n", hex(identity.id), hex(identity.weights_id));
  }
  if (options.stats) return print_statistics(checkpoint, options.writing.resources.parse(), paint);

  std::vector<std::vector<std::string>> roots;
  for (const Root& root : checkpoint.roots)
    roots.push_back({root.key.empty() ? "." : printable(root.key), std::string(role_name(root.role)),
                     count(root.tensors, "tensor"), human_size(root.bytes)});
  if (roots.size() > 1 || (roots.size() == 1 && !checkpoint.roots.front().key.empty()))
    print_section(paint, "places that hold tensors", roots);

  if (!checkpoint.tensors.empty()) {
    std::vector<std::string> header{"name", "dtype", "shape", "size"};
    const bool has_ids =
        std::ranges::any_of(checkpoint.tensors, [](const Tensor& t) { return t.param_id.has_value(); });
    std::vector<bool> right{false, false, false, true};
    if (has_ids) header.emplace_back("param id"), right.push_back(false);
    if (options.sha256) header.emplace_back("sha256"), right.push_back(false);
    header.emplace_back(""), right.push_back(false);
    Table table(right);
    table.add_row(header);
    const std::vector<std::size_t> same = first_at_same_place(checkpoint.tensors);
    Digester digest;
    Unfolding unfolding;
    for (std::size_t i = 0; i < same.size(); ++i) {
      const Tensor& tensor = checkpoint.tensors[i];
      table.add(printable(tensor.name)).add(name(tensor.dtype)).add(to_string(tensor.shape));
      table.add(human_size(tensor.byte_size()));
      if (has_ids) table.add(tensor.param_id ? param_id_text(*tensor.param_id) : "");
      if (options.sha256)
        table.add(unfolding.excess(tensor).empty() ? digest(tensor) : "(repeats its data too often)");
      table.add(same[i] != i ? "= " + printable(shortened(checkpoint.tensors[same[i]].name))
                             : printable(tensor.quantization));
    }
    fmt::print("\n");
    table.print();
  }

  std::vector<std::vector<std::string>> rows;
  for (const Refused& refused : checkpoint.refused)
    rows.push_back({printable(refused.name), printable(refused.what)});
  print_section(paint, "cannot be converted", rows);
  rows.clear();
  for (const auto& [key, value] : checkpoint.metadata) rows.push_back({printable(key), printable(value)});
  print_section(paint, "metadata", rows);
  rows.clear();
  for (const auto& [key, value] : checkpoint.scalars)
    rows.push_back({printable(key), json::dump(scalar_json(value))});
  print_section(paint, "scalars", rows);
  rows.clear();
  if (const auto* values = checkpoint.values.as<Value::Object>())
    for (const auto& [key, value] : *values) rows.push_back({printable(key), brief(value)});
  print_section(paint, "values", rows);
  rows.clear();
  for (const ForeignGlobal& global : checkpoint.globals)
    rows.push_back({printable(global.name),
                    global.hostile ? paint.red("runs code: do not load this file with PyTorch") : ""});
  print_section(paint, "globals that are not plain data (nothing was run)", rows);
}

using Sources = std::unordered_set<const ByteSource*>;

/// Where the data lie that are looked at, if any are.
Sources read_by(const Inspect& options, std::span<const Tensor> tensors) {
  Sources read;
  if (options.sha256 || options.id || options.stats || !options.tensor.empty())
    for (const Tensor& tensor : tensors) add_origins(tensor, read);
  return read;
}

/// --tensor: the document or the text of one tensor, and its export.
ExitStatus run_tensor(const Inspect& options, const Checkpoint& checkpoint, const Talk& talk,
                      const Paint& paint) {
  const Tensor& tensor = find_tensor(checkpoint, options.tensor);
  try {
    if (!options.npy.empty()) {
      require_separate(options.files, {options.npy});
      require_own_stream({options.npy}, options.json);
      write_npy(checkpoint, tensor, options.npy, options.writing, talk);
      if (!options.json) return ExitStatus::done;
    }
    IntegrityCheck integrity(checkpoint, read_by(options, std::span(&tensor, 1)));
    if (options.json) {
      Value doc = Value::object();
      doc.set("schema", 1).set("file", options.files.front()).set("format", checkpoint.format);
      if (!checkpoint.container.empty()) doc.set("container", checkpoint.container);
      doc.set("tensor", tensor_report(checkpoint, tensor));
      integrity.require();
      print_json(doc);
    } else {
      integrity.require();
      print_tensor_report(checkpoint, tensor, paint);
    }
  } catch (Error& error) {
    throw error.in_file(checkpoint.file);
  }
  return ExitStatus::done;
}

void print_names0(const Checkpoint& checkpoint) {
  for (const Tensor& tensor : checkpoint.tensors) fmt::print("{}{}", tensor.name, '\0');
}

void check_usage(const Inspect& options) {
  const auto need = [](bool is_right, const char* what, const char* hint) {
    if (!is_right) throw Error(ErrorKind::usage, what).with_hint(hint);
  };
  need(options.tensor.empty() || options.files.size() == 1, "--tensor looks into one file", "name one FILE");
  need(options.npy.empty() || !options.tensor.empty(), "--npy writes one tensor", "name it with --tensor");
}

/// Whether more than the catalogue is wanted.
bool reads_data(const Inspect& options) {
  return options.sha256 || options.id || options.stats || options.optimizer || !options.tensor.empty();
}

/// Moments are read where that is quick, or asked for; of standard input there may be no more than the
/// header.
TrainingView::Norms norms_to_show(const Inspect& options, const std::string& file) {
  using Norms = TrainingView::Norms;
  return options.optimizer ? Norms::all : file == "-" ? Norms::none : Norms::small;
}

ExitStatus run(const Inspect& options) {
  check_usage(options);
  const Talk talk(options.talk);
  const Paint paint(options.talk, stdout);
  const StageOptions::Parsed parsed = options.stages.parse();
  Value documents = Value::array();
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    Checkpoint checkpoint = load(options.files[i], !reads_data(options));
    std::optional<TrainingView> training;
    if (options.optimizer || (!parsed.top_level_key && parsed.filters.empty() && !options.names0))
      training.emplace(checkpoint, norms_to_show(options, options.files[i]));
    if (options.optimizer && !options.json) {
      if (training->json().is_null())
        fmt::print("{}: no optimizer and no scheduler\n", printable(options.files[i]));
      training->print(paint);
      continue;
    }
    std::vector<std::string> dropped;
    if (parsed.top_level_key) checkpoint = select_root(std::move(checkpoint), parsed.top_level_key, dropped);
    checkpoint = filter_some(std::move(checkpoint), parsed.filters, dropped);
    if (options.sort)
      std::ranges::stable_sort(checkpoint.tensors,
                               [](const Tensor& a, const Tensor& b) { return natural_less(a.name, b.name); });
    if (!options.json) print_oddities(checkpoint, talk);
    if (options.id && !checkpoint.refused.empty())
      talk.warn(checkpoint.file, fmt::format("the id leaves out {} that cannot be delivered",
                                             count(checkpoint.refused.size(), "tensor")));
    if (!options.tensor.empty()) return run_tensor(options, checkpoint, talk, paint);
    IntegrityCheck integrity(checkpoint, options.names0 ? Sources() : read_by(options, checkpoint.tensors));
    if (options.names0) {
      print_names0(checkpoint);
    } else if (options.json) {
      documents.push(document(options.files[i], checkpoint, options));
      integrity.require();
      if (Value shown = training ? training->json() : Value(); !shown.is_null())
        documents.as<Value::Array>()->back().set("training", std::move(shown));
    } else {
      integrity.require();  // nothing is shown of damaged data
      if (i > 0) fmt::print("\n");
      print_document(options.files[i], checkpoint, options, paint);
      if (training && !options.stats) training->print(paint);
    }
  }
  if (options.json && !options.names0) {
    const auto& all = *documents.as<Value::Array>();
    print_json(all.size() == 1 ? all.front() : documents);
  }
  return ExitStatus::done;
}

}  // namespace

std::function<ExitStatus()> add_inspect(CLI::App& app) {
  const auto options = std::make_shared<Inspect>();
  app.add_option("FILE", options->files, "Checkpoints; - is standard input, read only as far as the header")
      ->required();
  app.add_flag("--json", options->json, "One JSON document; an array for several files");
  app.add_flag("--sha256", options->sha256,
               "With the digest of each tensor's contiguous little-endian bytes");
  app.add_flag("--sort", options->sort, "Sort by name, numbers as numbers, instead of the file's order");
  app.add_flag("--names0", options->names0, "Only the names, each followed by a NUL, for xargs -0")
      ->excludes("--json");
  app.add_flag(
      "--id", options->id,
      "With an id of names, types, shapes and bytes, the same in every format, and one without names");
  app.add_flag("--stats", options->stats,
               "Least, greatest, mean, deviation, zeros, NaN, infinite of every tensor, and bars of sizes");
  app.add_flag("--optimizer", options->optimizer,
               "Only the optimizers and schedulers, with the norms of all moments however large they are");
  app.add_option("--tensor", options->tensor, "Everything of one tensor, its values too")->type_name("NAME");
  app.add_option("--npy", options->npy, "Write the tensor of --tensor as a NumPy file")->type_name("OUT");
  app.add_flag("--force", options->writing.force, "Replace an existing OUT");
  options->writing.resources.add(app);
  options->stages.add_choice(app);
  options->talk.add(app);
  app.footer(
      "Examples:\n"
      "  ckpt inspect model.safetensors\n"
      "  ckpt inspect model.pt --id\n"
      "  ckpt inspect model.pt --tensor fc.weight --npy fc.npy\n"
      "  ckpt inspect model.pt --names0 | xargs -0 -n 1 echo\n"
      "  ckpt inspect train.pt --json --sha256\n"
      "  curl -s -r 0-100000 https://host/model.safetensors | ckpt inspect -\n"
      "  ckpt inspect train.pt --top-level-key state_dict --include '^encoder'");
  return [options] { return run(*options); };
}

}  // namespace ckpt
