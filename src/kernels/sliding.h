// Kernels of depthwise and groupwise convolution of bytes that slide along a row of the image: each
// pixel is read once, and the sums of the output pixels that it belongs to stay in registers.
//
//   for each column x of the window                        rows of the image under the kernel
//     d[j] = the pixels of the column, a 32-bit lane for each output channel
//     for each tap kx: sums[(x - kx) / step][j] += d[j] . w[kx][j]
//     if an output pixel is complete: write it, and start another in its place
//
// A block is `vectors` vectors of output channels. Lane (l, e), that is element e of the l-th 128
// bits, of vector j belongs to channel 4 * vectors * l + 4 * j + e of the block: the order in which
// unpacking within 128 bits interleaves the rows, and which packing the results undoes.
//
//   rows   depthwise: a lane holds four rows of the window, of one channel
//   quads  groups of 4, 8 or 16 channels, as many in as out: a lane holds four channels of the
//          group that its output channel belongs to; vectors = 4
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/kernels/output.h"

namespace fbg::kernels {

enum class SlidingSource : std::uint8_t { rows, quads };

struct SlidingKey {
  Isa isa;
  SlidingSource source;
  std::uint8_t rows;        // of the window
  std::uint8_t taps, step;  // of a kernel row: columns, and columns between output pixels
  std::uint8_t vectors;     // 1, 2 or 4
  std::uint8_t lines = 1;   // output rows that one window serves, of `rows`
  std::uint8_t quads = 1;   // of a group, of `quads`
  ValueType output;         // uint8, int8, or acc: int32 in the order of the channels
  bool masked = false;      // the block has fewer channels
  friend bool operator==(const SlidingKey&, const SlidingKey&) = default;

  // Vectors of d for one vector of a block, and of weights for one line of the output.
  int sources() const { return source == SlidingSource::rows ? (rows + 3) / 4 : rows * quads; }
  int weights() const { return sources() * taps * vectors; }
};

inline constexpr int kMaxSlidingRows = 16;

// Columns that follow each other in memory. The channels of row r of the column begin at
// rows[r] + (offset & moves[r]), where `offset` begins with the first channel of the block and
// grows by `stride` from column to column.
struct SlidingSegment {
  std::int64_t columns, stride;
  const std::byte* rows[kMaxSlidingRows];
  std::int64_t moves[kMaxSlidingRows];  // -1, or 0 of a row of padding
};

struct SlidingArgs {
  const SlidingSegment* segments;
  std::int64_t channel;      // the first of the block
  const void* weights;       // [line][source][tap][vector]
  const void* start;         // [vector] sums to start from
  const float* scale;        // [vector]; of 8-bit results
  std::byte* c;              // the first output pixel and channel
  std::int64_t pixel, line;  // bytes between output pixels, and between output rows
  std::int64_t pixels;       // of an output row
  std::uint64_t mask;        // of valid channels
  // Of 8-bit results: q = saturate(rint(clamp(sum * scale, low, high)) + zero_point), the latter
  // also as two int16.
  float low, high;
  std::int32_t zero_point, zero_points;
};

using SlidingFunction = void (*)(const SlidingArgs*);

// Whether the generator has kernels for a set of features, and whether a key fits the registers.
bool has_sliding(Features features) noexcept;
bool fits_sliding(const SlidingKey& key) noexcept;
// Vector instructions for an output pixel of a block, a measure of its time.
double sliding_cost(const SlidingKey& key) noexcept;

std::vector<std::uint8_t> generate_sliding(const SlidingKey& key);
std::string sliding_name(const SlidingKey& key);
// Finds or generates the kernel; thread-safe. Throws std::runtime_error where executable memory is
// denied.
SlidingFunction find_sliding(const SlidingKey& key);

}  // namespace fbg::kernels
