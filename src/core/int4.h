// Where the panel of a group of 4-bit weights (Int4 in fbg/core/types.h) has its values, scales and
// offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fbg/core/types.h"

namespace fbg {

// The byte that has weight k of a column, and whether it is the high half.
inline std::int64_t int4_byte(std::int64_t column, std::int64_t k) {
  constexpr std::int64_t kDepth = PackedFormat::kNibbleDepth, kBytes = PackedFormat::kNibbleBytes;
  return k / kDepth * kPanelColumns * kBytes + column * kBytes + k % kBytes;
}
inline bool int4_is_high(std::int64_t k) {
  return k % PackedFormat::kNibbleDepth >= PackedFormat::kNibbleBytes;
}

// Weight k of a column.
inline std::int32_t int4_value(const std::byte* group, std::int64_t column, std::int64_t k) {
  const auto byte = std::to_integer<std::int32_t>(group[int4_byte(column, k)]);
  const std::int32_t bits = int4_is_high(k) ? byte >> 4 : byte & 15;
  return (bits ^ 8) - 8;
}

// The scale of a column, behind `depth` k.
inline float16 int4_scale(const std::byte* group, std::int64_t column, std::int64_t depth) {
  float16 scale;
  std::memcpy(&scale, group + depth / 2 * kPanelColumns + column * 2, sizeof scale);
  return scale;
}
inline void put_int4_scale(std::byte* group, std::int64_t column, std::int64_t depth,
                           float16 scale) {
  std::memcpy(group + depth / 2 * kPanelColumns + column * 2, &scale, sizeof scale);
}

// Offsets of columns are stored behind the scales of all columns.
inline float16 int4_offset(const std::byte* group, std::int64_t column, std::int64_t depth) {
  return int4_scale(group, column + kPanelColumns, depth);
}
inline void put_int4_offset(std::byte* group, std::int64_t column, std::int64_t depth,
                            float16 offset) {
  put_int4_scale(group, column + kPanelColumns, depth, offset);
}

}  // namespace fbg
