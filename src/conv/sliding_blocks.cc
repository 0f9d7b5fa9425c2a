// The blocks of channels of sliding convolutions, and the order of their weights.
#include "conv/sliding_blocks.h"

#include <algorithm>

namespace fbg {
namespace {

using kernels::SlidingKey;
using kernels::SlidingMode;
using kernels::SlidingSource;

struct Choice {
  SlidingKey key{};
  SlidingForm form;
  double cost = 0;  // of a channel
};

std::uint8_t byte(std::int64_t n) {
  return static_cast<std::uint8_t>(std::min<std::int64_t>(n, 255));
}

// The sums of all lines of a window are in registers.
Choice plain(const ConvGeometry& g, const SlidingKey& kind, int vectors, std::int64_t lines) {
  Choice c{kind, {}};
  SlidingKey& key = c.key;
  c.form.lines = lines;
  c.form.plane_rows = g.kernel[1] + (lines - 1) * g.stride[1];
  key.rows = byte(g.kernel[0] * c.form.plane_rows);
  key.taps = byte(g.kernel[2]);
  key.step = byte(g.stride[2]);
  key.tile.vectors = byte(vectors);
  key.tile.rows = byte(lines);
  if (key.is_float() || key.source == SlidingSource::pairs) {
    key.planes = byte(g.kernel[0]);
    key.height = byte(g.kernel[1]);
    if (lines > 1) key.line_step = byte(g.stride[1]);
    if (key.is_float()) key.inputs = byte(g.group_inputs());
  } else if (g.group_inputs() > 1) {
    key.source = SlidingSource::quads;
    key.quads = byte(g.group_inputs() / 4);
  }
  return c;
}

// For depthwise convolutions of bytes: as many lines as the rows in whole lanes suffice for, one
// after the other. Planes have lanes of their own, which also serve the next plane of the output.
Choice by_planes(const ConvGeometry& g, const SlidingKey& kind, int vectors) {
  const std::int64_t sources = ceil_div(g.kernel[1], std::int64_t{4});
  const std::int64_t spare = 4 * sources - g.kernel[1];
  Choice c = plain(g, kind, vectors, g.dilation[1] == 1 ? spare / g.stride[1] + 1 : 1);
  c.key.tile.rows = 1;
  c.key.mode = SlidingMode::loads;
  c.key.planes = byte(g.kernel[0]);
  if (g.kernel[0] > 1 && g.dilation[0] == 1)
    c.form.shared = std::max<std::int64_t>(g.kernel[0] - g.stride[0], 0) * sources;
  return c;
}

// The cost of an output pixel of a block.
double block_cost(const SlidingKey& key, const SlidingForm& form) {
  const double cost = kernels::sliding_cost(key);
  if (key.mode != SlidingMode::loads) return cost;
  SlidingKey builder = key;
  builder.mode = SlidingMode::builds;
  return cost + kernels::sliding_cost(builder) * static_cast<double>(key.sources() - form.shared) /
                    static_cast<double>(form.lines);
}

// In the choice among kernels for floats, reading the image counts as well: the more rows share a
// window, the less often each is read.
double cost_per_vector(const Choice& c) {
  const SlidingKey& key = c.key;
  const double cost = block_cost(key, c.form) / key.vectors();
  return key.is_float() ? cost + static_cast<double>(key.rows * key.step) / key.lines() : cost;
}

// The widest block that fits the registers, at the lowest cost per channel. If there is none, its
// number of vectors is 0.
Choice best_choice(const ConvGeometry& g, const SlidingKey& kind) {
  Choice best;
  const auto consider = [&](Choice c) {
    const bool loads = c.key.mode == SlidingMode::loads;
    if (loads && c.key.sources() > kernels::kMaxSlidingSources) return;
    if (!kernels::fits_sliding(c.key)) return;
    c.cost = cost_per_vector(c);
    if (best.key.vectors() == 0 || c.cost < best.cost) best = c;
  };
  const bool depthwise = g.group_inputs() == 1;
  for (const int vectors : {4, 3, 2, 1}) {
    const bool pairs = kind.source == SlidingSource::pairs;
    if (kind.is_float() || (pairs && depthwise && vectors < 3)) {
      const int most_lines = g.dilation[1] > 1 ? 1 : depthwise ? 3 : 2;
      for (int lines = most_lines; lines > 0; --lines) consider(plain(g, kind, vectors, lines));
    } else if (!pairs && (vectors == 4 || (depthwise && vectors < 3))) {
      consider(plain(g, kind, vectors, 1));
      if (!depthwise) continue;
      const std::int64_t two = g.kernel[1] + g.stride[1];  // rows of two lines
      if (g.kernel[0] == 1 && g.dilation[1] == 1 && (two + 3) / 4 == (g.kernel[1] + 3) / 4)
        consider(plain(g, kind, vectors, 2));
      consider(by_planes(g, kind, vectors));
    }
  }
  return best;
}

}  // namespace

bool SlidingBlocks::fit(const ConvGeometry& g, const SlidingKey& kind) {
  const std::int64_t inputs = g.group_inputs();
  const bool narrow = inputs == 4 || inputs == 8 || inputs == 16;
  const bool groups = narrow || (kind.is_float() && (inputs == 2 || inputs == 32));
  // Bytes of a channel can be repeated for several outputs.
  const bool repeats = inputs == 1 && !kind.is_float();
  if (!(repeats || (inputs == g.group_outputs() && (inputs == 1 || groups)))) return false;
  const bool pairs = kind.source == SlidingSource::pairs;
  if (pairs && (inputs > 1 || g.out_channels < kind.lanes())) return false;
  constexpr std::int64_t kMaxTaps = 7, kMaxStep = 3;
  return !g.transposed && g.dilation[2] == 1 && g.kernel[2] <= kMaxTaps &&
         g.stride[1] <= kernels::kMaxSlidingRows &&
         g.stride[2] <= std::min(kMaxStep, g.kernel[2]) &&
         g.kernel[0] * g.kernel[1] <= kernels::kMaxSlidingRows &&
         best_choice(g, kind).key.vectors() > 0;
}

SlidingBlocks::SlidingBlocks(const ConvGeometry& g, const SlidingKey& kind) {
  const Choice choice = best_choice(g, kind);
  const SlidingKey& wide = choice.key;
  form_ = choice.form;
  const std::int64_t lanes = wide.lanes();
  std::int64_t weights = 0;
  for (std::int64_t channel = 0; channel < g.out_channels;) {
    SlidingBlock block{channel, 0, 0, wide, weights, vectors_};
    const std::int64_t rest = g.out_channels - channel;
    // A few remaining channels need fewer vectors; in bytes, each vector is loaded on its own.
    const bool pairs = wide.source == SlidingSource::pairs;
    std::uint8_t& vectors = block.key.tile.vectors;
    if (wide.is_float()) vectors = byte(std::min<std::int64_t>(vectors, ceil_div(rest, lanes)));
    while ((wide.source == SlidingSource::rows || pairs) && vectors > 1 &&
           (rest <= vectors / 2 * lanes || (pairs && g.out_channels < vectors * lanes)))
      vectors /= 2;
    if (pairs) {
      block.channel = std::min(channel, g.out_channels - vectors * lanes);
      block.skip = channel - block.channel;
      block.channels = vectors * lanes;
    } else {
      block.channels = std::min(rest, vectors * lanes);
    }
    block.key.tile.masked = block.channels < vectors * lanes;
    weights += weights_of(block);
    vectors_ += block.key.vectors();
    channel = block.channel + block.channels;
    blocks_.push_back(block);
  }
}

double SlidingBlocks::cost() const {
  double cost = 0;
  for (const SlidingBlock& block : blocks_) cost += block_cost(block.key, form_);
  return cost;
}

AlignedBuffer SlidingBlocks::buffer() const {
  const SlidingBlock& last = blocks_.back();
  const std::int64_t bytes = (last.weights + weights_of(last)) * last.key.lanes() * 4;
  return AlignedBuffer(static_cast<std::size_t>(bytes), Fill::zero);
}

// Lines of bytes have weights of their own.
std::int64_t SlidingBlocks::weights_of(const SlidingBlock& block) const {
  return block.key.products() * (block.key.is_float() ? 1 : form_.lines);
}

// The index of the weight, among those of an output channel, that element i of a lane is multiplied
// by, or -1 if there is none.
std::int64_t SlidingBlocks::weight_of(const ConvGeometry& g, const SlidingKey& key,
                                      std::int64_t line, std::int64_t source, std::int64_t tap,
                                      int i) const {
  const std::int64_t height = g.kernel[1], inputs = g.group_inputs();
  std::int64_t row = 0, channel = 0;  // the row in all planes of the window
  if (key.source == SlidingSource::quads) {
    row = source / key.quads;
    channel = source % key.quads * 4 + i;
  } else if (key.source == SlidingSource::pairs) {
    row = source * 2 + i;
    if (row >= key.rows) return -1;
  } else {
    constexpr int kRowOfTwo[4] = {0, 2, 1, 3};  // how kernels of two vectors unpack rows
    const int of_plane = key.sources() / key.planes, plane_rows = key.rows / key.planes;
    const std::int64_t in_plane = source % of_plane * 4 + (key.vectors() == 2 ? kRowOfTwo[i] : i);
    if (in_plane >= plane_rows) return -1;
    row = source / of_plane * plane_rows + in_plane;
  }
  const auto [kz, y] = key.row(static_cast<int>(row), static_cast<int>(form_.plane_rows));
  const std::int64_t ky = y - line * g.stride[1];
  if (kz >= g.kernel[0] || ky < 0 || ky >= height) return -1;
  return ((kz * height + ky) * g.kernel[2] + tap) * inputs + channel;
}

AlignedBuffer SlidingBlocks::weights(const ConvGeometry& g, const std::int8_t* w,
                                     const std::int32_t* zero_point) const {
  AlignedBuffer lanes = buffer();
  auto* to = lanes.as<std::uint32_t>();
  const bool pairs = blocks_.front().key.source == SlidingSource::pairs;
  const int depth = pairs ? 2 : 4;
  for (const SlidingBlock& block : blocks_)
    for (std::int64_t line = 0; line < form_.lines; ++line)
      for (std::int64_t source = 0; source < block.key.sources(); ++source)
        for (std::int64_t tap = 0; tap < block.key.taps; ++tap)
          for (int v = 0; v < block.key.vectors(); ++v)
            for (std::int64_t lane = 0; lane < block.key.lanes(); ++lane, ++to) {
              const std::int64_t o = block.channel + sliding_channel(block.key, v, lane);
              if (o >= g.out_channels) continue;
              for (int i = 0; i < depth; ++i) {
                const std::int64_t at = weight_of(g, block.key, line, source, tap, i);
                if (at < 0) continue;
                const std::int32_t zero = zero_point ? zero_point[o] : 0;
                const auto value = static_cast<std::uint32_t>(w[o * g.depth() + at] - zero);
                *to |= pairs ? (value & 0xffff) << 16 * i : (value & 0xff) << 8 * i;
              }
            }
  return lanes;
}

AlignedBuffer SlidingBlocks::weights(const ConvGeometry& g, const float* w) const {
  AlignedBuffer lanes = buffer();
  auto* to = lanes.as<float>();
  const std::int64_t taps = g.kernel[2], inputs = g.group_inputs();
  for (const SlidingBlock& block : blocks_) {
    const std::int64_t width = block.key.vectors() * block.key.lanes();
    for (std::int64_t row = 0; row < g.kernel[0] * g.kernel[1]; ++row)
      for (std::int64_t input = 0; input < inputs; ++input)
        for (std::int64_t kx = 0; kx < taps; ++kx, to += width)
          for (std::int64_t i = 0; i < block.channels; ++i)
            to[i] = w[((block.channel + i) * g.taps() + row * taps + kx) * inputs + input];
  }
  return lanes;
}

}  // namespace fbg
