#include "ckpt/codec/pickle.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "ckpt/core/error.hpp"
#include "support/pickles.hpp"

using namespace ckpt;
using pickle::Graph;
using pickle::Kind;
using pickle::NodeId;
using support::le;

namespace {

Graph parse(std::string_view text) {
  const auto bytes = as_bytes(text);
  return pickle::parse({bytes.begin(), bytes.end()});
}
Graph parse_body(const std::string& opcodes) { return parse(std::string("\x80\x05", 2) + opcodes + "."); }

std::string error_of(const std::string& opcodes) {
  try {
    parse(opcodes);
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

}  // namespace

TEST_CASE("every spelling of an integer gives its value") {
  const auto value = [](const std::string& opcodes) {
    const Graph graph = parse_body(opcodes);
    return graph.integer(graph.root());
  };
  CHECK(value("K\xff") == 255);
  CHECK(value(std::string("M\x00\x01", 3)) == 256);
  CHECK(value("J\xfe\xff\xff\xff") == -2);
  CHECK(value(std::string("\x8a\x00", 2)) == 0);
  CHECK(value("\x8a\x01\xff") == -1);
  CHECK(value("\x8b" + le(2, 4) + std::string("\x00\x80", 2)) == -32768);
  // Bytes that only repeat the sign say nothing: int.from_bytes(…, "little", signed=True).
  CHECK(value("\x8a\x0a\x05" + std::string(9, '\0')) == 5);
  CHECK(value("\x8a\x0a\xfb" + std::string(9, '\xff')) == -5);
  CHECK(value("I-12\n") == -12);
  CHECK(value("L12L\n") == 12);
}

TEST_CASE("integers beyond 64 bits are kept and shown in decimal") {
  const auto text = [](const std::string& opcodes) {
    const Graph graph = parse_body(opcodes);
    return pickle::integer_text(graph, graph.root());
  };
  CHECK(text(std::string("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00", 11)) == "9223372036854775808");
  CHECK(text(std::string("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\xff", 11)) == "-18446744073709551616");
  CHECK(text("L123456789012345678901234567890L\n") == "123456789012345678901234567890");
  CHECK(text("\x8b" + le(300'000, 4) + std::string(300'000, '\x11')) == "integer of 300000 bytes");
  CHECK(text("I" + std::string(200'000, '7') + "\n") == "integer of 200000 digits");
}

TEST_CASE("booleans, None and floats are read in text and binary form") {
  Graph graph = parse_body("I01\n");
  CHECK((graph.kind(graph.root()) == Kind::boolean && graph.boolean(graph.root())));
  graph = parse_body("\x89");
  CHECK((graph.kind(graph.root()) == Kind::boolean && !graph.boolean(graph.root())));
  graph = parse_body("N");
  CHECK(graph.kind(graph.root()) == Kind::none);
  graph = parse_body(std::string("G\x3f\xf8\x00\x00\x00\x00\x00\x00", 9));  // big-endian
  CHECK(graph.real(graph.root()) == 1.5);
  const auto real = [](const std::string& digits) {
    const Graph number = parse_body("F" + digits + "\n");
    return number.real(number.root());
  };
  CHECK(real("-2.5e3") == -2500);
  // As Python's float() has them.
  CHECK(real("1e400") == std::numeric_limits<double>::infinity());
  CHECK(real("-1e400") == -std::numeric_limits<double>::infinity());
  CHECK(real("1e-400") == 0);
  CHECK(real("inf") == std::numeric_limits<double>::infinity());
}

TEST_CASE("texts and bytes are kept as they stand, escapes of protocol 0 decoded") {
  const auto text = [](const std::string& opcodes) {
    const Graph graph = parse_body(opcodes);
    return std::string(graph.text(graph.root()));
  };
  CHECK(text("X" + le(2, 4) + "hi") == "hi");
  CHECK(text("X" + le(3, 4) + "\xed\xa0\x80") == "\xed\xa0\x80");  // a lone surrogate
  CHECK(text("\x8c\x02hi") == "hi");
  CHECK(text("\x8d" + le(2, 8) + "hi") == "hi");
  CHECK(text("C\x02\xff\xfe") == "\xff\xfe");
  CHECK(text("\x96" + le(2, 8) + "hi") == "hi");
  CHECK(text("V\\u00e9\xe9\\\\\n") == "\xc3\xa9\xc3\xa9\\\\");
  CHECK(text("S'a\\x00\\n\\101\\''\n") == std::string("a\0\nA'", 5));
}

TEST_CASE("containers hold their items in order, also when they grow between others") {
  // Two lists that grow in turn: a = [0, 1, … 9], b likewise.
  std::string opcodes = "]q\x01]q\x02";
  for (int i = 0; i < 10; ++i)
    for (const char* list : {"h\x01", "h\x02"})
      opcodes += std::string(list) + "K" + static_cast<char>(i) + "a0";
  opcodes += "\x86";
  const Graph graph = parse_body(opcodes);
  for (const NodeId list : graph.children(graph.root())) {
    REQUIRE(graph.children(list).size() == 10);
    for (std::size_t i = 0; i < 10; ++i)
      CHECK(graph.integer(graph.children(list)[i]) == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("dicts, sets and frozensets are read from marks and from single items") {
  Graph graph = parse_body(
      "(K\x01K\x02K\x03K\x04"
      "d");
  CHECK(graph.children(graph.root()).size() == 4);
  graph = parse_body("}(K\x01K\x02uK\x03K\x04s");
  CHECK(graph.children(graph.root()).size() == 4);
  graph = parse_body("\x8f(K\x01K\x02\x90");
  CHECK((graph.kind(graph.root()) == Kind::set && graph.children(graph.root()).size() == 2));
  graph = parse_body("(K\x01\x91");
  CHECK(graph.kind(graph.root()) == Kind::frozenset);
}

TEST_CASE("whatever would be called stays a call, with what was done to its object") {
  const auto check = [](const std::string& opcodes) {
    const Graph graph = parse_body(opcodes);
    REQUIRE(graph.kind(graph.root()) == Kind::call);
    const pickle::Call& call = graph.call(graph.root());
    CHECK(graph.global(call.callable).full() == "os.system");
    CHECK(graph.children(call.args).size() == 1);
  };
  check("cos\nsystem\nK\x01\x85R");
  check("cos\nsystem\nK\x01\x85\x81");
  check("cos\nsystem\nK\x01\x85}\x92");
  check("(K\x01ios\nsystem\n");
  check("(cos\nsystem\nK\x01o");
  check("\x8c\x02os\x8c\x06system\x93K\x01\x85R");
  check(
      "\x8c\x02os\x94"
      "0\x8c\x06systemh" +
      std::string(1, '\0') + "\x8c\x06system\x93K\x01\x85R");
}

TEST_CASE("BUILD, APPENDS and SETITEMS on a call are remembered in it") {
  const Graph graph = parse_body(
      "cm\nC\n)R(K\x01K\x02uK\x03"
      "a}b");
  const pickle::Call& call = graph.call(graph.root());
  CHECK(graph.children(call.items).size() == 2);
  CHECK(graph.children(call.appends).size() == 1);
  CHECK(graph.kind(call.state) == Kind::dict);
}

TEST_CASE("globals are collected under their Python 3 names, once, with their place") {
  const Graph graph =
      parse_body("c__builtin__\nset\n0ccopy_reg\n_reconstructor\n0cbuiltins\nset\n0c__builtin__\nxrange\n");
  REQUIRE(graph.globals().size() == 3);
  CHECK(graph.globals()[0].full() == "builtins.set");
  CHECK(graph.globals()[0].offset == 2);
  CHECK(graph.globals()[1].full() == "copyreg._reconstructor");
  CHECK(graph.globals()[2].full() == "builtins.range");
}

TEST_CASE("memo numbers may be sparse, and MEMOIZE counts what is there") {
  const Graph graph = parse_body(
      "K\x07r\xfe\xff\xff\x7f"
      "0K\x08\x94"
      "0j\xfe\xff\xff\x7fh\x01\x86");
  CHECK(graph.integer(graph.children(graph.root())[0]) == 7);
  CHECK(graph.integer(graph.children(graph.root())[1]) == 8);
}

TEST_CASE("a pickle ends at STOP, and one may follow another") {
  const std::string two = "K\x01.K\x02.";
  CHECK(parse(two).used() == 3);
  const Bytes source = memory_bytes(two);
  CHECK(pickle::read(*source, 3).used() == 3);
  CHECK(pickle::read(*source, 3).integer(pickle::read(*source, 3).root()) == 2);
}

TEST_CASE("a pickle longer than the first window is read whole") {
  const std::string text(100'000, 'x');
  const Graph graph =
      pickle::read(*memory_bytes("X" + le(text.size(), 4) + text + "." + std::string(50, '\0')), 0);
  CHECK(graph.text(graph.root()) == text);
  CHECK(graph.source_offset(graph.root()) == 5);
}

TEST_CASE("objects that contain themselves and 200 000 levels of nesting do no harm") {
  const Graph self = parse_body(
      "]q\x01h\x01"
      "a");
  CHECK(self.children(self.root())[0] == self.root());
  const Graph deep = parse_body(")" + std::string(200'000, '\x85'));
  CHECK(deep.size() == 200'001);
}

TEST_CASE("errors name the byte and the trouble") {
  CHECK_THAT(error_of(""), Catch::Contains("empty"));
  CHECK_THAT(error_of("\x80\x63N."), Catch::Contains("protocol 99"));
  CHECK_THAT(error_of("NN\x01."), Catch::Contains("byte 2") && Catch::Contains("0x01"));
  CHECK_THAT(error_of("(R."), Catch::Contains("byte 1"));
  CHECK_THAT(error_of("}u."), Catch::Contains("mark"));
  CHECK_THAT(error_of("}(K\x01u."), Catch::Contains("key without a value"));
  CHECK_THAT(error_of("}K\x01"
                      "a."),
             Catch::Contains("not a list"));
  CHECK_THAT(error_of("]K\x01K\x02s."), Catch::Contains("not a dict"));
  CHECK_THAT(error_of("]}b."), Catch::Contains("not an object"));
  CHECK_THAT(error_of("j\xff\xff\xff\xff."), Catch::Contains("4294967295"));
  CHECK_THAT(error_of("\x82\x01."), Catch::Contains("EXT"));
  CHECK_THAT(error_of("\x97."), Catch::Contains("NEXT_BUFFER"));
  CHECK_THAT(error_of("K\x01K\x02R."), Catch::Contains("not a tuple"));
  CHECK_THAT(error_of("N"), Catch::Contains("cut off"));
}

TEST_CASE("a length is compared with what is left before it is used") {
  for (const char* opcode : {"\x8d", "\x8e", "\x96", "\x95"})
    CHECK_THAT(error_of(opcode + le(UINT64_MAX >> 1U, 8) + "x."), Catch::Contains("cut off"));
  CHECK_THAT(error_of("\x8b" + le(0x7FFFFFFF, 4) + "."), Catch::Contains("cut off"));
  CHECK_THAT(error_of("T" + le(0xFFFFFFFF, 4) + "."), Catch::Contains("cut off"));
}

TEST_CASE("a pickle that is cut or flipped anywhere gives a graph or an error") {
  support::PickleWriter writer;
  const std::string file =
      writer.raw("}(").text("w").vector("0", 6).text("n").integers({1, 2}).raw("u").done();
  for (std::size_t size = 0; size < file.size(); ++size) CHECK_FALSE(error_of(file.substr(0, size)).empty());
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string bad = file;
      bad[i] = static_cast<char>(value);
      error_of(bad);
    }
  }
  SUCCEED();
}

TEST_CASE("every opcode that wants what is not there is refused by what it wants") {
  CHECK_THAT(error_of("(o."), Catch::Contains("an object without its class"));
  CHECK_THAT(error_of("h\x07."), Catch::Contains("memo 7 is used but was never set"));
  CHECK_THAT(error_of("N0."), Catch::Contains("more than the stack holds"));
  CHECK_THAT(error_of("(2."), Catch::Contains("more than the stack holds"));
  CHECK_THAT(error_of("t."), Catch::Contains("there is none on the stack"));
  CHECK_THAT(error_of("NK\x01\x93."), Catch::Contains("a global whose name is not text"));
  CHECK_THAT(error_of("\x8c\x01mK\x01\x93."), Catch::Contains("a global whose name is not text"));
  CHECK_THAT(error_of("]K\x01\x85\x90."), Catch::Contains("mark"));
  CHECK_THAT(error_of("](K\x01\x90."), Catch::Contains("not a set"));
  CHECK_THAT(error_of("I1x\n."), Catch::Contains("digits are not digits"));
  CHECK_THAT(error_of("I-\n."), Catch::Contains("digits are not digits"));
  CHECK_THAT(error_of("L\n."), Catch::Contains("digits are not digits"));
  CHECK_THAT(error_of("Fx\n."), Catch::Contains("a number whose digits are not digits"));
  CHECK_THAT(error_of("F1x\n."), Catch::Contains("a number whose digits are not digits"));
  CHECK_THAT(error_of("Np7x\n."), Catch::Contains("a memo number that is not a number"));
  CHECK_THAT(error_of("gx\n."), Catch::Contains("a memo number that is not a number"));
  CHECK_THAT(error_of("V\\u12\n."), Catch::Contains("a text with a malformed escape"));
  CHECK_THAT(error_of("Sabc\n."), Catch::Contains("not quoted rightly"));
  CHECK_THAT(error_of("\x98."), Catch::Contains("READONLY_BUFFER"));
  CHECK_THAT(error_of("\x83\x01\x02."), Catch::Contains("EXT"));
  CHECK_THAT(error_of("\x84\x01\x02\x03\x04."), Catch::Contains("EXT"));
}

TEST_CASE("marks are dropped with what stands on them, memos are set and used in text too") {
  Graph graph = parse_body("K\x07(K\x01K\x02\x31");  // POP_MARK
  CHECK(graph.integer(graph.root()) == 7);
  graph = parse_body("K\x07(0");  // POP takes a mark that nothing stands on
  CHECK(graph.integer(graph.root()) == 7);
  graph = parse_body("K\x07p12\n0g12\n2\x86");  // DUP
  CHECK(graph.integer(graph.children(graph.root())[1]) == 7);
  graph = parse_body("Pkey\n");
  CHECK(graph.text(graph.persistent_id(graph.root())) == "key");
  graph = parse_body("(K\x01K\x02l");
  CHECK((graph.kind(graph.root()) == Kind::list && graph.children(graph.root()).size() == 2));
  graph = parse_body("K\x01K\x02K\x03\x87");
  CHECK(graph.integer(graph.children(graph.root())[2]) == 3);
}

TEST_CASE("escapes of protocol 0 are Python's, and malformed ones are refused") {
  const auto text = [](const std::string& opcodes) {
    const Graph graph = parse_body(opcodes);
    return std::string(graph.text(graph.root()));
  };
  CHECK(text(R"(S'\r\t\a\b\f\v\\\"')"
             "\n") == "\r\t\a\b\f\v\\\"");
  CHECK(text(R"(S'\q\9')"
             "\n") == R"(\q\9)");  // no escapes: they stay, as in Python
  CHECK(text(R"(S'\0\7x\1234')"
             "\n") == std::string("\0\7x\123"
                                  "4",
                                  5));
  CHECK(text(R"(S"it's")"
             "\n") == "it's");
  CHECK(text(R"(S'\x7F\xfe')"
             "\n") == "\x7f\xfe");
  for (const char* bad : {R"(S'\x7')", R"(S'\xg0')", R"(S'\')", "S'", "S'abc\"", "Sabc", "S"}) {
    CAPTURE(bad);
    CHECK_THAT(error_of(std::string(bad) + "\n."), Catch::Contains("not quoted rightly"));
  }
  CHECK(text("V\\U0001F600\n") == "\xF0\x9F\x98\x80");
  CHECK(text("V\\uD83D\n") == "\xED\xA0\xBD");  // half of a pair stays what it is
  CHECK(text("Va\\qb\\\n") == "a\\qb\\");
  CHECK(text("V\\u20ac\n") == "\xE2\x82\xAC");
  for (const char* bad : {"V\\u12", "V\\u12g4", "V\\U00110000", "V\\U1234"}) {
    CAPTURE(bad);
    CHECK_THAT(error_of(std::string(bad) + "\n."), Catch::Contains("malformed escape"));
  }
}

TEST_CASE("bytes look like a pickle when they are one, or the beginning of one that goes on") {
  const auto looks = [](const std::string& bytes, bool is_whole) {
    return pickle::looks_like_pickle(as_bytes(bytes), is_whole);
  };
  CHECK(looks("K\x01.", true));
  CHECK(looks("K\x01.and more", false));
  CHECK(looks("}K\x01", false));
  CHECK_FALSE(looks("}K\x01", true));  // the whole file, and no end
  CHECK_FALSE(looks("K", false));      // not one whole opcode is no evidence
  CHECK_FALSE(looks("}R.", false));    // it does not run
  CHECK_FALSE(looks("hello", false));
}
