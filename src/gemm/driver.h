// The parts of GemmDriver: where B has what, how K is cut, how A reaches the kernels (packing.h),
// which kernels compute the tiles, a gate that combines halves of the columns, and the loops over
// all of these. The order of the loops, and why, is in fbg/gemm/gemm.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fbg/gemm/detail/driver.h"
#include "gemm/kernel_table.h"
#include "gemm/packing.h"
#include "gemm/partition.h"

namespace fbg {

// The layout of B, and what it stores.
struct PanelLayout {
  explicit PanelLayout(const PackedMatrix& b);
  bool is_of(const PackedMatrix& b) const;
  // Where a column is, and where its k-group is in b.
  std::int64_t column(std::int64_t col) const {
    return col / kPanelColumns * panel_bytes + col % kPanelColumns * column_bytes;
  }
  const std::byte* at(const PackedMatrix& b, std::int64_t col, std::int64_t group) const {
    return b.panels() + column(col) + group * group_bytes;
  }

  PackedFormat format;
  std::int64_t k, n, groups, group_bytes, panel_bytes, column_bytes;
  bool has_scale, has_zero_point;
};

// How K is cut into blocks of k-groups, in units that are not divided.
class Depth {
 public:
  Depth(GemmType gemm_type, const Geometry& geometry, std::int64_t groups, std::int64_t max_m);
  bool cuts() const { return cuts_; }
  std::int64_t longest() const { return longest_; }  // of a block, in k-groups
  // The blocks, in units; a single tile of rows reads B once in any case: for it, K stays whole.
  const BalancedSplit& blocks(bool single_tile) const { return single_tile ? whole_ : blocks_; }
  Range groups(Range units) const {
    return {units.begin * unit_, std::min(units.end * unit_, groups_)};
  }
  // The sums of the block that completes them.
  Sums last_sums() const { return cuts_ ? Sums::last : Sums::whole; }

 private:
  BalancedSplit split(std::int64_t max_groups) const;

  std::int64_t groups_, unit_, longest_;
  bool cuts_;
  BalancedSplit blocks_, whole_;
};

// The kernels of a product, and the types that they give.
struct ProductKernels {
  ProductKernels(const Geometry& geometry, const KernelKey& whole, const Depth& depth,
                 const PipelineView& pipeline, bool reads_again, std::int64_t n,
                 std::int64_t max_m);
  const KernelTable& kernels(Sums sums, bool interleaved) const {
    return (interleaved ? interleaved_ : plain_)[static_cast<std::size_t>(sums)];
  }
  std::size_t nbytes() const noexcept;

  ValueType output, result;  // of tiles, of C
  bool has_functors;         // that follow the stages of kernels
  bool pipelined;            // tall tiles may be (PipelinedTiles)
  bool interleaves;          // operands of several row tiles are
  bool streams;              // a C that no cache will hold is written past the caches
  KernelTable streaming;     // by these kernels for the tallest tiles

 private:
  std::array<KernelTable, 4> plain_, interleaved_;  // by Sums
};

// A gate of a pipeline, which combines columns a of A * B with columns b, half of N further.
struct GatedColumns {
  bool used;
  std::int64_t n;          // of A * B
  std::int64_t bytes = 0;  // of the workspace

  std::int64_t columns_of_c() const { return used ? n / 2 : n; }
  // Columns of C that are computed together for so many rows; bytes between rows of their parts.
  std::int64_t columns(std::int64_t rows) const noexcept;
  static std::int64_t ld(std::int64_t columns) {
    return 2 * columns * static_cast<std::int64_t>(sizeof(float)) + 64;
  }
};

struct GemmDriver::Parts {
  Parts(const ProductTypes& types, const PackedMatrix& b, const PipelineView& pipeline,
        std::int64_t max_m, Features features, const Blocking& blocking);

  bool serves(const PackedMatrix& b) const noexcept {
    return panels.is_of(b) && (b.is_narrow() || !geometry.narrow);
  }
  std::size_t nbytes() const noexcept { return sizeof *this + tiles.nbytes(); }
  std::string kernel_name(std::int64_t rows, int num_threads) const;
  Share share(std::int64_t rows, int thread_id, int num_threads) const noexcept {
    return thread_share(rows, gate.columns_of_c(), thread_id, num_threads, blocking.row_parts);
  }
  void run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline, OutputView c,
           std::byte* workspace, const Share& share) const noexcept;

  GemmType gemm_type;
  Blocking blocking;
  std::int32_t a_shift;
  std::int64_t max_m;
  PanelLayout panels;
  Geometry geometry;
  KernelKey key;
  Depth depth;
  ProductKernels tiles;
  GatedColumns gate;
  Packing packing;
  std::int64_t nc;  // columns of C between two cuts of K
  std::size_t workspace_bytes;

 private:
  struct Workspace {
    Packing::Space a;
    std::byte* interleaved_b;  // of one column group
    Value* partial;            // raw sums: of mc x nc between blocks of k; for int16, of one tile
    Value* tile;               // the tile that a kernel leaves to functors
    std::byte* gated;          // columns a of A * B, and beside them b
    std::byte* pipelined;      // of PipelinedTiles
    std::int64_t bytes;        // of all of these
  };
  struct Run;  // the loops of a thread
  Workspace lay_out(std::byte* base) const noexcept;
};

// Sets `sums` (rows x ld) to the products of the outliers in the columns `cols` of B with a tile of
// A, whose k are in the block pairs one after the other.
void multiply_outliers(const Outliers& outliers, Range cols, std::span<const BlockPair> pairs,
                       std::int64_t rows, std::int64_t ld, Value* sums) noexcept;

}  // namespace fbg
