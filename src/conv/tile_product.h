// The product of convolutions that multiply tiles of output pixels by panels of weights. They
// differ in their source of A, which says where the rows of a tile lie, or packs them:
//
//   implicit_gemm.cc    in the image, one run of K for each row of the kernel
//   flattened_rows.cc   in rows of the image copied one below the other with their padding
//   blocked_im2col.cc   gathered for a block of tiles at a time
//
//   for each block of tiles of an image          the source finds the rows of A of all of them
//     for each group, for each column group      whose panels stay near
//       for each tile                            a chain of them for a matrix unit
//         microkernel
//
// The driver of gemm.h packs any A by rows instead; im2col.cc uses it for what none of these does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conv/algorithm.h"
#include "conv/scratchpad.h"
#include "gemm/kernel_table.h"
#include "kernels/microkernel.h"

namespace fbg {

// A run of K: `groups` k-groups from B's group `first` on, against what lies `offset` bytes after
// the first pixel under a row of the kernel.
struct DepthRun {
  std::int64_t row, offset, first, groups;
};

// Pixels under a row of the kernel: that of row i of a tile at data + i * lda.
struct Segment {
  const std::byte* data;
  std::int64_t lda;
};

// The rows of a tile in C. Of a kernel that masks rows (KernelKey::row_mask), those of pixels.
struct TileRows {
  std::int64_t first, height;
  std::span<const std::uint8_t> picked = {};
};

class SourceOfA {
 public:
  virtual ~SourceOfA() = default;
  // For tiles [begin, end) of image n: their rows, and one segment for each row of the kernel.
  // `padding` has pixels outside of the image, `scratch` scratch_bytes.
  virtual void find_rows(const ConvRun& run, std::int64_t n, Range tiles, const std::byte* padding,
                         std::byte* scratch, TileRows* rows, Segment* segments) const noexcept = 0;

  // What constructors set.
  Geometry tile{};
  KernelKey key{};
  BalancedSplit tiles{};         // of the output pixels of a line, or of all lines of an image
  std::int64_t lines = 1;        // with tiles of their own, of an image
  std::int64_t block_tiles = 1;  // at most, that find_rows() is called for
  std::int64_t segments = 1;     // of a tile
  std::int64_t padding_bytes = 0, scratch_bytes = 0;
  bool fetches_rows = false;   // of the next tile, rather than panels
  std::vector<DepthRun> runs;  // K
  std::vector<Range> parts;    // of runs: all tiles of a chain are multiplied by one of them first
  std::vector<const PackedMatrix*> weights;  // by group

 protected:
  // Sets `tiles` for so many rows. The tile and the key must be there.
  void split_rows(std::int64_t rows) { tiles = BalancedSplit::split(rows, tile.max_rows); }
  // Packs the weights, whose runs have `run` elements, in whole units of k.
  void pack_weights(const ConvProblem& p, std::int64_t run, std::int64_t unit = 0);
};

std::unique_ptr<ConvStep> make_tile_product(const ConvProblem& p,
                                            std::unique_ptr<const SourceOfA> a);

}  // namespace fbg
