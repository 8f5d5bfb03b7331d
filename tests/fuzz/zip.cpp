// The directory of a ZIP archive and each of its members.
#include "ckpt/codec/zip.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_zip)
FUZZ(data, size) {
  using namespace ckpt;
  return fuzz::attempt([&] {
    const zip::Archive archive(fuzz::bytes_of(data, size));
    for (const zip::Member& member :
         archive.members().first(std::min<std::size_t>(archive.members().size(), 100)))
      fuzz::attempt([&] { static_cast<void>(archive.read(member, 1U << 20)); });
  });
}
