// blocked_im2col: a convolution of bytes, or of bfloat16 on a matrix unit, as one product whose A
// is gathered for a block of tiles at a time.
//
// A row of A is the patch of an output pixel: the pixels under each row of the kernel are
// contiguous in a channels-last image, so that it is made of a few runs, one after the other, and
// of zeros up to whole blocks of a matrix unit:
//
//   [ row 0 of the kernel: kx, channel | row 1 | ... | zeros ]
//
// This serves images of few channels. Their runs are short, and implicit_gemm.cc, which reads them
// in place, would have to pad each of them; here only the end of a patch is padded. A tile may go
// on from one line of the output to the next. All columns of C use the patches of a block while
// they are in the L1.
#include <algorithm>
#include <cstring>

#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/tile_product.h"
#include "conv/tiles.h"
#include "core/memory.h"
#include "core/policy.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

// The tile of a matrix unit, if padding patches to whole blocks of it pays.
Geometry plain_tile(const ConvProblem& p) {
  const Geometry unit = unit_geometry(p);
  if (!p.is_integer()) return unit;
  const std::int64_t groups = ceil_div(p.geometry.depth(), p.format().kr);
  const double padded = tile_cost(unit, unit.max_rows, round_up(groups, unit.block_groups));
  if (padded <= static_cast<double>(groups * unit.max_rows)) return unit;
  return choose_geometry(p.family(), p.features);
}

// Whether the pixels are the patches, of `depth` elements with their zeros, if the image has no
// gaps.
bool pixels_are_patches(const ConvGeometry& g, std::int64_t depth) {
  return is_pointwise(g) && depth == g.in_channels;
}

class BlockedIm2Col final : public SourceOfA {
 public:
  explicit BlockedIm2Col(const ConvProblem& p)
      : BlockedIm2Col(p, conv_kernels(p, plain_tile(p), 0, volume(p.shape.output))) {}

  void find_rows(const ConvRun& run, std::int64_t n, Range indices, const std::byte*,
                 std::byte* scratch, TileRows* rows, Segment* found) const noexcept override {
    const std::int64_t image = n * volume(shape.output);
    const Range pixels{image + tiles[indices.begin].begin, image + tiles[indices.end - 1].end};
    const PatchRows patches(run.view(), geometry, shape, 0, pixels, tile.format.a_bytes);
    Segment a{patches.in_place(), patches.in_place_ld()};
    if (!a.data || !may_be_in_place(a.data)) {
      ABlock block{.features = features_, .packed = scratch, .ld = patch_};
      patches.pack({0, patches.rows()}, block);
      // A float that meets a weight of zero must be a number; a byte may be anything.
      const std::int64_t used = geometry.depth() * tile.format.a_bytes;
      if (tile.format.a_bytes > 1 && used < depth_bytes_)
        for (std::int64_t i = 0; i < patches.rows(); ++i)
          std::memset(scratch + i * patch_ + used, 0,
                      static_cast<std::size_t>(depth_bytes_ - used));
      a = {scratch, patch_};
    }
    for (std::int64_t i = indices.begin; i < indices.end; ++i) {
      const Range tile_pixels{image + tiles[i].begin, image + tiles[i].end};
      *rows++ = {tile_pixels.begin, tile_pixels.size()};
      *found++ = {a.data + (tile_pixels.begin - pixels.begin) * a.lda, a.lda};
    }
  }

 private:
  BlockedIm2Col(const ConvProblem& p, const TileKernels& kernels)
      : SourceOfA(p, kernels, volume(p.shape.output), p.geometry.depth(),
                  kernels.tile.block_groups),
        features_(p.features),
        depth_bytes_(weights.front()->groups() * p.format().kr * tile.format.a_bytes) {
    const std::int64_t element = tile.format.a_bytes;
    const std::int64_t run = geometry.kernel[2] * geometry.in_channels * element;
    patch_ = round_up(
        std::max(geometry.depth() * element - run + simd::copied_bytes(run), depth_bytes_), 4);
    // Patches a multiple of 4 KiB apart would fall into the same sets of the L1.
    if (patch_ % 4096 == 0) patch_ += 64;
    const bool is_unit = tile.block_groups > 1;
    const std::int64_t bytes =
        is_unit ? policy::blocked_im2col::kUnitBlockBytes : policy::blocked_im2col::kBlockBytes;
    std::int64_t rows = bytes / patch_;
    if (is_unit)
      rows = std::min(rows, policy::blocked_im2col::kUnitOutputBytes /
                                (geometry.out_channels * value_size(key.output())));
    block_tiles = std::max<std::int64_t>(rows / tile.max_rows, 1);
    scratch_bytes = block_tiles * tile.max_rows * patch_;
  }

  // A matrix unit takes twice the time to load rows that are not whole cache lines.
  bool may_be_in_place(const std::byte* data) const noexcept {
    return depth_bytes_ == geometry.in_channels * tile.format.a_bytes &&
           (tile.block_groups == 1 || reinterpret_cast<std::uintptr_t>(data) % kCacheLine == 0);
  }

  const Features features_;
  const std::int64_t depth_bytes_;  // of a patch with its zeros
  std::int64_t patch_;              // bytes from one patch to the next
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  if (g.transposed || g.groups != 1 || g.dilation[2] != 1) return false;
  // Vector kernels of floats need no zeros, so that im2col serves as well.
  if (!p.is_integer()) return unit_geometry(p).block_groups > 1;
  return !choose_geometry(p.family(), p.features).format.wide_a;
}

using namespace policy::blocked_im2col;

double relative_to_driver(const ConvProblem& p, bool in_place, std::int64_t tiles) {
  if (!in_place || p.is_integer()) return 1;
  return p.geometry.out_channels > p.geometry.in_channels && tiles >= kManyTiles ? kLongRows
                                                                                 : kOther;
}

// Gathering a patch takes a few instructions for each run, and its bytes twice.
double gather_cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const auto runs = static_cast<double>(g.kernel[0] * g.kernel[1]);
  const auto bytes = static_cast<double>(g.depth() * p.format().a_bytes);
  if (p.is_integer() || runs == 1) return runs * kByteRun + bytes * kByte;
  return kPatch + runs * kRun + bytes * kHalfByte;
}

double cost(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry tile = plain_tile(p);
  const std::int64_t kr = p.format().kr;
  const std::int64_t groups = round_up(ceil_div(g.depth(), kr), tile.block_groups);
  const BalancedSplit tiles = BalancedSplit::split(volume(p.shape.output), tile.max_rows);
  const bool in_place = pixels_are_patches(g, groups * kr);
  const double products = static_cast<double>(p.shape.batch * tiles.count) *
                          tile_cost(tile, tiles.largest, groups) * (in_place ? 1.0 : kGathered) *
                          relative_cost(p, tile, volume(p.shape.output)) *
                          relative_to_driver(p, in_place, tiles.count);
  const double vectors = static_cast<double>(ceil_div(g.out_channels, tile.lanes));
  const double rows = static_cast<double>(p.shape.out_pixels());
  const bool overlapped = in_place && tile.block_groups > 1;  // with the products of the next tile
  const bool plain = p.stages.empty() || !p.is_integer();
  const double finish = overlapped ? (plain ? kFinishBeside : kStagesBeside)
                        : plain    ? costs::kFloatFinish
                                   : costs::kByteFinish;
  const double gather = in_place ? 0 : gather_cost(p);
  return vectors * products + rows * (vectors * finish + gather);
}

}  // namespace

ConvMethod blocked_im2col_method() {
  return {.name = "blocked_im2col",
          .exact = true,
          .applies = applies,
          .cost = cost,
          .prepare = prepare_tile_product<BlockedIm2Col>,
          .in_kernel_order = false,  // pairs that im2col leaves to vector kernels
          .serves = either<GemmType::int32, GemmType::bfloat16>};
}

}  // namespace fbg
