// 8-bit floats to float, one at a time: for the portable kernel of embedding tables.
#pragma once

#include <cstdint>

#include "core/float16.h"

namespace fbg {

// e4m3fn (OCP 8-bit Floating Point, 1.0): 1 sign, 4 exponent (bias 7), 3 mantissa bits. There are
// no infinities; NaN is the code whose other bits are all ones.
struct float8_e4m3fn {
  std::uint8_t bits = 0;
};
inline constexpr float kLargestE4m3 = 448.0f;

// A float16 with these bits has the value over 2^8, subnormal or not, because the bias of its
// exponent is 15. Shifted with its sign extended, the code has one bit of the exponent too many,
// which is that sign. Adding one to the code changes it to its opposite where the code is NaN, by a
// carry. So the exclusive or of both is 1 for NaN alone, where it makes the float16 a NaN:
//
//   code                  s e e e e m m m
//   wide        s s e e e e m m m 0 0 0 0 0 0 0
//   float16     s E e e e e m m m 0 0 0 0 0 0 0       E = wide ^ (wide + 2^7), of this bit
inline float to_float(float8_e4m3fn x) {
  const int wide = static_cast<std::int8_t>(x.bits) * 128;
  const int half = wide ^ ((wide + 128) & 0x4000);
  return to_float(float16{static_cast<std::uint16_t>(half)}) * 0x1p8f;
}

}  // namespace fbg
