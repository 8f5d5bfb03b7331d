// A lock file: what was read and written again must be read as the same.
#include "ckpt/report/lock.hpp"

#include "ckpt/stages/kinds.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_lines)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::attempt([&] {
    const IsKind is_kind = [](std::string_view kind) { return find_kind(kind) != nullptr; };
    const Lock lock = parse_lock(fuzz::text_of(data, size), is_kind);
    if (parse_lock(lock_text(lock, "fuzz"), is_kind) != lock) __builtin_trap();
    static_cast<void>(locked_checkpoint(lock));
  });
}
