// One column of a group of 4-bit weights: how it is quantized.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::size_t kMaxInt4Group = 128;

struct Int4Column {
  float16 scale;                               // with any sign
  float16 offset{};                            // where groups have one: scale * q + offset
  std::array<std::int8_t, kMaxInt4Group> q{};  // within [-8, 7]; 0 beyond the weights
};

// Searches the scale that gives the least squared error: the largest magnitude becomes ±8 or a
// little less or more, the rest follows from least squares. Weights are finite; at most
// kMaxInt4Group of them.
Int4Column quantize_int4(std::span<const float> weights) noexcept;

// The same of a scale and an offset: the values reach from the least weight to the greatest one, or
// a little less or more, and least squares give the rest.
Int4Column quantize_int4_with_offset(std::span<const float> weights) noexcept;

}  // namespace fbg
