// Kernels of depthwise and groupwise convolution: every output channel has a lane of its own.
//
//   C[x][o] = pipeline(sum over r, kx of  U_r[x * step + kx * dilation][o] . W_r[kx][o])
//
// where r counts sources and kx taps.
//
// Each element of U and W is 32 bits of one lane: a float, four bytes or two int16 that belong to
// output channel o (src/conv/channel_vectorized.cc lays them out). A tile is `rows` neighbouring
// output pixels by `vectors` vectors of channels, so that an element of U that is loaded once
// serves up to `taps` sums. Arguments and pipeline are those of the products
// (kernels/microkernel.h): a BlockPair is one source, with lda the bytes between pixels of U and
// b_panel_stride those between taps of W.
//
// A kernel that `spreads` computes groups in float32 that fill at least half a vector of output
// channels: all lanes multiply the same element. A BlockPair is then one row of the image, `groups`
// is the number of its channels, each of which is a source, and W is [channel][kx][lane] without
// gaps.
//
// A row of a kernel with more taps than registers hold is several sources, as long as each other or
// one tap shorter. `groups` of a shorter one is not 0.
//
// Pixels beyond the left and right border may be left out: `left` and `right` say how many under
// the tile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/microkernel.h"

namespace fbg::kernels {

struct LanewiseKey {
  KernelKey tile;          // float32 or int32
  std::uint8_t depth = 1;  // elements of a lane: 1 float, 4 bytes (u8 x s8), or 2 int16
  std::uint8_t taps = 1, step = 1, dilation = 1;
  bool shortens = false;  // some sources have one tap less
  bool spreads = false;
  std::uint8_t left = 0, right = 0;  // pixels of the window that lie outside the image

  // The last pixel that so many taps read under the tile, which begins with pixel 0.
  int last_pixel(int count) const { return (tile.rows - 1) * step + (count - 1) * dilation; }
  // The output pixel that tap kx takes input pixel x of the window to; -1: none of the tile.
  int target(int x, int kx) const {
    const int at = x - kx * dilation;
    if (at < 0 || at % step != 0 || at / step >= tile.rows) return -1;
    return at / step;
  }
  bool uses(int x, int count) const {
    for (int kx = 0; kx < count; ++kx)
      if (target(x, kx) >= 0) return true;
    return false;
  }

  friend bool operator==(const LanewiseKey&, const LanewiseKey&) = default;
};

inline constexpr std::int64_t kLanewiseMaxTaps = 7;  // of a source

// Elements of k in a lane of 32 bits: 1 for floats; for integers 4 bytes with VNNI or sdot, or else
// 2 int16, for which there are kernels with every ISA.
int lanewise_depth(GemmType gemm_type, Features features) noexcept;

// The assembler of the architecture defines these functions, as it does generated_families()
// (kernels/table.h): whether there is a generator; the pixels of the widest tile with `vectors`
// vectors of channels; and the position-independent code of a kernel, which is empty if the tile
// does not fit the registers.
bool has_lanewise(Isa isa) noexcept;
int lanewise_max_rows(int depth, Isa isa, int taps, int vectors) noexcept;
std::vector<std::uint8_t> generate_lanewise(const LanewiseKey& key);

std::string lanewise_name(const LanewiseKey& key);
// Finds or generates the kernel; thread-safe. Throws std::runtime_error where executable memory is
// denied.
TileFunction find_lanewise(const LanewiseKey& key);

}  // namespace fbg::kernels
