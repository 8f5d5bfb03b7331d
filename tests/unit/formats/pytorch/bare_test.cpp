#include "ckpt/formats/pytorch/bare.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::le;
using support::PickleWriter;
using support::read;

namespace {

/// A legacy file whose object is the storage itself, as `torch.storage._load_from_bytes` takes it.
std::string storage_file(const std::string& data) {
  return PickleWriter().raw("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19").done() +
         PickleWriter().integer(1001).done() + PickleWriter().raw("}").done() +
         PickleWriter().storage("FloatStorage", "7", 2).done() +
         PickleWriter().raw("](").text("7").raw("e").done() + le(2, 8) + data;
}

std::string state_dict(const std::string& nested) {
  PickleWriter writer;
  writer.raw("}")
      .text("w")
      .global("torch._utils", "_rebuild_tensor_v2")
      .raw("(")
      .global("torch.storage", "_load_from_bytes");
  writer.raw("B" + le(nested.size(), 4) + nested + "\x85R")
      .integer(0)
      .integers({2})
      .integers({1})
      .raw("\x89")
      .ordered_dict()
      .raw("tRs");
  return writer.done();
}

}  // namespace

TEST_CASE("a state dict without torch.save holds a legacy file for each storage") {
  const Checkpoint checkpoint = read(state_dict(storage_file(floats({1, 2}))));
  CHECK(checkpoint.container == "pickle");
  CHECK(support::gathered(checkpoint.tensors.at(0)) == floats({1, 2}));
}

TEST_CASE("damage in a nested file is an error that names the tensor") {
  CHECK_THAT(support::error_of(state_dict(storage_file(floats({1})))),
             Contains("tensor `w`") && Contains("cut off"));
  CHECK_THAT(support::error_of(state_dict("N.")), Contains("tensor `w`"));
}

TEST_CASE("a pickle without tensors gives its values") {
  const Checkpoint checkpoint = read(PickleWriter()
                                         .raw("}")
                                         .text("a")
                                         .raw("](K\x01"
                                              "K\x02"
                                              "es")
                                         .done());
  CHECK(checkpoint.tensors.empty());
  CHECK(*checkpoint.values.find("a") == Value(Value::Array{1, 2}));
}

TEST_CASE("what follows the object is noted and not read") {
  const Checkpoint checkpoint = read(std::string("\x80\x02}.cos\nsystem\n.", 16));
  CHECK_THAT(checkpoint.hidden.at(0), Contains("12 bytes follow"));
  CHECK(checkpoint.globals.empty());
}

TEST_CASE("a persistent id has no meaning in a bare pickle") {
  CHECK_THAT(support::error_of("\x80\x02K\x01Q."), Contains("persistent id"));
}
