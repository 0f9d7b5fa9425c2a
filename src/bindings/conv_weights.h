// Weights of convolutions as Python holds them: of any element type in one class, so that what
// takes them is compiled once.
#pragma once

#include <variant>

#include "fbg/conv/packed_conv.h"

namespace fbg::bindings {

using PackedConvs = std::variant<PackedConv<Int32>, PackedConv<Int16>, PackedConv<Float32>,
                                 PackedConv<Float32F16>, PackedConv<Float32BF16>>;

inline const ConvGeometry& geometry_of(const PackedConvs& weights) {
  return std::visit([](const auto& w) -> const ConvGeometry& { return w.geometry(); }, weights);
}

struct ConvWeights {
  PackedConvs packed;

  template <class Use>  // use(packed), whatever the type of its elements
  decltype(auto) with(Use use) const {
    return std::visit(use, packed);
  }
};

// The class in Python of weights of one type.
template <class Acc>
struct ConvWeightsOf : ConvWeights {};

}  // namespace fbg::bindings
