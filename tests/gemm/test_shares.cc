// How work is cut: parts of equal size, and shares of threads that cover C exactly once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fbg/gemm/gemm.h"
#include "gemm/partition.h"

namespace fbg {
namespace {

TEST(BalancedSplit, PartsAreBalancedAndCoverTheWhole) {
  for (std::int64_t max_size = 1; max_size <= 14; ++max_size)
    for (std::int64_t units = 0; units <= 200; ++units) {
      const BalancedSplit split = BalancedSplit::split(units, max_size);
      ASSERT_EQ(split.count, ceil_div(units, max_size));
      std::int64_t covered = 0;
      for (std::int64_t i = 0; i < split.count; ++i) {
        const std::int64_t size = split.largest - (i >= split.num_largest);
        ASSERT_GE(size, 1);
        ASSERT_LE(size, max_size);
        ASSERT_EQ(split[i].begin, covered);
        covered += size;
        ASSERT_EQ(split[i].end, covered);
      }
      ASSERT_EQ(covered, units);
      if (split.count) {
        ASSERT_GE(split.num_largest, 1);
        ASSERT_LE(split.num_largest, split.count);
      }
    }
}

TEST(ThreadShares, CoverCExactlyOnceAndCutColumnsBetweenPanels) {
  for (const std::int64_t rows : {0, 1, 2, 3, 7, 12, 13, 64, 385, 5000})
    for (const std::int64_t cols : {0, 1, 31, 32, 33, 64, 100, 768, 3000})
      for (int threads = 1; threads <= 24; ++threads) {
        std::int64_t covered = 0;
        std::vector<Share> shares;
        for (int id = 0; id < threads; ++id) {
          const Share s = thread_share(rows, cols, id, threads);
          ASSERT_LE(0, s.rows.begin);
          ASSERT_LE(s.rows.begin, s.rows.end);
          ASSERT_LE(s.rows.end, rows);
          ASSERT_LE(0, s.cols.begin);
          ASSERT_LE(s.cols.begin, s.cols.end);
          ASSERT_LE(s.cols.end, cols);
          ASSERT_TRUE(s.cols.begin % kPanelColumns == 0 || s.cols.begin == cols);
          ASSERT_TRUE(s.cols.end % kPanelColumns == 0 || s.cols.end == cols);
          const std::int64_t area = s.rows.size() * s.cols.size();
          if (area == 0) continue;
          for (const Share& other : shares) {
            const bool apart = s.rows.end <= other.rows.begin || other.rows.end <= s.rows.begin ||
                               s.cols.end <= other.cols.begin || other.cols.end <= s.cols.begin;
            ASSERT_TRUE(apart) << rows << " x " << cols << " on " << threads;
          }
          shares.push_back(s);
          covered += area;
        }
        ASSERT_EQ(covered, rows * cols) << rows << " x " << cols << " on " << threads;
      }
}

// Of 7 tiles two threads would compute 4 and 3, where they can have half of the columns each.
TEST(ThreadShares, OfFewTilesAreEven) {
  for (const int threads : {2, 4}) {
    std::int64_t covered = 0, most = 0;
    for (int id = 0; id < threads; ++id) {
      const Share s = tile_share(7, 28, 256, id, threads);
      covered += s.rows.size() * s.cols.size();
      most = std::max(most, s.rows.size() * s.cols.size());
    }
    EXPECT_EQ(covered, 7 * 256);
    EXPECT_EQ(most, 7 * 256 / threads);
  }
  EXPECT_EQ(tile_share(98, 32, 256, 1, 2).rows.begin, 49);  // even: columns stay together
}

TEST(ThreadShares, OfALargeMatrixAreEven) {
  for (const int threads : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16}) {
    std::int64_t most = 0;
    for (int id = 0; id < threads; ++id) {
      const Share s = thread_share(1536, 6144, id, threads);
      most = std::max(most, s.rows.size() * s.cols.size());
    }
    EXPECT_LE(static_cast<double>(most), 1.05 * 1536 * 6144 / threads) << threads;
  }
}

}  // namespace
}  // namespace fbg
