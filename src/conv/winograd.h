// How Winograd's algorithm divides an image into tiles, and the two transforms of a block of tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conv/algorithm.h"
#include "core/policy.h"
#include "simd/winograd.h"

namespace fbg {

// Tiles of n x n outputs, made from t x t pixels each; an axis along which the kernel has size 1
// has n = t = 1. With dilation d, the outputs r, r + d, r + 2 d, ... of an axis read pixels that no
// other outputs read, so that each remainder r is an axis without dilation, of every d-th pixel: a
// plane is divided into dense planes, one for each pair of remainders. Tiles are counted over all
// of these, along rows first.
struct WinogradTiling {
  struct Axis {
    std::int64_t n, k, t, pad, input, output, dilation;
    std::int64_t remainders() const { return std::clamp<std::int64_t>(output, 1, dilation); }
    // Outputs of a remainder; the first one has the most.
    std::int64_t outputs(std::int64_t remainder) const {
      return ceil_div(output - remainder, dilation);
    }
    std::int64_t tiles() const { return ceil_div(outputs(0), n); }
  };
  // Which plane of the output a dense plane is part of, and its first output there.
  struct Plane {
    std::int64_t image, z, y, x;
  };
  Axis y, x;
  std::int64_t depth, planes;  // of the output, and dense planes of the batch

  // n, or 1 along axes with a kernel of 1.
  WinogradTiling(const ConvGeometry& g, const ConvShape& shape, int n);

  std::int64_t points() const { return y.t * x.t; }
  std::int64_t plane_tiles() const { return y.tiles() * x.tiles(); }
  std::int64_t tiles() const { return planes * plane_tiles(); }
  Plane plane(std::int64_t index) const {
    const std::int64_t rest = index / x.remainders(), whole = rest / y.remainders();
    return {whole / depth, whole % depth, rest % y.remainders(), index % x.remainders()};
  }
};

// Tiles [first, first + count) of one row of tiles.
struct TileRun {
  std::int64_t plane, y, x, count;
};

// A matrix of tiles x channels for each point of a tile, in the workspace. Its rows begin at
// multiples of 64 bytes. Neither rows nor points are a multiple of 4096 bytes apart, because they
// would then displace each other from the L1.
struct PointMatrices {
  float* data;
  std::int64_t row, point;  // distances in floats

  static PointMatrices lay_out(std::int64_t rows, std::int64_t channels);
  std::int64_t bytes(std::int64_t points) const { return points * point * 4; }
};

// Both transforms first run along the columns of the image and then along its rows, for a few tiles
// and channels at a time, so that the intermediate values stay in the L1.
class WinogradTransforms {
 public:
  WinogradTransforms(const WinogradTiling& tiling, Features features);

  std::int64_t scratch_bytes() const;  // of each thread
  // The most tiles of a run, and the most channels of the columns of the matrices.
  std::int64_t source_tiles() const { return source_tiles_; }
  std::int64_t output_tiles() const { return output_tiles_; }
  static constexpr std::int64_t kChannels = policy::winograd::kChannels;

  // Writes B^T d B of a run of tiles to rows [row, row + count) of v, for some input channels.
  void transform_source(const ConvRun& run, const TileRun& tiles, Range channels,
                        const PointMatrices& v, std::int64_t row, float* scratch) const noexcept;

  // Transforms columns `channels` of rows [row, row + count) of m to A^T m A, which are lines of
  // output pixels. Calls use(line, pixels) for each line of the dense plane in the run, with pixels
  // `kChannels` floats apart.
  template <class Use>
  void transform_output(const PointMatrices& m, std::int64_t row, const TileRun& tiles,
                        Range channels, float* scratch, Use use) const noexcept;

 private:
  float* begin_output(const PointMatrices& m, std::int64_t row, std::int64_t count, Range channels,
                      float* scratch) const noexcept;
  const float* output_line(std::int64_t line, std::int64_t count, std::int64_t channels,
                           const float* columns, float* pixels) const noexcept;

  const WinogradTiling tiling_;
  simd::LineKernel source_y_, source_x_, output_y_, output_x_;
  std::int64_t source_tiles_, output_tiles_;
};

template <class Use>
void WinogradTransforms::transform_output(const PointMatrices& m, std::int64_t row,
                                          const TileRun& tiles, Range channels, float* scratch,
                                          Use use) const noexcept {
  float* const pixels = begin_output(m, row, tiles.count, channels, scratch);
  const std::int64_t first = tiles.y * tiling_.y.n;
  const std::int64_t outputs = tiling_.y.outputs(tiling_.plane(tiles.plane).y);
  const std::int64_t lines = std::min(tiling_.y.n, outputs - first);
  for (std::int64_t line = 0; line < lines; ++line)
    use(first + line, output_line(line, tiles.count, channels.size(), scratch, pixels));
}

}  // namespace fbg
