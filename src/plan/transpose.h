// Packing the operands of attention into float panels of 32 columns (the layout of
// PackedB<Float32>, see fbg/pack_b.h), without the bookkeeping of a weight matrix.
#pragma once

#include <cstdint>

#include "fbg/types.h"

namespace fbg {

// B = X^T:  panels[p][k][j] = x(32 p + j, k), zeros up to a multiple of 16 columns: a short
// sequence does not pay for a whole panel. x has unit column stride; there is room for ceil(x.rows
// / 32) * x.cols * 32 floats.
inline constexpr std::int64_t kTransposedPadding = 16;
void pack_transposed(const MatrixView<const float>& x, float* panels) noexcept;

// B = X:  panels[p][k][j] = x(k, 32 p + j), zero for columns beyond x.cols.
// Writes ceil(x.cols / 32) * x.rows * 32 floats.
void pack_rows(const MatrixView<const float>& x, float* panels) noexcept;

}  // namespace fbg
