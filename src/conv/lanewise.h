// How lanewise kernels see a convolution: which input channels and kernel rows share a 32-bit lane.
#pragma once

#include <cstdint>

#include "fbg/conv/geometry.h"

namespace fbg {

// A source is a line of U: for every input pixel and output channel o, 32 bits of what o reads there.
// Lanes of `depth` elements are filled in one of three ways:
//
//   in_place  depth 1, one input channel a group, no multiplier: the image itself
//   rows      few channels a group: `rows` kernel rows side by side, `channels` elements of each
//             (depthwise bytes: the four rows above each other)
//   channels  many channels a group: `depth` neighbouring channels of one kernel row
//
// Of rows, a window of all sources may hold more input rows than the kernel has: it serves `share`
// output rows, each with its own copy of the weights in which unused rows are zero.
struct LanewiseLayout {
  enum class Kind : std::uint8_t { in_place, rows, channels };
  Kind kind;
  int depth;             // elements of a lane
  int rows, channels;    // of a lane: rows * channels <= depth
  std::int64_t sources;  // for one plane of the kernel
  std::int64_t quads;    // sources that hold the channels of one kernel row
  std::int64_t share;    // output rows that one window serves

  static LanewiseLayout of(const ConvGeometry& g, int depth);

  // Element s of source r: kernel row (counted from the window's first) and channel of the group.
  std::int64_t row(std::int64_t r, int s) const {
    return kind == Kind::rows ? r * rows + s / channels : r / quads;
  }
  std::int64_t channel(std::int64_t r, int s) const {
    return kind == Kind::rows ? s % channels : r % quads * depth + s;
  }
};

}  // namespace fbg
