// Runs the stages of a pipeline on float32 sums in memory, by a microkernel that multiplies
// nothing, for algorithms with kernels of their own for the sums.
#pragma once

#include <cstdint>
#include <string>

#include "conv/algorithm.h"
#include "gemm/tile_loop.h"

namespace fbg {

class SumsEpilogue {
 public:
  SumsEpilogue(const ConvProblem& p, const Geometry& tile)
      : tile_(tile),
        key_(part_key(conv_kernel_key(p, tile, GemmType::float32), Sums::last)),
        kernels_(tile, key_, p.geometry.out_channels, 1, tile.max_rows) {}

  std::string kernel() const { return kernel_name(key_); }

  // Writes columns `columns` of `rows` rows of C, the first of which is row `first`. In C, the rows
  // are as far apart as `place` says; their sums are `ld` floats apart.
  void run(const float* sums, std::int64_t ld, std::int64_t rows, std::int64_t first, Range columns,
           TilePlace& place) const noexcept {
    const BalancedSplit tiles = BalancedSplit::split(rows, tile_.max_rows);
    TileArgs args;
    args.ldpartial = ld * static_cast<std::int64_t>(sizeof(float));
    for_each_column_group(tile_, tiles.largest, columns, [&](const ColumnGroup& group) {
      args.columns = group.columns;
      const float* from = sums + (group.col - columns.begin);
      std::int64_t row = first;
      for_each_row_tile(tiles, {}, [&](std::int64_t height) {
        args.partial = const_cast<float*>(from);
        place.set(args, row, group.col, key_.output());
        run_tile(kernels_, group, height, args);
        from += height * ld;
        row += height * place.step();
      });
    });
  }

 private:
  Geometry tile_;
  KernelKey key_;
  KernelTable kernels_;
};

}  // namespace fbg
