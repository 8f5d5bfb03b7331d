#include "ckpt/formats/pytorch/roots.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;
using pytorch::Place;

namespace {

using Role = Root::Role;

Place dict(std::size_t parent, std::string name, std::uint64_t tensors = 0) {
  return Place{.parent = parent, .name = std::move(name), .tensors = tensors, .bytes = 4 * tensors};
}
Place top(std::uint64_t tensors = 0) { return dict(SIZE_MAX, "", tensors); }

/// `key:role:tensors` of each root.
std::vector<std::string> roots(const std::vector<Place>& places) {
  std::vector<std::string> out;
  for (const Root& root : pytorch::find_roots(places)) {
    CHECK(root.bytes == 4 * root.tensors);
    const char* const role = root.role == Role::model       ? "model"
                             : root.role == Role::optimizer ? "optimizer"
                                                            : "other";
    out.push_back(root.key + ":" + role + ":" + std::to_string(root.tensors));
  }
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a flat state dict is one root without a key") { CHECK(roots({top(5)}) == Strings{":model:5"}); }

TEST_CASE("nothing holds no roots") {
  CHECK(roots({}).empty());
  CHECK(roots({top()}).empty());
}

TEST_CASE("dicts nested by layer are one state dict") {
  CHECK(roots({top(), dict(0, "layer1", 2), dict(0, "layer2", 2)}) == Strings{":model:4"});
}

TEST_CASE("lists and single tensors beside each other are one root, whatever their names") {
  Place weights = dict(0, "weights", 2);
  weights.is_sequence = true;
  Place more = dict(0, "more", 1);
  more.is_sequence = true;
  CHECK(roots({top(1), weights, more}) == Strings{":model:4"});
}

TEST_CASE("the only child is descended into") {
  CHECK(roots({top(), dict(0, "model"), dict(1, "net", 3)}) == Strings{"model.net:model:3"});
}

TEST_CASE("named children are roots, and tensors beside them belong to none") {
  CHECK(roots({top(2), dict(0, "state_dict", 4), dict(0, "state_dict_ema", 4)}) ==
        Strings{"state_dict:model:4", "state_dict_ema:model:4"});
  CHECK(roots({top(), dict(0, "netG", 1), dict(0, "netD", 2)}) == Strings{"netG:model:1", "netD:model:2"});
}

TEST_CASE("optimizers are told by their parts and by their name") {
  Place states = dict(0, "trainer", 3);
  states.is_optimizer = true;
  CHECK(roots({top(), dict(0, "model", 1), states, dict(0, "optimizer_state_dict", 2)}) ==
        Strings{"model:model:1", "trainer:optimizer:3", "optimizer_state_dict:optimizer:2"});
  Place whole = top(4);
  whole.is_optimizer = true;
  CHECK(roots({whole}) == Strings{":optimizer:4"});
}

TEST_CASE("models without a known name beside an optimizer are roots of their own") {
  CHECK(roots({top(), dict(0, "encoder", 1), dict(0, "decoder", 2), dict(0, "optim", 3)}) ==
        Strings{"encoder:model:1", "decoder:model:2", "optim:optimizer:3"});
}

TEST_CASE("what Lightning keeps beside the state dict is neither model nor optimizer") {
  CHECK(roots({top(), dict(0, "state_dict", 1), dict(0, "hyper_parameters"), dict(2, "net", 2),
               dict(0, "callbacks", 3)}) ==
        Strings{"state_dict:model:1", "hyper_parameters.net:other:2", "callbacks:other:3"});
}

TEST_CASE("each pickled module is a root") {
  Place first = dict(0, "0", 2);
  Place second = dict(0, "1", 3);
  first.is_module = second.is_module = true;
  Place list = top();
  list.is_sequence = true;
  CHECK(roots({list, first, second}) == Strings{"0:model:2", "1:model:3"});
}
