// AlignedBuffer: alignment, ownership, sizes that cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "core/huge_pages.h"
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

// Buffers that share huge pages neither overlap nor change each other, whatever the order in which
// they come and go; and what is given back is used again.
TEST(AlignedBuffer, BuffersOfAllSizesComeAndGo) {
  std::mt19937 random(1);
  std::vector<std::pair<AlignedBuffer, std::byte>> held;
  const auto is_whole = [](const std::pair<AlignedBuffer, std::byte>& entry) {
    const auto& [buffer, value] = entry;
    return std::all_of(buffer.data(), buffer.data() + buffer.size(),
                       [&](std::byte b) { return b == value; });
  };
  for (int i = 0; i < 600; ++i) {
    if (held.size() > 40 || (!held.empty() && random() % 3 == 0)) {
      const auto gone = held.begin() + static_cast<std::ptrdiff_t>(random() % held.size());
      EXPECT_TRUE(is_whole(*gone));
      std::swap(*gone, held.back());
      held.pop_back();
      continue;
    }
    const std::size_t bytes = 1 + random() % (random() % 4 ? 300 << 10 : 5 * kMiB);
    AlignedBuffer buffer(bytes);
    ASSERT_TRUE(aligned(buffer, 64));
    const auto value = static_cast<std::byte>(i);
    std::fill_n(buffer.data(), bytes, value);
    held.emplace_back(std::move(buffer), value);
  }
  for (const auto& entry : held) EXPECT_TRUE(is_whole(entry));
}

TEST(AlignedBuffer, MemoryThatWasGivenBackIsUsedAgain) {
  if (!huge_pages::kShares) GTEST_SKIP() << "sanitizers keep freed memory apart";
  const AlignedBuffer before(kMiB), behind(kMiB);
  const std::byte* data = nullptr;
  for (int i = 0; i < 3; ++i) {
    const AlignedBuffer buffer(700 << 10);
    if (i > 0) {
      EXPECT_EQ(buffer.data(), data);
    }
    data = buffer.data();
  }
}

TEST(AlignedBuffer, BuffersOutliveATrim) {
  const auto value = std::byte{7};
  AlignedBuffer held(kMiB);
  std::fill_n(held.data(), kMiB, value);
  for (int i = 0; i < 3; ++i) {
    std::vector<AlignedBuffer> others;
    for (int n = 0; n < 40; ++n)
      std::fill_n(others.emplace_back(kMiB + (n << 12)).data(), kMiB, value);
    for (int n = 0; n < 40; n += 3) others[static_cast<std::size_t>(n)] = AlignedBuffer();
    huge_pages::trim();
    for (const AlignedBuffer& other : others)
      EXPECT_TRUE(std::all_of(other.data(), other.data() + (other.empty() ? 0 : kMiB),
                              [&](std::byte b) { return b == value; }));
    others.clear();
    huge_pages::trim();
  }
  EXPECT_TRUE(
      std::all_of(held.data(), held.data() + kMiB, [&](std::byte b) { return b == value; }));
}

TEST(AlignedBuffer, ThreadsAllocateAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        const auto bytes = static_cast<std::size_t>((64 + (i * 37 + t * 11) % 900)) << 10;
        AlignedBuffer buffer(bytes);
        *buffer.data() = buffer.data()[bytes - 1] = static_cast<std::byte>(t);
        EXPECT_EQ(*buffer.data(), static_cast<std::byte>(t));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(AlignedBuffer, EmptyOwnsNothing) {
  EXPECT_EQ(AlignedBuffer().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
  EXPECT_TRUE(AlignedBuffer(0).empty());
}

TEST(AlignedBuffer, ZeroFill) {
  for (std::size_t bytes : {std::size_t{777}, kMiB + 3, 4 * kMiB + 3}) {
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
