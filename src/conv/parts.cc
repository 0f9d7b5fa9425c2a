// Transposed convolutions as one ordinary convolution for each remainder of output positions.
#include "conv/parts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace fbg {
namespace {

// One axis of the outputs r, r + s, r + 2 s, ... of a transposed convolution with stride s. Output
// o sums x[i] w[k] over all k and i with i * s + k * d = o + pad. These k are some distance apart,
// and larger ones meet earlier pixels:
//
//   o = r + j s reads pixels j + (r + pad - k d) / s      for k = last, ..., first
struct AxisPart {
  std::vector<std::int64_t> taps;  // k, in the order of their pixels; empty: the output is zero
  std::int64_t outputs;
  std::int64_t dilation;
  std::int64_t pad_before, pad_after;

  std::int64_t kernel() const { return std::max<std::int64_t>(std::ssize(taps), 1); }
};

AxisPart part_of_axis(const ConvGeometry& g, const ConvShape& shape, std::size_t axis,
                      std::int64_t r) {
  const std::int64_t stride = g.stride[axis], dilation = g.dilation[axis];
  const std::int64_t input = shape.input[axis], at = r + g.pad_before[axis];
  AxisPart part{};
  part.outputs = ceil_div(std::max<std::int64_t>(shape.output[axis] - r, 0), stride);
  for (std::int64_t k = g.kernel[axis]; k-- > 0;)
    if ((at - k * dilation) % stride == 0) part.taps.push_back(k);
  part.dilation = part.taps.size() > 1 ? dilation / std::gcd(stride, dilation) : 1;
  // Where there are no taps, one of weight 0 reads pixels of padding.
  part.pad_before =
      part.taps.empty() ? input + part.outputs : -(at - part.taps.front() * dilation) / stride;
  const std::int64_t reach = part.dilation * (part.kernel() - 1) + 1;
  part.pad_after = part.outputs - 1 + reach - input - part.pad_before;
  return part;
}

PackedConv part_of_weights(const PackedConv& weights,
                           const std::array<AxisPart, kSpatialAxes>& axes) {
  ConvGeometry geometry = weights.geometry();
  geometry.transposed = false;
  geometry.stride = {1, 1, 1};
  geometry.output_padding = geometry.pad_before = geometry.pad_after = {0, 0, 0};
  bool empty = false;
  for (std::size_t axis = 0; axis < kSpatialAxes; ++axis) {
    geometry.kernel[axis] = axes[axis].kernel();
    empty = empty || axes[axis].taps.empty();
  }
  const Extent3& kernel = weights.geometry().kernel;
  const std::int64_t run = geometry.group_inputs() * weights.format().packed.b_bytes;
  std::vector<std::byte> part(
      static_cast<std::size_t>(geometry.out_channels * geometry.taps() * run));
  if (!empty) {
    const std::byte* const whole = weights.weights();
    auto to = part.begin();
    for (std::int64_t o = 0; o < geometry.out_channels; ++o)
      for (const std::int64_t z : axes[0].taps)
        for (const std::int64_t y : axes[1].taps)
          for (const std::int64_t x : axes[2].taps) {
            const std::int64_t tap = ((o * kernel[0] + z) * kernel[1] + y) * kernel[2] + x;
            to = std::copy_n(whole + tap * run, run, to);
          }
  }
  return PackedConv::pack(weights.family(), part.data(), geometry, weights.quant());
}

}  // namespace

std::vector<ConvPart> conv_parts(const PackedConv& weights, const ConvShape& shape) {
  const ConvGeometry& g = weights.geometry();
  if (!g.transposed) return {{weights, g, shape, PixelGrid::dense(shape.output)}};
  std::vector<ConvPart> parts;
  const auto remainders = [&](std::size_t axis) {
    return std::clamp<std::int64_t>(shape.output[axis], 1, g.stride[axis]);
  };
  const PixelGrid all = PixelGrid::dense(shape.output);
  for (std::int64_t z = 0; z < remainders(0); ++z)
    for (std::int64_t y = 0; y < remainders(1); ++y)
      for (std::int64_t x = 0; x < remainders(2); ++x) {
        const std::array<AxisPart, kSpatialAxes> axes{part_of_axis(g, shape, 0, z),
                                                      part_of_axis(g, shape, 1, y),
                                                      part_of_axis(g, shape, 2, x)};
        const std::string name =
            "part " + std::to_string(z) + " " + std::to_string(y) + " " + std::to_string(x);
        const PackedConv& packed =
            weights.form_of(name, [&] { return part_of_weights(weights, axes); });
        ConvPart part{packed, packed.geometry(), shape, all};
        part.grid.first = all.row(0, z, y, x);
        for (std::size_t axis = 0; axis < kSpatialAxes; ++axis) {
          part.grid.step[axis] = all.step[axis] * remainders(axis);
          part.geometry.dilation[axis] = axes[axis].dilation;
          part.geometry.pad_before[axis] = axes[axis].pad_before;
          part.geometry.pad_after[axis] = axes[axis].pad_after;
          part.shape.output[axis] = axes[axis].outputs;
        }
        parts.push_back(std::move(part));
      }
  return parts;
}

}  // namespace fbg
