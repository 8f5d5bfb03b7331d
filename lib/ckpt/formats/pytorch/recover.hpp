#pragma once

#include <cstdint>
#include <string>

#include "ckpt/codec/zip.hpp"
#include "ckpt/core/bytes.hpp"

namespace ckpt::pytorch {

/// An archive whose directory is missing or damaged, made again from its members.
struct Recovered {
  zip::Archive archive;        ///< the members that are whole
  bool is_cut = false;         ///< there is no directory behind the last of them
  std::uint64_t storages = 0;  ///< that data.pkl names; 0 where it is not among them
  std::uint64_t intact = 0;    ///< those of them that are there, checksums not looked at
};

/// Finds the members of `source` one after the other. Cheap where data.pkl comes first, as in all that
/// torch.save writes: it says how long the others are.
Recovered recover_archive(const Bytes& source);

/// `the file ends at byte 7; the last complete member is a/data/3; 4 of 9 storages are intact`.
std::string describe_cut(const Recovered& recovered, std::uint64_t file_size);

}  // namespace ckpt::pytorch
