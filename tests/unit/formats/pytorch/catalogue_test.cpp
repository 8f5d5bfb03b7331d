#include "ckpt/formats/pytorch/catalogue.hpp"

#include <catch2/catch.hpp>

#include "ckpt/codec/json.hpp"
#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::names;
using support::PickleWriter;
using support::read;
using support::torch_zip;
using Strings = std::vector<std::string>;

namespace {

Checkpoint read_pickle(PickleWriter& writer) {
  return read(torch_zip(writer.done(), {{"data/0", floats({1, 2})}}));
}
std::string error_of(PickleWriter& writer) {
  return support::error_of(torch_zip(writer.done(), {{"data/0", floats({1, 2})}}));
}

}  // namespace

TEST_CASE("names are paths of keys and positions") {
  PickleWriter writer;
  writer.raw("}(")
      .text("list")
      .raw("](")
      .vector("0", 2)
      .raw("(")
      .vector("0", 2)
      .raw("te")
      .integer(7)
      .vector("0", 2)
      .integer(-1)
      .vector("0", 2)
      .raw("u");
  CHECK(names(read_pickle(writer)) == Strings{"list.0", "list.1.0", "7", "-1"});
}

TEST_CASE("keys that are no text are spelled as Python shows them") {
  PickleWriter writer;
  writer.raw("}((")
      .text("a")
      .integer(1)
      .raw("t")
      .vector("0", 2)
      .raw("G")
      .raw({"\x3f\xf8\0\0\0\0\0\0", 8})
      .vector("0", 2);
  writer.raw("\x88")
      .vector("0", 2)
      .raw("N")
      .vector("0", 2)
      .raw(
          "C\x01"
          "b")
      .vector("0", 2);
  writer.global("__builtin__", "frozenset")
      .raw(
          "](K\x01"
          "e\x85R")
      .vector("0", 2)
      .global("m", "Class")
      .vector("0", 2)
      .raw("u");
  CHECK(names(read_pickle(writer)) ==
        Strings{"('a', 1)", "1.5", "True", "None", "b'b'", "frozenset({1})", "m.Class"});
}

TEST_CASE("two paths that are spelled alike both stay, and a note says so") {
  PickleWriter writer;
  writer.raw("}(")
      .text("a.b")
      .vector("0", 2)
      .text("a")
      .raw("}")
      .text("b")
      .vector("0", 2)
      .raw("s")
      .text("a.b#2")
      .vector("0", 2)
      .raw("u");
  const Checkpoint checkpoint = read_pickle(writer);
  CHECK(names(checkpoint) == Strings{"a.b", "a.b#2", "a.b#2#2"});
  CHECK(checkpoint.tensors[0].number == 0);
  CHECK(checkpoint.tensors[1].number == 2);
  CHECK(checkpoint.tensors[2].number == 2);
  REQUIRE(checkpoint.notes.size() == 1);
  CHECK_THAT(checkpoint.notes[0], Contains("a.b"));
}

TEST_CASE("keys that are spelled alike are numbered, tensors and values alike") {
  PickleWriter writer;
  writer.raw("}(");
  for (int i = 0; i < 3; ++i) writer.raw("N").vector("0", 2).raw("NK\x01");
  CHECK(names(read_pickle(writer.raw("u"))) == Strings{"None", "None#2", "None#3"});

  PickleWriter values;
  values.raw("}(").text("t").vector("0", 2).text("None#2").raw("K\x07");
  for (int i = 0; i < 3; ++i) values.raw("NK\x01");
  CHECK(json::dump(read_pickle(values.raw("u")).values) == R"({"None#2":7,"None":1,"None#3":1,"None#4":1})");

  // Also where the one that is spelled so stands behind, beside tensors and in a value.
  PickleWriter beside;
  beside.raw("}(").text("t").vector("0", 2).raw("NK\x01").text("None").raw("K\x02").text("None#2").raw(
      "K\x03");
  CHECK(json::dump(read_pickle(beside.raw("u")).values) == R"({"None":1,"None#2":2,"None#2#2":3})");
  PickleWriter within;
  within.raw("}(").text("t").vector("0", 2).text("v");
  within.raw("}(NK\x01").text("None").raw("K\x02").text("None#2").raw("K\x03uu");
  CHECK(json::dump(read_pickle(within).values) == R"({"v":{"None":1,"None#2":2,"None#2#2":3}})");
}

TEST_CASE("a key that comes again replaces the value, as in Python") {
  PickleWriter writer;
  writer.raw("}(").text("w").integer(1).text("w").vector("0", 2).raw("u");
  CHECK(names(read_pickle(writer)) == Strings{"w"});
}

TEST_CASE("an OrderedDict of Python 2 is made from a list of pairs") {
  PickleWriter writer;
  writer.global("collections", "OrderedDict").raw("(](](").text("w").vector("0", 2).raw("eetR");
  CHECK(names(read_pickle(writer)) == Strings{"w"});
}

TEST_CASE("a tensor alone has an empty name") {
  PickleWriter writer;
  const Checkpoint checkpoint = read_pickle(writer.vector("0", 2));
  CHECK(names(checkpoint) == Strings{""});
  REQUIRE(checkpoint.roots.size() == 1);
  CHECK(checkpoint.roots[0].tensors == 1);
}

TEST_CASE("an object reached by two paths is listed under both") {
  PickleWriter writer;
  writer.raw("}(").text("a").raw("}q\x01").text("w").vector("0", 2).raw("s").text("b").raw("h\x01u");
  const Checkpoint checkpoint = read_pickle(writer);
  CHECK(names(checkpoint) == Strings{"a.w", "b.w"});
  CHECK(same_place(checkpoint.tensors[0], checkpoint.tensors[1]));
}

TEST_CASE("objects that contain themselves end the path") {
  PickleWriter writer;
  writer.raw("}q\x01(").text("w").vector("0", 2).text("self").raw("h\x01u");
  const Checkpoint checkpoint = read_pickle(writer);
  CHECK(names(checkpoint) == Strings{"w"});
  CHECK_THAT(checkpoint.notes.at(0), Contains("refer back"));
}

TEST_CASE("a tensor with 2^60 names is one clear error") {
  PickleWriter writer;
  writer.vector("0", 2);
  for (int i = 0; i < 60; ++i) writer.raw("q\x01h\x01\x86");
  CHECK_THAT(error_of(writer), Contains("unfold"));
}

TEST_CASE("what is in many places costs what there is to look at in each") {
  // A dict of 3000 settings and a tensor, in 3000 places.
  PickleWriter writer;
  writer.raw("](}(").text("t").vector("0", 2);
  for (int i = 0; i < 3000; ++i) writer.text(std::to_string(i)).raw("K\x01");
  writer.raw("uq\x01");
  for (int i = 0; i < 3000; ++i) writer.raw("h\x01");
  CHECK_THAT(error_of(writer.raw("e")), Contains("unfold to more than"));

  // One key of 100 000 letters in 1000 names, and in 1000 dicts without tensors.
  for (const bool has_tensors : {true, false}) {
    PickleWriter keys;
    keys.raw("](").text(std::string(100'000, 'k')).raw("q\x01");
    for (int i = 0; i < 1000; ++i) {
      keys.raw("}h\x01");
      if (has_tensors) keys.vector("0", 2).raw("s");
      else keys.raw("K\x01s");
    }
    keys.raw("e");
    if (has_tensors) CHECK_THAT(error_of(keys), Contains("unfold to more than"));
    else CHECK(json::dump(read_pickle(keys).values).size() < 6'000'000);
  }
}

TEST_CASE("values that unfold without end are cut off and counted") {
  PickleWriter writer;
  writer.raw("K\x01");
  for (int i = 0; i < 60; ++i) writer.raw("q\x01h\x01\x86");
  CHECK_THAT(read_pickle(writer).notes.at(0), Contains("not shown"));
}

TEST_CASE("nesting around a tensor has a limit") {
  PickleWriter writer;
  writer.vector("0", 2).raw(std::string(5000, '\x85'));
  CHECK_THAT(error_of(writer), Contains("1000 levels"));
}

TEST_CASE("values beside the tensors keep their structure and their types") {
  PickleWriter writer;
  writer.raw("}(")
      .text("epoch")
      .integer(3)
      .text("loss")
      .raw("G")
      .raw({"\x3f\xf8\0\0\0\0\0\0", 8})
      .text("big")
      .raw(std::string("\x8a\x09\0\0\0\0\0\0\0\0\x01", 11));
  writer.text("model")
      .raw("}")
      .text("w")
      .vector("0", 2)
      .raw("s")
      .text("mixed")
      .raw("](")
      .vector("0", 2)
      .integer(5)
      .raw("e");
  writer.text("object").global("m", "Thing").raw(")R").text("none").raw("Nu");
  const Checkpoint checkpoint = read_pickle(writer);
  CHECK(checkpoint.values.find("epoch")->as<std::int64_t>() != nullptr);
  CHECK(*checkpoint.values.find("loss") == Value(1.5));
  CHECK(*checkpoint.values.find("big") == Value(Value::Number{"18446744073709551616"}));
  CHECK(checkpoint.values.find("model") == nullptr);
  CHECK(*checkpoint.values.find("mixed") == Value(Value::Array{nullptr, 5}));
  CHECK(*checkpoint.values.find("object") == Value::object().set("class", "m.Thing"));
  CHECK(checkpoint.values.find("none")->is_null());
}

TEST_CASE("a pickled module is named as its state_dict would be") {
  PickleWriter writer;
  writer.global("__main__", "Net").raw(")\x81}(");
  writer.text("_parameters").raw("}(").text("weight").vector("0", 2).text("bias").raw("Nu");
  writer.text("_buffers").raw("}(").text("mean").vector("0", 2).text("cache").vector("0", 2).raw("u");
  writer.text("_non_persistent_buffers_set")
      .global("__builtin__", "set")
      .raw("](")
      .text("cache")
      .raw("e\x85R");
  writer.text("_modules")
      .raw("}(")
      .text("gone")
      .raw("N")
      .text("fc")
      .global("torch.nn.modules.linear", "Linear")
      .raw(")\x81}(");
  writer.text("_parameters")
      .raw("}")
      .text("weight")
      .vector("0", 2)
      .raw("s")
      .text("_buffers")
      .raw("}")
      .text("_modules")
      .raw("}ubu");
  writer.text("attribute").vector("0", 2).raw("ub");
  const Checkpoint checkpoint = read_pickle(writer);
  CHECK(names(checkpoint) == Strings{"weight", "mean", "fc.weight"});
  CHECK(checkpoint.notes ==
        Strings{"2 tensors of modules left out: they are no part of state_dict(), but are held by plain "
                "attributes or by buffers that are not persistent (first: cache)"});
  CHECK(checkpoint.tensors[1].module_class == "__main__.Net");
  CHECK(checkpoint.tensors[2].module_class == "torch.nn.modules.linear.Linear");
  REQUIRE(checkpoint.roots.size() == 1);
  CHECK(checkpoint.roots[0].key.empty());
  CHECK(checkpoint.roots[0].tensors == 3);
  CHECK(*checkpoint.values.find("class") == Value("__main__.Net"));
  REQUIRE(checkpoint.globals.size() == 2);
  CHECK(checkpoint.globals[0].name == "__main__.Net");
  CHECK_FALSE(checkpoint.globals[0].hostile);
}

// PyTorch pickles `norm_first` as an attribute of the layer; what holds no tensor of its own says it for all
// below.
TEST_CASE("a pickled transformer layer says whether its norms come first") {
  const auto kind_of = [](std::string_view module_class, const std::string& norm_first) {
    PickleWriter writer;
    writer.global("torch.nn.modules.transformer", module_class).raw(")\x81}(").text("_parameters").raw("}");
    writer.text("_buffers").raw("}").text("_modules").raw("}").text("norm1");
    writer.global("torch.nn.modules.normalization", "LayerNorm").raw(")\x81}(").text("_parameters").raw("}");
    writer.text("weight").vector("0", 2).raw("s").text("_buffers").raw("}").text("_modules").raw("}ubs");
    if (!norm_first.empty()) writer.text("norm_first").raw(norm_first);
    const Checkpoint checkpoint = read_pickle(writer.raw("ub"));
    REQUIRE(names(checkpoint) == Strings{"norm1.weight"});
    return checkpoint.tensors[0].recorded_kind;
  };
  for (const std::string kind : {"TransformerEncoderLayer", "TransformerDecoderLayer"}) {
    CHECK(kind_of(kind, "\x88") == kind + "(norm_first)");
    CHECK(kind_of(kind, "\x89") == kind);
    CHECK(kind_of(kind, "").empty());
    CHECK(kind_of(kind, "N").empty());
  }
  CHECK(kind_of("Transformer", "\x88").empty());
}

TEST_CASE("attributes of unknown objects are walked where they hold tensors") {
  PickleWriter writer;
  writer.raw("}")
      .text("thing")
      .global("m", "Thing")
      .raw(")\x81}(")
      .text("inner")
      .raw("}")
      .text("w")
      .vector("0", 2)
      .raw("s")
      .text("n")
      .integer(1)
      .raw("ubs");
  CHECK(names(read_pickle(writer)) == Strings{"thing.inner.w"});
}

TEST_CASE("keys of every kind are spelled, long and deep ones cut off") {
  PickleWriter writer;
  writer.raw("}(");
  writer
      .raw(
          "](K\x01K\x02"
          "e")
      .vector("0", 2);                          // no dict of Python's has it
  writer.raw("(K\x01\x91").vector("0", 2);      // a frozenset by its opcode
  writer.raw("\x8f(K\x01\x90").vector("0", 2);  // a set
  writer.global("__builtin__", "set")
      .raw(
          "](K\x01"
          "e\x85R")
      .vector("0", 2);
  writer.raw("}").vector("0", 2);
  writer.raw("K\x01\x85").vector("0", 2);
  writer.global("_codecs", "encode").raw("(").text("\xc3\xbf").text("latin1").raw("tR").vector("0", 2);
  writer.global("m", "Made").raw(")R").vector("0", 2);
  writer.storage("FloatStorage", "0", 2).vector("0", 2);
  writer.raw("L123456789012345678901L\n").vector("0", 2);
  writer.text("it's").raw("\x85").vector("0", 2);
  writer.raw("F1e400\n").vector("0", 2);
  CHECK(names(read_pickle(writer.raw("u"))) == Strings{"[1, 2]", "frozenset({1})", "{1}", "{1}#2", "dict",
                                                       "(1,)", R"(b'\xff')", "m.Made", "tensor",
                                                       "123456789012345678901", R"(("it's",))", "inf"});
  PickleWriter deep;
  deep.raw("}(K\x01").raw(std::string(10, '\x85')).vector("0", 2);
  std::string many = "(";
  for (int i = 0; i < 200; ++i) many += "K\x01";
  deep.raw(many + "t").vector("0", 2);
  const Strings cut = names(read_pickle(deep.raw("u")));
  CHECK(cut.at(0) == "(((((((((…,),),),),),),),),)");
  CHECK(cut.at(1).size() < 300);
}

TEST_CASE("mappings and objects are read in every way that Python pickles them") {
  PickleWriter counter;
  counter.raw("}")
      .text("c")
      .global("collections", "Counter")
      .raw("}")
      .text("w")
      .vector("0", 2)
      .raw("s\x85Rs");
  CHECK(names(read_pickle(counter)) == Strings{"c.w"});

  PickleWriter slots;  // an object with __slots__ has (its dict, its slots)
  slots.global("m", "Thing")
      .raw(")\x81}")
      .text("a")
      .vector("0", 2)
      .raw("s}")
      .text("b")
      .vector("0", 2)
      .raw(
          "s\x86"
          "b");
  CHECK(names(read_pickle(slots)) == Strings{"b", "a"});

  PickleWriter state;  // __setstate__ takes anything
  state.global("m", "Thing").raw(")\x81(").vector("0", 2).raw("tb");
  CHECK(names(read_pickle(state)) == Strings{"state.0"});

  PickleWriter args;
  args.global("m", "Thing").raw("(").vector("0", 2).raw("tR](").vector("0", 2).raw("e\x86");
  CHECK(names(read_pickle(args)) == Strings{"0.args.0", "1.0"});

  PickleWriter keywords;  // NEWOBJ_EX
  keywords.global("m", "Thing").raw(")}").text("k").vector("0", 2).raw("s\x92");
  CHECK(names(read_pickle(keywords)) == Strings{"k"});

  PickleWriter old;  // classes of Python 2 and copyreg
  old.raw("}(").text("t").vector("0", 2).text("o").global("copy_reg", "_reconstructor").raw("(");
  old.global("m", "Thing").global("__builtin__", "object").raw("NtRu");
  CHECK(*read_pickle(old).values.find("o") == Value::object().set("class", "m.Thing"));
}

TEST_CASE("plain objects show what they are made from, others their class only") {
  PickleWriter writer;
  writer.raw("}(").text("t").vector("0", 2);
  writer.text("date").global("datetime", "date").raw("(K\x01tR");
  writer.text("space").global("argparse", "Namespace").raw(")\x81}").text("lr").raw("K\x02sb");
  writer.text("object").global("m", "C").raw(")\x81}").text("secret").raw("K\x02sb");
  writer.text("device").global("torch", "device").raw("(").text("cpu").raw("tR");
  writer.text("bytes").raw(
      "C\x03"
      "abc");
  writer.text("encoded").global("_codecs", "encode").raw("(").text("ab").text("latin1").raw("tR");
  writer.text("dtype").global("numpy", "dtype").raw("(").text("f4").raw("tR");
  writer.text("storage").storage("FloatStorage", "0", 2);
  writer.text("global").global("m", "f");
  const Checkpoint checkpoint = read_pickle(writer.raw("u"));
  CHECK(json::dump(checkpoint.values) ==
        R"({"date":{"class":"datetime.date","args":[1]},"space":{"lr":2},"object":{"class":"m.C"},)"
        R"("device":{"class":"torch.device","args":["cpu"]},"bytes":"3 bytes","encoded":"2 bytes",)"
        R"("dtype":"dtype |f4","storage":"storage","global":"m.f"})");
}

TEST_CASE("the parts that describe a storage are checked one by one") {
  const auto error = [](const std::string& parts) {
    PickleWriter writer;
    writer.raw("}").text("x").global("torch._utils", "_rebuild_tensor_v2").raw("((").text("storage");
    return error_of(writer.raw(parts).raw("tQK").raw({"\0", 1}).raw("(K\x02t(K\x01t\x89NtRs"));
  };
  PickleWriter type;
  const std::string made = type.global("torch", "FloatStorage").done();
  const std::string floats_class = made.substr(2, made.size() - 3);
  const std::string key = "X" + support::le(1, 4) + "0";
  CHECK_THAT(error(""), Contains("a storage is described by 1 parts; at least 5 are wanted"));
  CHECK_THAT(error(floats_class + "NNK\x02"), Contains("the key of a storage is None"));
  CHECK_THAT(error("N" + key + "NK\x02"), Contains("storage 0: its class is None"));
  CHECK_THAT(error(floats_class + key + "NN"), Contains("storage 0: its size is None"));
  CHECK_THAT(error(floats_class + key + "NJ\xff\xff\xff\xff"),
             Contains("storage 0: its size is negative (-1)"));
  CHECK_THAT(error(floats_class + key + "N\x8a\x08" + support::le(INT64_MAX, 8)),
             Contains("more than can be counted"));
  CHECK(error(floats_class + std::string("K\0NK\x02", 5)).empty());  // a key that is a number
}
