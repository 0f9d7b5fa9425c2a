// Kernels that lay images out for convolution: the data of one output channel in 32 bits of a
// lane, for depthwise and groupwise ones (src/conv/channel_vectorized.h), short runs of patches
// (src/conv/im2col.cc), and channels repeated for their outputs
// (src/conv/sliding_windows.cc).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fbg::simd {

// The input of a vector of output channels from a pixel: 32-bit words from `offset` bytes on.
struct LaneSpread {
  std::int64_t offset = 0;
  std::int32_t index[16] = {};  // word of each lane
  bool fits = false;            // in 16 bytes of uint8, or in a vector of floats

  // Lanes from output channel `first` on; elements of 1 or 4 bytes.
  static LaneSpread of(std::int64_t first, std::int64_t lanes, std::int64_t channels,
                       std::int64_t group_outputs, std::int64_t group_inputs,
                       std::int64_t element) {
    LaneSpread s;
    const std::int64_t group = first / group_outputs;
    s.offset = group * group_inputs * element;
    std::int64_t last = 0;
    for (std::int64_t lane = 0; lane < lanes && first + lane < channels; ++lane) {
      const std::int64_t from = ((first + lane) / group_outputs - group) * group_inputs * element;
      s.index[lane] = static_cast<std::int32_t>(from / 4);
      last = std::max(last, from);
    }
    s.fits = group_inputs * element % 4 == 0 && last + 4 <= (element == 1 ? 16 : 4 * lanes);
    return s;
  }
};

// The bytes under one row of a convolution's kernel: `step` bytes further on for the next patch.
struct PatchRow {
  const std::byte* data;
  std::int64_t step;
};

// copy_patches copies runs of up to kMaxRun bytes, short ones by whole steps.
inline constexpr std::int64_t kMaxRun = 1024, kShortRun = 64, kRunStep = 16;
// Bytes that copying a run reads and writes.
constexpr std::int64_t copied_bytes(std::int64_t run) {
  return run <= kShortRun ? (run + kRunStep - 1) / kRunStep * kRunStep : run;
}

struct LaneKernels {
  // y[pixel * stride_y + c] = the bytes rows[0..4) of channel c, lowest first; pixels of rows[i]
  // are strides[i] bytes apart. The words of channels [channels, stride_y) are not written.
  void (*interleave_bytes)(const std::uint8_t* const* rows, const std::int64_t* strides,
                           std::size_t pixels, std::size_t channels, std::size_t stride_y,
                           std::uint32_t* y);
  // The same of rows[0..2), each byte as int16.
  void (*interleave_words)(const std::uint8_t* const* rows, const std::int64_t* strides,
                           std::size_t pixels, std::size_t channels, std::size_t stride_y,
                           std::uint32_t* y);
  // y[pixel][vector][lane] = word index[lane] of the 16 bytes at x + offset. Nothing at `end` or
  // beyond is read; x is a pixel, `stride` bytes before the next.
  void (*spread_bytes)(const std::byte* x, std::int64_t stride, std::size_t pixels,
                       const std::byte* end, const LaneSpread* vectors, std::size_t count,
                       std::uint32_t* y);
  // The same, of a whole vector of floats at x + offset.
  void (*spread_floats)(const std::byte* x, std::int64_t stride, std::size_t pixels,
                        const std::byte* end, const LaneSpread* vectors, std::size_t count,
                        std::uint32_t* y);
  // y[patch * stride_y + row * bytes ...] = `bytes` bytes of each row, for `count` patches.
  // copied_bytes() of each run are read and written.
  void (*copy_patches)(const PatchRow* rows, std::size_t num_rows, std::size_t bytes,
                       std::size_t count, std::byte* y, std::int64_t stride_y);
  // y[(pixel * channels + c) * times + i] = x[pixel * stride + c] for i in [0, times).
  void (*repeat_bytes)(const std::uint8_t* x, std::int64_t stride, std::size_t pixels,
                       std::size_t channels, std::size_t times, std::uint8_t* y);
};

}  // namespace fbg::simd
