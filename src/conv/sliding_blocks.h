// How sliding kernels (kernels/sliding.h) cover the channels of a convolution, and its weights in
// the order in which they read them.
#pragma once

#include <cstdint>
#include <vector>

#include "conv/algorithm.h"
#include "core/memory.h"
#include "kernels/sliding.h"

namespace fbg {

// Whether kernels can run the stages of a pipeline and write its results, and the kind of the
// kernels that do so, or that write sums.
// bfloat16: whether they write it.
bool sliding_writes(const KernelKey& key, bool bfloat16);
kernels::SlidingKey sliding_kind(const KernelKey& tile);
// Sets the arguments of these kernels that come from the stages.
void set_sliding_stages(const KernelKey& key, const StageArgs* stages, kernels::SlidingArgs& args);

// A window: the rows of the image under `lines` rows of the output. Kernels that load lanes from
// memory (key.mode) compute one line at a time.
struct SlidingForm {
  std::int64_t lines = 1;
  std::int64_t plane_rows = 0;  // rows of the image in each plane of the kernel
  // The first sources of a window are the last ones of the window in the plane before it, and need
  // not be built again.
  std::int64_t shared = 0;
};

// A block of channels. All blocks are equal, except that the last one may be narrower. With kernels
// that have no masks, it begins with channels of the block before instead.
struct SlidingBlock {
  std::int64_t channel, channels;  // the first, and how many, in the vectors of `key`
  std::int64_t skip;               // channels that the block before has computed
  kernels::SlidingKey key;
  std::int64_t weights, vectors;  // vectors of weights, and of channels, of the blocks before
};

class SlidingBlocks {
 public:
  // `kind` comes from sliding_kind(). The other members of the keys follow from the geometry.
  SlidingBlocks(const ConvGeometry& g, const kernels::SlidingKey& kind);

  // Whether there are kernels for a geometry.
  static bool fit(const ConvGeometry& g, const kernels::SlidingKey& kind);

  const std::vector<SlidingBlock>& blocks() const { return blocks_; }
  std::int64_t vectors() const { return vectors_; }  // of all blocks
  const SlidingForm& form() const { return form_; }
  double cost() const;  // of a pixel of the output

  // Weights of all blocks, int8 [out_channels][depth], as words of lanes. zero_point: what is
  // subtracted from those of a channel, which takes kernels of pairs; null: nothing.
  AlignedBuffer weights(const ConvGeometry& g, const std::int8_t* w,
                        const std::int32_t* zero_point) const;
  AlignedBuffer weights(const ConvGeometry& g, const float* w) const;

 private:
  AlignedBuffer buffer() const;                              // for all weights
  std::int64_t weights_of(const SlidingBlock& block) const;  // vectors
  std::int64_t weight_of(const ConvGeometry& g, const kernels::SlidingKey& key, std::int64_t line,
                         std::int64_t source, std::int64_t tap, int i) const;

  SlidingForm form_;
  std::vector<SlidingBlock> blocks_;
  std::int64_t vectors_ = 0;
};

// The channel of lane `lane` of vector v of a block.
constexpr std::int64_t sliding_channel(const kernels::SlidingKey& key, std::int64_t v,
                                       std::int64_t lane) {
  const std::int64_t part = lane / 4, element = lane % 4, vectors = key.vectors();
  if (key.source == kernels::SlidingSource::rows && vectors == 2)
    return part / 2 * 16 + v * 8 + part % 2 * 4 + element;
  return part * 4 * vectors + 4 * v + element;
}

}  // namespace fbg
