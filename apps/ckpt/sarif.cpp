#include "sarif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace ckpt {
namespace {

std::string_view level(FindingId id) { return info(id).is_error ? "error" : "warning"; }

Value text_json(std::string_view text) { return Value::object().set("text", text); }

Value rules_json() {
  Value rules = Value::array();
  for (const FindingKind& kind : finding_table()) {
    Value configuration = Value::object();
    configuration.set("level", kind.is_error ? "error" : "warning");
    rules.push(Value::object()
                   .set("id", kind.code)
                   .set("shortDescription", text_json(kind.title))
                   .set("defaultConfiguration", std::move(configuration)));
  }
  return rules;
}

/// A path as a URI reference (RFC 3986): relative paths stay relative.
std::string uri(std::string_view path) {
  constexpr std::string_view plain = "-._~/";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_letter || plain.find(c) != std::string_view::npos) out += c;
    else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Value tool_json() {
  Value driver = Value::object();
  driver.set("name", "ckpt").set("version", CKPT_VERSION).set("rules", rules_json());
  return Value::object().set("driver", std::move(driver));
}

Value location_json(const std::string& artifact) {
  return Value::object().set("physicalLocation",
                             Value::object().set("artifactLocation", Value::object().set("uri", artifact)));
}

Value log_of(Value run) {
  return Value::object()
      .set("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      .set("version", "2.1.0")
      .set("runs", Value::array().push(std::move(run)));
}

Value result_json(const Finding& finding, const std::string& artifact) {
  Value location = location_json(artifact);
  if (!finding.tensor.empty()) {
    Value tensor = Value::object().set("fullyQualifiedName", finding.tensor).set("kind", "member");
    location.set("logicalLocations", Value::array().push(std::move(tensor)));
  }
  return Value::object()
      .set("ruleId", info(finding.id).code)
      .set("ruleIndex", static_cast<std::uint64_t>(finding.id))
      .set("level", level(finding.id))
      .set("message", text_json(finding.text))
      .set("locations", Value::array().push(std::move(location)));
}

}  // namespace

Value sarif_log(std::string_view file, const std::vector<Finding>& findings) {
  const std::string artifact = uri(file);
  Value results = Value::array();
  for (const Finding& finding : findings) results.push(result_json(finding, artifact));
  Value run = Value::object();
  Value artifacts = Value::array();
  artifacts.push(Value::object().set("location", Value::object().set("uri", artifact)));
  run.set("tool", tool_json()).set("artifacts", std::move(artifacts)).set("results", std::move(results));
  return log_of(std::move(run));
}

Value sarif_failure(std::string_view file, std::string_view text) {
  Value notification = Value::object();
  notification.set("level", "error").set("message", text_json(text));
  if (!file.empty()) notification.set("locations", Value::array().push(location_json(uri(file))));
  Value invocation = Value::object();
  invocation.set("executionSuccessful", false)
      .set("toolExecutionNotifications", Value::array().push(std::move(notification)));
  Value run = Value::object();
  run.set("tool", tool_json())
      .set("invocations", Value::array().push(std::move(invocation)))
      .set("results", Value::array());
  return log_of(std::move(run));
}

}  // namespace ckpt
