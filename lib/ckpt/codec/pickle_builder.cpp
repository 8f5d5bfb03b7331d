// Nodes are 24 bytes in one vector and refer to each other by index; children lie in one pool. So a
// graph of any depth, with or without cycles, is freed in a few steps.
#include "ckpt/codec/pickle_builder.hpp"

#include <algorithm>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"

namespace ckpt::pickle {
namespace {

/// Names that Python 3 gives to what Python 2 pickles name (`_compat_pickle`, the part that occurs).
struct Renamed {
  std::string_view module, name, new_module, new_name;
};
constexpr std::array renamed_names{
    Renamed{"__builtin__", "xrange", "builtins", "range"},
    Renamed{"__builtin__", "long", "builtins", "int"},
    Renamed{"__builtin__", "unicode", "builtins", "str"},
    Renamed{"__builtin__", "unichr", "builtins", "chr"},
    Renamed{"__builtin__", "reduce", "functools", "reduce"},
    Renamed{"__builtin__", "intern", "sys", "intern"},
};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> renamed_modules{{
    {"__builtin__", "builtins"},
    {"copy_reg", "copyreg"},
    {"cPickle", "pickle"},
    {"Queue", "queue"},
    {"exceptions", "builtins"},
    {"commands", "subprocess"},
    {"_winreg", "winreg"},
}};

std::pair<std::string_view, std::string_view> python3_name(std::string_view module, std::string_view name) {
  for (const Renamed& row : renamed_names)
    if (row.module == module && row.name == name) return {row.new_module, row.new_name};
  for (const auto& [old_module, new_module] : renamed_modules)
    if (old_module == module) return {new_module, name};
  return {module, name};
}

}  // namespace

std::size_t Builder::PairHash::operator()(
    const std::pair<std::string_view, std::string_view>& pair) const noexcept {
  const std::hash<std::string_view> hash;
  return hash(pair.first) * 31 + hash(pair.second);
}

Builder::Builder(Graph& graph) : graph_(graph) {
  constants_.fill(no_node);
  small_integers_.fill(no_node);
}

NodeId Builder::add(Kind kind, std::uint32_t at) {
  if (graph_.nodes_.size() >= limits::pickle_nodes)
    fail(ErrorKind::corrupt, "more than {} objects in one pickle", limits::pickle_nodes);
  Graph::Node& node = graph_.nodes_.emplace_back();
  node.kind = kind;
  node.offset = at;
  return static_cast<NodeId>(graph_.nodes_.size() - 1);
}

void Builder::check_items(std::size_t more) const {
  if (graph_.pool_.size() + more > limits::pickle_items)
    fail(ErrorKind::corrupt, "containers of one pickle hold more than {} items", limits::pickle_items);
}

NodeId Builder::constant(Kind kind, bool value, std::uint32_t at) {
  NodeId& id = constants_.at(kind == Kind::none ? 0 : value ? 1 : 2);
  if (id == no_node) {
    id = add(kind, at);
    graph_.nodes_[id].payload.integer = value ? 1 : 0;
  }
  return id;
}

NodeId Builder::integer(std::int64_t value, std::uint32_t at) {
  const bool small = value >= 0 && static_cast<std::size_t>(value) < small_integers_.size();
  if (small && small_integers_[static_cast<std::size_t>(value)] != no_node)
    return small_integers_[static_cast<std::size_t>(value)];
  const NodeId id = add(Kind::integer, at);
  graph_.nodes_[id].payload.integer = value;
  if (small) small_integers_[static_cast<std::size_t>(value)] = id;
  return id;
}

NodeId Builder::integer_bytes(std::string_view bytes, std::uint32_t at) {
  const auto sign_of = [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; };
  // Drop bytes that only repeat the sign.
  while (bytes.size() > 8) {
    const char last = bytes.back();
    if ((last != '\0' && last != '\xff') || sign_of(last) != sign_of(bytes[bytes.size() - 2])) break;
    bytes.remove_suffix(1);
  }
  if (bytes.size() > 8) return view(Kind::big_integer, bytes, at);
  std::uint64_t value = !bytes.empty() && sign_of(bytes.back()) ? UINT64_MAX : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[i]);
  return integer(static_cast<std::int64_t>(value), at);
}

NodeId Builder::real(double value, std::uint32_t at) {
  const NodeId id = add(Kind::real, at);
  graph_.nodes_[id].payload.real = value;
  return id;
}

NodeId Builder::view(Kind kind, std::string_view text, std::uint32_t at) {
  const NodeId id = add(kind, at);
  graph_.nodes_[id].payload.data = text.data();
  graph_.nodes_[id].count = static_cast<std::uint32_t>(text.size());
  return id;
}

NodeId Builder::decoded(Kind kind, std::string text, std::uint32_t at) {
  return view(kind, graph_.decoded_.emplace_back(std::move(text)), at);
}

NodeId Builder::container(Kind kind, std::span<const NodeId> items, std::uint32_t at) {
  check_items(items.size());
  const NodeId id = add(kind, at);
  Graph::Node& node = graph_.nodes_[id];
  node.payload.begin = graph_.pool_.size();
  node.count = node.extra = static_cast<std::uint32_t>(items.size());
  graph_.pool_.insert(graph_.pool_.end(), items.begin(), items.end());
  return id;
}

void Builder::append(NodeId container, std::span<const NodeId> items) {
  Graph::Node& node = graph_.nodes_[container];
  std::vector<NodeId>& pool = graph_.pool_;
  const std::size_t wanted = node.count + items.size();
  if (wanted > node.extra) {
    // At the end of the pool the container grows in place; elsewhere it moves there with room to spare.
    const bool is_last = node.payload.begin + node.extra == pool.size();
    const std::size_t capacity =
        is_last || node.count == 0 ? wanted : std::max<std::size_t>(wanted, 2 * std::size_t{node.count});
    const std::size_t begin = is_last ? node.payload.begin : pool.size();
    check_items(capacity);
    pool.resize(begin + capacity, no_node);
    if (!is_last)
      std::copy_n(pool.begin() + static_cast<std::ptrdiff_t>(node.payload.begin), node.count,
                  pool.begin() + static_cast<std::ptrdiff_t>(begin));
    node.payload.begin = begin;
    node.extra = static_cast<std::uint32_t>(capacity);
  }
  std::copy(items.begin(), items.end(),
            pool.begin() + static_cast<std::ptrdiff_t>(node.payload.begin + node.count));
  node.count = static_cast<std::uint32_t>(wanted);
}

NodeId Builder::global(std::string_view module, std::string_view name, std::uint32_t at) {
  const std::pair key = python3_name(module, name);
  const auto [entry, fresh] = globals_.emplace(key, no_node);
  if (fresh) {
    entry->second = add(Kind::global, at);
    graph_.nodes_[entry->second].extra = static_cast<std::uint32_t>(graph_.globals_.size());
    graph_.globals_.push_back({key.first, key.second, graph_.base_ + at});
  }
  return entry->second;
}

NodeId Builder::call(NodeId callable, NodeId args, NodeId kwargs, std::uint32_t at) {
  const NodeId id = add(Kind::call, at);
  graph_.nodes_[id].extra = static_cast<std::uint32_t>(graph_.calls_.size());
  Call& parts = graph_.calls_.emplace_back();
  parts.callable = callable;
  parts.args = args;
  parts.kwargs = kwargs;
  return id;
}

Call& Builder::call_parts(NodeId id) { return graph_.calls_[graph_.nodes_[id].extra]; }

NodeId Builder::persistent(NodeId id, std::uint32_t at) {
  const NodeId node = add(Kind::persistent, at);
  graph_.nodes_[node].payload.begin = id;
  graph_.nodes_[node].extra = static_cast<std::uint32_t>(graph_.persistents_.size());
  graph_.persistents_.push_back(node);
  return node;
}

}  // namespace ckpt::pickle
