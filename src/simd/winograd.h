// Kernels that transform lines of pixels for Winograd's convolution: B^T d and A^T m of
// simd/cook_toom.h, along one axis of the image, for all channels at once.
#pragma once

#include <cstddef>

#include "simd/cook_toom.h"

namespace fbg::simd {

// y[l * line_y + i * step_y + c] = sum over p of matrix[l][p] * x[p][i * step_x[p] + c]
// for i < items and c < channels; strides count floats.
struct LineTransform {
  const float* x[winograd::kMaxTile];
  std::ptrdiff_t step_x[winograd::kMaxTile];
  float* y;
  std::ptrdiff_t line_y, step_y;
  std::size_t items, channels;
};

using LineKernel = void (*)(const LineTransform&);

struct WinogradKernels {
  LineKernel source[winograd::kMaxTile + 1];                          // [t]; 1: a copy
  LineKernel output[winograd::kMaxTile + 1][winograd::kMaxTile + 1];  // [t][n], n < t; [1][1]: copy
};

}  // namespace fbg::simd
