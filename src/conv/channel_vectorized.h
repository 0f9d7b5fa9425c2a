// How channel-vectorized kernels (kernels/lanewise.h) see a convolution: which input channels and
// kernel rows share a lane of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conv/algorithm.h"
#include "fbg/conv/geometry.h"
#include "simd/lanes.h"

namespace fbg {

// A source is a line of U: for every input pixel and every output channel, 32 bits of what that
// channel reads there. Lanes of `depth` elements are filled in one of three ways:
//
//   in_place  for depth 1, if a group has one input and one output channel, and for kernels of few
//             columns, since tiles at a border are copied: U is the image itself
//   rows      for few channels in a group: `rows` kernel rows side by side, with `channels`
//   elements
//             of each (in a depthwise convolution of bytes, four rows of the image)
//   channels  for many channels in a group: `depth` neighbouring channels of one kernel row
//
// With `rows`, the sources of a window may hold more rows of the image than the kernel has. The
// window then serves `share` output rows. Each of these has its own copy of the weights, in which
// unused rows are zero.
struct LaneLayout {
  enum class Kind : std::uint8_t { in_place, rows, channels };
  Kind kind;
  int depth;             // elements of a lane
  int rows, channels;    // of a lane: rows * channels <= depth
  std::int64_t sources;  // for one plane of the kernel
  std::int64_t quads;    // sources that hold the channels of one kernel row
  std::int64_t share;    // output rows that one window serves

  static LaneLayout of(const ConvGeometry& g, int depth);

  // The kernel row of element s of source r, counted from the first of the window, and its channel
  // in the group.
  std::int64_t row(std::int64_t r, int s) const {
    return kind == Kind::rows ? r * rows + s / channels : r / quads;
  }
  std::int64_t channel(std::int64_t r, int s) const {
    return kind == Kind::rows ? s % channels : r % quads * depth + s;
  }
};

// A block of the output in plane z of an image: rows y, columns x, which are whole tiles, and
// channels `lanes`.
struct LaneBlock {
  std::int64_t image, z;
  Range y, x, tiles, lanes;
};

// Builds the lines of U that a block of the output reads, or finds them in the image.
class LaneLines {
 public:
  LaneLines(const ConvGeometry& geometry, const ConvShape& shape, const LaneLayout& layout,
            int lanes, Features features, bool integer);

  // The number of lines of one plane of the kernel for so many output rows, and of pixels in a
  // line. With `rows`, there is a window for every `share` output rows; otherwise there is a line
  // for each row of the image and quad.
  std::int64_t lines_of(std::int64_t rows) const;
  std::int64_t pixels_of(std::int64_t columns) const;

  // Returns a line of the image for one kernel row, in place or copied with its padding.
  const std::byte* find(const ConvRun& run, const LaneBlock& b, std::int64_t kz, std::int64_t y,
                        std::int64_t ky, std::int64_t pixels, const std::byte* padding,
                        std::int64_t* lda, std::byte* copy) const noexcept;
  // Writes a line to `to`: [pixel][lane of the block].
  void build(const ConvRun& run, const LaneBlock& b, std::int64_t kz, std::int64_t line,
             std::int64_t pixels, const std::byte* padding, std::uint32_t* to) const noexcept;

 private:
  // The row of the image that a line holds, or null outside the image.
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
  const LaneLayout layout_;
  const simd::LaneKernels& kernels_;
  const bool integer_;
  const std::int64_t vector_, element_, pixel_, padded_;  // lanes; bytes; channels in whole vectors
  std::vector<simd::LaneSpread> spread_;                  // of each vector, of `channels`
};

}  // namespace fbg
