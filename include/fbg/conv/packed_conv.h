// The weights of a convolution, quantized or converted once. Each algorithm reads them in a layout
// of its own, such as the panels of a product or the lanes of a depthwise kernel. A layout is made
// when an algorithm first asks for it, and kept for later uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "fbg/conv/geometry.h"
#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"

namespace fbg {

// How many scales weights have: one per output channel, one per group of channels, or one.
enum class ConvGranularity : std::uint8_t { column, group, tensor };

template <class Acc>
class PackedConv {
 public:
  using Element = typename Acc::B;

  PackedConv() = default;

  // w: dense [out_channels][taps][in_channels / groups], taps in the order depth, height, width; of
  // a transposed convolution too, whose output channel `o` belongs to group o / (O / groups).
  // Scales and zero points: 1 or out_channels of each, or none. Throws std::invalid_argument.
  static PackedConv pack(const Element* w, const ConvGeometry& geometry, WeightQuant quant = {});

  // Rounds half to even to the element type, or for int8 quantizes as PackedB::quantize does.
  static PackedConv convert(const float* w, const ConvGeometry& geometry,
                            ConvGranularity granularity = ConvGranularity::column,
                            bool symmetric = true);

  const ConvGeometry& geometry() const;
  std::span<const Element> weights() const;  // as they were given to pack()
  const float* scale() const;                // [out_channels], or null
  const std::int32_t* zero_point() const;    // [out_channels], or null where all are 0
  const std::int32_t* col_offsets() const;   // [out_channels] sums of weights; null for floats
  // Bytes of the weights and of all forms made so far.
  std::int64_t nbytes() const;

  // The weights of one group as the right operand of a product of depth() x group_outputs(), whose
  // k runs over taps and then channels. Each run of `run` consecutive k is padded with zeros to
  // a multiple of `unit`, which is a number of whole k-groups; run = depth() pads the end alone.
  const PackedB<Acc>& panels(std::int64_t group, std::int64_t run,
                             std::int64_t unit = Acc::format.kr) const;

  // A form of the weights that an algorithm knows by name: made by `make`, which returns the object
  // and its size in bytes, unless it is there. Thread-safe.
  struct Form {
    std::shared_ptr<const void> object;
    std::int64_t bytes = 0;
  };
  const void* form(const std::string& name, const std::function<Form()>& make) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

extern template class PackedConv<Int32>;
extern template class PackedConv<Int16>;
extern template class PackedConv<Float32>;
extern template class PackedConv<BFloat16>;
extern template class PackedConv<Float32BF16>;
extern template class PackedConv<Float32F16>;

}  // namespace fbg
