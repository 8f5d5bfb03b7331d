#include "ckpt/formats/pytorch/script.hpp"

#include <catch2/catch.hpp>

using namespace ckpt;

TEST_CASE("classes of a TorchScript source declare their parameters and buffers") {
  pytorch::ScriptMembers members;
  pytorch::add_script_members(
      "class A(Module):\n  __parameters__ = [\"w\", \"b\", ]\n  __buffers__ = [\"mean\", ]\n  w : Tensor\n"
      "class B(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
      "class C(Module):\n  x : Tensor\n",
      "__torch__.m", members);
  CHECK(members.size() == 2);
  CHECK(members.at("__torch__.m.A") == std::unordered_set<std::string>{"w", "b", "mean"});
  CHECK(members.at("__torch__.m.B").empty());
}
