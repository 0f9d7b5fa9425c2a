// The tiles of convolutions that multiply rows of pixels by panels of weights.
//
// A core that multiplies vectors of 512 bits without pause lowers its clock, and more so if it
// loads operands at the same time. A tile of r rows and v vectors loads r + v vectors for r * v
// multiply-adds, so that 6 x 4 vectors, with 10 loads for 24, run at a higher clock than 12 x 2,
// with 14 (docs/engineering-log.md). Sums of floats and of integers have the same bits in every
// tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conv/tile_product.h"

namespace fbg {

// The height of the tiles with the fewest loads per multiply-add.
inline int rows_of_fewest_loads(const Geometry& geometry) {
  const auto loads = [&](int rows) {
    return 1.0 / rows + 1.0 / geometry.max_vectors[static_cast<std::size_t>(rows - 1)];
  };
  int best = 1;
  for (int rows = 2; rows <= geometry.max_rows; ++rows)
    if (loads(rows) <= loads(best)) best = rows;
  return best;
}

// Whether all weights stay in the L2, so that reading them for every tile costs nothing.
inline bool weights_stay(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  return g.depth() * g.out_channels * p.format().b_bytes <= cpu_info().l2_bytes / 2;
}

// The tiles for `rows` rows of pixels that belong together, such as those of a line. `plain` is the
// geometry that products of this many k-groups have.
inline Geometry conv_tile(const ConvProblem& p, const Geometry& plain, std::int64_t groups,
                          std::int64_t rows) {
  constexpr int kLanes = 16;  // of 512 bits
  constexpr std::int64_t kColumns = 4 * kLanes, kLeastRows = 5;
  const bool measured = p.family() == GemmType::int32 || p.family() == GemmType::float32;
  if (!measured || plain.lanes != kLanes || plain.format.wide_a || plain.block_groups > 1 ||
      p.geometry.group_outputs() < kColumns || !weights_stay(p))
    return plain;
  const Geometry wide =
      choose_geometry(p.family(), p.features, {rows_of_fewest_loads(plain), 0}, groups);
  const std::int64_t tallest = BalancedSplit::split(rows, wide.max_rows).largest;
  return tallest < kLeastRows ? plain : wide;
}

// The cost of integer products in these tiles, relative to tiles of the plain geometry. The costs
// of floats are always those of plain tiles, because the choice of their algorithm affects
// rounding.
inline double relative_cost(const ConvProblem& p, const Geometry& plain, std::int64_t rows) {
  if (!p.is_integer()) return 1;
  return conv_tile(p, plain, 0, rows).max_rows < plain.max_rows ? policy::costs::kWideTiles : 1;
}

// The kernels for these tiles, which need not fetch weights ahead if those stay in the L2.
inline TileKernels conv_kernels(const ConvProblem& p, const Geometry& plain, std::int64_t groups,
                                std::int64_t rows) {
  const Geometry tile = conv_tile(p, plain, groups, rows);
  KernelKey key = conv_kernel_key(p, tile);
  if (tile.block_groups == 1 && weights_stay(p)) key.caching = Caching::b_resident;
  return {tile, key};
}

}  // namespace fbg
