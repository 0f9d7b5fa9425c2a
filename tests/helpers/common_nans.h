// NaN in the results of a kernel and of its reference.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/float16.h"
#include "kernels/microkernel.h"

namespace fbg::test {

// Whether it is that of an operand of tests, of an element of FP8, or of an operation without
// result.
inline bool is_usual(float nan) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nan) & 0x7fffff;
  return bits == 0x400000 || bits == 0x700000 || (bits & 0x7f0000) == 0x7f0000;
}

// Whether functions of -|x| make another NaN of that of an operation without result, as on AArch64,
// where it has no sign. Of two NaN, sums then take either.
inline bool functions_make_nans() {
  const volatile float infinity = std::numeric_limits<float>::infinity();
  return !std::signbit(infinity - infinity);
}

// Where both results are NaN, the bits of the kernel's are expected: which of two NaN a sum takes
// depends on the order of its operands. But they are those of an operand, or of an operation
// without result: all ones behind the sign, or one; or any, where floats may have bits of integers.
template <class T>
void copy_common_nans(const std::byte* c, std::byte* expected, std::int64_t rows,
                      std::int64_t columns, std::int64_t ldc, bool any) {
  constexpr std::int64_t size = sizeof(T);
  for (std::int64_t at = 0; at < rows * columns; ++at) {
    const std::int64_t place = at / columns * ldc + at % columns * size;
    T got, wanted;
    std::memcpy(&got, c + place, sizeof got);
    std::memcpy(&wanted, expected + place, sizeof wanted);
    if (std::isnan(to_float(got)) && std::isnan(to_float(wanted)) &&
        (any || is_usual(to_float(got))))
      std::memcpy(expected + place, &got, sizeof got);
  }
}
inline void copy_common_nans(ValueType type, const std::byte* c, std::byte* expected,
                             std::int64_t rows, std::int64_t columns, std::int64_t ldc,
                             bool any = false) {
  if (type == ValueType::float32)
    copy_common_nans<float>(c, expected, rows, columns, ldc, any);
  else if (type == ValueType::bfloat16)
    copy_common_nans<bfloat16>(c, expected, rows, columns, ldc, any);
  else if (type == ValueType::float16)
    copy_common_nans<float16>(c, expected, rows, columns, ldc, any);
}

}  // namespace fbg::test
