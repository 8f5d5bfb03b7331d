#pragma once

#include <simdjson.h>

#include <string_view>

/// For the rooms of `codec` that walk a document without building a `Value`; nobody else sees simdjson.
namespace ckpt::json {

/// A parsed document. Its elements point into it.
class Document {
 public:
  /// Throws `corrupt` for anything but one whole JSON document of UTF-8 text, nested no deeper than
  /// `limits::nesting`.
  explicit Document(std::string_view text);
  simdjson::dom::element root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// Throws `corrupt` when two members have one name: JSON leaves open which of them counts.
void check_keys(const simdjson::dom::object& object);

}  // namespace ckpt::json
