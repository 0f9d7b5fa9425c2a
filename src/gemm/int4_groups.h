// One column of a group of 4-bit weights: how it is quantized, and how it is written to a panel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::size_t kMaxInt4Group = 128;

struct Int4Column {
  float16 scale;                               // of any sign
  std::array<std::int8_t, kMaxInt4Group> q{};  // within [-8, 7]; 0 beyond the weights
};

// Searches the scale that gives the least squared error: the largest magnitude becomes ±8 or a
// little less or more, the rest follows from least squares. Weights are finite; at most
// kMaxInt4Group of them.
Int4Column quantize_int4(std::span<const float> weights) noexcept;

// Writes the column to a group of `depth` k whose values were 0. Returns the weighted offset of the
// column, which was `offset` before this group.
float put_int4_column(std::byte* group, std::int64_t column, std::int64_t depth,
                      const Int4Column& weights, float offset) noexcept;

}  // namespace fbg
