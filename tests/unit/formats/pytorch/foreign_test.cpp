#include "ckpt/formats/pytorch/foreign.hpp"

#include <catch2/catch.hpp>

#include "ckpt/formats/pytorch/dangers.hpp"
#include "support/checkpoints.hpp"

using namespace ckpt;
using support::PickleWriter;

namespace {

std::vector<ForeignGlobal> globals(PickleWriter& writer) {
  return support::read(support::torch_zip(writer.done())).globals;
}

}  // namespace

TEST_CASE("names that run code are hostile wherever they stand, also unused ones") {
  PickleWriter writer;
  const std::vector<ForeignGlobal> found =
      globals(writer.global("os", "system").raw("0").global("nt", "system").text("x").raw("\x85R0}"));
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "os.system");
  CHECK(found[0].hostile);
  CHECK(found[1].hostile);
}

TEST_CASE("plain data and PyTorch's own rebuild functions are not foreign, unknown classes are") {
  PickleWriter writer;
  writer.raw("](")
      .ordered_dict()
      .global("torch", "float32")
      .global("datetime", "datetime")
      .global("pathlib", "PosixPath");
  writer.global("models.yolo", "Model").raw("e");
  const std::vector<ForeignGlobal> found = globals(writer);
  REQUIRE(found.size() == 1);
  CHECK(found[0].name == "models.yolo.Model");
  CHECK_FALSE(found[0].hostile);
}

TEST_CASE("getattr of a class and a plain name is harmless, anything more is not") {
  const auto is_listed = [](PickleWriter& writer) {
    for (const ForeignGlobal& global : globals(writer))
      if (global.name == "builtins.getattr") return global.hostile;
    return false;
  };
  PickleWriter method;
  method.global("__builtin__", "getattr")
      .raw("(")
      .global("torch.optim.lr_scheduler", "OneCycleLR")
      .text("__globals__")
      .raw("tR");
  CHECK(is_listed(method));
  PickleWriter plain;
  plain.global("__builtin__", "getattr")
      .raw("(")
      .global("torch.optim.lr_scheduler", "OneCycleLR")
      .text("_annealing_cos")
      .raw("tR");
  CHECK_FALSE(is_listed(plain));
  PickleWriter called;
  called.global("__builtin__", "getattr").raw("(").global("m", "C").text("run").raw("tR)R");
  CHECK(is_listed(called));
  PickleWriter chain;
  chain.global("__builtin__", "getattr")
      .raw("(")
      .global("__builtin__", "getattr")
      .raw("(")
      .global("m", "C")
      .text("a")
      .raw("tR")
      .text("b")
      .raw("tR");
  CHECK(is_listed(chain));
}

TEST_CASE("a danger covers what lies below its module but not modules that begin alike") {
  CHECK(pytorch::is_dangerous("subprocess", "Popen"));
  CHECK(pytorch::is_dangerous("multiprocessing.util", "spawn"));
  CHECK_FALSE(pytorch::is_dangerous("oscar", "system"));
  CHECK_FALSE(pytorch::is_dangerous("builtins", "set"));
}
