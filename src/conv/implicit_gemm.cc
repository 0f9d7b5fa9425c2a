// implicit_gemm: a dense convolution as a product whose A is the image, read in place.
//
// In a channels-last image the pixels under one row of the kernel are contiguous: (kx, channel) is
// one run of k. A tile of C is a run of output pixels of one output row, so that row i of A begins
// i * stride pixels further on, and the microkernel adds up one block pair per kernel row:
//
//   C[ox .. ox + mr) = sum over (kz, ky) of  x[oz * s + kz, oy * s + ky, ox * s ...] * w[kz, ky]
//
// With dilation along the width, or with groups, a run is the channels of one tap. Rows outside the
// image are one buffer of padding, which is read with lda = 0. Segments that cross the left or
// right border of the image, or whose last k-group would read beyond the tensor, are copied once
// for each tile, together with the padding, and serve all columns of C. Nothing else is copied.
#include <algorithm>
#include <cstring>

#include "conv/cost.h"
#include "conv/padding.h"
#include "conv/tile_product.h"
#include "conv/tiles.h"
#include "core/policy.h"

namespace fbg {
namespace {

bool reads_whole_rows(const ConvGeometry& g) { return g.groups == 1 && g.dilation[2] == 1; }

// The number of elements of k in a run.
std::int64_t run_size(const ConvGeometry& g) {
  return reads_whole_rows(g) ? g.kernel[2] * g.in_channels : g.group_inputs();
}

// A matrix unit multiplies whole blocks of each run, so that the runs of integers must be long
// enough. Floats use the unit for the same convolutions as other algorithms, for which the whole
// depth is one run.
std::int64_t groups_at_a_time(const ConvProblem& p) {
  return ceil_div(p.is_integer() ? run_size(p.geometry) : p.geometry.depth(), p.format().kr);
}

Geometry plain_tile(const ConvProblem& p) {
  return choose_geometry(p.family(), p.features, {}, groups_at_a_time(p));
}

class ImagePixels final : public SourceOfA {
 public:
  explicit ImagePixels(const ConvProblem& p)
      : SourceOfA(p, conv_kernels(p, plain_tile(p), groups_at_a_time(p), p.shape.output[2]),
                  p.shape.output[2], run_size(p.geometry), 1),
        pixel_(p.geometry.in_channels * tile.format.a_bytes),
        reach_(p.geometry.dilation[2] * (p.geometry.kernel[2] - 1) + 1) {
    const ConvGeometry& g = geometry;
    lines = p.shape.output[0] * p.shape.output[1];
    segments = g.kernel[0] * g.kernel[1];
    fetches_rows = segments == 1 && tile.block_groups == 1;
    const std::int64_t run = run_size(g);
    slack_ = (round_up(run, std::int64_t{p.format().kr}) - run) * tile.format.a_bytes;
    padding_bytes = round_up(reach_ * pixel_ + slack_, 64);
    const std::int64_t last = std::max<std::int64_t>(tiles.largest - 1, 0) * g.stride[2];
    segment_bytes_ = round_up((last + reach_) * pixel_ + slack_, 64);
    block_tiles =
        std::clamp<std::int64_t>(policy::implicit_gemm::kBlockBytes / (segment_bytes_ * segments),
                                 1, policy::implicit_gemm::kBlockTiles);
    scratch_bytes = block_tiles * segments * segment_bytes_;
  }

  // Finds or copies the segment of every kernel row.
  void find_rows(const ConvRun& run, std::int64_t n, Range indices, const std::byte* padding,
                 std::byte* copies, TileRows* rows, Segment* found) const noexcept override {
    const ConvGeometry& g = geometry;
    const std::byte* const image = run.x + n * run.batch_stride;
    const std::int64_t lda = g.stride[2] * pixel_, stride = run.strides[2];
    for (std::int64_t i = indices.begin; i < indices.end; ++i, ++rows, found += segments) {
      const std::int64_t line = i / tiles.count, z = line / shape.output[1],
                         y = line % shape.output[1];
      const Range pixels = tiles[i % tiles.count];
      const std::int64_t x = pixels.begin * g.stride[2] - g.pad_before[2];
      const std::int64_t width = (pixels.size() - 1) * g.stride[2] + reach_;
      const bool inside = x >= 0 && x + width <= shape.input[2] && stride == pixel_;
      *rows = {run.grid.row(n, z, y, pixels.begin), pixels.size()};
      for_each_line(image, run.strides, g, shape.input, z, y,
                    [&](std::int64_t row, const std::byte* from) {
                      if (!from) {
                        found[row] = {padding, 0};
                        return;
                      }
                      found[row] = {from + x * stride, lda};
                      if (inside && found[row].data + width * pixel_ + slack_ <= run.end) return;
                      std::byte* const copy = copies + row * segment_bytes_;
                      copy_padded(from, stride, shape.input[2], x, width, pixel_,
                                  run.padding(n, tile.format.a_bytes), copy);
                      std::memset(copy + width * pixel_, 0, static_cast<std::size_t>(slack_));
                      found[row].data = copy;
                    });
      copies += segments * segment_bytes_;
    }
  }

 private:
  std::int64_t pixel_;  // bytes of a pixel of x
  std::int64_t reach_;  // pixels of a row under the kernel
  std::int64_t slack_;  // bytes that the last k-group of a run reads beyond it
  std::int64_t segment_bytes_;
};

bool applies(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  // Int16 sums need the outliers of each pair.
  if (p.family() == GemmType::int16 || g.transposed) return false;
  const Geometry tile = plain_tile(p);
  if (p.is_integer())
    return !tile.format.wide_a || (g.in_channels % 4 == 0 && g.group_inputs() % 4 == 0);
  // What a k-group reads beyond its run is multiplied by weights of 0, which is harmless for
  // integers only. And the blocks of a matrix unit must be those of an undivided depth, so that the
  // sums have the same bits.
  return run_size(g) % (tile.block_groups * p.format().kr) == 0;
}

double cost(const ConvProblem& p) {
  constexpr std::int64_t kEnds = 2;
  using namespace policy::implicit_gemm;
  const ConvGeometry& g = p.geometry;
  const Geometry tile = plain_tile(p);
  const std::int64_t width = p.shape.output[2], size = run_size(g), count = g.depth() / size;
  const BalancedSplit tiles = BalancedSplit::split(width, tile.max_rows);
  if (tiles.count == 0) return 0;
  const double vectors = static_cast<double>(ceil_div(g.group_outputs(), tile.lanes));
  const double lines = static_cast<double>(p.shape.batch * p.shape.output[0] * p.shape.output[1]);
  // Instructions bound integers of 256 bits, so that shorter tiles take less time.
  constexpr int kLanes = 8;
  const double height = p.is_integer() && tile.lanes == kLanes
                            ? static_cast<double>(width) / static_cast<double>(tiles.count)
                            : static_cast<double>(tiles.largest);
  const double finish =
      p.is_integer() && !p.stages.empty() ? costs::kByteFinish : costs::kFloatFinish;
  const double products =
      tile_cost(tile, height, ceil_div(size, p.format().kr), count) * relative_cost(p, tile, width);
  const double per_tile = products + height * finish + kTile + kTap * static_cast<double>(count);
  // Segments that cross a border are copied: those of the first and the last tile of a line.
  const std::int64_t border =
      g.pad_before[2] + g.pad_after[2] > 0 ? std::min(tiles.count, kEnds) : 0;
  const double segment =
      (height * static_cast<double>(g.stride[2]) + static_cast<double>(g.kernel[2])) *
      static_cast<double>(g.in_channels) * p.format().a_bytes;
  const double copies =
      static_cast<double>(border * g.kernel[0] * g.kernel[1]) * (kSegment + segment * kCopied);
  return lines * (static_cast<double>(tiles.count * g.groups) * vectors * per_tile + copies);
}

}  // namespace

ConvMethod implicit_gemm_method() {
  return {.name = "implicit_gemm",
          .exact = true,
          .applies = applies,
          .cost = cost,
          .prepare = prepare_tile_product<ImagePixels>,
          .any_grid = true};
}

}  // namespace fbg
