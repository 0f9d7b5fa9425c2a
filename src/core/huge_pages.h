// Memory on huge pages that buffers smaller than a huge page share.
//
// A matrix of weights often has less than 2 MiB. On pages of 4 KiB, reading it from memory costs a
// walk of the page tables for each of them, and the prefetchers of CPUs stop at each border.
#pragma once

#include <cstddef>

namespace fbg::huge_pages {

// Sanitizers must see the end of each buffer, so that none are shared.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kShares = false;
#elif defined(__has_feature)
inline constexpr bool kShares = !__has_feature(address_sanitizer);
#else
inline constexpr bool kShares = true;
#endif

inline constexpr std::size_t kPage = std::size_t{2} << 20;

// Smaller buffers are not worth it.
inline constexpr std::size_t kSmallest = std::size_t{64} << 10;

// Memory of `bytes` bytes, a multiple of the cache line, to which it is aligned; throws
// std::bad_alloc. Any thread may call both functions, and so may a child after a fork.
std::byte* allocate(std::size_t bytes);
// Gives it back: as many bytes as were asked for.
void release(std::byte* data, std::size_t bytes) noexcept;

// Gives the system what `release` has kept for the next buffers.
void trim() noexcept;

}  // namespace fbg::huge_pages
