#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ckpt {

/// A plain value as JSON knows them: what a checkpoint stores beside its tensors, and what reports
/// are made of. Objects keep the order in which their members were added.
class Value {
 public:
  using Array = std::vector<Value>;
  using Object = std::vector<std::pair<std::string, Value>>;
  /// `Number` is the text of a number that no machine type holds (a Python int of 400 digits).
  struct Number {
    std::string text;
    bool operator==(const Number&) const = default;
  };

  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool b) : data_(b) {}
  Value(std::int64_t i) : data_(i) {}
  Value(std::uint64_t u) : data_(u) {}
  Value(int i) : data_(static_cast<std::int64_t>(i)) {}
  Value(double d) : data_(d) {}
  Value(Number n) : data_(std::move(n)) {}
  Value(std::string s) : data_(std::move(s)) {}
  Value(std::string_view s) : data_(std::string(s)) {}
  Value(const char* s) : data_(std::string(s)) {}
  Value(Array a) : data_(std::move(a)) {}
  Value(Object o) : data_(std::move(o)) {}

  static Value array() { return Value(Array{}); }
  static Value object() { return Value(Object{}); }

  template <typename T> const T* as() const noexcept { return std::get_if<T>(&data_); }
  template <typename T> T* as() noexcept { return std::get_if<T>(&data_); }

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(data_); }
  bool is_object() const noexcept { return as<Object>() != nullptr; }
  bool is_array() const noexcept { return as<Array>() != nullptr; }

  /// The member of that name of an object, or null.
  const Value* find(std::string_view key) const {
    if (const Object* object = as<Object>())
      for (const auto& [name, value] : *object)
        if (name == key) return &value;
    return nullptr;
  }
  /// Adds a member at the end of an object; the caller keeps names unique.
  Value& set(std::string key, Value value) {
    as<Object>()->emplace_back(std::move(key), std::move(value));
    return *this;
  }
  Value& push(Value value) {
    as<Array>()->push_back(std::move(value));
    return *this;
  }

  bool operator==(const Value&) const = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, Number, std::string, Array, Object>
      data_;
};

}  // namespace ckpt
