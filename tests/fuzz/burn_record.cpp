// A record of burn before 0.22 (MessagePack or JSON, gzipped or not), and the same bytes as a run of
// MessagePack items.
#include "ckpt/formats/burn_record.hpp"

#include "ckpt/codec/msgpack.hpp"
#include "fuzz.hpp"
#include "mutate/formats.hpp"

MUTATES(mutate_file)
FUZZ(data, size) {
  using namespace ckpt;
  fuzz::attempt([&] {
    for (MsgpackReader reader(fuzz::bytes_of(data, size)); reader.offset() < reader.size();)
      static_cast<void>(reader.next());
  });
  return fuzz::read_and_touch(data, size, read_burn_record);
}
