// The blocks of channels of sliding convolutions, and the order of their weights.
#include <algorithm>

#include "conv/sliding.h"

namespace fbg {
namespace {

using kernels::SlidingKey;
using kernels::SlidingSource;

constexpr std::int64_t kLanes = 16;

// Rows of a window. Those of a plane that serves two lines fill whole lanes where there are several
// planes.
std::int64_t window_rows(const ConvGeometry& g, int lines) {
  const std::int64_t rows = g.kernel[1] + (lines - 1) * g.stride[1];
  return g.kernel[0] * (lines > 1 && g.kernel[0] > 1 ? round_up(rows, 4) : rows);
}

// The key of a block of so many vectors of channels, for `lines` output rows at a time.
SlidingKey key_of(const ConvGeometry& g, Isa isa, ValueType output, int vectors, int lines) {
  SlidingKey key{};
  key.isa = isa;
  const bool depthwise = g.group_inputs() == 1;
  key.source = depthwise ? SlidingSource::rows : SlidingSource::quads;
  key.rows = static_cast<std::uint8_t>(std::min<std::int64_t>(window_rows(g, lines), 255));
  key.taps = static_cast<std::uint8_t>(g.kernel[2]);
  key.step = static_cast<std::uint8_t>(g.stride[2]);
  key.vectors = static_cast<std::uint8_t>(vectors);
  key.lines = static_cast<std::uint8_t>(lines);
  key.quads = static_cast<std::uint8_t>(depthwise ? 1 : g.group_inputs() / 4);
  key.output = output;
  return key;
}

// Two output rows share a window if it takes no more lanes than the window of one.
bool shares_lines(const ConvGeometry& g) {
  return g.group_inputs() == 1 && g.dilation[1] == 1 &&
         ceil_div(window_rows(g, 2), 4) == ceil_div(window_rows(g, 1), 4);
}

double cost_per_channel(const SlidingKey& key) {
  return kernels::sliding_cost(key) / static_cast<double>(key.vectors * kLanes);
}

// The widest block that fits the registers at the least cost of a channel; none: vectors is 0.
SlidingKey best_key(const ConvGeometry& g, Isa isa, ValueType output) {
  SlidingKey best{};
  for (const int vectors : {4, 2, 1})
    for (const int lines : {2, 1}) {
      if (lines == 2 && !shares_lines(g)) continue;
      if (vectors < 4 && g.group_inputs() > 1) continue;
      const SlidingKey key = key_of(g, isa, output, vectors, lines);
      if (kernels::fits_sliding(key) &&
          (best.vectors == 0 || cost_per_channel(key) < cost_per_channel(best)))
        best = key;
    }
  return best;
}

}  // namespace

bool SlidingBlocks::fit(const ConvGeometry& g, Isa isa) {
  const std::int64_t inputs = g.group_inputs();
  if (inputs != g.group_outputs() || (inputs != 1 && inputs != 4 && inputs != 8 && inputs != 16))
    return false;
  constexpr std::int64_t kMaxTaps = 7, kMaxStep = 3;
  return !g.transposed && g.dilation[2] == 1 && g.kernel[2] <= kMaxTaps &&
         g.stride[2] <= std::min(kMaxStep, g.kernel[2]) &&
         g.kernel[0] * g.kernel[1] <= kernels::kMaxSlidingRows &&
         best_key(g, isa, ValueType::acc).vectors > 0;
}

SlidingBlocks::SlidingBlocks(const ConvGeometry& g, Isa isa, ValueType output) {
  const SlidingKey wide = best_key(g, isa, output);
  std::int64_t lanes = 0;
  for (std::int64_t channel = 0; channel < g.out_channels;) {
    SlidingBlock block{channel, wide.vectors * kLanes, wide, lanes};
    const std::int64_t rest = g.out_channels - channel;
    // A rest of a few channels takes fewer vectors, each loaded on its own.
    while (g.group_inputs() == 1 && block.key.vectors > 1 && rest <= block.key.vectors / 2 * kLanes)
      block.key.vectors /= 2;
    block.channels = std::min(rest, block.key.vectors * kLanes);
    block.key.masked = block.channels < block.key.vectors * kLanes;
    lanes += block.key.lines * block.key.weights();
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

AlignedBuffer SlidingBlocks::weights(const ConvGeometry& g, const std::int8_t* w) const {
  const SlidingBlock& last = blocks_.back();
  const std::int64_t vectors = last.lanes + last.key.lines * last.key.weights();
  AlignedBuffer lanes(static_cast<std::size_t>(vectors * kLanes * 4), Fill::zero);
  const std::int64_t height = g.kernel[1], taps = g.kernel[2], inputs = g.group_inputs();
  const std::int64_t plane = plane_rows(g);
  auto* to = lanes.as<std::uint32_t>();
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

}  // namespace fbg
