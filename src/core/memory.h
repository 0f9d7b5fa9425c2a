// Memory for panels, arenas and workspaces: aligned to a cache line, on huge pages where it pays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::size_t kCacheLine = 64;

// The distance in bytes between rows that have `bytes` bytes each: whole cache lines, but no
// multiple of 4 KiB, since such rows share the same sets of the L1 and displace each other.
constexpr std::int64_t row_distance(std::int64_t bytes) {
  constexpr std::int64_t line = kCacheLine;
  const std::int64_t distance = round_up(bytes, line);
  return distance % 4096 == 0 ? distance + line : distance;
}

// count * element_bytes; throws std::length_error where that does not fit in memory's index range.
std::size_t checked_bytes(std::size_t count, std::size_t element_bytes);

enum class Fill { none, zero };

// Owns `size()` bytes aligned to 64. From 64 KiB on they are on huge pages if the system has some,
// as streamed weights otherwise spend their time on TLB misses. Buffers of 4 MiB and more have
// pages of their own and start on a 2 MiB boundary; smaller ones share pages (huge_pages.h).
class AlignedBuffer {
 public:
  AlignedBuffer() noexcept = default;
  // Throws std::length_error for an impossible size, std::bad_alloc when memory is short.
  explicit AlignedBuffer(std::size_t bytes, Fill fill = Fill::none);
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer();

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  template <class T>
  T* as() noexcept {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes [offset, offset + size) of an open file, mapped read-only: no copy, pages come as they are
// touched. They live as long as the pointer, also when the file is closed, replaced or removed (who
// shortens it in place while it is mapped ends the process, as with any mapping). Throws
// std::invalid_argument unless the file is a regular one that has them, std::bad_alloc when memory
// is short, std::system_error when it cannot be mapped for another reason.
std::shared_ptr<const std::byte> map_file(int fd, std::int64_t offset, std::int64_t size);

}  // namespace fbg
