// The table of all algorithms of convolution, and the choice among them.
#include <algorithm>
#include <vector>

#include "conv/algorithm.h"

namespace fbg {

void skip_columns(Stage& stage, std::int64_t columns) noexcept {
  const auto skip = [&](std::int64_t bytes) {
    stage.args.data = static_cast<const std::byte*>(stage.args.data) + bytes;
  };
  if (stage.kind == StageKind::bias) skip(columns * 4);
  if (stage.kind == StageKind::add) skip(columns * value_size(stage.wanted));
}

template <class Acc>
std::span<const ConvMethod<Acc>> conv_methods() {
  static const std::vector<ConvMethod<Acc>> methods = [] {
    std::vector<ConvMethod<Acc>> all{pointwise_method<Acc>(), taps_method<Acc>(),
                                     lanewise_method<Acc>(), im2col_method<Acc>()};
    if constexpr (Acc::kind == Accumulator::float32) {
      const auto winograd = winograd_methods();
      all.insert(all.end(), winograd.begin(), winograd.end());
    }
    return all;
  }();
  return methods;
}

template std::span<const ConvMethod<Int32>> conv_methods();
template std::span<const ConvMethod<Int16>> conv_methods();
template std::span<const ConvMethod<Float32>> conv_methods();
template std::span<const ConvMethod<BFloat16>> conv_methods();
template std::span<const ConvMethod<Float32BF16>> conv_methods();
template std::span<const ConvMethod<Float32F16>> conv_methods();

}  // namespace fbg
