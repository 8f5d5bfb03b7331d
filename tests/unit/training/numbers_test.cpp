#include "ckpt/training/numbers.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "support/tensors.hpp"

using namespace ckpt;
using namespace ckpt::test;

TEST_CASE("a note keeps the numbers that JSON lacks") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value list = Value::array();
  list.push(-infinity).push(Value::Number{"1180591620717411303424"}).push("inf").push(nullptr);
  const Value value = Value::object().set("norm", infinity).set("list", std::move(list)).set("lr", 0.1);
  CHECK(from_note(to_note(value)) == value);
  const Value nan = from_note(to_note(std::nan("")));
  REQUIRE(nan.as<double>() != nullptr);
  CHECK(std::isnan(*nan.as<double>()));
  CHECK(to_note(Value::object().set("lr", 0.1)) == R"({"lr":0.1})");
}

TEST_CASE("what a note calls a number, but is none, stays the text that it is") {
  CHECK(from_note(R"({"$number":"-12"})") == Value(Value::Number{"-12"}));
  CHECK(from_note(R"({"$number":"0"})") == Value(Value::Number{"0"}));
  for (const char* note :
       {R"({"$number":""})", R"({"$number":"-"})", R"({"$number":"-012"})", R"({"$number":"1,2"})",
        R"({"$number":"0x1"})", R"({"$number":"1 "})", R"({"$number":7})", R"({"$number":"1","x":2})"})
    CHECK(from_note(note).is_object());
}

TEST_CASE("a number goes where a plain one would stand, and nowhere else") {
  const auto seven = [](const Tensor&) { return 7.0; };
  Value value = Value::object().set("name", "x");
  CHECK(put_number(value, "betas.1", counting("", {}), seven));
  CHECK(value.find("betas")->as<Value::Array>()->at(0).is_null());
  CHECK(value.find("betas")->as<Value::Array>()->at(1) == Value(7.0));
  CHECK_FALSE(put_number(value, "name", counting("", {}), seven));
  CHECK_FALSE(put_number(value, "name.0", counting("", {}), seven));
  CHECK_FALSE(put_number(value, "betas.99999999", counting("", {}), seven));
  CHECK_FALSE(put_number(value, "lr", counting("", {2}), seven));
  CHECK(put_number(value, "on", plain("", DType::boolean, {}, std::vector<std::uint8_t>{1}), seven));
  CHECK(*value.find("on") == Value(true));
}
