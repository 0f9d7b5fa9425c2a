// The operands of attention as its products read them: K^T and V of a head in panels of 32 columns
// of 32-bit words, each a float or a pair of bfloat16 (the layouts of PackedB<Float32> and
// PackedB<BFloat16>, see fbg/gemm/pack_b.h, without the bookkeeping of a weight matrix), and rows
// of Q in such words.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/policy.h"
#include "fbg/core/types.h"
#include "kernels/microkernel.h"
#include "simd/rows.h"

namespace fbg {

// K^T from x = K:  panels[p][k][j] = x(32 p + j, k), zeros up to a multiple of 16 columns, so that
// a short sequence does not pay for a whole panel. x has unit column stride and consists of words;
// the panels take ceil(x.rows / 32) * x.cols * 32 of them.
inline constexpr std::int64_t kKeyPadding = 16;
void pack_keys(const MatrixView<const float>& x, float* panels) noexcept;

// Words between rows of so many words: an odd number of cache lines, so that rows do not compete
// for the same places in the L1.
inline std::int64_t row_stride(std::int64_t words) {
  constexpr std::int64_t kLine = 16;
  return (ceil_div(words, kLine) | 1) * kLine;
}

// Rows of queries whose scores for so many keys are computed together: as many whole tiles as fit
// into a part of the L1, but at least one.
inline std::int64_t query_rows(std::int64_t tallest, std::int64_t keys) {
  const std::int64_t bytes = row_stride(keys) * static_cast<std::int64_t>(sizeof(float));
  return std::max(policy::attention::kScoreBytes / bytes / tallest * tallest, tallest);
}

// Rows of C that a product is about to write, so that their lines are there when it does.
inline void prefetch_rows(const MatrixView<float>& c) {
  constexpr std::int64_t kLine = 16;
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; j += kLine) __builtin_prefetch(&c(i, j), 1);
}

// V from floats:  panels[p][k][j] = x(k, 32 p + j), zeros beyond x.cols. The panels take
// ceil(x.cols / 32) * x.rows * 32 floats.
void pack_values(const MatrixView<const float>& x, float* panels) noexcept;

// V as pairs of bfloat16, rounded from floats:
//   panels[p][k][j] = {x(2 k, 32 p + j), x(2 k + 1, 32 p + j)}
// with zeros beyond x. The panels take ceil(x.cols / 32) * depth * 32 words.
void pack_values_rounded(const MatrixView<const float>& x, std::int64_t depth,
                         const simd::RowKernels& kernels, float* panels) noexcept;
// The same from an x that holds bfloat16, whose columns here are words of two.
void pack_values_bfloat16(const MatrixView<const float>& x, std::int64_t depth,
                          const simd::RowKernels& kernels, float* panels) noexcept;

// How the operands of products of floats or of bfloat16 come to be: floats that are read or copied
// as they are, floats that are rounded to pairs, or bfloat16.
class AttentionPanels {
 public:
  AttentionPanels(const simd::RowKernels& kernels, GemmType type, bool reads_bfloat16)
      : kernels_(kernels),
        pairs_(type == GemmType::bfloat16),
        rounds_(pairs_ && !reads_bfloat16),
        reads_bfloat16_(reads_bfloat16) {}

  bool pairs() const { return pairs_; }
  // Words that k consecutive elements take.
  std::int64_t words(std::int64_t k) const { return pairs_ ? ceil_div(k, 2) : k; }
  // Words of so many keys that the product with V sums up: whole blocks of a matrix unit, with
  // zeros in the end.
  std::int64_t depth(const Geometry& geometry, std::int64_t keys) const {
    return round_up(words(keys), geometry.block_groups);
  }

  // Columns of `elements` as the buffer of Q, K and V has them: floats, or words of two bfloat16.
  std::int64_t columns(std::int64_t elements) const {
    return reads_bfloat16_ ? elements / 2 : elements;
  }

  // Rows as words; those that must be rounded go to `rounded`.
  MatrixView<const float> rows(const MatrixView<const float>& x, float* rounded) const noexcept {
    return rounds_ ? round_rows(x, rounded) : x;
  }

  void keys(const MatrixView<const float>& x, float* panels, float* rounded) const noexcept {
    if (!rounds_) return pack_keys(x, panels);
    for (std::int64_t first = 0; first < x.rows; first += kPanelColumns) {
      const std::int64_t count = std::min<std::int64_t>(x.rows - first, kPanelColumns);
      const float* from = x.data + first * x.row_stride;
      pack_keys(round_rows({from, count, x.cols, x.row_stride, 1}, rounded),
                panels + first * words(x.cols));
    }
  }

  void values(const MatrixView<const float>& x, std::int64_t depth, float* panels) const noexcept {
    if (reads_bfloat16_)
      pack_values_bfloat16(x, depth, kernels_, panels);
    else if (pairs_)
      pack_values_rounded(x, depth, kernels_, panels);
    else
      pack_values(x, panels);
  }

 private:
  // An odd row ends with a zero.
  MatrixView<const float> round_rows(const MatrixView<const float>& x,
                                     float* rounded) const noexcept {
    const std::int64_t cols = words(x.cols);
    for (std::int64_t i = 0; i < x.rows; ++i) {
      float* const row = rounded + i * cols;
      row[cols - 1] = 0.0f;
      kernels_.float_to_bfloat16(x.data + i * x.row_stride, static_cast<std::size_t>(x.cols),
                                 reinterpret_cast<std::uint16_t*>(row));
    }
    return {rounded, x.rows, cols, cols, 1};
  }

  const simd::RowKernels& kernels_;
  const bool pairs_, rounds_, reads_bfloat16_;
};

}  // namespace fbg
