// Pooling and reductions: the maximum, minimum or sum over windows of pixels, for each channel, and
// over the elements of a row. Written once on Highway; src/plan/ops/tensor_window.cc calls them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

namespace fbg::simd {

// The pixels of a window: counts of them and their distances, in elements, on three axes. There are
// `windows` of these side by side: x and y advance by a step, in elements, from one to the next.
struct PixelWindow {
  std::int64_t count[3] = {1, 1, 1};
  std::int64_t stride[3] = {0, 0, 0};
  std::int64_t windows = 1, x_step = 0, y_step = 0;
};

// The result of a sum: float(sum - offset) * factor where it stays a float, of bytes
// saturate(rint(float(sum - offset) * factor) + zero_point). Sums of floats have no offset.
struct SumScale {
  std::int32_t offset;
  float factor;
  std::int32_t zero_point;
};

// For pixels of elements T and each window, n channels: y[c] is the maximum, minimum or sum over
// the pixels of x[c]. A NaN counts as the maximum and the minimum. std::uint16_t stands for
// bfloat16, of which there are no minima, and whose sums are floats.
template <class T>
struct WindowsOf {
  void (*max)(const T* x, const PixelWindow& window, std::size_t n, T* y);
  void (*min)(const T* x, const PixelWindow& window, std::size_t n, T* y);
  void (*sum)(const T* x, const PixelWindow& window, std::size_t n, const SumScale& scale, T* y);
  void (*sum_float)(const T* x, const PixelWindow& window, std::size_t n, const SumScale& scale,
                    float* y);
};

struct WindowKernels {
  std::tuple<WindowsOf<float>, WindowsOf<std::uint8_t>, WindowsOf<std::int8_t>,
             WindowsOf<std::uint16_t>>
      windows;
  // The functions of n elements of a row.
  float (*row_max)(const float* x, std::size_t n);
  float (*row_min)(const float* x, std::size_t n);
  float (*row_sum)(const float* x, std::size_t n);
};

}  // namespace fbg::simd
