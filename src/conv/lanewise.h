// How lanewise kernels see a convolution: which input channels and kernel rows share a 32-bit lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/algorithm.h"
#include "fbg/conv/geometry.h"
#include "simd/lanes.h"

namespace fbg {

// A source is a line of U: for every input pixel and output channel o, 32 bits of what o reads
// there. Lanes of `depth` elements are filled in one of three ways:
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

// Output rows y, columns x (whole tiles) and channels `lanes` of plane z of an image.
struct LaneBlock {
  std::int64_t image, z;
  Range y, x, tiles, lanes;
};

// Builds the lines of U that a block of the output reads, or finds them in the image.
class LaneLines {
 public:
  LaneLines(const ConvGeometry& geometry, const ConvShape& shape, const LanewiseLayout& layout,
            int lanes, Features features, bool integer);

  // Lines of one plane of the kernel for so many output rows, and pixels of a line. Of `rows` there
  // is a window for each `share` output rows, of the others a line for each input row and quad.
  std::int64_t lines_of(std::int64_t rows) const;
  std::int64_t pixels_of(std::int64_t columns) const;

  // A line of the image for one kernel row: where it lies, or copied with its padding.
  const std::byte* find(const ConvRun& run, const LaneBlock& b, std::int64_t kz, std::int64_t y,
                        std::int64_t ky, std::int64_t pixels, const std::byte* padding,
                        std::int64_t* lda, std::byte* copy) const noexcept;
  // `to`: [pixel][lane of the block].
  void build(const ConvRun& run, const LaneBlock& b, std::int64_t kz, std::int64_t line,
             std::int64_t pixels, const std::byte* padding, std::uint32_t* to) const noexcept;

 private:
  // The row of the image that a line holds, or null outside of it.
  const std::byte* image_row(const ConvRun& run, const LaneBlock& b, std::int64_t kz,
                             std::int64_t y) const noexcept;
  void fill(const ConvRun& run, Range lanes, const std::byte* const* from,
            const std::int64_t* strides, int rows, std::int64_t quad, std::int64_t pixels,
            std::uint32_t* to) const noexcept;
  void fill_rows(Range lanes, std::int64_t stride, const std::byte* const* from,
                 const std::int64_t* strides, int rows, std::int64_t pixels,
                 std::uint32_t* to) const noexcept;
  void fill_one_by_one(Range lanes, const std::byte* const* from, const std::int64_t* strides,
                       std::int64_t quad, std::int64_t pixels, std::uint32_t* to) const noexcept;
  std::uint32_t padding_word(std::int32_t zero_point) const noexcept;

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const LanewiseLayout layout_;
  const simd::LaneKernels& kernels_;
  const bool integer_;
  const std::int64_t vector_, element_, pixel_, padded_;  // lanes; bytes; channels in whole vectors
  std::vector<simd::LaneSpread> spread_;                  // of each vector, of `channels`
};

}  // namespace fbg
