// Row kernels for compressing linear layers and embedding tables: on the weights of one output,
// which a checkpoint keeps as K contiguous floats, and on observed inputs of a layer. Where a
// kernel takes a divisor and factors, it works on x[i] / divisor * factors[i], rounded to float
// after each step; null factors are all 1. Results do not depend on the target.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg::simd {

struct WeightKernels {
  // largest[i] = max(largest[i], |x[i] / divisor|). NaN counts as larger than all numbers.
  void (*widen_magnitudes)(const float* x, float divisor, std::size_t n, float* largest);
  // max |x[i] / divisor * factors[i]|, at least 0; NaN where an element is.
  float (*largest_magnitude)(const float* x, float divisor, const float* factors, std::size_t n);
  // q[i] = rint(x[i] / divisor * factors[i] / scale), half to even, within [-127, 127].
  void (*quantize)(const float* x, float divisor, const float* factors, float scale, std::size_t n,
                   std::int8_t* q);
  // y[i] = x[i] / divisor
  void (*divide)(const float* x, float divisor, std::size_t n, float* y);
  // The least and the greatest element, whether or not there is a NaN; false, too, where there is
  // one or an infinity. n > 0.
  bool (*find_extent)(const float* x, std::size_t n, float* lo, float* hi);
  // q[i] = rint((x[i] - bias) * inverse), half to even, within [0, top].
  void (*quantize_from)(const float* x, float bias, float inverse, float top, std::size_t n,
                        std::uint8_t* q);
  // q[i] = x[i] / scale as e4m3fn (core/float8.h), half to even, saturating; a zero keeps its sign.
  // There is no NaN.
  void (*quantize_to_e4m3)(const float* x, float scale, std::size_t n, std::uint8_t* q);
  // x as the nearest float16, half to even, whose bits go to `half`.
  float (*round_to_half)(float x, std::uint16_t* half);
  // Values of 4 or 2 bits in bytes of their own, as 2 or 4 of them to a byte; n bytes are written.
  void (*pack_fields)(const std::uint8_t* q, int bits, std::size_t n, std::uint8_t* packed);
  // sums[i] = Σ x[r * row_stride + i]^2 over the rows r, in their order. Squares are rounded to
  // float before they are added in double.
  void (*sum_squares)(const float* x, std::size_t rows, std::size_t row_stride, std::size_t n,
                      double* sums);
};

}  // namespace fbg::simd
