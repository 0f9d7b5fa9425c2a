// The costs of the parts of a convolution, for the cost models of the algorithms.
//
// The constants, and how they were measured, are in core/policy.h. fbg.tune measures where the
// choice has no effect on bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/policy.h"
#include "fbg/core/isa.h"
#include "kernels/microkernel.h"

namespace fbg {

namespace costs = policy::costs;

// The time in which a core reads `bytes` again and again, if it reads `total` bytes, these
// included, before it comes back to the same ones: they then come from the cache that holds the
// total. Reading from the L1 is included in the cost of multiply-adds.
inline double read_cost(double bytes, double total) {
  if (total <= static_cast<double>(cpu_info().l1d_bytes) * 2 / 3) return 0;
  const auto l2 = static_cast<double>(cpu_info().l2_bytes);
  if (total <= l2 * 3 / 4) return bytes * costs::kL2;
  return bytes * (total <= l2 * 5 / 2 ? costs::kNearL3 : costs::kL3);
}

// Computing and reading overlap, but not perfectly.
inline double overlapped(double compute, double read) { return std::hypot(compute, read); }

// The cost of a tile of that height and one vector of columns, with `runs` runs of `groups`
// k-groups each. With vector kernels, it is that of the multiply-adds, or of the loads of B if
// those take longer. B comes from the L1 if a panel of all runs fits it, and otherwise from the
// cache that holds the panel.
inline double tile_cost(const Geometry& tile, double height, std::int64_t groups,
                        std::int64_t runs = 1) {
  const double count = static_cast<double>(runs);
  const double instructions = tile.format.wide_a ? costs::kWidened
                              : tile.narrow      ? costs::kNarrow
                                                 : 1;
  const double by_vectors = std::max(height, height / 2 + 2) * instructions;
  if (tile.block_groups == 1 || height <= tile.vector_rows) {
    constexpr std::int64_t kLaneBytes = 4;  // of a k-group
    const std::int64_t depth = runs * groups * kLaneBytes;
    return overlapped(static_cast<double>(runs * groups) * by_vectors,
                      read_cost(static_cast<double>(depth * tile.lanes),
                                static_cast<double>(depth * kPanelColumns)));
  }
  // A matrix unit multiplies tiles of up to 16 rows by blocks of k-groups, and reads B meanwhile.
  // The k-groups of each run that do not fill a block go to vector kernels, which add to sums in
  // memory.
  const bool two_tiles = height > 16;
  const double rest_latency = two_tiles ? costs::kTwoRests : costs::kOneRest;
  const std::int64_t blocks = groups / tile.block_groups, rest = groups % tile.block_groups;
  const double block =
      costs::kUnitBlock + (two_tiles ? 2 : 1) * costs::kUnitTile + height * costs::kUnitRow;
  return count * (costs::kUnitRun + static_cast<double>(blocks) * block +
                  static_cast<double>(rest) * by_vectors + (rest > 0 ? rest_latency : 0));
}

}  // namespace fbg
