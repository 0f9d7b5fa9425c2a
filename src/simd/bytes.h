// Functions to bytes: the ops of int8 networks between their products. Written once on Highway;
// src/plan/ops/tensor_elementwise.cc calls them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg::simd {

// A gate multiplies each column of a matrix by a factor and quantizes the product again:
//   y = saturate(rint((x - zero_point) * scale * factors[column] / output_scale) +
//   output_zero_point)
// Rounding equals the steps dequantize, multiply and quantize of elementwise.h, one by one.
struct Gate {
  float scale = 1, zero_point = 0, output_scale = 1, output_zero_point = 0;
};

struct ByteKernels {
  // y[i] = table[x[i]]: 256 entries; y may be x.
  void (*look_up)(const std::uint8_t* x, const std::uint8_t* table, std::size_t n, std::uint8_t* y);
  // Dense matrices of so many rows and columns; y may be x.
  void (*gate_uint8)(const std::uint8_t* x, const float* factors, const Gate& gate,
                     std::size_t rows, std::size_t cols, std::uint8_t* y);
  void (*gate_int8)(const std::int8_t* x, const float* factors, const Gate& gate, std::size_t rows,
                    std::size_t cols, std::int8_t* y);
  // y = saturate(rint(x / scale) + zero_point)
  void (*quantize_uint8)(const float* x, float scale, float zero_point, std::size_t n,
                         std::uint8_t* y);
  void (*quantize_int8)(const float* x, float scale, float zero_point, std::size_t n,
                        std::int8_t* y);
};

}  // namespace fbg::simd
