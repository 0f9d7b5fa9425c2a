// Functions of elements, applied to short rows that stay in the L1: what a program of elementwise
// steps (src/plan/ops/tensor_elementwise.cc) is made of. Written once on Highway; functions that no
// network spends time in call the C library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "fbg/core/isa.h"

namespace fbg::simd {

// y[i] = f(a[i], b[i]); c0 and c1 are constants of the function; y may alias a and b.
using ElementwiseFunction = void (*)(const float* a, const float* b, float c0, float c1,
                                     std::size_t n, float* y);

// The function of a name, or null. The two tables of elementwise.cc list all names: the functions
// that are vectorized, and those that call the C library. Comparisons return 1 or 0. Functions of
// one operand leave b alone, and these read the constants:
//   affine: a c0 + c1                         clip: min(max(a, c0), c1)
//   leaky: a < 0 ? a c0 : a                   hard_sigmoid: min(max(a c0 + c1, 0), 1)
//   quantize: rint(a / c0) + c1               dequantize: (a - c1) c0
//   to_int32: a without its fraction, as int32; those that end with int32 take the bits of it
//   elu, threshold: as in ONNX, alpha is c0
//   and_bytes, or_bytes, xor_bytes: of truth values in bytes, to which the pointers lead
ElementwiseFunction elementwise_function(std::string_view name, Features features) noexcept;

struct NamedFunction {
  std::string_view name;
  ElementwiseFunction function;
  // The same where b is one number; null if there is none.
  ElementwiseFunction with_number = nullptr;
};
// The same with its variants.
const NamedFunction* named_function(std::string_view name, Features features) noexcept;

using ElementwiseKernels = std::span<const NamedFunction>;  // those that are not the C library's

using Transpose = void(const void* x, std::int64_t stride_x, std::size_t rows, std::size_t columns,
                       void* y, std::int64_t stride_y);

// Elements of memory to float and back. Integers are saturated; NaN becomes the lowest value.
struct ConversionKernels {
  void (*load_uint8)(const std::uint8_t* x, std::size_t n, float* y);
  void (*load_int8)(const std::int8_t* x, std::size_t n, float* y);
  void (*load_int32)(const std::int32_t* x, std::size_t n, float* y);
  void (*store_uint8)(const float* x, std::size_t n, std::uint8_t* y);
  void (*store_int8)(const float* x, std::size_t n, std::int8_t* y);
  void (*store_int64)(const float* x, std::size_t n, std::int64_t* y);
  // y[column * stride_y + row] = x[row * stride_x + column], of elements of 1, 2, 4 and 8 bytes;
  // strides are in elements. Two to four rows or columns without gaps, such as the channels of a
  // colour image, are interleaved.
  Transpose* transpose[4];
};

}  // namespace fbg::simd
