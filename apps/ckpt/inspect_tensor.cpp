#include "inspect_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "ckpt/codec/npy.hpp"
#include "ckpt/core/param_id.hpp"
#include "ckpt/core/places.hpp"
#include "ckpt/core/plan.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/kernels/decode.hpp"
#include "ckpt/kernels/parallel.hpp"
#include "ckpt/kernels/statistics.hpp"
#include "ckpt/kernels/tensor_reader.hpp"
#include "ckpt/report/identity.hpp"
#include "ckpt/report/names.hpp"
#include "ckpt/report/number_text.hpp"
#include "pipeline.hpp"
#include "progress.hpp"

namespace ckpt {
namespace {

constexpr std::size_t bins = 10;
constexpr std::size_t shown_values = 6;  // at either end

/// Before elements are looked at: that there is an end to those of all these tensors.
void require_reasonable(const Checkpoint& checkpoint, std::span<const Tensor> tensors) {
  Unfolding unfolding;
  for (const Tensor& tensor : tensors)
    if (const std::string excess = unfolding.excess(tensor); !excess.empty())
      throw Error(ErrorKind::unsupported,
                  fmt::format("tensor {} {}: it is not gone through", printable(tensor.name), excess))
          .in_file(checkpoint.file)
          .with_hint("name, size and place are told without its elements: ckpt inspect FILE");
}

std::optional<Statistics> measure(const Tensor& tensor, TensorReader& reader) {
  if (!can_measure(tensor.dtype)) return std::nullopt;
  StatisticsGatherer gatherer(tensor.dtype);
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) gatherer.add(piece);
  return gatherer.finish();
}

/// Of every tensor, several at a time; of those that share a place, of one.
std::vector<std::optional<Statistics>> measure_all(const Checkpoint& checkpoint, const Resources& resources) {
  const std::vector<Tensor>& tensors = checkpoint.tensors;
  require_reasonable(checkpoint, tensors);
  const std::vector<std::size_t> first = first_at_same_place(tensors);
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    sizes.push_back(first[i] == i ? tensors[i].byte_size() : 0);
  std::vector<std::optional<Statistics>> all(tensors.size());
  const std::uint64_t memory = std::min<std::uint64_t>(resources.memory / resources.thread_count(), 2U << 20);
  const auto make_task = [&] {
    const auto reader = std::make_shared<TensorReader>(memory);
    return [&, reader](std::size_t i) {
      if (first[i] == i) all[i] = measure(tensors[i], *reader);
    };
  };
  in_parallel(largest_first(sizes), make_task, resources.threads);
  for (std::size_t i = 0; i < tensors.size(); ++i) all[i] = all[first[i]];
  return all;
}

/// A bound of a tensor in the spelling of its type.
std::string bound_text(DType dtype, long double value) {
  if (is_floating(dtype)) {
    // Every number of a small type is a float64, whose digits may be many more than the type's own.
    if (dtype == DType::f32 || dtype == DType::flex32) {
      const auto narrow = static_cast<float>(value);
      return number_text(DType::f32, std::as_bytes(std::span(&narrow, 1)));
    }
    return number_text(static_cast<double>(value));
  }
  return value < 0 ? fmt::format("{}", static_cast<std::int64_t>(value))
                   : fmt::format("{}", static_cast<std::uint64_t>(value));
}

Value bound_json(DType dtype, long double value) {
  if (is_floating(dtype)) return static_cast<double>(value);
  if (value < 0) return static_cast<std::int64_t>(value);
  return static_cast<std::uint64_t>(value);
}

void set_statistics(Value& row, DType dtype, const Statistics& s) {
  const bool has_any = s.finite() > 0;
  row.set("min", has_any ? bound_json(dtype, s.min) : Value())
      .set("max", has_any ? bound_json(dtype, s.max) : Value())
      .set("mean", has_any ? Value(s.mean) : Value())
      .set("std", has_any ? Value(s.std) : Value())
      .set("zeros", s.zeros)
      .set("nans", s.nans)
      .set("infinities", s.infinities);
}

Histogram histogram_of(const Tensor& tensor, const Statistics& statistics, TensorReader& reader) {
  Histogram histogram{statistics.min, statistics.max, std::vector<std::uint64_t>(bins)};
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next())
    add_to_histogram(tensor.dtype, piece, histogram);
  return histogram;
}

/// The first and the last values, as text.
struct Ends {
  std::vector<std::string> first, last;
};

Ends ends_of(const Tensor& tensor, TensorReader& reader) {
  Ends ends;
  if (!can_decode(tensor.dtype)) return ends;
  const std::size_t size = element_size(tensor.dtype);
  std::vector<std::byte> tail;
  reader.start(tensor);
  for (auto piece = reader.next(); !piece.empty(); piece = reader.next()) {
    for (std::size_t at = 0; at < piece.size() && ends.first.size() < shown_values; at += size)
      ends.first.push_back(number_text(tensor.dtype, piece.subspan(at, size)));
    const std::size_t wanted = std::min(piece.size(), shown_values * size);
    tail.insert(tail.end(), piece.end() - static_cast<std::ptrdiff_t>(wanted), piece.end());
    if (tail.size() > shown_values * size)
      tail.erase(tail.begin(), tail.end() - static_cast<std::ptrdiff_t>(shown_values * size));
  }
  if (tensor.elements() <= shown_values) return ends;
  for (std::size_t at = 0; at < tail.size(); at += size)
    ends.last.push_back(number_text(tensor.dtype, std::span(tail).subspan(at, size)));
  return ends;
}

/// Names of the other tensors that lie at the same place.
std::vector<std::string> aliases_of(const Checkpoint& checkpoint, const Tensor& tensor) {
  std::vector<std::string> names;
  for (const Tensor& other : checkpoint.tensors)
    if (&other != &tensor && same_place(other, tensor)) names.push_back(other.name);
  return names;
}

std::string container_of(const Checkpoint& checkpoint) {
  return checkpoint.container.empty() ? checkpoint.format
                                      : fmt::format("{} ({})", checkpoint.format, checkpoint.container);
}

bool has_storage(const Checkpoint& checkpoint, const Tensor& tensor) {
  return has_storages(checkpoint) && tensor.view.source && tensor.pieces.empty();
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t width) {
  const long long length =
      whole == 0
          ? 0
          : std::llround(static_cast<double>(part) / static_cast<double>(whole) * static_cast<double>(width));
  std::string out;
  for (long long i = 0; i < std::max(length, part > 0 ? 1LL : 0LL); ++i) out += "█";
  return out;
}

/// Bars of sizes, largest first.
void print_sizes(const std::map<std::string, std::uint64_t>& sizes, const Paint& paint) {
  std::vector<std::pair<std::string, std::uint64_t>> order(sizes.begin(), sizes.end());
  std::ranges::stable_sort(order, std::greater(), &std::pair<std::string, std::uint64_t>::second);
  const std::uint64_t most = order.empty() ? 0 : order.front().second;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [what, bytes] : order)
    rows.push_back({printable(what), human_size(bytes), paint.dim(bar(bytes, most, 40))});
  if (!rows.empty()) fmt::print("{}", format_table(rows, {false, true, false}));
}

std::vector<std::string> statistics_row(DType dtype, const std::optional<Statistics>& s) {
  if (!s) return {"", "", "", "", "", "", ""};
  std::vector<std::string> row;
  if (s->finite() == 0) row = {"", "", "", ""};
  else
    row = {bound_text(dtype, s->min), bound_text(dtype, s->max), fmt::format("{:.6g}", s->mean),
           fmt::format("{:.6g}", s->std)};
  for (const std::uint64_t n : {s->zeros, s->nans, s->infinities}) row.push_back(n == 0 ? "" : grouped(n));
  return row;
}

}  // namespace

std::optional<std::uint64_t> file_offset(const Tensor& tensor) {
  if (!tensor.pieces.empty() || !tensor.view.source) return std::nullopt;
  const std::optional<FileRange> range = tensor.view.source->file_range();
  return range ? std::optional(range->offset + tensor.view.offset) : std::nullopt;
}

bool has_storages(const Checkpoint& checkpoint) { return checkpoint.format == "pytorch"; }

const Tensor& find_tensor(const Checkpoint& checkpoint, const std::string& name) {
  std::vector<std::string> names;
  for (const Tensor& tensor : checkpoint.tensors) {
    if (tensor.name == name) return tensor;
    names.push_back(tensor.name);
  }
  std::string near;
  for (const std::size_t i : nearest_names(name, names))
    near += (near.empty() ? "" : ", ") + printable(names[i]);
  throw Error(ErrorKind::usage, fmt::format("has no tensor {}", printable(name)))
      .in_file(checkpoint.file)
      .with_hint(near.empty() ? "ckpt inspect FILE lists the names" : "did you mean: " + near);
}

Value numbers_json(const std::vector<std::uint64_t>& numbers) {
  Value all = Value::array();
  for (const std::uint64_t n : numbers) all.push(n);
  return all;
}

Value place_json(const Tensor& tensor) {
  Value row = Value::object();
  row.set("name", tensor.name)
      .set("dtype", name(tensor.dtype))
      .set("shape", numbers_json(tensor.shape))
      .set("bytes", tensor.byte_size());
  if (const auto offset = file_offset(tensor)) row.set("offset", *offset);
  row.set("strides",
          numbers_json(tensor.view.strides ? *tensor.view.strides : contiguous_strides(tensor.shape)));
  return row;
}

Value tensor_report(const Checkpoint& checkpoint, const Tensor& tensor) {
  require_reasonable(checkpoint, {&tensor, 1});
  TensorReader reader;
  Value row = place_json(tensor);
  if (has_storage(checkpoint, tensor)) row.set("storage_bytes", tensor.view.source->size());
  row.set("aliases", strings_json(aliases_of(checkpoint, tensor)));
  if (tensor.param_id) row.set("param_id", param_id_text(*tensor.param_id));
  if (!tensor.quantization.empty()) row.set("quantization", tensor.quantization);
  if (!tensor.module_class.empty()) row.set("module_class", tensor.module_class);
  if (const std::optional<Statistics> statistics = measure(tensor, reader)) {
    set_statistics(row, tensor.dtype, *statistics);
    if (statistics->finite() > 0)
      row.set("histogram", numbers_json(histogram_of(tensor, *statistics, reader).counts));
  }
  const Ends ends = ends_of(tensor, reader);
  row.set("first", strings_json(ends.first)).set("last", strings_json(ends.last));
  return row;
}

void print_tensor_report(const Checkpoint& checkpoint, const Tensor& tensor, const Paint& paint) {
  require_reasonable(checkpoint, {&tensor, 1});
  TensorReader reader;
  std::vector<std::vector<std::string>> rows{
      {"file", printable(checkpoint.file)},
      {"container", container_of(checkpoint)},
      {"dtype", std::string(name(tensor.dtype))},
      {"shape", to_string(tensor.shape)},
      {"size", fmt::format("{} ({})", human_size(tensor.byte_size()), count(tensor.elements(), "element"))}};
  const auto add = [&](std::string what, std::string text) {
    rows.push_back({std::move(what), std::move(text)});
  };
  if (const auto offset = file_offset(tensor)) add("offset", fmt::format("{}", *offset));
  add("strides", tensor.view.strides ? to_string(*tensor.view.strides)
                                     : to_string(contiguous_strides(tensor.shape)) + " (contiguous)");
  if (has_storage(checkpoint, tensor)) add("storage", human_size(tensor.view.source->size()));
  for (const std::string& alias : aliases_of(checkpoint, tensor)) add("same as", printable(alias));
  if (tensor.param_id) add("param id", param_id_text(*tensor.param_id));
  if (!tensor.quantization.empty()) add("quantization", printable(tensor.quantization));
  if (!tensor.module_class.empty()) add("module", printable(tensor.module_class));

  const std::optional<Statistics> s = measure(tensor, reader);
  if (s && s->finite() > 0) {
    add("min", bound_text(tensor.dtype, s->min));
    add("max", bound_text(tensor.dtype, s->max));
    add("mean", number_text(s->mean));
    add("std", number_text(s->std));
  }
  if (s) {
    add("zeros", grouped(s->zeros));
    add("NaN", s->nans == 0 ? "0" : paint.red(grouped(s->nans)));
    add("infinite", s->infinities == 0 ? "0" : paint.red(grouped(s->infinities)));
  }
  const Ends ends = ends_of(tensor, reader);
  const auto joined = [](const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& text : texts) out += (out.empty() ? "" : " ") + text;
    return out;
  };
  if (!ends.first.empty()) add(ends.last.empty() ? "values" : "first", joined(ends.first));
  if (!ends.last.empty()) add("last", joined(ends.last));
  fmt::print("{}\n{}", paint.bold(printable(tensor.name)), format_table(rows, {false, false}, "  "));

  if (!s || s->finite() < 2 || s->min == s->max) return;
  const Histogram histogram = histogram_of(tensor, *s, reader);
  const std::uint64_t most = *std::ranges::max_element(histogram.counts);
  std::vector<std::vector<std::string>> bars;
  for (std::size_t i = 0; i < bins; ++i) {
    const long double step = (s->max - s->min) / static_cast<long double>(bins);
    bars.push_back({fmt::format("{:.4g}", static_cast<double>(s->min + step * static_cast<long double>(i))),
                    grouped(histogram.counts[i]), paint.dim(bar(histogram.counts[i], most, 40))});
  }
  fmt::print("\nfrom, how many\n{}", format_table(bars, {true, true, false}, "  "));
}

std::vector<Value> statistics_json(const Checkpoint& checkpoint, const Resources& resources) {
  const std::vector<std::optional<Statistics>> statistics = measure_all(checkpoint, resources);
  std::vector<Value> rows(statistics.size(), Value::object());
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (statistics[i]) set_statistics(rows[i], checkpoint.tensors[i].dtype, *statistics[i]);
  return rows;
}

void print_statistics(const Checkpoint& checkpoint, const Resources& resources, const Paint& paint) {
  std::map<std::string, std::uint64_t> by_type;
  for (const Tensor& tensor : checkpoint.tensors) {
    std::uint64_t& bytes = by_type[std::string(name(tensor.dtype))];
    if (__builtin_add_overflow(bytes, tensor.byte_size(), &bytes)) bytes = UINT64_MAX;
  }
  fmt::print("\n");
  print_sizes(by_type, paint);
  std::map<std::string, std::uint64_t> by_root;
  for (const Root& root : checkpoint.roots) by_root[root.key.empty() ? "." : root.key] += root.bytes;
  if (by_root.size() > 1) {
    fmt::print("\n");
    print_sizes(by_root, paint);
  }
  const std::vector<std::optional<Statistics>> statistics = measure_all(checkpoint, resources);
  std::vector<std::vector<std::string>> rows{
      {"name", "dtype", "shape", "min", "max", "mean", "std", "zeros", "NaN", "infinite"}};
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const Tensor& tensor = checkpoint.tensors[i];
    std::vector<std::string> row{printable(tensor.name), std::string(name(tensor.dtype)),
                                 to_string(tensor.shape)};
    std::ranges::move(statistics_row(tensor.dtype, statistics[i]), std::back_inserter(row));
    rows.push_back(std::move(row));
  }
  fmt::print("\n{}", format_table(rows, {false, false, false, true, true, true, true, true, true, true}));
}

void write_npy(const Checkpoint& checkpoint, const Tensor& tensor, const std::string& path,
               const WriteOptions& options, const Talk& talk) {
  if (!npy::descriptor(tensor.dtype))
    throw Error(ErrorKind::unsupported,
                fmt::format("tensor {}: NumPy has no type {}", printable(tensor.name), name(tensor.dtype)))
        .in_file(checkpoint.file)
        .with_hint(is_floating(tensor.dtype) ? "cast it first: ckpt convert IN OUT --dtype F32"
                                             : "ckpt convert keeps it in a checkpoint");
  require_reasonable(checkpoint, {&tensor, 1});
  const std::string header = npy::header(tensor.dtype, tensor.shape);
  Plan plan;
  const auto bytes = as_bytes(header);
  plan.segments = {Plan::Literal{{bytes.begin(), bytes.end()}}, Plan::TensorData{0}};
  plan.size = header.size() + tensor.byte_size();
  Checkpoint one;
  one.file = checkpoint.file;
  one.tensors = {tensor};
  one.integrity = checkpoint.integrity;
  const Interruptible guard;
  AtomicOutput output(path, guard.output_options(options.force));
  {
    Progress progress(output, plan.size, talk);
    emit_output(plan, one, progress, options.resources.parse());
  }
  output.commit();
  talk.report(fmt::format("{} -> {}: {} {}", printable(tensor.name), printable(path), name(tensor.dtype),
                          to_string(tensor.shape)));
}

}  // namespace ckpt
