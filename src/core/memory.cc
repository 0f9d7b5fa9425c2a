// Aligned allocation behind AlignedBuffer, and mapped files.
#include "core/memory.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/huge_pages.h"

namespace fbg {
namespace {

constexpr std::size_t kHugePageThreshold = 2 * huge_pages::kPage;
constexpr std::size_t kMaxBytes = PTRDIFF_MAX - huge_pages::kPage;  // leaves room to round up

// Whether a buffer shares its huge pages with others.
constexpr bool is_shared(std::size_t bytes) {
  return huge_pages::kShares && bytes >= huge_pages::kSmallest && bytes < kHugePageThreshold;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

}  // namespace

std::size_t checked_bytes(std::size_t count, std::size_t element_bytes) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes) || bytes > kMaxBytes)
    throw std::length_error("fbg: size of a buffer overflows");
  return bytes;
}

AlignedBuffer::AlignedBuffer(std::size_t bytes, Fill fill) {
  if (checked_bytes(bytes, 1) == 0) return;
  const bool huge = bytes >= kHugePageThreshold;
  const std::size_t alignment = huge ? huge_pages::kPage : kCacheLine;
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = round_up(bytes, alignment);
  if (is_shared(bytes))
    data_ = huge_pages::allocate(rounded);
  else
    data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (!data_) throw std::bad_alloc();
  size_ = bytes;
#if defined(MADV_HUGEPAGE)
  // Advice only: a system without transparent huge pages works as before.
  if (huge) madvise(data_, rounded, MADV_HUGEPAGE);
#endif
  if (fill == Fill::zero) std::memset(data_, 0, rounded);
}

AlignedBuffer::~AlignedBuffer() {
  if (data_ && is_shared(size_))
    huge_pages::release(data_, round_up(size_, kCacheLine));
  else
    std::free(data_);
}

std::shared_ptr<const std::byte> map_file(int fd, std::int64_t offset, std::int64_t size) {
  struct stat info {};
  if (fstat(fd, &info) != 0) throw std::system_error(errno, std::generic_category(), "fstat");
  if (!S_ISREG(info.st_mode) || offset < 0 || size <= 0 || offset > info.st_size ||
      size > info.st_size - offset)
    throw std::invalid_argument("the file does not hold the bytes to be mapped");
  // Offsets of mappings are multiples of a page.
  const std::int64_t before = offset % sysconf(_SC_PAGESIZE);
  const auto bytes = static_cast<std::size_t>(before + size);
  void* const base = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, offset - before);
  if (base == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
  if (base == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return {static_cast<const std::byte*>(base) + before,
          [base, bytes](const std::byte*) { munmap(base, bytes); }};
}

}  // namespace fbg
