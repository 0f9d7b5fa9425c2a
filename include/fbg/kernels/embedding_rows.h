// Rows of an embedding table as memory holds them. Rows of integers q carry a scale and a bias
// behind their values, real = scale * q + bias, in the layout of FBGEMM and PyTorch:
//
//   byte      0     1         P-1   P            P+s          P+2s
//             ┌─────┬─────┬───┬─────┬────────────┬────────────┐
//             │ values, 8/b a byte  │ scale      │ bias       │   P = ceil(N b / 8)
//             └─────┴─────┴───┴─────┴────────────┴────────────┘   s = 2 or 4, little-endian
//
// The first values are in the low bits of a byte. Rows of floats of 8 bits, e4m3fn, have a scale
// and no bias: real = scale * q. Rows of wider floats are nothing but their values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/types.h"

namespace fbg {

enum class RowFormat : std::uint8_t { float32, float16, bfloat16, int8, int4, int2, float8_e4m3fn };
enum class RowScale : std::uint8_t { float32, float16 };  // of rows that have scales

constexpr bool is_integer(RowFormat format) {
  return format >= RowFormat::int8 && format <= RowFormat::int2;
}

// What follows the values: a scale and a bias, a scale, or nothing.
constexpr int row_parameters(RowFormat format) {
  return is_integer(format) ? 2 : format == RowFormat::float8_e4m3fn ? 1 : 0;
}

constexpr int row_bits(RowFormat format) {
  constexpr int kBits[] = {32, 16, 16, 8, 4, 2, 8};
  return kBits[static_cast<int>(format)];
}

struct RowLayout {
  RowFormat format = RowFormat::float32;
  RowScale scale = RowScale::float32;
  std::int32_t columns = 0;

  constexpr std::int64_t value_bytes() const {
    return ceil_div(std::int64_t{columns} * row_bits(format), 8);
  }
  constexpr int scale_bytes() const { return scale == RowScale::float32 ? 4 : 2; }
  constexpr std::int64_t row_bytes() const {
    return value_bytes() + row_parameters(format) * scale_bytes();
  }
};

enum class BagMode : std::uint8_t { sum, mean, max };
enum class IndexType : std::uint8_t { int32, int64 };

}  // namespace fbg
