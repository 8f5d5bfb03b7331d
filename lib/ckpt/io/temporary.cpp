#include "ckpt/io/temporary.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace ckpt {
namespace {

constexpr std::string_view prefix = ".ckpt-";
constexpr std::string_view suffix = ".tmp";

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size())
    return false;
  name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const std::size_t dash = name.find('-');
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

bool lock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

void remove_if_stranded(const std::string& path) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), O_WRONLY | flags));  // over NFS a lock wants to write
  if (!file) file = Descriptor(::open(path.c_str(), O_RDONLY | flags));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !lock(file)) return;
  // Another one may have removed it before the lock was ours, and a new file may have got the name since.
  if (is_name_of(path, file)) ::unlink(path.c_str());
}

}  // namespace

std::string temporary_name(const std::string& folder, unsigned attempt) {
  return fmt::format("{}/{}{}-{}{}", folder, prefix, ::getpid(), attempt, suffix);
}

bool lock_temporary(const Descriptor& file) {
  if (!lock(file) && errno == EWOULDBLOCK) return false;
  struct stat status{};
  return ::fstat(file.get(), &status) != 0 || status.st_nlink > 0;
}

bool is_name_of(const std::string& path, const Descriptor& file) {
  struct stat named{};
  struct stat open{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file.get(), &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

void remove_stranded(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get()))
    if (is_temporary_name(entry->d_name)) remove_if_stranded(folder + "/" + entry->d_name);
}

}  // namespace ckpt
