// Interleaves the operands of instructions that multiply two rows by two columns (usmmla, bfmmla;
// ARows::interleaved): 16 bytes of an operand are 8 bytes, two k-groups, of each of two rows or
// columns.
//
//   A   [pair of rows][two k-groups][row][8 bytes]
//   B   [two k-groups][pair of columns][column][8 bytes]
//
// Kernels can interleave rows of A and panels of B while they read them, but it takes every
// third instruction. So a product of several row tiles interleaves A once for all columns, and B
// once for all rows of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/types.h"

namespace fbg {

// A pair of k-groups has 8 bytes in a row of A and in a column of B, for every GEMM type that has
// such kernels.
inline constexpr std::int64_t kGroupPairBytes = 8;

// The bytes that a row of A, or a column of B, with `groups` k-groups takes when interleaved.
inline constexpr std::int64_t interleaved_bytes(std::int64_t groups) {
  return ceil_div(groups, 2) * kGroupPairBytes;
}

// `out` has round_up(rows, 2) rows of `ld` bytes, so that pairs of rows are 2 * ld apart. Behind
// the `bytes` of a row and in the place of a missing row are zeros, up to
// interleaved_bytes(groups).
void interleave_rows(const std::byte* a, std::int64_t lda, std::int64_t rows, std::int64_t bytes,
                     std::int64_t groups, std::byte* out, std::int64_t ld) noexcept;

// `panel` is the first of `columns` columns inside a panel, whose k-groups are `group_bytes` apart;
// a missing last k-group becomes zeros. `out` has columns * interleaved_bytes(groups) bytes.
void interleave_columns(const std::byte* panel, std::int64_t group_bytes, std::int64_t columns,
                        std::int64_t groups, std::byte* out) noexcept;

}  // namespace fbg
