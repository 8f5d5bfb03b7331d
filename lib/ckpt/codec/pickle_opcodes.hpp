#pragma once

#include <cstdint>

namespace ckpt::pickle {

/// The opcodes of protocols 0 to 5, as Python's `pickletools` names them.
enum class Op : std::uint8_t {
  mark = '(',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  float_line = 'F',
  int_line = 'I',
  binint = 'J',
  binint1 = 'K',
  long_line = 'L',
  binint2 = 'M',
  none = 'N',
  persid = 'P',
  binpersid = 'Q',
  reduce = 'R',
  string_line = 'S',
  binstring = 'T',
  short_binstring = 'U',
  unicode_line = 'V',
  binunicode = 'X',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  empty_dict = '}',
  appends = 'e',
  get = 'g',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  empty_list = ']',
  obj = 'o',
  put = 'p',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  empty_tuple = ')',
  setitems = 'u',
  binfloat = 'G',
  // protocol 2
  proto = 0x80,
  newobj = 0x81,
  ext1 = 0x82,
  ext2 = 0x83,
  ext4 = 0x84,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  // protocol 3
  binbytes = 'B',
  short_binbytes = 'C',
  // protocol 4
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  empty_set = 0x8f,
  additems = 0x90,
  frozenset = 0x91,
  newobj_ex = 0x92,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  // protocol 5
  bytearray8 = 0x96,
  next_buffer = 0x97,
  readonly_buffer = 0x98,
};

inline constexpr unsigned newest_protocol = 5;

}  // namespace ckpt::pickle
