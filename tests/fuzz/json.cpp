// JSON: what was parsed and written again must be parsed to the same value.
#include "ckpt/codec/json.hpp"

#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_json)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::attempt([&] {
    const Value value = json::parse(fuzz::text_of(data, size));
    if (json::parse(json::dump(value, 1)) != value) __builtin_trap();
  });
}
