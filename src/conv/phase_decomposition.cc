// The phase decomposition of transposed convolutions.
#include "conv/phase_decomposition.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace fbg {
namespace {

// One axis of phase r of a transposed convolution with stride s and dilation d: the outputs r,
// r + s, r + 2 s, ... Output o is the sum of x[i] w[k] over all k and i with i * s + k * d = o +
// pad. These k are equally far apart, and larger ones are multiplied by earlier pixels:
//
//   o = r + j s reads pixels j + (r + pad - k d) / s      for k = last, ..., first
struct AxisPhase {
  std::vector<std::int64_t> taps;  // k, in the order of their pixels; empty: the output is zero
  std::int64_t outputs;
  std::int64_t dilation;
  std::int64_t pad_before, pad_after;

  std::int64_t kernel() const { return std::max<std::int64_t>(std::ssize(taps), 1); }
};

AxisPhase phase_of_axis(const ConvGeometry& g, const ConvShape& shape, std::size_t axis,
                        std::int64_t r) {
  const std::int64_t stride = g.stride[axis], dilation = g.dilation[axis];
  const std::int64_t input = shape.input[axis], at = r + g.pad_before[axis];
  AxisPhase phase{};
  phase.outputs = ceil_div(std::max<std::int64_t>(shape.output[axis] - r, 0), stride);
  for (std::int64_t k = g.kernel[axis]; k-- > 0;)
    if ((at - k * dilation) % stride == 0) phase.taps.push_back(k);
  phase.dilation = phase.taps.size() > 1 ? dilation / std::gcd(stride, dilation) : 1;
  // If there are no taps, one of weight 0 reads pixels of padding.
  phase.pad_before =
      phase.taps.empty() ? input + phase.outputs : -(at - phase.taps.front() * dilation) / stride;
  const std::int64_t reach = phase.dilation * (phase.kernel() - 1) + 1;
  phase.pad_after = phase.outputs - 1 + reach - input - phase.pad_before;
  return phase;
}

PackedConv weights_of_phase(const PackedConv& weights,
                            const std::array<AxisPhase, kSpatialAxes>& axes) {
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
  std::vector<std::byte> elements(
      static_cast<std::size_t>(geometry.out_channels * geometry.taps() * run));
  if (!empty) {
    const std::byte* const whole = weights.weights();
    auto to = elements.begin();
    for (std::int64_t o = 0; o < geometry.out_channels; ++o)
      for (const std::int64_t z : axes[0].taps)
        for (const std::int64_t y : axes[1].taps)
          for (const std::int64_t x : axes[2].taps) {
            const std::int64_t tap = ((o * kernel[0] + z) * kernel[1] + y) * kernel[2] + x;
            to = std::copy_n(whole + tap * run, run, to);
          }
  }
  return PackedConv::pack(weights.family(), elements.data(), geometry, weights.quant());
}

}  // namespace

std::vector<SubConvolution> decompose_phases(const PackedConv& weights, const ConvShape& shape) {
  const ConvGeometry& g = weights.geometry();
  if (!g.transposed) return {{weights, g, shape, PixelGrid::dense(shape.output)}};
  std::vector<SubConvolution> phases;
  const auto remainders = [&](std::size_t axis) {
    return std::clamp<std::int64_t>(shape.output[axis], 1, g.stride[axis]);
  };
  const PixelGrid all = PixelGrid::dense(shape.output);
  for (std::int64_t z = 0; z < remainders(0); ++z)
    for (std::int64_t y = 0; y < remainders(1); ++y)
      for (std::int64_t x = 0; x < remainders(2); ++x) {
        const std::array<AxisPhase, kSpatialAxes> axes{phase_of_axis(g, shape, 0, z),
                                                       phase_of_axis(g, shape, 1, y),
                                                       phase_of_axis(g, shape, 2, x)};
        const std::string name =
            "phase " + std::to_string(z) + " " + std::to_string(y) + " " + std::to_string(x);
        const PackedConv& packed =
            weights.form_of(name, [&] { return weights_of_phase(weights, axes); });
        SubConvolution phase{packed, packed.geometry(), shape, all};
        phase.grid.first = all.row(0, z, y, x);
        for (std::size_t axis = 0; axis < kSpatialAxes; ++axis) {
          phase.grid.step[axis] = all.step[axis] * remainders(axis);
          phase.geometry.dilation[axis] = axes[axis].dilation;
          phase.geometry.pad_before[axis] = axes[axis].pad_before;
          phase.geometry.pad_after[axis] = axes[axis].pad_after;
          phase.shape.output[axis] = axes[axis].outputs;
        }
        phases.push_back(std::move(phase));
      }
  return phases;
}

}  // namespace fbg
