// The product of convolutions that multiply tiles of output pixels by panels of weights. They
// differ in their source of A, which tells where the rows of a tile are, or packs them:
//
//   implicit_gemm.cc    in the image, one run of K for each row of the kernel
//   flattened_rows.cc   in rows of the image copied one below the other with their padding
//   blocked_im2col.cc   gathered for a block of tiles at a time
//
//   for each block of tiles of an image          the source finds the rows of A of all of them
//     for each group, for each column group      whose panels stay near
//       for each tile                            pipelined for a matrix unit
//         microkernel
//
// The driver of gemm.h packs any A by rows instead. im2col.cc uses it for all other convolutions.
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

// A run of K: `groups` k-groups from B's group `first` on, against what is `offset` bytes after the
// first pixel under a row of the kernel. Without padding, it has so many `bytes` of A.
struct DepthRun {
  std::int64_t row, offset, first, groups, bytes;
};

// K as all tiles of a convolution multiply it: its runs, and the parts that they belong to, which
// are ranges of `runs`. All pipelined tiles are multiplied by one part before the next.
struct DepthPlan {
  std::vector<DepthRun> runs;
  std::vector<Range> parts;
};

// Divides K into runs of `run` elements, each padded to whole units of `unit_groups` k-groups, and
// these into so many parts of about equal size, whose ends are ends of units.
DepthPlan plan_depth(const ConvGeometry& g, const PackedFormat& format, std::int64_t run,
                     std::int64_t unit_groups, std::int64_t num_parts = 1);

// Pixels under a row of the kernel: that of row i of a tile is at data + i * lda.
struct Segment {
  const std::byte* data;
  std::int64_t lda;
};

// The rows of a tile in C. Kernels that mask rows (KernelKey::row_mask) are told which of them are
// pixels.
struct TileRows {
  std::int64_t first, height;
  std::span<const std::uint8_t> picked = {};
};

struct TileKernels {
  Geometry tile;
  KernelKey key;
};

class SourceOfA {
 public:
  virtual ~SourceOfA() = default;
  // Finds, for tiles [begin, end) of image n, their rows, and one segment for each row of the
  // kernel. `padding` has pixels outside the image, `scratch` has scratch_bytes.
  virtual void find_rows(const ConvRun& run, std::int64_t n, Range tiles, const std::byte* padding,
                         std::byte* scratch, TileRows* rows, Segment* segments) const noexcept = 0;

  // What constructors set.
  ConvGeometry geometry;
  ConvShape shape;
  Geometry tile;
  KernelKey key;
  BalancedSplit tiles;           // of the output pixels of a line, or of all lines of an image
  std::int64_t lines = 1;        // of an image, with tiles of their own
  std::int64_t block_tiles = 1;  // the most tiles that find_rows() is called for
  std::int64_t segments = 1;     // of a tile
  std::int64_t padding_bytes = 0, scratch_bytes = 0;
  bool fetches_rows = false;                 // of the next tile, once weights are near
  std::vector<const PackedMatrix*> weights;  // by group
  DepthPlan depth;

 protected:
  // Tiles of `rows` rows, and weights whose runs have `run` elements, each padded to so many whole
  // k-groups.
  SourceOfA(const ConvProblem& p, const TileKernels& kernels, std::int64_t rows, std::int64_t run,
            std::int64_t unit_groups);
};

std::unique_ptr<ConvStep> make_tile_product(const ConvProblem& p,
                                            std::unique_ptr<const SourceOfA> a);
// For ConvMethod::prepare.
template <class Source>
std::unique_ptr<ConvStep> prepare_tile_product(const ConvProblem& p) {
  return make_tile_product(p, std::make_unique<Source>(p));
}

}  // namespace fbg
