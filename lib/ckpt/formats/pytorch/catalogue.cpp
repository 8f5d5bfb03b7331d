// The walk from the root of the object to every tensor. Its name is the path: keys of dicts, positions in
// lists, attributes of objects, joined by dots. A pickled nn.Module is seen as its state_dict() would name
// it.
//
// Objects may be shared (each path is a name of its own) and may contain themselves (a path ends where it
// would enter an object twice). What holds no tensor is shown as a value and not walked.
#include "ckpt/formats/pytorch/catalogue.hpp"

#include <algorithm>
#include <utility>

#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"
#include "ckpt/core/text.hpp"
#include "ckpt/formats/pytorch/alike.hpp"
#include "ckpt/formats/pytorch/foreign.hpp"
#include "ckpt/formats/pytorch/reach.hpp"
#include "ckpt/formats/pytorch/roots.hpp"
#include "ckpt/formats/pytorch/structure.hpp"
#include "ckpt/formats/pytorch/tensors.hpp"
#include "ckpt/formats/pytorch/values.hpp"

namespace ckpt::pytorch {
namespace {

/// An honest file shares some modules and tensors; a hostile one unfolds to astronomic numbers of paths.
std::uint64_t step_limit(const pickle::Graph& graph) {
  return std::min<std::uint64_t>(limits::walk_steps,
                                 limits::walk_free_steps + limits::walk_steps_per_node * graph.size());
}

class Walk {
 public:
  Walk(const Document& document, const ScriptMembers* script, Checkpoint& out, std::vector<Lost>* lost)
      : document_(document),
        script_(script),
        lost_(lost),
        tensors_(document),
        reach_(document, tensors_),
        values_(document),
        out_(out),
        steps_left_(step_limit(document.graph)),
        on_path_(document.graph.size(), false),
        is_met_(document.graph.size(), false) {}

  void run();

 private:
  struct Frame {
    NodeId node;
    Structure structure;
    std::size_t next = 0;
    std::string key;        // in the parent
    std::size_t path_size;  // of the parent's path
    std::size_t place;
    Value value;  // what lies beside the tensors; null while there is nothing
    std::vector<std::pair<std::string, Value>> members = {};  // of it, while more may come
  };

  /// Counts a place of so many bytes, or items to look at.
  void spend(std::uint64_t items, std::uint64_t bytes);
  void enter(NodeId node, std::string key);
  void leave();
  void visit(const Entry& entry);
  void add_tensor(NodeId node, const std::string& key);
  void add_value(const std::string& key, Value value);
  void extend_path(const std::string& key);
  void tell_left_out();

  const Document& document_;
  const ScriptMembers* script_;  // for a TorchScript archive
  std::vector<Lost>* lost_;      // null where nothing may be lost
  Tensors tensors_;
  Reach reach_;
  Values values_;
  Checkpoint& out_;
  std::uint64_t steps_left_;
  std::vector<bool> on_path_;
  std::vector<bool> is_met_;   // the tensors that have a name
  std::vector<Entry> beside_;  // what modules hold beside their state_dict(), named by its path
  std::vector<Frame> frames_;
  std::vector<Place> places_;
  std::string path_;
  std::uint64_t cycles_ = 0;
  std::string first_unknown_;  // the tensor with the first key of metadata that is not known
};

void Walk::run() {
  const NodeId root = document_.graph.root();
  out_.tensors.reserve(document_.graph.persistents().size());
  if (tensors_.is_tensor(root)) {
    places_.push_back({});
    add_tensor(root, "");
  } else if (!reach_.holds_tensors(root)) {
    out_.values = values_.show(root);
  } else {
    enter(root, "");
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.structure.entries.size()) {
        leave();
        continue;
      }
      // The entry is taken out of the frame, since frames move when one is added.
      const Entry entry = std::move(frame.structure.entries[frame.next++]);
      visit(entry);
    }
  }
  if (values_.omitted() != 0)
    out_.notes.push_back(fmt::format("{} more values are not shown", values_.omitted()));
  if (cycles_ != 0)
    out_.notes.push_back(
        fmt::format("{} object{} refer back to one that contains them", cycles_, cycles_ == 1 ? "" : "s"));
  if (const Tensors::Unknown& unknown = tensors_.unknown_metadata(); unknown.tensors != 0)
    out_.notes.push_back(fmt::format(
        "{} tensor{} metadata that is not known and left out (first: `{}` of {})", unknown.tensors,
        unknown.tensors == 1 ? " has" : "s have", printable(unknown.first_key), printable(first_unknown_)));
  tell_left_out();
  out_.roots = find_roots(places_);
}

/// Tensors of modules that state_dict() leaves out, unless they have a name elsewhere (the list of an LSTM's
/// weights).
void Walk::tell_left_out() {
  std::uint64_t count = 0;
  std::string first;
  std::vector<NodeId> open;
  for (const Entry& entry : beside_) {
    open.push_back(entry.value);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      if (is_met_[node]) continue;
      is_met_[node] = true;
      if (!tensors_.is_tensor(node)) std::ranges::copy(parts_of(document_, node), std::back_inserter(open));
      else if (count++ == 0) first = entry.name;
    }
  }
  if (count != 0)
    out_.notes.push_back(fmt::format(
        "{} tensor{} of modules left out: {} no part of state_dict(), but {} held by plain attributes or "
        "by buffers that are not persistent (first: {})",
        count, count == 1 ? "" : "s", count == 1 ? "it is" : "they are", count == 1 ? "is" : "are",
        printable(first)));
}

void Walk::visit(const Entry& entry) {
  if (tensors_.is_tensor(entry.value)) return add_tensor(entry.value, entry.name);
  if (!reach_.holds_tensors(entry.value)) {
    if (frames_.back().structure.shows_values) add_value(entry.name, values_.show(entry.value));
    return;
  }
  if (on_path_[entry.value]) {
    ++cycles_;
    return;
  }
  enter(entry.value, entry.name);
}

void Walk::extend_path(const std::string& key) {
  if (!frames_.empty() && (!path_.empty() || frames_.size() > 1)) path_ += '.';
  path_ += key;
}

void Walk::spend(std::uint64_t items, std::uint64_t bytes) {
  const std::uint64_t steps = 1 + items + bytes / limits::walk_step_bytes;
  if (steps > steps_left_)
    fail(ErrorKind::corrupt,
         "names and shared objects unfold to more than {} places; the file is made to exhaust its reader",
         step_limit(document_.graph));
  steps_left_ -= steps;
}

void Walk::enter(NodeId node, std::string key) {
  if (frames_.size() >= limits::pickle_nesting)
    fail(ErrorKind::corrupt, "the object nests tensors more than {} levels deep", limits::pickle_nesting);
  Frame frame;
  frame.node = node;
  frame.path_size = path_.size();
  extend_path(key);
  frame.structure = structure_of(document_, node, script_, reach_);
  spend(frame.structure.items, path_.size());
  for (const Entry& entry : frame.structure.beside) {
    spend(0, path_.size());
    beside_.push_back({path_.empty() ? entry.name : path_ + "." + entry.name, entry.value});
  }
  const bool inside_module = !frames_.empty() && places_[frames_.back().place].is_module;
  if (inside_module) {
    frame.place = frames_.back().place;
  } else {
    frame.place = places_.size();
    Place place;
    if (!frames_.empty()) place.parent = frames_.back().place;
    place.name = key;
    place.is_sequence = frame.structure.is_sequence;
    place.is_module = frame.structure.is_module;
    place.is_optimizer = frame.structure.is_optimizer;
    places_.push_back(std::move(place));
  }
  if (!frame.structure.class_name.empty() && !inside_module && values_.spend())
    frame.value = Value::object().set("class", values_.name(frame.structure.class_name));
  // Parts of a module that are no modules (there are none in PyTorch itself) belong to that module.
  if (frame.structure.module_class.empty() && inside_module)
    frame.structure.module_class = frames_.back().structure.module_class;
  if (frame.structure.kind.empty() && inside_module) frame.structure.kind = frames_.back().structure.kind;
  frame.key = std::move(key);
  on_path_[node] = true;
  frames_.push_back(std::move(frame));
}

void Walk::leave() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  on_path_[frame.node] = false;
  path_.resize(frame.path_size);
  if (!frame.members.empty()) set_members(frame.value, std::move(frame.members));
  if (frame.value.is_null()) return;
  if (frames_.empty()) out_.values = std::move(frame.value);
  else add_value(frame.key, std::move(frame.value));
}

/// Puts a value beside the tensors of the innermost container; in a list, nulls keep the places of tensors.
void Walk::add_value(const std::string& key, Value value) {
  Frame& frame = frames_.back();
  if (frame.structure.is_sequence) {
    if (frame.value.is_null()) frame.value = Value::array();
    frame.value.as<Value::Array>()->resize(frame.next - 1);
    frame.value.push(std::move(value));
    return;
  }
  frame.members.emplace_back(values_.name(key), std::move(value));
}

void Walk::add_tensor(NodeId node, const std::string& key) {
  is_met_[node] = true;
  std::string_view owner;
  if (!frames_.empty()) owner = frames_.back().structure.module_class;
  const std::size_t path_size = path_.size();
  extend_path(key);
  spend(0, path_.size() + owner.size());
  std::string name = path_;
  path_.resize(path_size);
  try {
    const bool had_unknown = tensors_.unknown_metadata().tensors != 0;
    std::variant<Tensor, std::string> made = tensors_.build(node);
    if (!had_unknown && tensors_.unknown_metadata().tensors != 0) first_unknown_ = name;
    if (auto* what = std::get_if<std::string>(&made)) {
      spend(0, what->size());
      out_.refused.push_back({std::move(name), std::move(*what)});
      return;
    }
    Tensor& tensor = std::get<Tensor>(made);
    spend(0, tensor.shape.size() * 2 * sizeof(std::uint64_t));
    tensor.name = std::move(name);
    tensor.module_class = owner;
    if (!frames_.empty()) tensor.recorded_kind = frames_.back().structure.kind;
    Place& place = places_[frames_.empty() ? 0 : frames_.back().place];
    ++place.tensors;
    place.bytes += tensor.byte_size();
    out_.tensors.push_back(std::move(tensor));
  } catch (Error& error) {
    if (lost_ == nullptr || error.kind() != ErrorKind::corrupt)
      throw error.in(fmt::format("tensor `{}`", printable(name)));
    lost_->push_back({std::move(name), error.message()});
  }
}

/// Two paths may be spelled alike (`a.b` and `a`, `b`). The later one gets a number behind it, so that none
/// is lost, and so does one that is spelled as such a name.
void make_names_unique(Checkpoint& out) {
  std::vector<std::string_view> names;
  names.reserve(out.tensors.size() + out.refused.size());
  for (const Tensor& tensor : out.tensors) names.push_back(tensor.name);
  for (const Refused& refused : out.refused) names.push_back(refused.name);
  const std::vector<std::uint64_t> numbers = numbers_of_alike(names);
  std::uint64_t renamed = 0;
  std::string first;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == 0) continue;
    const bool is_tensor = i < out.tensors.size();
    std::string& name = is_tensor ? out.tensors[i].name : out.refused[i - out.tensors.size()].name;
    if (is_tensor) out.tensors[i].number = numbers[i];
    if (renamed++ == 0) first = name;
    name = numbered(name, numbers[i]);
  }
  if (renamed != 0)
    out.notes.push_back(
        fmt::format("{} name{} of more than one tensor ({} is the first); the others are listed with `#2` "
                    "and so on behind",
                    renamed, renamed == 1 ? " is that" : "s are those", printable(first)));
}

/// Storages that no tensor uses still have to be there.
void check_storages(const Document& document) {
  for (const Persistent& persistent : document.persistents)
    if (const auto* storage = std::get_if<Storage>(&persistent);
        storage != nullptr && !storage->fault.empty())
      fail(ErrorKind::corrupt, "storage {}: {}", printable(storage->key), storage->fault);
}

}  // namespace

Checkpoint catalogue(Opened opened, std::vector<Lost>* lost) {
  Checkpoint out;
  out.format = "pytorch";
  out.container = opened.container;
  out.hidden = std::move(opened.hidden);
  out.notes = std::move(opened.notes);
  Walk(opened.document, opened.container == "torchscript" ? &opened.script_members : nullptr, out, lost)
      .run();
  make_names_unique(out);
  if (lost == nullptr) check_storages(opened.document);
  out.integrity = std::move(opened.integrity);
  out.globals = foreign_globals(opened.document);
  return out;
}

}  // namespace ckpt::pytorch
