// How sliding kernels (kernels/sliding.h) cover the channels of a convolution, and its weights in
// the order in which they read them.
#pragma once

#include <cstdint>
#include <vector>

#include "conv/algorithm.h"
#include "core/memory.h"
#include "kernels/sliding.h"

namespace fbg {

// Whether kernels can run the stages of a pipeline and write its results, and the kind of kernels
// that do, or that write sums.
bool sliding_writes(const KernelKey& key);
kernels::SlidingKey sliding_kind(const KernelKey& key, bool writes);

// Blocks of channels: `wide` of them are equal, and one for the rest may be narrower.
struct SlidingBlock {
  std::int64_t channel, channels;  // the first, and how many of `key.vectors` vectors
  kernels::SlidingKey key;         // for output rows by `key.lines`
  std::int64_t weights;            // vectors of weights of the blocks before
};

class SlidingBlocks {
 public:
  // `kind`: the isa, whether source is `floats`, the output and its stages. The rest of the keys
  // follows from the geometry.
  SlidingBlocks(const ConvGeometry& g, const kernels::SlidingKey& kind);

  // Whether there are kernels for a geometry.
  static bool fit(const ConvGeometry& g, const kernels::SlidingKey& kind);

  const std::vector<SlidingBlock>& blocks() const { return blocks_; }
  std::int64_t vectors() const { return vectors_; }  // of all blocks
  int lines() const { return blocks_.front().key.lines; }
  // Rows of a window in each plane of the kernel.
  std::int64_t plane_rows(const ConvGeometry& g) const {
    return blocks_.front().key.rows / g.kernel[0];
  }
  double cost() const;  // of a pixel of the output

  // Weights of all blocks, int8 [out_channels][depth], as words of lanes.
  AlignedBuffer weights(const ConvGeometry& g, const std::int8_t* w) const;
  AlignedBuffer weights(const ConvGeometry& g, const float* w) const;

 private:
  AlignedBuffer buffer() const;  // for all weights

  std::vector<SlidingBlock> blocks_;
  std::int64_t vectors_ = 0;
};

// The channel of lane `lane` of vector v of a block.
constexpr std::int64_t sliding_channel(int vectors, std::int64_t v, std::int64_t lane) {
  return lane / 4 * 4 * vectors + 4 * v + lane % 4;
}

}  // namespace fbg
