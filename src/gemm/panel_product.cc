// See panel_product.h.
#include "gemm/panel_product.h"

#include "gemm/tile_loop.h"

namespace fbg {

PanelProduct::PanelProduct(GemmType gemm_type, const Geometry& geometry, std::int64_t columns)
    : geometry_(geometry),
      kernels_(geometry, make_kernel_key(geometry, gemm_type, {}, false, false, false), columns, 1,
               geometry.max_rows) {}

void PanelProduct::run(const MatrixView<const float>& a, const float* panels, std::int64_t depth,
                       const MatrixView<float>& c) const noexcept {
  constexpr std::int64_t kWord = sizeof(float);
  const BalancedSplit tiles = BalancedSplit::split(a.rows, geometry_.max_rows);
  BlockPair block{nullptr, a.row_stride * kWord, nullptr, depth * kPanelColumns * kWord, a.cols};
  const KernelScope scope(geometry_, tiles.largest);
  TileArgs args;
  args.set_blocks({&block, 1});
  args.ldc = c.row_stride * kWord;
  alignas(64) std::byte memory[PipelinedTiles::bytes(1)];
  PipelinedTiles pipelined(memory, 1);
  for_each_column_group(geometry_, tiles.largest, {0, c.cols}, [&](const ColumnGroup& group) {
    args.columns = group.columns;
    block.a = a.data;
    block.b =
        panels + group.col / kPanelColumns * depth * kPanelColumns + group.col % kPanelColumns;
    float* tile = c.data + group.col;
    for_each_row_tile(tiles, {&block, 1}, [&](std::int64_t rows) {
      args.c = tile;
      if (PipelinedTiles::gains(geometry_, rows))
        pipelined.add(kernels_.find(rows, group.vectors, group.masked), args);
      else
        run_tile(kernels_, group, rows, args);
      tile += rows * c.row_stride;
    });
  });
  pipelined.run();
}

}  // namespace fbg
