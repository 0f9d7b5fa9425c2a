// The windows of sliding-window convolutions: where the rows of the image under a window are, and
// which part of the memory for lanes holds those of its sources.
#pragma once

#include <cstdint>

#include "conv/sliding_blocks.h"
#include "simd/lanes.h"

namespace fbg {

// Output pixels x of `lines` rows, the first of which is row y. x is part number `part` of a row.
struct SlidingWindow {
  std::int64_t image, z, y, lines, part;
  Range x;
};

class SlidingWindows {
 public:
  static constexpr int kMaxSegments = 3;  // before, in and after a row of the image

  SlidingWindows(const ConvGeometry& g, const ConvShape& shape, const SlidingBlocks& blocks,
                 Features features);

  // How output rows are cut.
  const BalancedSplit& parts() const { return parts_; }
  // Whether a block goes down the image before the next one. Otherwise all blocks of a window
  // follow each other, and the image is read in the order of its memory.
  bool goes_down() const { return goes_down_; }

  // Finds the rows of the image under a window, divided where they cross its left or right border.
  // Channels with several outputs are repeated in `repeated`. Returns whether none of the rows is
  // above or below the image.
  bool find_rows(const ConvRun& run, const SlidingWindow& w, std::byte* padding,
                 std::byte* repeated, kernels::SlidingSegment* segments) const noexcept;

  std::int64_t repeated_bytes() const { return repeated_bytes_; }  // for find_rows

  // Bytes of memory for the lanes of a thread, and of its part for a block.
  std::int64_t lanes_bytes() const { return lanes_bytes_; }
  // Finds the lanes of block `index` in this memory.
  void find_lanes(const SlidingWindow& w, std::int64_t index, std::byte* lanes,
                  kernels::SlidingArgs& args) const noexcept;
  std::int64_t columns(std::int64_t pixels) const;  // under so many output pixels

  // The number of a window and a block. It shares lanes with the number before, except in the first
  // plane.
  std::int64_t number(const SlidingWindow& w, std::int64_t index) const noexcept;

 private:
  bool find_inside(const ConvRun& run, const SlidingWindow& w, std::int64_t x, std::int64_t columns,
                   std::byte* padding, kernels::SlidingSegment& segment) const noexcept;
  void repeat_channels(std::byte* to, kernels::SlidingSegment& segment) const noexcept;

  const ConvGeometry geometry_;
  const ConvShape shape_;
  const SlidingBlocks& blocks_;
  const SlidingForm form_;
  const kernels::SlidingKey wide_;
  const simd::LaneKernels& lane_kernels_;
  BalancedSplit parts_;
  bool goes_down_;
  std::int64_t lanes_bytes_, repeated_bytes_;
};

}  // namespace fbg
