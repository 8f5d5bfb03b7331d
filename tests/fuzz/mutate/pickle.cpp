#include "ckpt/codec/pickle_opcodes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "mutate/formats.hpp"

namespace ckpt::fuzz {
namespace {

using pickle::Op;

/// What follows an opcode.
enum class Argument : std::uint8_t {
  none,
  number1,
  number2,
  number4,
  number8,
  line,
  lines,
  text1,
  text4,
  text8
};

struct OpcodeRow {
  Op op;
  Argument argument = Argument::none;
};

using enum Argument;
constexpr std::array opcodes{OpcodeRow{Op::mark},
                             OpcodeRow{Op::stop},
                             OpcodeRow{Op::pop},
                             OpcodeRow{Op::pop_mark},
                             OpcodeRow{Op::dup},
                             OpcodeRow{Op::float_line, line},
                             OpcodeRow{Op::int_line, line},
                             OpcodeRow{Op::binint, number4},
                             OpcodeRow{Op::binint1, number1},
                             OpcodeRow{Op::long_line, line},
                             OpcodeRow{Op::binint2, number2},
                             OpcodeRow{Op::none},
                             OpcodeRow{Op::persid, line},
                             OpcodeRow{Op::binpersid},
                             OpcodeRow{Op::reduce},
                             OpcodeRow{Op::string_line, line},
                             OpcodeRow{Op::binstring, text4},
                             OpcodeRow{Op::short_binstring, text1},
                             OpcodeRow{Op::unicode_line, line},
                             OpcodeRow{Op::binunicode, text4},
                             OpcodeRow{Op::append},
                             OpcodeRow{Op::build},
                             OpcodeRow{Op::global, lines},
                             OpcodeRow{Op::dict},
                             OpcodeRow{Op::empty_dict},
                             OpcodeRow{Op::appends},
                             OpcodeRow{Op::get, line},
                             OpcodeRow{Op::binget, number1},
                             OpcodeRow{Op::inst, lines},
                             OpcodeRow{Op::long_binget, number4},
                             OpcodeRow{Op::list},
                             OpcodeRow{Op::empty_list},
                             OpcodeRow{Op::obj},
                             OpcodeRow{Op::put, line},
                             OpcodeRow{Op::binput, number1},
                             OpcodeRow{Op::long_binput, number4},
                             OpcodeRow{Op::setitem},
                             OpcodeRow{Op::tuple},
                             OpcodeRow{Op::empty_tuple},
                             OpcodeRow{Op::setitems},
                             OpcodeRow{Op::binfloat, number8},
                             OpcodeRow{Op::proto, number1},
                             OpcodeRow{Op::newobj},
                             OpcodeRow{Op::tuple1},
                             OpcodeRow{Op::tuple2},
                             OpcodeRow{Op::tuple3},
                             OpcodeRow{Op::newtrue},
                             OpcodeRow{Op::newfalse},
                             OpcodeRow{Op::long1, text1},
                             OpcodeRow{Op::long4, text4},
                             OpcodeRow{Op::binbytes, text4},
                             OpcodeRow{Op::short_binbytes, text1},
                             OpcodeRow{Op::short_binunicode, text1},
                             OpcodeRow{Op::binunicode8, text8},
                             OpcodeRow{Op::binbytes8, text8},
                             OpcodeRow{Op::empty_set},
                             OpcodeRow{Op::additems},
                             OpcodeRow{Op::frozenset},
                             OpcodeRow{Op::newobj_ex},
                             OpcodeRow{Op::stack_global},
                             OpcodeRow{Op::memoize},
                             OpcodeRow{Op::frame, number8},
                             OpcodeRow{Op::bytearray8, text8}};

struct Step {
  OpcodeRow row;
  std::string argument;  // without the length before it or the line feed after it
};

/// How many bytes state a text's length, or are a number.
std::size_t width(Argument argument) {
  switch (argument) {
    case number1:
    case text1:
      return 1;
    case number2:
      return 2;
    case number4:
    case text4:
      return 4;
    default:
      return 8;
  }
}
bool is_text(Argument argument) { return argument >= text1; }
bool is_line(Argument argument) { return argument == line || argument == lines; }

std::string number_bytes(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

/// The steps up to the first byte that is none, also of further pickles; what follows is left in `bytes`.
std::vector<Step> take_steps(std::string_view& bytes) {
  std::vector<Step> steps;
  while (!bytes.empty()) {
    const auto* const row =
        std::ranges::find(opcodes, static_cast<Op>(static_cast<std::uint8_t>(bytes.front())), &OpcodeRow::op);
    if (row == opcodes.end()) break;
    std::string_view rest = bytes.substr(1);
    std::size_t size = 0;
    if (is_line(row->argument)) {
      size = rest.find('\n');
      if (row->argument == lines && size != std::string_view::npos) size = rest.find('\n', size + 1);
      if (size == std::string_view::npos) break;
    } else if (row->argument != Argument::none) {
      size = width(row->argument);
      if (size > rest.size()) break;
      if (is_text(row->argument)) {
        std::uint64_t stated = 0;
        for (std::size_t i = size; i-- > 0;) stated = stated << 8U | static_cast<unsigned char>(rest[i]);
        rest.remove_prefix(size);
        if (stated > rest.size()) break;
        size = stated;
      }
    }
    steps.push_back({*row, std::string(rest.substr(0, size))});
    rest.remove_prefix(size + (is_line(row->argument) ? 1 : 0));
    bytes = rest;
  }
  return steps;
}

std::string bytes_of(const std::vector<Step>& steps) {
  std::string out;
  for (const auto& [row, argument] : steps) {
    out += static_cast<char>(row.op);
    if (is_text(row.argument)) out += number_bytes(argument.size(), width(row.argument));
    out += argument;
    if (is_line(row.argument)) out += '\n';
  }
  return out;
}

Step step_of(Op op, std::string argument = {}) {
  return {*std::ranges::find(opcodes, op, &OpcodeRow::op), std::move(argument)};
}

constexpr std::array<std::string_view, 16> globals{"torch._utils\n_rebuild_tensor_v2",
                                                   "torch._utils\n_rebuild_parameter",
                                                   "collections\nOrderedDict",
                                                   "torch\nFloatStorage",
                                                   "torch\nQInt8Storage",
                                                   "torch._utils\n_rebuild_qtensor",
                                                   "torch\nSize",
                                                   "torch._utils\n_rebuild_sparse_tensor",
                                                   "numpy.core.multiarray\n_reconstruct",
                                                   "numpy\ndtype",
                                                   "numpy\nndarray",
                                                   "torch\nbfloat16",
                                                   "os\nsystem",
                                                   "torch.nn.modules.linear\nLinear",
                                                   "torch._utils\n_rebuild_wrapper_subclass",
                                                   "torch.storage\n_load_from_bytes"};

std::string new_argument(OpcodeRow row, Random& random) {
  if (row.argument == lines) return std::string(random.pick(globals));
  if (row.argument == line)
    return random.one_in(2) ? std::to_string(random.edge()) : "'" + std::string(random.pick(odd_names)) + "'";
  if (is_text(row.argument)) {
    if (row.op == Op::long1 || row.op == Op::long4)
      return number_bytes(random.edge(), 8).substr(0, random.below(9));
    return std::string(random.pick(odd_names));
  }
  if (row.argument == Argument::none) return {};
  const bool is_memo =
      row.op == Op::binget || row.op == Op::binput || row.op == Op::long_binget || row.op == Op::long_binput;
  return number_bytes(is_memo ? random.below(40) : random.edge(), width(row.argument));
}

void change_argument(Step& step, Random& random) {
  if (step.row.argument == Argument::none || random.one_in(3)) {
    step.argument = new_argument(step.row, random);
    return;
  }
  const std::size_t size = step.argument.size();
  step.argument = mutate_text(std::move(step.argument));
  if (is_line(step.row.argument)) std::ranges::replace(step.argument, '\n', ' ');
  else if (!is_text(step.row.argument)) step.argument.resize(size);
  else if (step.row.argument == text1) step.argument.resize(std::min<std::size_t>(step.argument.size(), 255));
}

/// A run of opcodes that unfolds to more than it is.
std::vector<Step> burst(Random& random) {
  std::vector<Step> steps;
  const std::size_t depth = random.one_in(6) ? 900 + random.below(200) : 1 + random.below(40);
  switch (random.below(4)) {
    case 0:  // tuples of tuples
      for (std::size_t i = 0; i < depth; ++i) steps.push_back(step_of(Op::tuple1));
      break;
    case 1:  // each holds the one before twice
      for (std::size_t i = 0; i < depth; ++i) {
        steps.push_back(step_of(Op::dup));
        steps.push_back(step_of(Op::tuple2));
      }
      break;
    case 2:  // dicts in dicts
      for (std::size_t i = 0; i < depth; ++i) {
        steps.push_back(step_of(Op::empty_dict));
        steps.push_back(step_of(Op::binunicode, "k"));
      }
      steps.push_back(step_of(Op::none));
      for (std::size_t i = 0; i < depth; ++i) steps.push_back(step_of(Op::setitem));
      break;
    default:  // a list that holds itself
      steps.push_back(step_of(Op::empty_list));
      steps.push_back(step_of(Op::binput, "\x07"));
      steps.push_back(step_of(Op::binget, "\x07"));
      steps.push_back(step_of(Op::append));
  }
  return steps;
}

void mutate_steps(std::vector<Step>& steps, Random& random) {
  const auto at = [&](std::size_t i) { return steps.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t one = random.below(steps.size());
  const std::size_t few = std::min(steps.size() - one, 1 + random.below(random.one_in(4) ? 40 : 4));
  switch (random.below(10)) {
    case 0:
      steps.erase(at(one), at(one + few));
      return;
    case 1:
    case 2: {
      const std::vector<Step> copy(at(one), at(one + few));
      steps.insert(at(random.below(steps.size())), copy.begin(), copy.end());
      return;
    }
    case 3: {
      const std::vector<Step> moved(at(one), at(one + few));
      steps.erase(at(one), at(one + few));
      steps.insert(at(random.below(steps.size() + 1)), moved.begin(), moved.end());
      return;
    }
    case 4: {
      const OpcodeRow row = random.pick(opcodes);
      steps.insert(at(one), {row, new_argument(row, random)});
      return;
    }
    case 5: {
      const std::vector<Step> more = burst(random);
      steps.insert(at(one), more.begin(), more.end());
      return;
    }
    case 6:  // another opcode with the same kind of argument
      if (const OpcodeRow row = random.pick(opcodes); row.argument == steps[one].row.argument)
        steps[one].row = row;
      else steps[one] = {row, new_argument(row, random)};
      return;
    default:
      for (std::size_t tries = 0; tries < 20; ++tries)
        if (Step& step = random.pick(steps); step.row.argument != Argument::none)
          return change_argument(step, random);
  }
}

}  // namespace

bool mutate_pickle(Buffer& input, Random& random) {
  std::string_view rest(reinterpret_cast<const char*>(input.data()), input.size());
  std::vector<Step> steps = take_steps(rest);
  if (steps.size() < 2) return false;
  mutate_steps(steps, random);
  if (!steps.empty() && steps.back().row.op != Op::stop && rest.empty() && !random.one_in(20))
    steps.push_back(step_of(Op::stop));
  const std::string changed = bytes_of(steps).append(rest);
  input.assign(changed.begin(), changed.end());
  return true;
}

}  // namespace ckpt::fuzz
