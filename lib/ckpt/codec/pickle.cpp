// The pickle machine: a stack of nodes with marks, a memo, and one opcode a step.
//
// Opcodes that would call, import or instantiate make a call node instead; BUILD, APPEND and SETITEM on
// such a node are remembered in it. Every length is compared with the bytes that remain before it
// is used. The opcodes are those of Python's pickletools; protocols 0 to 5.
#include "ckpt/codec/pickle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "ckpt/codec/little_endian.hpp"
#include "ckpt/codec/pickle_builder.hpp"
#include "ckpt/codec/pickle_memo.hpp"
#include "ckpt/codec/pickle_opcodes.hpp"
#include "ckpt/codec/pickle_text.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/limits.hpp"

namespace ckpt::pickle {

class Machine {
 public:
  Machine(Graph& graph, std::vector<std::byte> bytes, std::uint64_t base);

  void run();
  /// Whether what failed was the bytes running out.
  bool ended_early() const noexcept { return ended_early_; }
  /// Opcodes that were begun.
  std::uint64_t steps() const noexcept { return steps_; }

 private:
  using Handler = bool (Machine::*)(Op);
  /// What executes each opcode; null for what is none.
  static const std::array<Handler, 256> handlers;

  /// Executes one opcode; false after STOP.
  bool step();
  bool push_number(Op op);
  bool push_text(Op op);
  bool push_container(Op op);
  bool push_call(Op op);
  bool update(Op op);
  bool use_memo(Op op);
  bool control(Op op);

  std::string_view take(std::uint64_t count);
  template <typename T> T number() { return load_le<T>(as_bytes(take(sizeof(T)))); }
  template <typename T> std::string_view sized() { return take(number<T>()); }
  std::string_view line();
  [[noreturn]] void cut_off(std::uint64_t wanted);

  /// Nothing below the newest mark may be taken.
  std::size_t floor() const noexcept { return marks_.empty() ? 0 : marks_.back(); }
  bool push(NodeId id);
  NodeId pop();
  NodeId top() const;
  /// What lies above the newest mark, which goes away; valid until the next call.
  std::span<const NodeId> pop_to_mark();

  NodeId integer_line(bool is_long);
  NodeId real_line();
  std::uint64_t memo_line();
  NodeId tuple_of(std::span<const NodeId> items) { return build_.container(Kind::tuple, items, at_); }
  bool call(NodeId callable, NodeId args, NodeId kwargs = no_node);
  bool append_to(NodeId target, std::span<const NodeId> items, Kind wanted);
  bool set_items(NodeId target, std::span<const NodeId> items);

  Graph& graph_;
  Builder build_;
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint32_t at_ = 0;  // offset of the opcode at work
  std::vector<NodeId> stack_;
  std::vector<std::size_t> marks_;
  std::vector<NodeId> held_;
  Memo memo_;
  bool ended_early_ = false;
  std::uint64_t steps_ = 0;
};

Machine::Machine(Graph& graph, std::vector<std::byte> bytes, std::uint64_t base)
    : graph_(graph), build_(graph) {
  graph.buffer_ = std::move(bytes);
  graph.base_ = base;
  // A guess that saves copying; capped, since most of a pickle may be the bytes of one array.
  graph.nodes_.reserve(std::min<std::size_t>(graph.buffer_.size() / 10, 1U << 21U));
  bytes_ = graph.buffer_;
}

void Machine::run() {
  if (bytes_.empty()) {
    ended_early_ = true;
    fail(ErrorKind::corrupt, "the pickle is empty");
  }
  try {
    while (step()) {
    }
  } catch (Error& error) {
    throw error.in(fmt::format("pickle, byte {}", graph_.base_ + at_));
  }
  graph_.used_ = next_;
}

void Machine::cut_off(std::uint64_t wanted) {
  ended_early_ = true;
  fail(ErrorKind::corrupt, "the pickle is cut off: {} more byte(s) wanted, {} left", wanted,
       bytes_.size() - next_);
}

std::string_view Machine::take(std::uint64_t count) {
  if (count > bytes_.size() - next_) cut_off(count);
  const std::string_view taken = as_text(bytes_.subspan(next_, count));
  next_ += count;
  return taken;
}

std::string_view Machine::line() {
  const std::string_view rest = as_text(bytes_.subspan(next_));
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos) cut_off(rest.size() + 1);
  next_ += end + 1;
  return rest.substr(0, end);
}

bool Machine::push(NodeId id) {
  if (stack_.size() >= limits::pickle_nodes)
    fail(ErrorKind::corrupt, "more than {} objects on the stack", limits::pickle_nodes);
  stack_.push_back(id);
  return true;
}

NodeId Machine::pop() {
  const NodeId id = top();
  stack_.pop_back();
  return id;
}

NodeId Machine::top() const {
  if (stack_.size() <= floor()) fail(ErrorKind::corrupt, "the opcode wants more than the stack holds");
  return stack_.back();
}

std::span<const NodeId> Machine::pop_to_mark() {
  if (marks_.empty()) fail(ErrorKind::corrupt, "the opcode wants a mark, but there is none on the stack");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  marks_.pop_back();
  held_.assign(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  return held_;
}

bool Machine::call(NodeId callable, NodeId args, NodeId kwargs) {
  if (!graph_.is(args, Kind::tuple)) fail(ErrorKind::corrupt, "the arguments of a call are not a tuple");
  return push(build_.call(callable, args, kwargs, at_));
}

NodeId Machine::integer_line(bool is_long) {
  std::string_view digits = line();
  if (!is_long && (digits == "00" || digits == "01"))
    return build_.constant(Kind::boolean, digits == "01", at_);
  if (is_long && digits.ends_with('L')) digits.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end == digits.data() + digits.size()) return build_.integer(value, at_);
  const std::string_view magnitude = digits.starts_with('-') ? digits.substr(1) : digits;
  if (magnitude.empty() || magnitude.find_first_not_of("0123456789") != std::string_view::npos)
    fail(ErrorKind::corrupt, "an integer whose digits are not digits");
  return build_.view(Kind::decimal, digits, at_);
}

NodeId Machine::real_line() {
  const std::string_view digits = line();
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail(ErrorKind::corrupt, "a number whose digits are not digits");
  // Beyond the range of a double: infinity, or zero, as Python reads it.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
  return build_.real(value, at_);
}

bool Machine::push_number(Op op) {
  switch (op) {
    case Op::none:
      return push(build_.constant(Kind::none, false, at_));
    case Op::newtrue:
      return push(build_.constant(Kind::boolean, true, at_));
    case Op::newfalse:
      return push(build_.constant(Kind::boolean, false, at_));
    case Op::binint:
      return push(build_.integer(static_cast<std::int32_t>(number<std::uint32_t>()), at_));
    case Op::binint1:
      return push(build_.integer(number<std::uint8_t>(), at_));
    case Op::binint2:
      return push(build_.integer(number<std::uint16_t>(), at_));
    case Op::long1:
      return push(build_.integer_bytes(sized<std::uint8_t>(), at_));
    case Op::long4:
      return push(build_.integer_bytes(sized<std::uint32_t>(), at_));
    case Op::int_line:
      return push(integer_line(false));
    case Op::long_line:
      return push(integer_line(true));
    case Op::float_line:
      return push(real_line());
    case Op::binfloat: {  // big-endian, unlike everything else
      std::uint64_t bits = 0;
      for (const char c : take(8)) bits = bits << 8U | static_cast<unsigned char>(c);
      return push(build_.real(std::bit_cast<double>(bits), at_));
    }
    default:
      return false;
  }
}

bool Machine::push_text(Op op) {
  switch (op) {
    case Op::binunicode:
      return push(build_.view(Kind::text, sized<std::uint32_t>(), at_));
    case Op::short_binunicode:
      return push(build_.view(Kind::text, sized<std::uint8_t>(), at_));
    case Op::binunicode8:
      return push(build_.view(Kind::text, sized<std::uint64_t>(), at_));
    case Op::binstring:
      return push(build_.view(Kind::text8, sized<std::uint32_t>(), at_));
    case Op::short_binstring:
      return push(build_.view(Kind::text8, sized<std::uint8_t>(), at_));
    case Op::binbytes:
      return push(build_.view(Kind::bytes, sized<std::uint32_t>(), at_));
    case Op::short_binbytes:
      return push(build_.view(Kind::bytes, sized<std::uint8_t>(), at_));
    case Op::binbytes8:
    case Op::bytearray8:
      return push(build_.view(Kind::bytes, sized<std::uint64_t>(), at_));
    case Op::unicode_line: {
      std::optional<std::string> text = decode_raw_unicode(line());
      if (!text) fail(ErrorKind::corrupt, "a text with a malformed escape");
      return push(build_.decoded(Kind::text, std::move(*text), at_));
    }
    case Op::string_line: {
      std::optional<std::string> text = decode_quoted(line());
      if (!text) fail(ErrorKind::corrupt, "a string that is not quoted rightly");
      return push(build_.decoded(Kind::text8, std::move(*text), at_));
    }
    default:
      return false;
  }
}

bool Machine::push_container(Op op) {
  switch (op) {
    case Op::empty_tuple:
      return push(tuple_of({}));
    case Op::empty_list:
      return push(build_.container(Kind::list, {}, at_));
    case Op::empty_dict:
      return push(build_.container(Kind::dict, {}, at_));
    case Op::empty_set:
      return push(build_.container(Kind::set, {}, at_));
    case Op::tuple:
      return push(tuple_of(pop_to_mark()));
    case Op::list:
      return push(build_.container(Kind::list, pop_to_mark(), at_));
    case Op::frozenset:
      return push(build_.container(Kind::frozenset, pop_to_mark(), at_));
    case Op::dict: {
      const NodeId dict = build_.container(Kind::dict, {}, at_);
      set_items(dict, pop_to_mark());
      return push(dict);
    }
    case Op::tuple1:
    case Op::tuple2:
    case Op::tuple3: {
      std::array<NodeId, 3> items{};
      const std::size_t count = static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::tuple1) + 1;
      for (std::size_t i = count; i-- > 0;) items.at(i) = pop();
      return push(tuple_of(std::span(items).first(count)));
    }
    default:
      return false;
  }
}

bool Machine::push_call(Op op) {
  switch (op) {
    case Op::global: {
      const std::string_view module = line();
      return push(build_.global(module, line(), at_));
    }
    case Op::stack_global: {
      const NodeId name = pop();
      const NodeId module = pop();
      if (!graph_.is_text(name) || !graph_.is_text(module))
        fail(ErrorKind::corrupt, "a global whose name is not text");
      return push(build_.global(graph_.text(module), graph_.text(name), at_));
    }
    case Op::reduce:
    case Op::newobj: {
      const NodeId args = pop();
      return call(pop(), args);
    }
    case Op::newobj_ex: {
      const NodeId kwargs = pop();
      const NodeId args = pop();
      return call(pop(), args, kwargs);
    }
    case Op::inst: {
      const std::string_view module = line();
      const NodeId callable = build_.global(module, line(), at_);
      return call(callable, tuple_of(pop_to_mark()));
    }
    case Op::obj: {
      const std::span<const NodeId> items = pop_to_mark();
      if (items.empty()) fail(ErrorKind::corrupt, "an object without its class");
      return call(items.front(), tuple_of(items.subspan(1)));
    }
    case Op::persid:
      return push(build_.persistent(build_.view(Kind::text, line(), at_), at_));
    case Op::binpersid:
      return push(build_.persistent(pop(), at_));
    default:
      return false;
  }
}

bool Machine::append_to(NodeId target, std::span<const NodeId> items, Kind wanted) {
  if (graph_.is(target, Kind::call)) {
    if (build_.call_parts(target).appends == no_node) {
      const NodeId list = build_.container(Kind::list, {}, at_);
      build_.call_parts(target).appends = list;
    }
    build_.append(build_.call_parts(target).appends, items);
  } else if (graph_.is(target, wanted)) {
    build_.append(target, items);
  } else {
    fail(ErrorKind::corrupt, "items are added to something that is not a {}",
         wanted == Kind::list ? "list" : "set");
  }
  return true;
}

bool Machine::set_items(NodeId target, std::span<const NodeId> items) {
  if (items.size() % 2 != 0) fail(ErrorKind::corrupt, "a key without a value");
  if (graph_.is(target, Kind::call)) {
    if (build_.call_parts(target).items == no_node) {
      const NodeId dict = build_.container(Kind::dict, {}, at_);
      build_.call_parts(target).items = dict;
    }
    target = build_.call_parts(target).items;
  } else if (!graph_.is(target, Kind::dict)) {
    fail(ErrorKind::corrupt, "items are set in something that is not a dict");
  }
  build_.append(target, items);
  return true;
}

bool Machine::update(Op op) {
  switch (op) {
    case Op::append: {
      const std::array item{pop()};
      return append_to(top(), item, Kind::list);
    }
    case Op::appends: {
      const std::span<const NodeId> items = pop_to_mark();
      return append_to(top(), items, Kind::list);
    }
    case Op::additems: {
      const std::span<const NodeId> items = pop_to_mark();
      return append_to(top(), items, Kind::set);
    }
    case Op::setitem: {
      std::array<NodeId, 2> item{};
      item[1] = pop();
      item[0] = pop();
      return set_items(top(), item);
    }
    case Op::setitems: {
      const std::span<const NodeId> items = pop_to_mark();
      return set_items(top(), items);
    }
    case Op::build: {
      const NodeId state = pop();
      if (!graph_.is(top(), Kind::call))
        fail(ErrorKind::corrupt, "a state is given to something that is not an object");
      build_.call_parts(top()).state = state;
      return true;
    }
    default:
      return false;
  }
}

std::uint64_t Machine::memo_line() {
  const std::string_view digits = line();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(ErrorKind::corrupt, "a memo number that is not a number");
  return value;
}

bool Machine::use_memo(Op op) {
  const auto get = [&](std::uint64_t memo) {
    const NodeId id = memo_.get(memo);
    if (id == no_node) fail(ErrorKind::corrupt, "memo {} is used but was never set", memo);
    return push(id);
  };
  const auto put = [&](std::uint64_t memo) {
    memo_.put(memo, top());
    return true;
  };
  switch (op) {
    case Op::get:
      return get(memo_line());
    case Op::binget:
      return get(number<std::uint8_t>());
    case Op::long_binget:
      return get(number<std::uint32_t>());
    case Op::put:
      return put(memo_line());
    case Op::binput:
      return put(number<std::uint8_t>());
    case Op::long_binput:
      return put(number<std::uint32_t>());
    case Op::memoize:
      return put(memo_.size());
    default:
      return false;
  }
}

bool Machine::control(Op op) {
  switch (op) {
    case Op::stop:
      graph_.root_ = pop();
      return false;
    case Op::mark:
      marks_.push_back(stack_.size());
      return true;
    case Op::dup:
      return push(top());
    case Op::pop:
      if (!marks_.empty() && stack_.size() == marks_.back()) marks_.pop_back();
      else pop();
      return true;
    case Op::pop_mark:
      pop_to_mark();
      return true;
    case Op::proto: {
      const unsigned protocol = number<std::uint8_t>();
      if (protocol > newest_protocol)
        fail(ErrorKind::unsupported, "pickle protocol {} is not known (0 to {} are)", protocol,
             newest_protocol);
      return true;
    }
    case Op::frame: {
      const std::uint64_t size = number<std::uint64_t>();
      if (size > bytes_.size() - next_) cut_off(size);
      return true;
    }
    case Op::ext1:
    case Op::ext2:
    case Op::ext4:
      fail(ErrorKind::unsupported,
           "opcode EXT refers to Python's extension registry, which is not in the file");
    case Op::next_buffer:
    case Op::readonly_buffer:
      fail(ErrorKind::unsupported, "opcode {} refers to a buffer outside the pickle",
           op == Op::next_buffer ? "NEXT_BUFFER" : "READONLY_BUFFER");
    default:
      return false;
  }
}

constexpr std::array<Machine::Handler, 256> Machine::handlers = [] {
  using enum Op;
  std::array<Handler, 256> table{};
  const auto set = [&](Handler handler, std::initializer_list<Op> ops) {
    for (const Op op : ops) table[static_cast<std::uint8_t>(op)] = handler;
  };
  set(&Machine::push_number, {Op::none, newtrue, newfalse, binint, binint1, binint2, long1, long4, int_line,
                              long_line, float_line, binfloat});
  set(&Machine::push_text, {binunicode, short_binunicode, binunicode8, binstring, short_binstring, binbytes,
                            short_binbytes, binbytes8, bytearray8, unicode_line, string_line});
  set(&Machine::push_container, {empty_tuple, empty_list, empty_dict, empty_set, Op::tuple, list, frozenset,
                                 dict, tuple1, tuple2, tuple3});
  set(&Machine::push_call, {global, stack_global, reduce, newobj, newobj_ex, inst, obj, persid, binpersid});
  set(&Machine::update, {append, appends, additems, setitem, setitems, build});
  set(&Machine::use_memo, {get, binget, long_binget, put, binput, long_binput, memoize});
  set(&Machine::control,
      {stop, mark, dup, Op::pop, Op::pop_mark, proto, frame, ext1, ext2, ext4, next_buffer, readonly_buffer});
  return table;
}();

bool Machine::step() {
  at_ = static_cast<std::uint32_t>(next_);
  ++steps_;
  const auto op = static_cast<Op>(number<std::uint8_t>());
  const Handler handler = handlers[static_cast<std::uint8_t>(op)];
  if (handler == nullptr)
    fail(ErrorKind::corrupt, "{:#04x} is not an opcode: this is no pickle, or it is damaged",
         static_cast<unsigned>(op));
  return (this->*handler)(op);
}

Graph parse(std::vector<std::byte> bytes, std::uint64_t base) {
  Graph graph;
  if (bytes.size() > limits::pickle_bytes) bytes.resize(limits::pickle_bytes);
  Machine(graph, std::move(bytes), base).run();
  return graph;
}

bool looks_like_pickle(std::span<const std::byte> head, bool is_whole) {
  Graph graph;
  Machine machine(graph, {head.begin(), head.end()}, 0);
  try {
    machine.run();
    return true;
  } catch (const Error&) {
    return machine.ended_early() && machine.steps() > 1 && !is_whole;
  }
}

Graph read(const ByteSource& source, std::uint64_t offset) {
  // Where the pickle ends is known only after parsing: windows grow until it fits.
  const std::uint64_t available =
      std::min(source.size() - std::min(offset, source.size()), limits::pickle_bytes);
  for (std::uint64_t window = 4U << 10U;; window *= 4) {
    Graph graph;
    const std::uint64_t size = std::min(window, available);
    Machine machine(graph, read_range(source, offset, size), offset);
    try {
      machine.run();
      return graph;
    } catch (const Error&) {
      if (!machine.ended_early() || size == available) throw;
    }
  }
}

}  // namespace ckpt::pickle
