// See panel_product.h.
#include "gemm/panel_product.h"

#include "gemm/tile_loop.h"

namespace fbg {

KernelTable panel_kernels(GemmType gemm_type, const Geometry& geometry, std::int64_t columns) {
  const KernelKey key = make_kernel_key(geometry, gemm_type, {}, false, false, false);
  return {geometry, key, columns, 1, geometry.max_rows};
}

void multiply_panels(const KernelTable& kernels, const MatrixView<const float>& a,
                     const float* panels, std::int64_t depth, const MatrixView<float>& c) noexcept {
  const Geometry& geometry = kernels.geometry();
  constexpr std::int64_t kWord = sizeof(float);
  const BalancedSplit tiles = BalancedSplit::split(a.rows, geometry.max_rows);
  BlockPair block{nullptr, a.row_stride * kWord, nullptr, depth * kPanelColumns * kWord, a.cols};
  const KernelScope scope(geometry, tiles.largest);
  TileArgs args;
  args.set_blocks({&block, 1});
  args.ldc = c.row_stride * kWord;
  alignas(64) std::byte memory[PipelinedTiles::bytes(1)];
  PipelinedTiles pipelined(memory, 1);
  for_each_column_group(geometry, tiles.largest, {0, c.cols}, [&](const ColumnGroup& group) {
    args.columns = group.columns;
    block.a = a.data;
    block.b =
        panels + group.col / kPanelColumns * depth * kPanelColumns + group.col % kPanelColumns;
    float* tile = c.data + group.col;
    for_each_row_tile(tiles, {&block, 1}, [&](std::int64_t rows) {
      args.c = tile;
      if (PipelinedTiles::gains(geometry, rows))
        pipelined.add(kernels.find(rows, group.vectors, group.masked), args);
      else
        run_tile(kernels, group, rows, args);
      tile += rows * c.row_stride;
    });
  });
  pipelined.run();
}

}  // namespace fbg
