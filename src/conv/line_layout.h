// How flattened_rows.cc arranges an image: where the copied lines lie, how many of them serve a
// block of tiles, and how K is divided into runs and parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "conv/tile_product.h"
#include "core/policy.h"
#include "fbg/conv/geometry.h"
#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::int64_t kLineBytes = 64;   // of the cache
inline constexpr std::int64_t kBlockBytes = 64;  // of k that a matrix unit multiplies at a time

// How the positions of an image lie in memory, in pixels of the image.
struct LineLayout {
  std::int64_t run;     // elements of k in a run
  std::int64_t padded;  // the run rounded up to whole blocks; the extra k have weights of zero
  std::int64_t reach;   // pixels of a line under the kernel
  std::int64_t needed;  // pixels of a line that its outputs read, with the padding
  std::int64_t pitch;   // from one copied line to the next
  std::int64_t positions;
};

inline LineLayout lay_out_lines(const ConvGeometry& g, const ConvShape& shape) {
  const std::int64_t width = shape.output[2], stride = g.stride[2], before = g.pad_before[2];
  LineLayout l{};
  l.run = g.groups == 1 && g.dilation[2] == 1 ? g.kernel[2] * g.in_channels : g.group_inputs();
  l.padded = round_up(l.run, kBlockBytes);
  l.reach = g.dilation[2] * (g.kernel[2] - 1) + 1;
  l.needed = (width - 1) * stride + l.reach;
  const std::int64_t copied = std::clamp<std::int64_t>(l.needed - before, 0, shape.input[2]);
  l.pitch = round_up(std::max({before + copied, l.needed - before, width * stride}), stride);
  l.positions = (shape.output[1] - 1) * (l.pitch / stride) + width;
  return l;
}

// The convolutions whose sums are those of such positions: the output has one plane, which reads
// the plane of the image, and that alone. Along the other axes, any kernel, stride, dilation and
// padding has its lines and its positions.
inline bool covers_lines(const ConvGeometry& g, const ConvShape& shape) {
  return !g.transposed && g.kernel[0] == 1 && g.pad_before[0] == 0 && shape.input[0] == 1 &&
         shape.output[0] == 1 && volume(shape.output) > 0;
}

// Whether an image without gaps is such a matrix.
inline bool reads_in_place(const ConvGeometry& g, const LineLayout& l, const ConvShape& shape) {
  return g.pad_before[1] == 0 && g.pad_after[1] == 0 && g.pad_before[2] == 0 && g.stride[1] == 1 &&
         l.needed <= shape.input[2] && l.pitch == shape.input[2] &&
         g.in_channels % kLineBytes == 0 && l.padded == l.run;
}

// The copied lines that a block of tiles reads. Whole lines are copied, for every block again.
struct BlockLines {
  const ConvGeometry& g;
  const ConvShape& shape;
  const LineLayout& layout;
  const BalancedSplit& tiles;  // of an image

  // Of one remainder modulo the stride.
  std::int64_t count(std::int64_t block) const {
    const std::int64_t outputs =
        std::min(shape.output[1], block * tiles.largest / (layout.pitch / g.stride[2]) + 2);
    return outputs + (g.kernel[1] - 1) * g.dilation[1] / g.stride[1];
  }
  std::int64_t line_bytes() const { return std::max(layout.needed, layout.pitch) * g.in_channels; }
  // And the end of the last one, where positions between lines read, and padded runs.
  std::int64_t remainder_bytes(std::int64_t block) const {
    return round_up(count(block) * layout.pitch * g.in_channels + line_bytes() +
                        layout.reach * g.in_channels + kBlockBytes,
                    kLineBytes);
  }
  std::int64_t bytes(std::int64_t block) const { return g.stride[1] * remainder_bytes(block); }
  // Tiles of a block whose lines stay near; 0 if those of one tile are too long for that.
  std::int64_t most_tiles() const {
    std::int64_t block = 0;
    while (block < std::min(policy::lines::kBlockTiles, tiles.count) &&
           bytes(block + 1) <= policy::lines::kBlockBytes)
      ++block;
    return block;
  }
};

// Into how many parts K is cut, where `columns` of B are multiplied at a time: several, where these
// weights and the pixels that a tile reads are more than the L1 holds, and where there are enough
// tiles to share the weights. Keeping sums costs more than it gains elsewhere. Tiles whose lines
// are far apart have no pixels in common with the next one, which takes as much of the L1 again.
inline std::int64_t count_depth_parts(const ConvGeometry& g, const LineLayout& l,
                                      const BalancedSplit& tiles, std::int64_t columns) {
  if (tiles.count < policy::lines::kFewTiles) return 1;
  const std::int64_t window =
      g.kernel[1] * ((tiles.largest - 1) * g.stride[2] + l.reach) * g.group_inputs();
  const bool apart = g.dilation[1] * l.pitch / g.stride[2] >= tiles.largest;
  return ceil_div(g.depth() * columns + (apart ? 2 : 1) * window, policy::lines::kPartBytes);
}

// Divides K into runs, and these into parts of about equal size, at blocks. `parts` are ranges of
// `runs`.
inline void cut_depth(const ConvGeometry& g, const LineLayout& l, std::int64_t num_parts,
                      std::vector<DepthRun>& runs, std::vector<Range>& parts) {
  constexpr std::int64_t block = kBlockBytes, block_groups = block / 4;
  const std::int64_t run_blocks = l.padded / block;
  const std::int64_t columns = g.kernel[2] * g.group_inputs() / l.run;  // runs of a kernel row
  const std::int64_t count = g.depth() / l.run * run_blocks;
  const BalancedSplit split = BalancedSplit::split(count, ceil_div(count, num_parts));
  for (std::int64_t part = 0; part < split.count; ++part) {
    const std::int64_t begin = std::ssize(runs);
    for (std::int64_t i = split[part].begin; i < split[part].end;) {
      const std::int64_t run = i / run_blocks, skipped = i % run_blocks;
      const std::int64_t blocks = std::min(run_blocks - skipped, split[part].end - i);
      const std::int64_t column = run % columns * g.dilation[2] * g.in_channels;
      runs.push_back(
          {run / columns, column + skipped * block, i * block_groups, blocks * block_groups});
      i += blocks;
    }
    parts.push_back({begin, std::ssize(runs)});
  }
}

}  // namespace fbg
