#include "ckpt/report/lock.hpp"

#include <catch2/catch.hpp>

#include "support/errors.hpp"
#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

namespace {

Lock parsed(std::string_view text) {
  return parse_lock(text, [](std::string_view kind) { return kind == "Linear" || kind == "Conv2d"; });
}

std::string message(std::string_view text) {
  try {
    parsed(text);
    return {};
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace

TEST_CASE("a lock names every tensor on a line of its own, numbers in the order of numbers") {
  Checkpoint checkpoint = checkpoint_of(
      {counting("layers.10.weight", {3, 4}), counting("layers.2.weight", {3, 4}), counting("a scalar", {})});
  checkpoint.tensors.push_back(checkpoint.tensors.front());
  checkpoint.tensors.back().name = "head.weight";
  Lock lock{"pytorch", lock_entries(checkpoint)};
  lock.entries[1].kind = "Linear";
  CHECK(lock_text(lock, "model.pt") ==
        "# ckpt lock 1 layout=pytorch\n"
        "# made from model.pt: 4 tensors, 37 parameters\n"
        "# name dtype shape [kind=KIND] [tied-to=NAME]\n"
        "\"a scalar\" F32 []\n"
        "head.weight F32 [3,4] kind=Linear\n"
        "layers.2.weight F32 [3,4]\n"
        "layers.10.weight F32 [3,4] tied-to=head.weight\n");
}

TEST_CASE("a lock comes back as it was written") {
  Lock lock{.layout = "burn",
            .entries = {{.name = "a b\n", .dtype = DType::bf16, .shape = {}},
                        {.name = "c", .dtype = DType::f8_e4m3, .shape = {1, 0, 3}, .kind = "Conv2d"},
                        {.name = "d", .dtype = DType::bf16, .shape = {}, .tied_to = "a b\n"}}};
  CHECK(parsed(lock_text(lock, "x\n.pt")) == lock);
  lock.layout.clear();
  CHECK(parsed(lock_text(lock, "x\n.pt")) == lock);
}

TEST_CASE("a lock written by hand may have blanks, comments and any case") {
  const auto entries =
      parsed("# ckpt lock 1\r\n\n  # note\n w   f32   [ 3 , 4 ]   tied-to=v \r\nv F32 [3,4]").entries;
  REQUIRE(entries.size() == 2);
  CHECK(entries[0] == LockEntry{.name = "w", .dtype = DType::f32, .shape = {3, 4}, .tied_to = "v"});
  CHECK(entries[1] == LockEntry{.name = "v", .dtype = DType::f32, .shape = {3, 4}});
  CHECK(parsed("# ckpt lock 1").entries.empty());
  CHECK(parsed("# ckpt lock 1  layout=burn \r\n").layout == "burn");
}

TEST_CASE("what is not in the format is an error with its line") {
  CHECK(message("") == "does not begin with `# ckpt lock 1`: no lock file");
  CHECK(message("w F32 [3]\n") == "does not begin with `# ckpt lock 1`: no lock file");
  CHECK(message("# ckpt lock 2\n") == "is a lock file of version 2, and only version 1 is known");
  CHECK(message("# ckpt lock 1 layout=jax\n") ==
        "line 1: `layout=jax` is neither layout=pytorch nor layout=burn");
  CHECK(message("# ckpt lock 1\nw F33 [3]\n") == "line 2: `F33` is no data type");
  CHECK(message("# ckpt lock 1\nw\n") == "line 2: `` is no data type");
  CHECK(message("# ckpt lock 1\n\nw F32 3\n") == "line 3: `3` does not begin with a shape like [3,4]");
  CHECK(message("# ckpt lock 1\nw F32 [3,]\n") == "line 2: `[3,]` does not begin with a shape like [3,4]");
  CHECK(message("# ckpt lock 1\nw F32 [-3]\n") == "line 2: `[-3]` does not begin with a shape like [3,4]");
  CHECK(message("# ckpt lock 1\nw F32 [99999999999999999999]\n") ==
        "line 2: `[99999999999999999999]` does not begin with a shape like [3,4]");
  CHECK(message("# ckpt lock 1\nw F32 [4294967296,4294967296]\n") ==
        "line 2: shape [4294967296, 4294967296] has more elements than can be counted");
  CHECK(message("# ckpt lock 1\nw F32 [3] colour=red\n") ==
        "line 2: `colour=red` is neither kind=KIND nor tied-to=NAME");
  CHECK(message("# ckpt lock 1\nw F32 [3] kind=\n") == "line 2: `` is neither kind=KIND nor tied-to=NAME");
  CHECK(message("# ckpt lock 1\n\"w F32 [3]\n") == "line 2: the name is no JSON string");
  CHECK(message("# ckpt lock 1\nw F32 [3]\nw F32 [3]\n") == "line 3: w stands in line 2 already");
  CHECK(message("# ckpt lock 1\nw F32 [3] tied-to=v\n") == "line 2: w is tied to v, which is no other entry");
  CHECK(message("# ckpt lock 1\nw F32 [3] tied-to=w\n") == "line 2: w is tied to w, which is no other entry");
  CHECK(message("# ckpt lock 1\nw F32 [3] kind=Linaer\n") == "line 2: `Linaer` is not a kind of module");
}

TEST_CASE("a tie leads to the same tensor, which stands for itself") {
  CHECK(message("# ckpt lock 1\na F32 [3] tied-to=q\nq F32 [3] tied-to=r\nr F32 [3]\n") ==
        "line 2: a is tied to q, which is tied to r itself: name the entry that is not tied");
  CHECK(message("# ckpt lock 1\nr F32 [3]\na F32 [3] tied-to=b\nb F32 [3] tied-to=a\n") ==
        "line 3: a is tied to b, which is tied to a itself: name the entry that is not tied");
  CHECK(message("# ckpt lock 1\na F32 [3]\nb F32 [4] tied-to=a\n") ==
        "line 3: b, F32 [4], is tied to a, which is F32 [3]: one tensor has one type and shape");
  CHECK(message("# ckpt lock 1\na F32 [3]\nb F16 [3] tied-to=a\n") ==
        "line 3: b, F16 [3], is tied to a, which is F32 [3]: one tensor has one type and shape");
}

TEST_CASE("a lock is a catalogue without data") {
  const Lock lock = parsed("# ckpt lock 1\nb F32 [3,4] kind=Linear\na F32 [3,4] tied-to=b\nc BF16 [3,4]\n");
  const Checkpoint checkpoint = locked_checkpoint(lock);
  REQUIRE(checkpoint.tensors.size() == 3);
  CHECK(checkpoint.tensors[0].recorded_kind == "Linear");
  CHECK(checkpoint.tensors[0].byte_size() == 48);
  CHECK(same_place(checkpoint.tensors[0], checkpoint.tensors[1]));
  CHECK_FALSE(same_place(checkpoint.tensors[0], checkpoint.tensors[2]));
  std::vector<std::byte> bytes(1);
  CHECK(error_of([&] { checkpoint.tensors[2].view.source->read_at(0, bytes); }).message() ==
        "a lock file holds no values");
  CHECK_THROWS_AS(locked_checkpoint(parsed("# ckpt lock 1\nw F4 [3]\n")), Error);
  CHECK_THROWS_AS(locked_checkpoint(parsed("# ckpt lock 1\nw F32 [9223372036854775807]\n")), Error);
}

TEST_CASE("a lock file is told by its first line") {
  CHECK(is_lock("# ckpt lock 1\n"));
  CHECK(is_lock("# ckpt lock 9"));
  CHECK(!is_lock("# ckpt"));
  CHECK(!is_lock(""));
}
