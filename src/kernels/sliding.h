// Kernels of depthwise and groupwise convolution that slide along a row of the image: each pixel is
// read once, and the sums of the output pixels that it belongs to stay in registers.
//
//   for each column x of the window                        rows of the image under the kernel
//     d[j] = the pixels of the column, a 32-bit lane for each output channel
//     for each tap kx: sums[(x - kx) / step][j] += d[j] . w[kx][j]
//     if an output pixel is complete: write it, and start another in its place
//
// A block is `vectors` vectors of output channels. For bytes, lane e of the l-th 128 bits of vector
// j belongs to channel 4 * vectors * l + 4 * j + e of the block. Instructions that unpack within
// 128 bits leave the lanes in this order, and those that pack the results undo it.
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
  // tile.rows is the number of output rows whose sums are in registers, and tile.vectors the size
  // of a block of channels: 1, 2 or 4 for bytes. The stages run on complete sums; others are
  // written as they are, as int32 in the order of the channels or as float32.
  KernelKey tile;
  SlidingSource source;
  std::uint8_t rows;        // of the window
  std::uint8_t taps, step;  // columns of the kernel, and columns between output pixels
  bool inside = false;      // for bytes: the rows of a segment are all padding, or none of them is
  SlidingMode mode = SlidingMode::whole;
  std::uint8_t built = 0;   // the source whose lanes are built
  std::uint8_t quads = 1;   // for SlidingSource::quads: how many fours of channels a group has
  std::uint8_t planes = 1;  // planes of the window; a source has rows of one of them
  // For floats and pairs: the kernel has `height` rows in each plane, and output rows are
  // `line_step` rows apart.
  std::uint8_t height = 1, line_step = 1;
  std::uint8_t inputs = 1;  // channels of a group
  bool float_bits = false;  // sums of uint8 results are the bits of floats: see SlidingArgs::scale
  bool halves = false;      // pixels are bfloat16, which a depthwise convolution of floats widens
  friend bool operator==(const SlidingKey&, const SlidingKey&) = default;

  constexpr int vectors() const { return tile.vectors; }
  int lines() const { return tile.rows; }
  bool writes_results() const { return completes(tile.sums); }
  bool looks_up() const {
    return writes_results() && tile.num_stages > 0 &&
           tile.pipeline().back().specialization.looked_up;
  }
  bool is_float() const { return source == SlidingSource::floats; }
  int lanes() const { return isa_features(tile.isa) & feature::avx512 ? 16 : 8; }
  // Output pixels of a line whose sums are in registers.
  int places() const { return (taps + step - 1) / step; }
  // Vectors of input for one vector of a block, and multiply-adds for an output pixel.
  int sources() const {
    if (is_float()) return planes * height * inputs;
    if (source == SlidingSource::quads) return rows * quads;
    if (source == SlidingSource::pairs) return (rows + 1) / 2;
    return planes * ((rows / planes + 3) / 4);
  }
  int products() const { return sources() * taps * vectors(); }
  // Vectors that a channel of a group is spread over; 1 where a vector has whole groups.
  int spread() const { return inputs > lanes() ? inputs / lanes() : 1; }
  // Registers that hold permutations which spread a channel over its group. Groups need them that
  // are too wide for a shuffle with an immediate operand, and narrower than a vector.
  int orders() const { return inputs > 4 && inputs < lanes() ? inputs : 0; }
  // Vectors of weights. For bytes, each output row has weights of its own.
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
  // For pairs: whether an output row has weights for any row of a source.
  bool uses(int line, int pair) const {
    for (int i = 2 * pair; i < std::min<int>(2 * pair + 2, rows); ++i) {
      const int ky = row(i, rows / planes).y - line * line_step;
      if (ky >= 0 && ky < height) return true;
    }
    return false;
  }

  // How a kernel of rows or quads divides its 32 registers: temporaries, constants for the results,
  // and what is left. If there is no room for the constants, they are loaded when they are needed.
  // If there is room to spare, the sums to start from and the first weights stay in registers.
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
  std::int64_t moves[kMaxSlidingRows];  // -1; 0 for a row of padding
};

struct SlidingArgs {
  const SlidingSegment* segments;
  std::int64_t channel;  // the first of the block
  const void* weights;   // [line][source][tap][vector]; floats have no lines: all share them
  const void* start;     // [vector] sums to start from; for floats the biases
  // [vector] the scales of 8-bit results. With float_bits, the scales of each vector are followed
  // by -2^23 times these. `start` then has the bits of 2^23 as a float, so that a sum 0 <= s < 2^23
  // has the bits of the float 2^23 + s, and one operation computes (2^23 + s) scale - 2^23 scale,
  // which is s scale rounded once. A negative sum gives some number <= 0 if scale >= 0; with a zero
  // point of 0, the result is 0.
  const float* scale;
  std::byte* lanes[kMaxSlidingSources];  // [source]: [column][vector]; SlidingMode::whole has none
  std::byte* c;                          // the first output pixel and channel
  std::int64_t pixel, line;              // bytes between output pixels, and between output rows
  std::int64_t pixels;  // of an output row; columns, if the kernel only builds lanes
  std::uint64_t mask;   // a bit for each valid channel
  std::int64_t last;    // valid channels of the last vector
  // For 8-bit results: q = saturate(rint(clamp(sum * scale, low, high)) + zero_point). zero_points
  // has the zero point twice, as int16. Float results have the bounds only. With float_bits, these
  // are 0 and 255, and the zero point is 0.
  float low, high;
  std::int32_t zero_point, zero_points;
  const void* table;  // in which 8-bit results are looked up
};

using SlidingFunction = void (*)(const SlidingArgs*);

// Whether there are kernels for a set of features, what kernels of depthwise convolutions of bytes
// read there, and whether a key fits the registers.
bool has_sliding(Features features) noexcept;
SlidingSource sliding_bytes(Features features) noexcept;
bool fits_sliding(const SlidingKey& key) noexcept;
// An estimate of the time for an output pixel of a block, in vector instructions.
double sliding_cost(const SlidingKey& key) noexcept;

// The code of a key that fits. The assembler of the architecture defines this function, as it does
// generated_families() (kernels/table.h).
std::vector<std::uint8_t> generate_sliding(const SlidingKey& key);
std::string sliding_name(const SlidingKey& key);
// Finds or generates the kernel; thread-safe. Throws std::runtime_error where executable memory is
// denied.
SlidingFunction find_sliding(const SlidingKey& key);

}  // namespace fbg::kernels
