#include "ckpt/formats/pytorch/legacy.hpp"

#include <catch2/catch.hpp>

#include "support/checkpoints.hpp"

using namespace ckpt;
using Catch::Contains;
using support::floats;
using support::le;
using support::PickleWriter;
using support::read;
using Strings = std::vector<std::string>;

namespace {

const std::string head = PickleWriter().raw("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19").done() +
                         PickleWriter().integer(1001).done() + PickleWriter().raw("}").done();

struct Stored {
  std::string key;
  std::int64_t count;
  std::string bytes;
};

std::string legacy(const std::string& object, const std::vector<Stored>& storages) {
  PickleWriter keys;
  keys.raw("](");
  for (const Stored& storage : storages) keys.text(storage.key);
  std::string file = head + object + keys.raw("e").done();
  for (const Stored& storage : storages)
    file += le(static_cast<std::uint64_t>(storage.count), 8) + storage.bytes;
  return file;
}

std::string two_tensors() {
  return PickleWriter()
      .raw("}(")
      .text("w")
      .vector("22", 2)
      .text("b")
      .tensor("LongStorage", "11", 1, 0, {1}, {1})
      .raw("u")
      .done();
}

}  // namespace

TEST_CASE("storages of a legacy file follow in the order of the list of keys") {
  const std::string file = legacy(two_tensors(), {{"11", 1, le(7, 8)}, {"22", 2, floats({1, 2})}});
  const Checkpoint checkpoint = read(file);
  CHECK(checkpoint.container == "legacy");
  CHECK(support::names(checkpoint) == Strings{"w", "b"});
  CHECK(support::gathered(checkpoint.tensors[0]) == floats({1, 2}));
  CHECK(support::gathered(checkpoint.tensors[1]) == le(7, 8));
  CHECK_THAT(read(file + "junk").hidden.at(0), Contains("4 bytes follow"));
}

TEST_CASE("the magic number is known in every protocol") {
  CHECK(pytorch::is_legacy(*memory_bytes(head)));
  CHECK(pytorch::is_legacy(*memory_bytes(std::string("\x80\x04\x95\x0d\0\0\0\0\0\0\0", 11) +
                                         "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.")));
  CHECK(pytorch::is_legacy(*memory_bytes("L119547037146038801333356L\n.")));
  CHECK_FALSE(pytorch::is_legacy(*memory_bytes("N.")));
}

TEST_CASE("a count that differs from the object, a missing storage and a repeated one are errors") {
  const Stored b{"11", 1, le(7, 8)};
  const auto error = [&](const std::vector<Stored>& storages) {
    return support::error_of(legacy(two_tensors(), storages));
  };
  CHECK_THAT(error({b, {"22", 3, floats({1, 2, 3})}}),
             Contains("storage 22") && Contains("3 elements") && Contains("says 2"));
  CHECK_THAT(error({b, {"22", -2, floats({1, 2})}}), Contains("-2 elements"));
  CHECK_THAT(error({b}), Contains("tensor `w`") && Contains("storage 22"));
  CHECK_THAT(error({b, b}), Contains("listed twice"));
  CHECK_THAT(error({b, {"22", 2, floats({1})}}),
             Contains("cut off") && Contains("1 of 2 storages are intact"));
  CHECK_THAT(error({b, {"33", 2, floats({1, 2})}}), Contains("storage 33"));
}

TEST_CASE("another version of the format is not read") {
  const std::string file = head.substr(0, 15) + PickleWriter().integer(1002).done() +
                           PickleWriter().raw("}").done() + two_tensors();
  CHECK_THAT(support::error_of(file), Contains("1002"));
}

TEST_CASE("a view of a storage is a window of it") {
  PickleWriter object;
  object.raw("}")
      .text("v")
      .global("torch._utils", "_rebuild_tensor")
      .raw("((")
      .text("storage")
      .global("torch", "FloatStorage")
      .text("11")
      .text("cpu")
      .integer(4);
  object.raw("(").text("99").integer(1).integer(2).raw("ttQ").integer(0).integers({2}).integers({1}).raw(
      "tRs");
  const Checkpoint checkpoint = read(legacy(object.done(), {{"11", 4, floats({1, 2, 3, 4})}}));
  CHECK(support::gathered(checkpoint.tensors.at(0)) == floats({2, 3}));
}

TEST_CASE("classes may come with their source") {
  PickleWriter object;
  object.raw("(")
      .text("module")
      .global("mine", "Net")
      .text("net.py")
      .text("class Net: pass")
      .raw("tQ)\x81}(");
  object.text("_parameters")
      .raw("}")
      .text("w")
      .vector("11", 2)
      .raw("s")
      .text("_buffers")
      .raw("}")
      .text("_modules")
      .raw("}ub");
  const Checkpoint checkpoint = read(legacy(object.done(), {{"11", 2, floats({1, 2})}}));
  CHECK(checkpoint.tensors.at(0).module_class == "mine.Net");
}

TEST_CASE("a legacy file that is cut or flipped anywhere gives a catalogue or an error") {
  const std::string file = legacy(two_tensors(), {{"11", 1, le(7, 8)}, {"22", 2, floats({1, 2})}});
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK_FALSE(support::error_of(file.substr(0, size)).empty());
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const int mask : {0x01, 0x10, 0x80, 0xFF}) {
      std::string bad = file;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      support::error_of(bad);
    }
  }
  SUCCEED();
}

TEST_CASE("what is wrong between the pickles of a legacy file is named") {
  const std::string magic = PickleWriter().raw("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19").done();
  const auto error = [](const std::string& file) {
    try {
      pytorch::open_legacy(memory_bytes(file));
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  const std::string empty = PickleWriter().raw("}").done();
  CHECK_THAT(error(empty), Contains("does not begin with PyTorch's magic number"));
  CHECK_THAT(error(magic),
             Contains("cut off at byte " + std::to_string(magic.size()) + ", before the version"));
  CHECK_THAT(error(magic + PickleWriter().integer(1002).done()),
             Contains("legacy format version 1002 (1001 is known)"));
  CHECK_THAT(error(magic + empty), Contains("legacy format version of an unknown kind"));
  CHECK_THAT(error(head + empty + empty), Contains("the list of storages is a dict"));
  CHECK_THAT(error(head + empty + "\x80\x63."), Contains("the list of storages") && Contains("protocol 99"));
  CHECK_THAT(error(head + PickleWriter().raw("NQ").done() + PickleWriter().raw("]").done()),
             Contains("a persistent id that is neither storage nor module"));
  CHECK_THAT(error(head + empty +
                   PickleWriter()
                       .raw("]K\x07"
                            "a")
                       .done()),
             Contains("storage 7 is in the file, but nothing tells"));
}

TEST_CASE("views of legacy storages are windows that stay inside them") {
  // ('storage', FloatStorage, '0', 'cpu', 4, (view key, offset, size))
  const auto file = [](const std::string& view, std::int64_t elements = 2) {
    PickleWriter writer;
    writer.raw("}").text("w").global("torch._utils", "_rebuild_tensor").raw("((").text("storage");
    writer.global("torch", "FloatStorage").text("0").text("cpu").integer(4).raw(view).raw("tQ").integer(0);
    writer.integers({elements}).integers({1}).raw("tRs");
    return legacy(writer.done(), {{"0", 4, floats({1, 2, 3, 4})}});
  };
  const auto view = [](std::int64_t offset, std::int64_t size) {
    const std::string all = PickleWriter().raw("(").text("v").integer(offset).integer(size).raw("t").done();
    return all.substr(2, all.size() - 3);
  };
  CHECK(support::gathered(read(file(view(1, 2))).tensors.at(0)) == floats({2, 3}));
  CHECK(support::gathered(read(file("N", 4)).tensors.at(0)) == floats({1, 2, 3, 4}));
  CHECK_THAT(support::error_of(file(view(1, 4))), Contains("storage 0: a view goes beyond its 4 elements"));
  CHECK_THAT(support::error_of(file(view(-1, 2))), Contains("a view goes beyond"));
  CHECK_THAT(support::error_of(file(view(0, -2))), Contains("a view goes beyond"));
  CHECK_THAT(support::error_of(file("K\x01")), Contains("storage 0: its view is an integer"));
}
