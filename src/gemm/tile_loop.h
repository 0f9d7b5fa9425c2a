// The innermost loops around the microkernel, which all products share: Gemm, the products of
// attention, and convolutions.
//
//   for_each_column_group   nr columns of C at a time: a panel of B, or a few, that stay near
//     for_each_row_tile     rows of C in tiles of balanced heights
//       run_tile            the microkernel of that height and width
//
// The caller fills TileArgs. If the row tiles of a product are not one below the other, as in some
// convolutions, the caller visits them itself and calls run_tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "core/policy.h"
#include "fbg/core/types.h"
#include "gemm/kernel_table.h"
#include "kernels/microkernel.h"

namespace fbg {

// Columns of C that a kernel computes together: nr, or fewer at the end.
struct ColumnGroup {
  std::int64_t col;      // the first
  std::int64_t columns;  // how many
  std::int64_t vectors;  // that they take
  bool masked;           // the last vector is partial
};

// Columns of a whole group where the tallest tile has that many rows.
inline std::int64_t tile_columns(const Geometry& geometry, std::int64_t tallest) {
  return geometry.lanes * geometry.max_vectors[static_cast<std::size_t>(tallest - 1)];
}

// Calls f(group) for the column groups of `cols`, which begin at multiples of nr from the first on.
// `tallest`: rows of the tallest tile that a group is used with, which decides how wide it is.
template <class F>
void for_each_column_group(const Geometry& geometry, std::int64_t tallest, Range cols, F f) {
  const std::int64_t nr = tile_columns(geometry, tallest);
  for (std::int64_t col = cols.begin; col < cols.end; col += nr) {
    const std::int64_t columns = std::min(nr, cols.end - col);
    f(ColumnGroup{col, columns, ceil_div(columns, geometry.lanes), columns % geometry.lanes != 0});
  }
}

// Calls f(rows) for one row tile after the other, from the top, and moves `blocks` on to the rows
// of A that belong to the next tile. The table has the same kernel for tiles of the same height,
// which therefore follow each other.
template <class F>
void for_each_row_tile(const BalancedSplit& tiles, std::span<BlockPair> blocks, F f) {
  for (std::int64_t i = 0; i < tiles.count; ++i) {
    const std::int64_t rows = tiles.largest - (i >= tiles.num_largest);
    f(rows);
    for (BlockPair& block : blocks)
      block.a = static_cast<const std::byte*>(block.a) + rows * block.lda;
  }
}

// Runs the kernel of a tile of that many rows with args, whose `columns` and `col` are the group's.
inline void run_tile(const KernelTable& kernels, const ColumnGroup& group, std::int64_t rows,
                     TileArgs& args) {
  const KernelTable::Entry& kernel = kernels.find(rows, group.vectors, group.masked);
  args.key = &kernel.key;
  kernel.run(&args);
}

using policy::gemm::kPipelinedTiles;

// Collects tiles as they come, with copies of their arguments and block pairs, and gives them to
// the kernel together, so that a matrix unit finishes a tile while it multiplies the next one. They
// may belong to different column groups. Whoever adds tiles calls run() in the end.
class PipelinedTiles {
 public:
  // The memory of tiles that have up to `pairs` block pairs each.
  static constexpr std::int64_t bytes(std::int64_t pairs) {
    return kPipelinedTiles *
           static_cast<std::int64_t>(sizeof(TileArgs) + pairs * sizeof(BlockPair));
  }
  PipelinedTiles(std::byte* memory, std::int64_t pairs) noexcept
      : tiles_(reinterpret_cast<TileArgs*>(memory)), max_pairs_(pairs) {}

  // Whether tiles of so many rows gain from being pipelined. Others are better run at once.
  static bool gains(const Geometry& geometry, std::int64_t rows) {
    return geometry.block_groups > 1 && rows > geometry.vector_rows;
  }

  // The copies of the arguments and the block pairs of a tile.
  struct Tile {
    TileArgs& args;
    BlockPair* pairs;
  };
  // Whatever differs from tile to tile is better written to the copies than to `args` before: the
  // copying loads are wider than such stores, which they cannot be forwarded from.
  Tile add(const KernelTable::Entry& kernel, const TileArgs& args) noexcept {
    if (count_ == kPipelinedTiles || (count_ && !continues(kernel, args))) run();
    kernel_ = &kernel;
    BlockPair* const pairs =
        reinterpret_cast<BlockPair*>(tiles_ + kPipelinedTiles) + count_ * max_pairs_;
    std::copy_n(args.pairs, args.num_pairs, pairs);
    TileArgs& tile = *std::construct_at(tiles_ + count_, args);
    tile.pairs = pairs;
    tile.key = &kernel.key;
    tile.next = nullptr;
    if (count_++) tiles_[count_ - 2].next = &tile;
    return {tile, pairs};
  }
  void run() noexcept {
    if (std::exchange(count_, 0)) kernel_->run(tiles_);
  }

 private:
  // The mask of the last vector is that of the first tile.
  bool continues(const KernelTable::Entry& kernel, const TileArgs& args) const {
    return &kernel == kernel_ && (!kernel.key.masked || args.columns == tiles_[0].columns);
  }

  TileArgs* const tiles_;
  const std::int64_t max_pairs_;
  const KernelTable::Entry* kernel_ = nullptr;
  std::int64_t count_ = 0;
};

}  // namespace fbg
