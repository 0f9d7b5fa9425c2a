// What surrounds the loops of Gemm: A as kernels read it, whole and between two cuts of K; the
// products of outliers of B; and the correction of sums of a shifted A.
#pragma once

#include <algorithm>
#include <cstring>

#include "fbg/core/phase.h"
#include "fbg/gemm/gemm.h"
#include "fbg/gemm/pairs.h"

namespace fbg {

// Whether kernels should read a matrix in place as far as its alignment is concerned. A matrix unit
// loads 64 bytes of a row at a time, and takes twice as long where they lie in two cache lines.
template <PackAModel A, class Acc, class P>
bool Gemm<A, Acc, P>::is_aligned(const typename Acc::A* data, std::int64_t ld) const noexcept {
  const std::int64_t line = geometry_.block_groups * a_group_bytes_;
  const std::int64_t ld_bytes = ld * static_cast<std::int64_t>(sizeof(typename Acc::A));
  return geometry_.block_groups == 1 ||
         (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)) | ld_bytes) % line == 0;
}

// Provides a block of rows of A as kernels read them: in place where possible, otherwise packed
// into the workspace.
template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::pack(const A& a, Range rows, const Workspace& w,
                           const PackedB<Acc>& b) const noexcept -> AOperand {
  const PhaseTimer timer(Phase::pack);
  using T = typename Acc::A;
  ABlock block = w.block;
  a.prepare(rows, block);
  const std::int64_t ld = a.in_place_ld();
  const T* const data = is_aligned(a.in_place(), ld) ? a.in_place() : nullptr;
  if (!data) a.pack(rows, block);
  // Kernels multiply zero points of B by K * zA_i - (sum of row i of A), which takes the place of
  // the row offset.
  if (block.row_offsets)
    for (std::int64_t i = 0; i < rows.size(); ++i)
      block.row_offsets[i] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(k_) * static_cast<std::uint32_t>(block.zero_point[i]) -
          static_cast<std::uint32_t>(block.row_offsets[i]));

  if constexpr (is_int4(Acc::kind))
    if (group_sums_)
      sum_groups(data ? data + rows.begin * ld : static_cast<const T*>(block.packed),
                 data ? ld : block.ld, rows.size(), k_, Acc::format.kr, w.group_sums, mc_,
                 features_);

  AOperand operand;
  if (geometry_.format.wide_a) {
    if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, bfloat16>)
      widen_rows(data ? data + rows.begin * ld : static_cast<const T*>(block.packed),
                 data ? ld : block.ld / static_cast<std::int64_t>(sizeof(T)), rows.size(), k_,
                 w.wide, 2 * ld_, features_);
    operand.add({w.wide, 2 * ld_, nullptr, b.panel_bytes(), b.groups()});
    return operand;
  }
  if (pairs_ && rows.size() > geometry_.max_rows) {
    constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
    const void* const from = data ? data + rows.begin * ld : block.packed;
    pair_rows(static_cast<const std::byte*>(from), data ? ld * kSize : block.ld, rows.size(),
              k_ * kSize, b.groups(), w.a_pairs, ld_);
    operand.in_pairs = true;
    operand.add({w.a_pairs, 2 * ld_, nullptr, b.panel_bytes(), b.groups()});
    return operand;
  }
  const std::int64_t whole = k_ / Acc::format.kr, rest = k_ % Acc::format.kr;
  if (!data) {
    const auto* const packed = static_cast<const std::byte*>(block.packed);
    // A matrix unit takes whole blocks of each pair, and must find the same ones wherever A lies.
    const bool apart = geometry_.block_groups > 1 && rest;
    operand.add({packed, block.ld, nullptr, b.panel_bytes(), apart ? whole : b.groups()});
    if (apart)
      operand.add({packed + whole * a_group_bytes_, block.ld, nullptr, b.panel_bytes(), 1});
    return operand;
  }

  operand.add({data + rows.begin * ld, ld * static_cast<std::int64_t>(sizeof(T)), nullptr,
               b.panel_bytes(), whole});
  if (!rest) return operand;
  // The last group would read past the row: copied, padded with zeros.
  T* const tail = reinterpret_cast<T*>(w.tail);
  std::fill_n(tail, rows.size() * Acc::format.kr, T{});
  for (std::int64_t r = 0; r < rows.size(); ++r)
    std::copy_n(data + (rows.begin + r) * ld + whole * Acc::format.kr, rest,
                tail + r * Acc::format.kr);
  operand.add({tail, a_group_bytes_, nullptr, b.panel_bytes(), 1});
  return operand;
}

// Returns the part of A and B that belongs to a range of k-groups.
template <PackAModel A, class Acc, class P>
auto Gemm<A, Acc, P>::cut(const AOperand& a, Range groups, bool first, bool last) const noexcept
    -> DepthBlock {
  DepthBlock block{groups, {}, first, last, false};
  block.a.in_pairs = a.in_pairs;
  const std::int64_t group_bytes = a_group_bytes_ * (a.in_pairs ? 2 : 1);
  std::int64_t begin = 0;  // of the pair
  for (const BlockPair& pair : a.blocks()) {
    const std::int64_t from = std::max(groups.begin, begin);
    const std::int64_t to = std::min(groups.end, begin + pair.groups);
    if (from < to) {
      BlockPair part = pair;
      part.a = static_cast<const std::byte*>(pair.a) + (from - begin) * group_bytes;
      part.groups = to - from;
      block.a.add(part);
    }
    begin += pair.groups;
  }
  return block;
}

// Subtracts from raw sums what the shift s of A has added: sum a b = sum (a + s) b - s sum b,
// modulo 2^32.
template <PackAModel A, class Acc, class P>
void Gemm<A, Acc, P>::unshift(Range rows, Range cols, const PackedB<Acc>& b,
                              OutputView c) const noexcept {
  constexpr auto shift = static_cast<std::uint32_t>(a_shift<A>());
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + i * c.ld);
    for (std::int64_t j = cols.begin; j < cols.end; ++j)
      row[j] -= shift * static_cast<std::uint32_t>(b.col_offsets()[j]);
  }
}

// Sets `sums` (rows x ld) to the products of the outliers in the columns `cols` of B with a tile of
// A, whose k lie in the block pairs one after the other.
inline void multiply_outliers(const Outliers& outliers, Range cols,
                              std::span<const BlockPair> pairs, std::int64_t rows, std::int64_t ld,
                              Value* sums) noexcept {
  std::memset(sums, 0, static_cast<std::size_t>(rows * ld) * sizeof(Value));
  std::int64_t j = cols.begin;
  for (std::int64_t p = outliers.indptr[j]; p < outliers.indptr[cols.end]; ++p) {
    while (p >= outliers.indptr[j + 1]) ++j;
    std::int64_t k = outliers.rows[p];  // then counted from the beginning of its pair
    const BlockPair* pair = pairs.data();
    for (; k >= pair->groups * Int16::format.kr; ++pair) k -= pair->groups * Int16::format.kr;
    const auto* a = static_cast<const std::uint8_t*>(pair->a) + k;
    const std::int32_t value = outliers.values[p];
    Value* sum = sums + (j - cols.begin);
    for (std::int64_t i = 0; i < rows; ++i, sum += ld, a += pair->lda) sum->i += value * *a;
  }
}

}  // namespace fbg
