// Row kernels: everything between the matrix products. Each works on one contiguous row (or one
// token). The float operations on a row depend only on its length and the ISA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg::simd {

// Per-row asymmetric uint8 parameters: real = scale * (q - zero_point).
struct RowQuant {
  float scale;
  std::int32_t zero_point;
};

// Of the terms e^(scale * (x - max x)) of a row: their sum, and scale * max x.
struct ExpSum {
  float sum, max;
};

struct RowKernels {
  // y = (x - mean) / sqrt(variance + eps) * gamma + beta; y may alias x.
  void (*layer_norm)(const float* x, const float* gamma, const float* beta, float eps,
                     std::size_t n, float* y);
  // y = x / sqrt(mean of x^2 + eps) * gamma; y may alias x.
  void (*rms_norm)(const float* x, const float* gamma, float eps, std::size_t n, float* y);
  // x = softmax(scale * x), in place, max subtracted first. Returns what x was divided by.
  ExpSum (*softmax)(float* x, std::size_t n, float scale);
  // y = log(softmax(x)) = x - max x - log(sum of e^(x - max x)); y may alias x.
  void (*log_softmax)(const float* x, std::size_t n, float* y);
  // y = e^(scale * (x - max x)) as bfloat16, scale > 0, relative error within rounding:
  // softmax but for the division. Returns the sum by which to divide; NaN if x holds one.
  ExpSum (*exp_bfloat16)(const float* x, std::size_t n, float scale, std::uint16_t* y);
  // Elementwise; y may alias x.
  void (*gelu)(const float* x, std::size_t n, float* y);  // erf form, |error| <= 1e-6 on [-10, 10]
  void (*tanh)(const float* x, std::size_t n, float* y);
  // y = f(x) * gate, where f is gelu, its tanh form, silu (x / (1 + e^-x)) or max(x, 0); y may
  // alias either.
  void (*geglu)(const float* x, const float* gate, std::size_t n, float* y);
  void (*geglu_tanh)(const float* x, const float* gate, std::size_t n, float* y);
  void (*swiglu)(const float* x, const float* gate, std::size_t n, float* y);
  void (*reglu)(const float* x, const float* gate, std::size_t n, float* y);
  // In place, of each of `pairs` pairs of vectors a, b, `n` floats each, b right behind a, and
  // `stride` floats from one pair to the next:
  //   {a cos - b sin, b cos + a sin}, cos_sin being n cosines, then n sines.
  void (*rotate)(float* x, const float* cos_sin, std::size_t n, std::size_t pairs,
                 std::size_t stride);
  // y = a + b; y may alias either.
  void (*add)(const float* a, const float* b, std::size_t n, float* y);
  // y = a + b + c, rows of three embedding tables (c may be null).
  void (*add_rows)(const float* a, const float* b, const float* c, std::size_t n, float* y);
  // y[i] += a[c] + b[i * stride + c], where c = columns[i] - first; a or b may be null.
  void (*add_columns)(const float* a, const float* b, std::size_t stride,
                      const std::int32_t* columns, std::int32_t first, std::size_t n, float* y);
  // x *= factor
  void (*multiply)(float* x, float factor, std::size_t n);
  // y += x * factor
  void (*accumulate)(const float* x, float factor, std::size_t n, float* y);
  // y[i] = sum of x[sources[t * n + i]] * factors[t * n + i] over the taps t, in their order. What
  // has the factor 0 is not added.
  void (*interpolate)(const float* x, const std::int32_t* sources, const float* factors,
                      std::size_t taps, std::size_t n, float* y);
  // y += (x - center)^2
  void (*accumulate_squares)(const float* x, const float* center, std::size_t n, float* y);
  // y = (x - center) * factor + offset; y may alias x.
  void (*normalize)(const float* x, const float* center, const float* factor, const float* offset,
                    std::size_t n, float* y);

  // Dynamic quantization of one row, as ONNX DynamicQuantizeLinear defines scale and zero point:
  //   lo = min(0, min x), hi = max(0, max x), scale = (hi - lo) / 255,
  //   zero_point = saturate_u8(rint(-lo / scale)); an all-zero row gives {1, 0}.
  // A row that holds NaN or Inf gives {NaN, 0}. With `factors`, one per element, here and below of
  // the row x * factors; they may be null.
  RowQuant (*choose_row_quant)(const float* x, const float* factors, std::size_t n);
  // q = saturate_u8(rint(x * (1 / scale)) + zero_point), half to even; zeros when scale is NaN.
  // Returns the sum of the row's q (its row offset). Writes exactly n bytes; q may be x.
  std::int32_t (*quantize_row)(const float* x, const float* factors, std::size_t n, RowQuant quant,
                               std::uint8_t* q);
  // Sum of n bytes; int8 input shifted by 128 into uint8 while it is copied and summed.
  std::int32_t (*sum_row)(const std::uint8_t* x, std::size_t n);
  std::int32_t (*shift_row)(const std::int8_t* x, std::size_t n, std::uint8_t* q);
  // sums[g * ld] = sum of group g of x, whose groups have `group` elements, a multiple of 16; the
  // last one may be shorter.
  void (*sum_groups)(const std::uint8_t* x, std::size_t n, std::size_t group, float* sums,
                     std::size_t ld);
  // Bytes as uint16, each k-group of four as {x0, x2, x1, x3}, the last one padded with zeros:
  // writes 8 * ceil(n / 4) bytes.
  void (*widen_groups)(const std::uint8_t* x, std::size_t n, std::uint16_t* y);
  // y = float(x): float16 (IEEE binary16 bits) and bfloat16 bits to float32.
  void (*half_to_float)(const std::uint16_t* x, std::size_t n, float* y);
  void (*bfloat16_to_float)(const std::uint16_t* x, std::size_t n, float* y);
  // y = float16(x * factor), half to even; a NaN stays a NaN.
  void (*float_to_half)(const float* x, float factor, std::size_t n, std::uint16_t* y);
  // y = bfloat16(x), half to even; a NaN stays a NaN.
  void (*float_to_bfloat16)(const float* x, std::size_t n, std::uint16_t* y);
  // y[i] = bfloat16(a[i]) | bfloat16(b[i]) << 16: two rows as k-groups of the bfloat16 dot product.
  void (*pair_bfloat16)(const float* a, const float* b, std::size_t n, std::uint32_t* y);
  // y[i] = a[i] | b[i] << 16
  void (*pair_words)(const std::uint16_t* a, const std::uint16_t* b, std::size_t n,
                     std::uint32_t* y);
};

}  // namespace fbg::simd
