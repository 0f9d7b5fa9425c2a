// The packers of A and what they multiply, where both are known only at run time: for Python and
// for plans, which prepare a GemmDriver.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "fbg/gemm/gemm.h"
#include "kernels/microkernel.h"

namespace fbg {

// The packers of fbg/gemm/pack_a.h.
enum class PackerKind : std::uint8_t {
  bytes,         // PackA
  floats,        // PackA
  bfloat16s,     // PackA
  to_bfloat16,   // PackAToBFloat16
  to_float16,    // PackAToFloat16
  quantized,     // PackAWithQuantRowOffset
  offset_uint8,  // PackAWithRowOffset
  offset_int8    // PackAWithRowOffset
};

template <class T>
using Type = std::type_identity<T>;

// use(Type<A>(), Type<T>()), where A is the packer of that kind, and T what it reads.
template <class Use>
auto with_packer(PackerKind kind, Use use) {
  switch (kind) {
    case PackerKind::bytes:
      return use(Type<PackA<std::uint8_t>>(), Type<std::uint8_t>());
    case PackerKind::floats:
      return use(Type<PackA<float>>(), Type<float>());
    case PackerKind::bfloat16s:
      return use(Type<PackA<bfloat16>>(), Type<bfloat16>());
    case PackerKind::to_bfloat16:
      return use(Type<PackAToBFloat16>(), Type<float>());
    case PackerKind::to_float16:
      return use(Type<PackAToFloat16>(), Type<float>());
    case PackerKind::quantized:
      return use(Type<PackAWithQuantRowOffset>(), Type<float>());
    case PackerKind::offset_uint8:
      return use(Type<PackAWithRowOffset<std::uint8_t>>(), Type<std::uint8_t>());
    case PackerKind::offset_int8:
      return use(Type<PackAWithRowOffset<std::int8_t>>(), Type<std::int8_t>());
  }
  __builtin_unreachable();
}

// What packers take beside a matrix. The features are those that the product was prepared for.
struct PackerOptions {
  Features features;
  float scale = 1;
  std::int32_t zero_point = 0;
  bool per_row = true;
  const RowExtent* extents = nullptr;
  const float* channel_scale = nullptr;
};

template <class A, class T>
A make_packer(const MatrixView<const T>& x, const PackerOptions& options) {
  if constexpr (std::is_same_v<A, PackAWithQuantRowOffset>)
    return options.extents ? A(x, options.extents)
                           : A(x, options.per_row, options.channel_scale, options.features);
  else if constexpr (std::is_constructible_v<A, MatrixView<const T>, float, std::int32_t>)
    return A(x, options.scale, options.zero_point);
  else
    return A(x);
}

// Whether the CPU multiplies float16 by float16 (Float16). Where it does not, such weights multiply
// float rows, as Float32F16.
inline bool multiplies_halves(Features features) {
  return choose_geometry(GemmType::float16, features).isa != Isa::generic;
}

// What a driver needs to know of that packer for products with kernels of that family: the family
// of the weights, or float32_bf16 for bfloat16, or float32_f16 for float16. Throws
// std::invalid_argument where the kernels read other elements than the packer gives.
inline ProductTypes product_types(PackerKind packer, GemmType family) {
  return with_packer(packer, [&]<class A, class T>(Type<A>, Type<T>) -> ProductTypes {
    using Read = typename A::Element;
    constexpr bool kBytes = std::is_same_v<Read, std::uint8_t>;
    constexpr bool kRounded = std::is_same_v<Read, bfloat16>;
    constexpr bool kHalf = std::is_same_v<Read, float16>;
    if (kBytes != reads_bytes(family) || kRounded != (family == GemmType::bfloat16) ||
        kHalf != (family == GemmType::float16))
      throw std::invalid_argument("gemm: these weights do not multiply what the packer gives");
    return {family, A::kHasScale, a_shift<A>()};
  });
}

}  // namespace fbg
