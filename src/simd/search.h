// Kernels of the search for similar embeddings: scores of all pairs of a few queries and many rows,
// and the scan for scores above a bound. The score of query q and row r goes to y[q * ldy + r].
#pragma once

#include <cstddef>
#include <cstdint>

namespace fbg::simd {

// Queries are stored one after the other, rows `stride` elements apart.
template <class T>
struct SearchOperands {
  const T* queries;
  std::size_t num_queries;
  const T* rows;
  std::size_t num_rows, stride;
  std::size_t n;  // elements of each
};

struct SearchKernels {
  // Σ q[i] * r[i]. How a sum of floats is ordered depends on the target and on nothing else. A sum
  // of int8 products is exact for n < 2^17.
  void (*dot_float)(const SearchOperands<float>& operands, float* y, std::size_t ldy);
  void (*dot_int8)(const SearchOperands<std::int8_t>& operands, std::int32_t* y, std::size_t ldy);
  // squares[r] = Σ r[i]^2
  void (*square_float)(const SearchOperands<float>& operands, float* squares);
  // Minus the number of bits that differ.
  void (*minus_different_bits)(const SearchOperands<std::uint8_t>& operands, std::int32_t* y,
                               std::size_t ldy);
  // The first i with x[i] > bound, or n if there is none. NaN is not above anything.
  std::size_t (*find_above_float)(const float* x, std::size_t n, float bound);
  std::size_t (*find_above_int32)(const std::int32_t* x, std::size_t n, std::int32_t bound);
};

}  // namespace fbg::simd
