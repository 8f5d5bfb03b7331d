#include "ckpt/kernels/checksum.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ckpt/core/crc32.hpp"
#include "ckpt/core/error.hpp"
#include "ckpt/core/hints.hpp"
#include "ckpt/core/text.hpp"

namespace ckpt {

struct Sha256::State {
  struct Free {
    void operator()(EVP_MD_CTX* digest) const noexcept { EVP_MD_CTX_free(digest); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};

  void begin() const {
    // Where libcrypto could not set itself up for want of memory, it would follow a null pointer.
    if (OSSL_LIB_CTX_get0_global_default() == nullptr) throw std::bad_alloc();
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
      fail(ErrorKind::io, "SHA-256 is not available from the system's libcrypto");
  }
};

Sha256::Sha256() : state_(std::make_unique<State>()) { state_->begin(); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size());
}

std::array<std::byte, 32> Sha256::finish() {
  std::array<std::byte, 32> digest{};
  EVP_DigestFinal_ex(state_->context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  state_->begin();
  return digest;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte b : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(b));
  return text;
}

void require_checksum(const Integrity& check, std::uint32_t crc32, const std::string& file) {
  if (crc32 == check.crc32) return;
  throw Error(ErrorKind::corrupt, fmt::format("member {}: the data's CRC-32 is {:08x}, but the file "
                                              "states {:08x}: the data have been damaged",
                                              printable(check.what), crc32, check.crc32))
      .in_file(file)
      .with_hint(std::string(salvage_hint));
}

void verify_integrity(const Checkpoint& checkpoint, const std::function<bool(const Integrity&)>& is_wanted) {
  for (const Integrity& check : checkpoint.integrity)
    if (is_wanted(check)) require_checksum(check, crc32_of(*check.source), checkpoint.file);
}

IntegrityCheck::IntegrityCheck(const Checkpoint& checkpoint, std::unordered_set<const ByteSource*> read)
    : read_(std::move(read)) {
  const auto is_read = [this](const Integrity& check) { return read_.contains(check.source.get()); };
  if (std::ranges::none_of(checkpoint.integrity, is_read)) return;
  done_ = std::async(std::launch::async, [this, &checkpoint, is_read] {
    verify_integrity(checkpoint, [&](const Integrity& check) { return is_wanted_ && is_read(check); });
  });
}

IntegrityCheck::~IntegrityCheck() {
  is_wanted_ = false;
  if (done_.valid()) done_.wait();
}

void IntegrityCheck::require() {
  if (done_.valid()) done_.get();
}

}  // namespace ckpt
