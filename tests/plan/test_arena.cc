// The arena never lets buffers overlap that live at the same time, and wastes little.
#include <gtest/gtest.h>

#include <vector>

#include "helpers/plans.h"
#include "plan/arena.h"

namespace fbg {
namespace {

using test::Random;

TEST(Arena, BuffersThatLiveTogetherDoNotOverlap) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> buffers(static_cast<std::size_t>(1 + random.below(40)));
    for (Lifetime& b : buffers) {
      b.bytes = static_cast<std::size_t>(random.below(1000));
      b.first = static_cast<int>(random.below(20));
      b.last = b.first + static_cast<int>(random.below(8));
    }
    const std::size_t total = lay_out_arena(buffers);
    std::size_t sum = 0;
    for (const Lifetime& a : buffers) {
      EXPECT_EQ(a.offset % 64, 0u);
      EXPECT_LE(a.offset + a.bytes, total);
      sum += (a.bytes + 63) / 64 * 64;
      for (const Lifetime& b : buffers) {
        if (&a == &b || a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(a.bytes == 0 || b.bytes == 0 || a.offset + a.bytes <= b.offset ||
                    b.offset + b.bytes <= a.offset);
      }
    }
    EXPECT_LE(total, sum);
  }
}

TEST(Arena, AChainOfBuffersNeedsOnlyTwo) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(lay_out_arena(chain), 2048u);
}

}  // namespace
}  // namespace fbg
