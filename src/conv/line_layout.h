// How flattened_rows.cc arranges an image: where the copied lines are, how many of them serve a
// block of tiles, and into how many parts K is divided.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory.h"
#include "core/policy.h"
#include "fbg/conv/geometry.h"
#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::int64_t kBlockBytes = 64;  // of k that a matrix unit multiplies at a time
inline constexpr std::int64_t kBlockGroups = kBlockBytes / 4;

// Whether a convolution has the sums of such positions: its output has one plane, which reads the
// plane of the image, and that alone. Along the other axes, kernel, stride, dilation and padding
// may be any.
inline bool covers_lines(const ConvGeometry& g, const ConvShape& shape) {
  return !g.transposed && g.kernel[0] == 1 && g.pad_before[0] == 0 && shape.input[0] == 1 &&
         shape.output[0] == 1 && volume(shape.output) > 0;
}

// Where the positions of an image are in memory, in pixels of the image. Whole lines are copied,
// again for every block of tiles.
struct LineLayout {
  ConvGeometry g;
  ConvShape shape;
  std::int64_t pixel;   // bytes of a pixel
  std::int64_t run;     // elements of k in a run
  std::int64_t padded;  // the run rounded up to whole blocks; the extra k have weights of zero
  std::int64_t reach;   // pixels of a line under the kernel
  std::int64_t needed;  // pixels of a line that its outputs read, with the padding
  std::int64_t pitch;   // from one copied line to the next
  std::int64_t line_positions;  // from one line of the output to the next
  std::int64_t positions;       // of an image

  LineLayout(const ConvGeometry& geometry, const ConvShape& sizes, std::int64_t element)
      : g(geometry), shape(sizes), pixel(geometry.in_channels * element) {
    const std::int64_t width = shape.output[2], stride = g.stride[2], before = g.pad_before[2];
    run = g.groups == 1 && g.dilation[2] == 1 ? g.kernel[2] * g.in_channels : g.group_inputs();
    padded = round_up(run, kBlockBytes / element);
    reach = g.dilation[2] * (g.kernel[2] - 1) + 1;
    needed = (width - 1) * stride + reach;
    const std::int64_t copied = std::clamp<std::int64_t>(needed - before, 0, shape.input[2]);
    pitch = round_up(std::max({before + copied, needed - before, width * stride}), stride);
    line_positions = pitch / stride;
    positions = (shape.output[1] - 1) * line_positions + width;
  }

  // Whether an image without gaps is such a matrix.
  bool reads_in_place() const {
    return g.pad_before[1] == 0 && g.pad_after[1] == 0 && g.pad_before[2] == 0 &&
           g.stride[1] == 1 && needed <= shape.input[2] && pitch == shape.input[2] &&
           pixel % static_cast<std::int64_t>(kCacheLine) == 0 && padded == run;
  }

  // The copied lines of one remainder modulo the stride under a block of so many positions.
  std::int64_t lines(std::int64_t block) const {
    return std::min(shape.output[1], block / line_positions + 2) +
           (g.kernel[1] - 1) * g.dilation[1] / g.stride[1];
  }
  std::int64_t line_bytes() const { return std::max(needed, pitch) * pixel; }
  // The bytes of these lines, and the end of the last one, which positions between lines and padded
  // runs read.
  std::int64_t remainder_bytes(std::int64_t block) const {
    return round_up(lines(block) * pitch * pixel + line_bytes() + reach * pixel + kBlockBytes,
                    std::int64_t{kCacheLine});
  }
  std::int64_t copied_bytes(std::int64_t block) const {
    return g.stride[1] * remainder_bytes(block);
  }
  // The tiles of a block whose lines stay near; 0 if those of one tile are too long for that.
  std::int64_t most_tiles(const BalancedSplit& tiles) const {
    std::int64_t block = 0;
    while (block < std::min(policy::flattened_rows::kBlockTiles, tiles.count) &&
           copied_bytes((block + 1) * tiles.largest) <= policy::flattened_rows::kBlockBytes)
      ++block;
    return block;
  }

  // Into how many parts K is divided where `columns` of B are multiplied at a time: several if
  // these weights and the pixels that a tile reads exceed the L1, and if there are enough tiles to
  // share the weights. Elsewhere, keeping sums costs more than it gains. A tile whose lines are far
  // apart has no pixels in common with the next one, which takes as much of the L1 again.
  std::int64_t depth_parts(const BalancedSplit& tiles, std::int64_t columns) const {
    if (tiles.count < policy::flattened_rows::kFewTiles) return 1;
    const std::int64_t window =
        g.kernel[1] * ((tiles.largest - 1) * g.stride[2] + reach) * pixel / g.groups;
    const bool apart = g.dilation[1] * line_positions >= tiles.largest;
    return ceil_div(g.depth() * columns * pixel / g.in_channels + (apart ? 2 : 1) * window,
                    policy::flattened_rows::kPartBytes);
  }
};

}  // namespace fbg
