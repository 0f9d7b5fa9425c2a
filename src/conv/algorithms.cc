// The table of all algorithms of convolution, and the choice among them.
#include <algorithm>
#include <array>

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
  static const std::array methods{pointwise_method<Acc>(), taps_method<Acc>(),
                                  lanewise_method<Acc>(), im2col_method<Acc>()};
  return methods;
}

template std::span<const ConvMethod<Int32>> conv_methods();
template std::span<const ConvMethod<Int16>> conv_methods();
template std::span<const ConvMethod<Float32>> conv_methods();
template std::span<const ConvMethod<BFloat16>> conv_methods();
template std::span<const ConvMethod<Float32BF16>> conv_methods();
template std::span<const ConvMethod<Float32F16>> conv_methods();

}  // namespace fbg
