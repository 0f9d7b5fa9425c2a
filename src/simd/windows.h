// Pooling and reductions: the maximum, minimum or sum over windows of pixels, for each channel, and
// over the elements of a row. Written once on Highway; src/plan/ops/tensor_window.cc calls them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/isa.h"

namespace fbg::simd {

// The pixels of a window: counts of them and their distances, in elements, on three axes. There are
// `windows` of these side by side: x and y advance by a step, in elements, from one to the next.
struct PixelWindow {
  std::int64_t count[3] = {1, 1, 1};
  std::int64_t stride[3] = {0, 0, 0};
  std::int64_t windows = 1, x_step = 0, y_step = 0;
};

struct WindowKernels {
  // For each window: y[c] = the maximum (minimum) over the pixels of x[c], n channels; a NaN counts
  // as the maximum and the minimum.
  void (*max_float)(const float* x, const PixelWindow& window, std::size_t n, float* y);
  void (*min_float)(const float* x, const PixelWindow& window, std::size_t n, float* y);
  void (*max_uint8)(const std::uint8_t* x, const PixelWindow& window, std::size_t n,
                    std::uint8_t* y);
  void (*max_int8)(const std::int8_t* x, const PixelWindow& window, std::size_t n, std::int8_t* y);
  void (*min_uint8)(const std::uint8_t* x, const PixelWindow& window, std::size_t n,
                    std::uint8_t* y);
  void (*min_int8)(const std::int8_t* x, const PixelWindow& window, std::size_t n, std::int8_t* y);
  // y[c] = factor * sum
  void (*sum_float)(const float* x, const PixelWindow& window, std::size_t n, float factor,
                    float* y);
  // y[c] = saturate(rint(float(sum - offset) * factor) + zero_point)
  void (*sum_uint8)(const std::uint8_t* x, const PixelWindow& window, std::size_t n,
                    std::int32_t offset, float factor, std::int32_t zero_point, std::uint8_t* y);
  void (*sum_int8)(const std::int8_t* x, const PixelWindow& window, std::size_t n,
                   std::int32_t offset, float factor, std::int32_t zero_point, std::int8_t* y);
  // y[c] = float(sum - offset) * factor
  void (*sum_uint8_float)(const std::uint8_t* x, const PixelWindow& window, std::size_t n,
                          std::int32_t offset, float factor, float* y);
  void (*sum_int8_float)(const std::int8_t* x, const PixelWindow& window, std::size_t n,
                         std::int32_t offset, float factor, float* y);
  // Of n elements of a row.
  float (*row_max)(const float* x, std::size_t n);
  float (*row_min)(const float* x, std::size_t n);
  float (*row_sum)(const float* x, std::size_t n);
};
const WindowKernels& window_kernels(Features features) noexcept;

}  // namespace fbg::simd
