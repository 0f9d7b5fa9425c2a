// The transforms of Winograd's algorithm for runs of tiles. simd/winograd.h has those of one axis.
#include <algorithm>

#include "conv/winograd.h"
#include "core/memory.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kChannels = WinogradTransforms::kChannels;

alignas(64) constexpr float kZeros[kChannels] = {};

WinogradTiling::Axis axis_of(const ConvGeometry& g, const ConvShape& shape, std::size_t axis,
                             int n) {
  const std::int64_t k = g.kernel[axis], outputs = k == 1 ? 1 : n;
  return {outputs,
          k,
          outputs + k - 1,
          g.pad_before[axis],
          shape.input[axis],
          shape.output[axis],
          k == 1 ? 1 : g.dilation[axis]};
}

}  // namespace

WinogradTiling::WinogradTiling(const ConvGeometry& g, const ConvShape& shape, int n)
    : y(axis_of(g, shape, 1, n)),
      x(axis_of(g, shape, 2, n)),
      depth(shape.output[0]),
      planes(shape.batch * depth * y.remainders() * x.remainders()) {}

PointMatrices PointMatrices::lay_out(std::int64_t rows, std::int64_t channels) {
  constexpr std::int64_t kLine = kCacheLine / kFloat;
  const std::int64_t row = row_distance(channels * kFloat) / kFloat;
  return {nullptr, row, (rows * row / kLine | 1) * kLine};
}

WinogradTransforms::WinogradTransforms(const WinogradTiling& tiling, Features features)
    : tiling_(tiling) {
  const simd::WinogradKernels& kernels = simd::kernels(features).winograd;
  source_y_ = kernels.source[tiling.y.t];
  source_x_ = kernels.source[tiling.x.t];
  output_y_ = kernels.output[tiling.y.t][tiling.y.n];
  output_x_ = kernels.output[tiling.x.t][tiling.x.n];
  const std::int64_t floats = policy::winograd::kScratchBytes / kFloat / kChannels;
  source_tiles_ = std::max<std::int64_t>((floats / tiling.y.t - (tiling.x.k - 1)) / tiling.x.n, 1);
  output_tiles_ = std::max<std::int64_t>(floats / (tiling.y.n * tiling.x.t + tiling.x.n), 1);
}

std::int64_t WinogradTransforms::scratch_bytes() const {
  const std::int64_t source =
      tiling_.y.t * (source_tiles_ * tiling_.x.n + tiling_.x.k - 1) * kChannels;
  const std::int64_t output = output_tiles_ * (tiling_.y.n * tiling_.x.t + tiling_.x.n) * kChannels;
  return round_up(std::max(source, output) * kFloat, 64);
}

// Columns first: scratch[line of the transform][pixel][channel], where neighbouring tiles share
// pixels.
void WinogradTransforms::transform_source(const ConvRun& run, const TileRun& tiles, Range channels,
                                          const PointMatrices& v, std::int64_t row,
                                          float* scratch) const noexcept {
  const auto &y = tiling_.y, &x = tiling_.x;
  const WinogradTiling::Plane at = tiling_.plane(tiles.plane);
  const std::int64_t y0 = at.y + tiles.y * y.n * y.dilation - y.pad;
  const std::int64_t x0 = at.x + tiles.x * x.n * x.dilation - x.pad;
  const std::int64_t width = tiles.count * x.n + x.k - 1, line = width * kChannels;
  const std::int64_t begin = std::clamp<std::int64_t>(ceil_div(-x0, x.dilation), 0, width);
  const std::int64_t end = std::clamp(ceil_div(x.input - x0, x.dilation), begin, width);
  const std::byte* const plane = run.x + at.image * run.batch_stride + at.z * run.strides[0];
  const std::int64_t step = x.dilation * run.strides[2];

  simd::LineTransform columns{};
  for (std::int64_t p = 0; p < y.t; ++p) {
    const std::int64_t source_line = y0 + p * y.dilation;
    const bool inside = source_line >= 0 && source_line < y.input && begin < end;
    columns.x[p] = inside ? reinterpret_cast<const float*>(plane + source_line * run.strides[1] +
                                                           x0 * run.strides[2] + begin * step) +
                                channels.begin
                          : kZeros;
    columns.step_x[p] = inside ? step / kFloat : 0;
  }
  columns.y = scratch + begin * kChannels;
  columns.line_y = line;
  columns.step_y = kChannels;
  columns.items = static_cast<std::size_t>(end - begin);
  columns.channels = static_cast<std::size_t>(channels.size());
  source_y_(columns);
  for (std::int64_t l = 0; l < y.t; ++l) {
    std::fill_n(scratch + l * line, begin * kChannels, 0.0f);
    std::fill_n(scratch + l * line + end * kChannels, (width - end) * kChannels, 0.0f);
  }

  simd::LineTransform rows{};
  rows.line_y = v.point;
  rows.step_y = v.row;
  rows.items = static_cast<std::size_t>(tiles.count);
  rows.channels = columns.channels;
  std::fill_n(rows.step_x, x.t, x.n * kChannels);
  for (std::int64_t l = 0; l < y.t; ++l) {
    for (std::int64_t p = 0; p < x.t; ++p) rows.x[p] = scratch + l * line + p * kChannels;
    rows.y = v.data + l * x.t * v.point + row * v.row + channels.begin;
    source_x_(rows);
  }
}

// Columns first: scratch[output line][tile][point along the row][channel]. Returns the memory after
// it.
float* WinogradTransforms::begin_output(const PointMatrices& m, std::int64_t row,
                                        std::int64_t count, Range channels,
                                        float* scratch) const noexcept {
  const auto &y = tiling_.y, &x = tiling_.x;
  const std::int64_t line = count * x.t * kChannels;
  simd::LineTransform columns{};
  columns.line_y = line;
  columns.step_y = x.t * kChannels;
  columns.items = static_cast<std::size_t>(count);
  columns.channels = static_cast<std::size_t>(channels.size());
  std::fill_n(columns.step_x, y.t, m.row);
  for (std::int64_t q = 0; q < x.t; ++q) {
    for (std::int64_t p = 0; p < y.t; ++p)
      columns.x[p] = m.data + (p * x.t + q) * m.point + row * m.row + channels.begin;
    columns.y = scratch + q * kChannels;
    output_y_(columns);
  }
  return scratch + y.n * line;
}

const float* WinogradTransforms::output_line(std::int64_t line, std::int64_t count,
                                             std::int64_t channels, const float* columns,
                                             float* pixels) const noexcept {
  const auto& x = tiling_.x;
  simd::LineTransform rows{};
  for (std::int64_t p = 0; p < x.t; ++p)
    rows.x[p] = columns + line * count * x.t * kChannels + p * kChannels;
  std::fill_n(rows.step_x, x.t, x.t * kChannels);
  rows.y = pixels;
  rows.line_y = kChannels;
  rows.step_y = x.n * kChannels;
  rows.items = static_cast<std::size_t>(count);
  rows.channels = static_cast<std::size_t>(channels);
  output_x_(rows);
  return pixels;
}

}  // namespace fbg
