// 16-bit floats to and from float, one at a time: for packing and for the portable kernel.
#pragma once

#include <bit>
#include <cstdint>

#include "fbg/core/types.h"

namespace fbg {

inline float to_float(float x) { return x; }

inline float to_float(bfloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 mantissa bits.
inline float to_float(float16 x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity or NaN
    return std::bit_cast<float>(sign | 0x7f800000u | magnitude << 13);
  // Subnormal numbers are multiples of 2^-24. None of this is subnormal as a float.
  const float value = magnitude < 0x400u ? static_cast<float>(magnitude) * 0x1p-24f
                                         : std::bit_cast<float>((magnitude << 13) + (112u << 23));
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

template <class T>
T from_float(float x);

template <>
inline float from_float<float>(float x) {
  return x;
}

// Half to even; a NaN stays a (quiet) NaN.
template <>
inline bfloat16 from_float<bfloat16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

// Half to even; beyond 65504 (after rounding) infinity. A NaN stays a (quiet) NaN with the upper
// bits of its payload, as vcvtps2ph and fcvtn have it.
template <>
inline float16 from_float<float16>(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return {static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu))};
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};
  std::uint32_t half;
  if (magnitude < 0x38800000u) {  // denormal: adding 0.5 rounds at 2^-24, half to even
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  } else {
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

// a * b + c, rounded once. Products are exact in double. So is the sum, or c is so much larger that
// what it loses decides nothing. Rounded to odd, it keeps what float16 is rounded by.
inline float16 multiply_add(float16 a, float16 b, float16 c) {
  const double sum = static_cast<double>(to_float(a)) * to_float(b) + to_float(c);
  const auto nearest = static_cast<float>(sum);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (nearest < 0x1p24f && nearest > -0x1p24f && nearest != sum) {
    bits -= (nearest > sum) == (nearest > 0);
    bits |= 1;
  }
  return from_float<float16>(std::bit_cast<float>(bits));
}

}  // namespace fbg
