// AlignedBuffer: alignment, ownership, sizes that cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/memory.h"

namespace fbg {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

bool aligned(const AlignedBuffer& buffer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment == 0;
}

TEST(AlignedBuffer, IsAlignedAndAsLargeAsAsked) {
  for (std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{1000}, 3 * kMiB}) {
    const AlignedBuffer buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_TRUE(aligned(buffer, 64));
  }
  EXPECT_TRUE(aligned(AlignedBuffer(4 * kMiB), 2 * kMiB));
  EXPECT_TRUE(aligned(AlignedBuffer(5 * kMiB + 1), 2 * kMiB));
}

TEST(AlignedBuffer, EmptyOwnsNothing) {
  EXPECT_EQ(AlignedBuffer().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
  EXPECT_TRUE(AlignedBuffer(0).empty());
}

TEST(AlignedBuffer, ZeroFill) {
  for (std::size_t bytes : {std::size_t{777}, 4 * kMiB + 3}) {
    const AlignedBuffer buffer(bytes, Fill::zero);
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + bytes,
                            [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(AlignedBuffer, MoveHandsOverTheMemory) {
  AlignedBuffer a(100);
  std::byte* data = a.data();
  AlignedBuffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT: a moved-from buffer is empty
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.size(), 100u);
}

TEST(AlignedBuffer, ImpossibleSizesThrow) {
  EXPECT_THROW(AlignedBuffer{kMax}, std::length_error);
  EXPECT_THROW(AlignedBuffer{kMax / 2}, std::length_error);
  EXPECT_THROW(checked_bytes(kMax / 4, 8), std::length_error);
  EXPECT_EQ(checked_bytes(3, 8), 24u);
  EXPECT_EQ(checked_bytes(kMax, 0), 0u);
}

}  // namespace
}  // namespace fbg
