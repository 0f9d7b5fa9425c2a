// Packing the operands of attention into panels of 32 columns of 32-bit words, which are floats or
// pairs of bfloat16 (the layouts of PackedB<Float32> and PackedB<BFloat16>, see fbg/pack_b.h),
// without the bookkeeping of a weight matrix.
#pragma once

#include <cstdint>

#include "fbg/core/types.h"
#include "simd/rows.h"

namespace fbg {

// B = X^T:  panels[p][k][j] = x(32 p + j, k), zeros up to a multiple of 16 columns: a short
// sequence does not pay for a whole panel. x has unit column stride; there is room for ceil(x.rows
// / 32) * x.cols * 32 floats.
inline constexpr std::int64_t kTransposedPadding = 16;
void pack_transposed(const MatrixView<const float>& x, float* panels) noexcept;

// B = X:  panels[p][k][j] = x(k, 32 p + j), zero for columns beyond x.cols.
// Writes ceil(x.cols / 32) * x.rows * 32 floats.
void pack_rows(const MatrixView<const float>& x, float* panels) noexcept;

// The same as words of bfloat16: panels[p][k][j] = {x(2 k, 32 p + j), x(2 k + 1, 32 p + j)}, zero
// beyond x. Writes ceil(x.cols / 32) * ceil(x.rows / 2) * 32 words.
void pack_row_pairs(const MatrixView<const float>& x, const simd::RowKernels& kernels,
                    float* panels) noexcept;
// So from an x that holds bfloat16: its columns here are words of two.
void pack_word_pairs(const MatrixView<const float>& x, const simd::RowKernels& kernels,
                     float* panels) noexcept;

}  // namespace fbg
