// Kernels of depthwise and groupwise convolution that slide along a row of the image: each pixel is
// read once, and the sums of the output pixels that it belongs to stay in registers.
//
//   for each column x of the window                        rows of the image under the kernel
//     d[j] = the pixels of the column, a 32-bit lane for each output channel
//     for each tap kx: sums[(x - kx) / step][j] += d[j] . w[kx][j]
//     if an output pixel is complete: write it, and start another in its place
//
// A block is `vectors` vectors of output channels. Of bytes, lane (l, e), that is element e of the
// l-th 128 bits, of vector j belongs to channel 4 * vectors * l + 4 * j + e of the block: the order
// in which unpacking within 128 bits interleaves the rows, and which packing the results undoes.
//
//   rows   depthwise: a lane holds four rows of the window, of one channel
//   pairs  depthwise, where such products are not one instruction: a lane holds two rows of the
//          window as int16, and vectors is 1 or 2
//   quads  groups of 4, 8 or 16 channels, as many in as out: a lane holds four channels of the
//          group that its output channel belongs to; vectors = 4
//   floats depthwise in float32, or groups of channels, as many in as out; lanes are in the order
//          of the channels, and each channel of a group is spread over the lanes of its group
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/microkernel.h"

namespace fbg::kernels {

enum class SlidingSource : std::uint8_t { rows, pairs, quads, floats };

// Building the lanes of rows takes long, and several output rows need the same lanes. One kernel
// can build those of a source and leave them in memory, from where others load them.
enum class SlidingMode : std::uint8_t { whole, builds, loads };

struct SlidingKey {
  // Its rows are output rows whose sums are in registers, and its vectors a block of channels: of
  // bytes 1, 2 or 4. Complete sums are given the stages; others are written as they are, int32 in
  // the order of the channels or float32.
  KernelKey tile;
  SlidingSource source;
  std::uint8_t rows;        // of the window
  std::uint8_t taps, step;  // of a kernel row: columns, and columns between output pixels
  bool inside = false;      // of bytes: no row of padding in a segment that has any other
  SlidingMode mode = SlidingMode::whole;
  std::uint8_t built = 0;   // the source whose lanes are built
  std::uint8_t quads = 1;   // of a group, of `quads`
  std::uint8_t planes = 1;  // a source has rows of one plane of the window
  // Of floats and pairs: the kernel has `height` rows in each plane, and lines are `line_step` rows
  // apart.
  std::uint8_t height = 1, line_step = 1;
  std::uint8_t inputs = 1;  // channels of a group
  bool float_bits = false;  // sums of uint8 results are the bits of floats: see SlidingArgs::scale
  friend bool operator==(const SlidingKey&, const SlidingKey&) = default;

  constexpr int vectors() const { return tile.vectors; }
  int lines() const { return tile.rows; }
  bool writes_results() const { return completes(tile.sums); }
  bool is_float() const { return source == SlidingSource::floats; }
  int lanes() const { return isa_features(tile.isa) & feature::avx512 ? 16 : 8; }
  // Output pixels of a line whose sums are in registers.
  int places() const { return (taps + step - 1) / step; }
  // Vectors of d for one vector of a block, and multiply-adds for an output pixel.
  int sources() const {
    if (is_float()) return planes * height * inputs;
    if (source == SlidingSource::quads) return rows * quads;
    if (source == SlidingSource::pairs) return (rows + 1) / 2;
    return planes * ((rows / planes + 3) / 4);
  }
  int products() const { return sources() * taps * vectors(); }
  // Vectors that a channel of a group is spread over; 1 where a vector has whole groups.
  int spread() const { return inputs > lanes() ? inputs / lanes() : 1; }
  // Registers for the order of lanes that spreads a channel: of groups that are wider than the
  // lanes among which the immediate of a shuffle moves, and narrower than a vector.
  int orders() const { return inputs > 4 && inputs < lanes() ? inputs : 0; }
  // Vectors of weights: lines of bytes have their own.
  int weights() const { return products() * (is_float() ? 1 : lines()); }
  int sums() const { return places() * lines() * vectors(); }  // in registers

  // Row i of a window that has `plane_rows` rows in each plane of the kernel. Where rows are
  // paired, those of two planes alternate, so that lines need few pairs of which they use only one
  // row.
  struct Row {
    int plane, y;
  };
  Row row(int i, int plane_rows) const {
    const int both = 2 * plane_rows;
    if (source == SlidingSource::pairs && i < planes / 2 * both)
      return {i / both * 2 + i % 2, i % both / 2};
    return {i / plane_rows, i % plane_rows};
  }
  // Of pairs: whether an output row has weights for any row of a source.
  bool uses(int line, int pair) const {
    for (int i = 2 * pair; i < std::min<int>(2 * pair + 2, rows); ++i) {
      const int ky = row(i, rows / planes).y - line * line_step;
      if (ky >= 0 && ky < height) return true;
    }
    return false;
  }

  // Registers of a kernel of rows or quads (of 32): temporary ones, constants of the results, and
  // what is left. Without room for the constants they are loaded when they are wanted; with enough,
  // the sums to start from and the first weights stay in registers.
  int temporaries() const { return vectors() == 4 ? 5 : 4; }
  int constants() const { return vectors() == 2 ? 3 : 2; }
  int spare() const { return 32 - sums() - temporaries() - constants(); }
  bool keeps_start() const { return spare() >= vectors(); }
  int kept_weights() const { return keeps_start() ? std::min(spare() - vectors(), weights()) : 0; }
};

inline constexpr int kMaxSlidingRows = 16;
inline constexpr int kMaxSlidingSources = 4;  // whose lanes are in memory

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
  std::int64_t channel;  // the first of the block
  const void* weights;   // [line][source][tap][vector]; of floats for all lines
  const void* start;     // [vector] sums to start from; of floats the biases
  // [vector] scales of 8-bit results, and after those of each vector -2^23 scale, of float_bits.
  // With the bits of 2^23 in `start`, a sum 0 <= s < 2^23 has the bits of the float 2^23 + s, so
  // that one operation computes (2^23 + s) scale - 2^23 scale, which is s scale rounded once.
  // Negative sums give some number <= 0 if scale >= 0, which a zero point of 0 makes 0.
  const float* scale;
  std::byte* lanes[kMaxSlidingSources];  // [source]: [column][vector], not of `whole`
  std::byte* c;                          // the first output pixel and channel
  std::int64_t pixel, line;              // bytes between output pixels, and between output rows
  std::int64_t pixels;  // of an output row; where only lanes are built, columns of these
  std::uint64_t mask;   // of valid channels
  std::int64_t last;    // valid channels of the last vector
  // Of 8-bit results: q = saturate(rint(clamp(sum * scale, low, high)) + zero_point), the latter
  // also as two int16. The bounds of floats as well. float_bits has 0, 255 and 0.
  float low, high;
  std::int32_t zero_point, zero_points;
};

using SlidingFunction = void (*)(const SlidingArgs*);

// Whether there are kernels for a set of features, what those of depthwise bytes read, and whether
// a key fits the registers.
bool has_sliding(Features features) noexcept;
SlidingSource sliding_bytes(Features features) noexcept;
bool fits_sliding(const SlidingKey& key) noexcept;
// Vector instructions for an output pixel of a block, a measure of its time.
double sliding_cost(const SlidingKey& key) noexcept;

// Of the architecture's assembler, as generated_families() is (kernels/table.h): code of a key that
// fits.
std::vector<std::uint8_t> generate_sliding(const SlidingKey& key);
std::string sliding_name(const SlidingKey& key);
// Finds or generates the kernel; thread-safe. Throws std::runtime_error where executable memory is
// denied.
SlidingFunction find_sliding(const SlidingKey& key);

}  // namespace fbg::kernels
