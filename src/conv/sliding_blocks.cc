// The blocks of channels of sliding convolutions, and the order of their weights.
#include <algorithm>

#include "conv/sliding.h"

namespace fbg {
namespace {

using kernels::SlidingKey;
using kernels::SlidingSource;

constexpr std::int64_t kLanes = 16;  // of bytes

// Rows of a window. Those of a plane that serves two lines of bytes fill whole lanes where there
// are several planes.
std::int64_t window_rows(const ConvGeometry& g, int lines, bool floats) {
  const std::int64_t rows = g.kernel[1] + (lines - 1) * g.stride[1];
  const bool fills = !floats && lines > 1 && g.kernel[0] > 1;
  return g.kernel[0] * (fills ? round_up(rows, 4) : rows);
}

// The key of a block of so many vectors of channels, for `lines` output rows at a time.
SlidingKey key_of(const ConvGeometry& g, SlidingKey key, int vectors, int lines) {
  const auto byte = [](std::int64_t n) {
    return static_cast<std::uint8_t>(std::min<std::int64_t>(n, 255));
  };
  key.rows = byte(window_rows(g, lines, key.is_float()));
  key.taps = byte(g.kernel[2]);
  key.step = byte(g.stride[2]);
  key.vectors = byte(vectors);
  key.lines = byte(lines);
  if (key.is_float()) {
    key.planes = byte(g.kernel[0]);
    key.height = byte(g.kernel[1]);
    if (lines > 1) key.line_step = byte(g.stride[1]);
    key.inputs = byte(g.group_inputs());
  } else if (g.group_inputs() > 1) {
    key.source = SlidingSource::quads;
    key.quads = byte(g.group_inputs() / 4);
  }
  return key;
}

// Several output rows can share a window. Two of bytes do if it takes no more lanes than one's.
bool shares_lines(const ConvGeometry& g, bool floats) {
  if ((g.group_inputs() > 1 && !floats) || g.dilation[1] > 1) return false;
  return floats || ceil_div(window_rows(g, 2, false), 4) == ceil_div(window_rows(g, 1, false), 4);
}

// Reading the image counts besides: the more rows share a window, the less often each is read.
double cost_per_vector(const SlidingKey& key) {
  const double cost = kernels::sliding_cost(key) / key.vectors;
  return key.is_float() ? cost + static_cast<double>(key.rows * key.step) / key.lines : cost;
}

// The widest block that fits the registers at the least cost of a channel; none: vectors is 0.
SlidingKey best_key(const ConvGeometry& g, const SlidingKey& kind) {
  SlidingKey best{};
  const int most_lines = kind.is_float() && g.group_inputs() == 1 ? 3 : 2;
  for (const int vectors : {4, 3, 2, 1})
    for (int lines = most_lines; lines > 0; --lines) {
      if (lines > 1 && !shares_lines(g, kind.is_float())) continue;
      if (vectors == 3 && !kind.is_float()) continue;
      const SlidingKey key = key_of(g, kind, vectors, lines);
      if (key.source == SlidingSource::quads && vectors < 4) continue;
      if (kernels::fits_sliding(key) &&
          (best.vectors == 0 || cost_per_vector(key) < cost_per_vector(best)))
        best = key;
    }
  return best;
}

}  // namespace

bool SlidingBlocks::fit(const ConvGeometry& g, const SlidingKey& kind) {
  const std::int64_t inputs = g.group_inputs();
  const bool narrow = inputs == 4 || inputs == 8 || inputs == 16;
  const bool groups = narrow || (kind.is_float() && (inputs == 2 || inputs == 32));
  if (inputs != g.group_outputs() || !(inputs == 1 || groups)) return false;
  constexpr std::int64_t kMaxTaps = 7, kMaxStep = 3;
  return !g.transposed && g.dilation[2] == 1 && g.kernel[2] <= kMaxTaps &&
         g.stride[1] <= kernels::kMaxSlidingRows &&
         g.stride[2] <= std::min(kMaxStep, g.kernel[2]) &&
         g.kernel[0] * g.kernel[1] <= kernels::kMaxSlidingRows && best_key(g, kind).vectors > 0;
}

SlidingBlocks::SlidingBlocks(const ConvGeometry& g, const SlidingKey& kind) {
  const SlidingKey wide = best_key(g, kind);
  const std::int64_t lanes = wide.lanes();
  std::int64_t weights = 0;
  for (std::int64_t channel = 0; channel < g.out_channels;) {
    SlidingBlock block{channel, 0, wide, weights};
    const std::int64_t rest = g.out_channels - channel;
    // A rest of a few channels takes fewer vectors, of bytes each loaded on its own.
    if (wide.is_float())
      block.key.vectors =
          static_cast<std::uint8_t>(std::min<std::int64_t>(wide.vectors, ceil_div(rest, lanes)));
    while (wide.source == SlidingSource::rows && block.key.vectors > 1 &&
           rest <= block.key.vectors / 2 * lanes)
      block.key.vectors /= 2;
    block.channels = std::min(rest, block.key.vectors * lanes);
    block.key.masked = block.channels < block.key.vectors * lanes;
    weights += block.key.weights();
    vectors_ += block.key.vectors;
    channel += block.channels;
    blocks_.push_back(block);
  }
}

double SlidingBlocks::cost() const {
  double cost = 0;
  for (const SlidingBlock& block : blocks_) cost += kernels::sliding_cost(block.key);
  return cost;
}

AlignedBuffer SlidingBlocks::buffer() const {
  const SlidingBlock& last = blocks_.back();
  const std::int64_t vectors = last.weights + last.key.weights();
  return AlignedBuffer(static_cast<std::size_t>(vectors * last.key.lanes() * 4), Fill::zero);
}

AlignedBuffer SlidingBlocks::weights(const ConvGeometry& g, const std::int8_t* w) const {
  AlignedBuffer lanes = buffer();
  auto* to = lanes.as<std::uint32_t>();
  const std::int64_t height = g.kernel[1], taps = g.kernel[2], inputs = g.group_inputs();
  const std::int64_t plane = plane_rows(g);
  for (const SlidingBlock& block : blocks_)
    for (int line = 0; line < block.key.lines; ++line)
      for (std::int64_t source = 0; source < block.key.sources(); ++source)
        for (std::int64_t kx = 0; kx < taps; ++kx)
          for (int v = 0; v < block.key.vectors; ++v)
            for (std::int64_t lane = 0; lane < kLanes; ++lane, ++to) {
              const std::int64_t o = block.channel + sliding_channel(block.key.vectors, v, lane);
              if (o >= g.out_channels) continue;
              for (int i = 0; i < 4; ++i) {
                const bool of_rows = block.key.source == SlidingSource::rows;
                const std::int64_t row = of_rows ? source * 4 + i : source / block.key.quads;
                const std::int64_t kz = row / plane, ky = row % plane - line * g.stride[1];
                const std::int64_t channel = of_rows ? 0 : source % block.key.quads * 4 + i;
                if (kz >= g.kernel[0] || ky < 0 || ky >= height) continue;
                const std::int64_t tap = ((o * g.kernel[0] + kz) * height + ky) * taps + kx;
                const std::int8_t value = w[tap * inputs + channel];
                *to |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(value)) << 8 * i;
              }
            }
  return lanes;
}

AlignedBuffer SlidingBlocks::weights(const ConvGeometry& g, const float* w) const {
  AlignedBuffer lanes = buffer();
  auto* to = lanes.as<float>();
  const std::int64_t taps = g.kernel[2], inputs = g.group_inputs();
  for (const SlidingBlock& block : blocks_) {
    const std::int64_t width = block.key.vectors * block.key.lanes();
    for (std::int64_t row = 0; row < g.kernel[0] * g.kernel[1]; ++row)
      for (std::int64_t input = 0; input < inputs; ++input)
        for (std::int64_t kx = 0; kx < taps; ++kx, to += width)
          for (std::int64_t i = 0; i < block.channels; ++i)
            to[i] = w[((block.channel + i) * g.taps() + row * taps + kx) * inputs + input];
  }
  return lanes;
}

}  // namespace fbg
