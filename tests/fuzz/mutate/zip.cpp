#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "mutate/formats.hpp"

namespace ckpt::fuzz {
namespace {

/// A number as one record states it: the truth, or something else.
struct Stated {
  std::optional<std::uint64_t> instead = {};
  std::uint64_t of(std::uint64_t truth) const { return instead.value_or(truth); }
};

struct Member {
  std::string name;
  std::string data = {};  // as it lies in the file
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  // unfolded
  bool is_wide = false;    // sizes and place in a ZIP64 field
  bool is_unlisted = false;
  std::array<Stated, 3> local = {};    // CRC, stored, size in the local header …
  std::array<Stated, 4> central = {};  // … and in the directory, there the place too
  std::string local_name = {};         // where the two differ
};

struct Archive {
  std::vector<Member> members;
  std::string leading, trailing;
  std::array<Stated, 3> end = {};  // members, size and place of the directory
  bool is_wide = false;
  bool is_aligned = true;
};

std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    if (at + i < bytes.size()) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string slice(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  return at > bytes.size() ? std::string() : std::string(bytes.substr(at, size));
}

/// Wide numbers of an extra field, in the order in which the record left them out.
void widen(std::string_view extra, std::initializer_list<std::uint64_t*> numbers) {
  for (std::size_t at = 0; at + 4 <= extra.size(); at += 4 + number(extra, at + 2, 2)) {
    if (number(extra, at, 2) != 1) continue;
    std::size_t next = at + 4;
    for (std::uint64_t* wide : numbers)
      if (*wide == 0xFFFFFFFF) *wide = number(extra, next, 8), next += 8;
  }
}

/// Takes an archive apart by its directory.
Archive parse(std::string_view bytes) {
  Archive archive;
  const std::size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string_view::npos) return archive;
  std::uint64_t at = number(bytes, end + 16, 4);
  if (at == 0xFFFFFFFF) {
    archive.is_wide = true;
    const std::size_t wide = bytes.rfind("PK\x06\x06", end);
    if (wide == std::string_view::npos) return archive;
    at = number(bytes, wide + 48, 8);
  }
  while (slice(bytes, at, 46).starts_with("PK\x01\x02") && archive.members.size() < 500) {
    const std::uint64_t name = number(bytes, at + 28, 2);
    const std::uint64_t extra = number(bytes, at + 30, 2);
    std::uint64_t stored = number(bytes, at + 20, 4);
    std::uint64_t size = number(bytes, at + 24, 4);
    std::uint64_t place = number(bytes, at + 42, 4);
    Member member{.name = slice(bytes, at + 46, name)};
    member.is_wide = stored == 0xFFFFFFFF || size == 0xFFFFFFFF || place == 0xFFFFFFFF;
    widen(slice(bytes, at + 46 + name, extra), {&size, &stored, &place});
    member.flags = static_cast<std::uint16_t>(number(bytes, at + 8, 2));
    member.method = static_cast<std::uint16_t>(number(bytes, at + 10, 2));
    member.crc = static_cast<std::uint32_t>(number(bytes, at + 16, 4));
    member.size = size;
    if (slice(bytes, place, 30).size() == 30)
      member.data =
          slice(bytes, place + 30 + number(bytes, place + 26, 2) + number(bytes, place + 28, 2), stored);
    archive.members.push_back(std::move(member));
    at += 46 + name + extra + number(bytes, at + 32, 2);
  }
  return archive;
}

class Writer {
 public:
  std::string bytes;
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i, value >>= 8U) bytes += static_cast<char>(value);
  }
  void put(std::string_view text) { bytes += text; }
};

std::string wide_field(std::initializer_list<std::uint64_t> numbers) {
  Writer field;
  field.put(1, 2);
  field.put(8 * numbers.size(), 2);
  for (const std::uint64_t wide : numbers) field.put(wide, 8);
  return field.bytes;
}

void put_local(const Member& member, bool is_aligned, Writer& out) {
  const std::string& name = member.local_name.empty() ? member.name : member.local_name;
  const std::uint64_t stored = member.local[1].of(member.data.size());
  const std::uint64_t size = member.local[2].of(member.size);
  std::string extra = member.is_wide ? wide_field({size, stored}) : "";
  if (is_aligned) {
    const std::size_t padding = (64 - (out.bytes.size() + 34 + name.size() + extra.size()) % 64) % 64;
    extra += std::string("FB") + static_cast<char>(padding) + '\0' + std::string(padding, 'Z');
  }
  out.put("PK\x03\x04");
  out.put(20, 2), out.put(member.flags, 2), out.put(member.method, 2), out.put(0, 4);
  out.put(member.local[0].of(member.crc), 4);
  out.put(member.is_wide ? 0xFFFFFFFF : stored, 4), out.put(member.is_wide ? 0xFFFFFFFF : size, 4);
  out.put(name.size(), 2), out.put(extra.size(), 2);
  out.put(name), out.put(extra), out.put(member.data);
  if ((member.flags & 8U) != 0) {
    out.put("PK\x07\x08");
    out.put(member.crc, 4);
    out.put(member.data.size(), member.is_wide ? 8 : 4), out.put(member.size, member.is_wide ? 8 : 4);
  }
}

void put_central(const Member& member, std::uint64_t place, Writer& out) {
  const std::uint64_t stored = member.central[1].of(member.data.size());
  const std::uint64_t size = member.central[2].of(member.size);
  place = member.central[3].of(place);
  const std::string extra = member.is_wide ? wide_field({size, stored, place}) : "";
  out.put("PK\x01\x02");
  out.put(20, 2), out.put(20, 2), out.put(member.flags, 2), out.put(member.method, 2), out.put(0, 4);
  out.put(member.central[0].of(member.crc), 4);
  out.put(member.is_wide ? 0xFFFFFFFF : stored, 4), out.put(member.is_wide ? 0xFFFFFFFF : size, 4);
  out.put(member.name.size(), 2), out.put(extra.size(), 2), out.put(0, 10);
  out.put(member.is_wide ? 0xFFFFFFFF : place, 4);
  out.put(member.name), out.put(extra);
}

std::string format(const Archive& archive) {
  Writer out{archive.leading};
  Writer directory;
  std::uint64_t listed = 0;
  for (const Member& member : archive.members) {
    const std::uint64_t place = out.bytes.size();
    put_local(member, archive.is_aligned, out);
    if (member.is_unlisted) continue;
    ++listed;
    put_central(member, place, directory);
  }
  const std::uint64_t count = archive.end[0].of(listed);
  const std::uint64_t size = archive.end[1].of(directory.bytes.size());
  const std::uint64_t place = archive.end[2].of(out.bytes.size());
  out.put(directory.bytes);
  const std::uint64_t end = out.bytes.size();
  if (archive.is_wide) {
    out.put("PK\x06\x06");
    out.put(44, 8), out.put(45, 2), out.put(45, 2), out.put(0, 8);
    out.put(count, 8), out.put(count, 8), out.put(size, 8), out.put(place, 8);
    out.put("PK\x06\x07");
    out.put(0, 4), out.put(end, 8), out.put(1, 4);
  }
  const bool is_wide = archive.is_wide;
  out.put("PK\x05\x06");
  out.put(0, 4);
  out.put(is_wide ? 0xFFFF : count, 2), out.put(is_wide ? 0xFFFF : count, 2);
  out.put(is_wide ? 0xFFFFFFFF : size, 4), out.put(is_wide ? 0xFFFFFFFF : place, 4), out.put(0, 2);
  out.put(archive.trailing);
  return out.bytes;
}

std::uint32_t crc_of(std::string_view data) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
}

/// Deflates what is stored.
void fold(Member& member) {
  z_stream stream{};
  if (member.method != 0 || deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return;
  std::string folded(deflateBound(&stream, static_cast<uLong>(member.data.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(member.data.data());
  stream.avail_in = static_cast<uInt>(member.data.size());
  stream.next_out = reinterpret_cast<Bytef*>(folded.data());
  stream.avail_out = static_cast<uInt>(folded.size());
  deflate(&stream, Z_FINISH);
  folded.resize(stream.total_out);
  deflateEnd(&stream);
  member.method = 8;
  member.data = std::move(folded);
}

void mutate_data(Member& member, Random& random) {
  Buffer data(member.data.begin(), member.data.end());
  if (!member.name.ends_with(".pkl") || !mutate_pickle(data, random)) mutate_bytes(data, data.size() + 64);
  member.data.assign(data.begin(), data.end());
  if (member.method != 0) return;
  member.size = member.data.size();
  if (!random.one_in(8)) member.crc = crc_of(member.data);
}

void mutate_member(Member& member, const Archive& archive, Random& random) {
  switch (random.below(8)) {
    case 0:
      member.name =
          random.one_in(2) ? std::string(random.pick(odd_names)) : random.pick(archive.members).name;
      return;
    case 1:
      random.pick(member.local).instead = random.edge();
      return;
    case 2:
      random.pick(member.central).instead = random.edge();
      return;
    case 3:
      member.is_wide = !member.is_wide;
      return;
    case 4:
      member.flags = static_cast<std::uint16_t>(member.flags ^ 1U << random.below(16));
      return;
    case 5:
      fold(member);
      return;
    case 6:
      member.local_name = random.pick(odd_names);
      return;
    default:
      if (random.one_in(4)) member.is_unlisted = !member.is_unlisted;
      else member.method = static_cast<std::uint16_t>(random.below(14));
  }
}

void mutate_archive(Archive& archive, Random& random) {
  Member& one = random.pick(archive.members);
  const auto at = [&](std::size_t i) { return archive.members.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (random.below(8)) {
    case 0:
      mutate_member(one, archive, random);
      return;
    case 1:
      if (random.one_in(2)) archive.members.erase(at(random.below(archive.members.size())));
      else archive.members.insert(at(random.below(archive.members.size())), Member(one));
      return;
    case 2:
      std::swap(one, random.pick(archive.members));
      return;
    case 3:
      if (random.one_in(3)) archive.is_wide = !archive.is_wide;
      else if (random.one_in(2)) random.pick(archive.end).instead = random.edge();
      else (random.one_in(2) ? archive.leading : archive.trailing) += std::string(random.below(80), 'P');
      return;
    default: {
      const auto pickle =
          std::ranges::find_if(archive.members, [](const Member& m) { return m.name.ends_with(".pkl"); });
      mutate_data(pickle != archive.members.end() && !random.one_in(4) ? *pickle : one, random);
    }
  }
}

}  // namespace

bool mutate_zip(Buffer& input, Random& random) {
  Archive archive = parse({reinterpret_cast<const char*>(input.data()), input.size()});
  if (archive.members.empty()) return false;
  archive.is_aligned = !random.one_in(20);
  mutate_archive(archive, random);
  const std::string changed = format(archive);
  input.assign(changed.begin(), changed.end());
  return true;
}

}  // namespace ckpt::fuzz
