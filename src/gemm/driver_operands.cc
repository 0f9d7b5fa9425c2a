// Code around the loops of GemmDriver: A as kernels read it, whole and between two cuts of K;
// the products of outliers of B; and the correction of sums of a shifted A.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fbg/core/phase.h"
#include "gemm/driver.h"
#include "gemm/interleave.h"

namespace fbg {

// Whether kernels should read a matrix in place as far as its alignment is concerned. A matrix unit
// loads 64 bytes of a row at a time, and takes twice as long if they are in two cache lines.
bool GemmDriver::is_aligned(const std::byte* data, std::int64_t ld) const noexcept {
  const std::int64_t line = geometry_.block_groups * a_group_bytes_;
  return geometry_.block_groups == 1 ||
         (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data)) | ld) % line == 0;
}

// Provides a block of rows of A as kernels read them: in place where possible, otherwise packed
// into the workspace.
auto GemmDriver::pack(const RowSource& a, Range rows, const Run& run) const noexcept -> AOperand {
  const PhaseTimer timer(Phase::pack);
  const Workspace& w = run.w;
  ABlock block = w.block;
  a.prepare(a.packer, rows, block);
  const bool in_place = a.in_place && is_aligned(a.in_place, a.in_place_ld);
  if (!in_place) a.pack(a.packer, rows, block);
  const std::byte* const data = in_place ? a.in_place + rows.begin * a.in_place_ld
                                         : static_cast<const std::byte*>(block.packed);
  const std::int64_t ld = in_place ? a.in_place_ld : block.ld;
  // Kernels multiply zero points of B by K * zA_i - (sum of row i of A), which takes the place of
  // the row offset.
  if (block.row_offsets)
    for (std::int64_t i = 0; i < rows.size(); ++i)
      block.row_offsets[i] = static_cast<std::int32_t>(
          static_cast<std::uint32_t>(k_) * static_cast<std::uint32_t>(block.zero_point[i]) -
          static_cast<std::uint32_t>(block.row_offsets[i]));

  if (group_sums_)
    sum_groups(reinterpret_cast<const std::uint8_t*>(data), ld, rows.size(), k_, format_.kr,
               w.group_sums, mc_, features_);

  AOperand operand;
  if (geometry_.format.wide_a) {
    if (format_.a_bytes == 1)
      widen_rows(reinterpret_cast<const std::uint8_t*>(data), ld, rows.size(), k_, w.wide, 2 * ld_,
                 features_);
    else
      widen_rows(reinterpret_cast<const bfloat16*>(data), ld / 2, rows.size(), k_, w.wide, 2 * ld_,
                 features_);
    operand.add({w.wide, 2 * ld_, nullptr, panel_bytes_, groups_});
    return operand;
  }
  if (interleaves_ && rows.size() > geometry_.max_rows) {
    interleave_rows(data, ld, rows.size(), k_ * format_.a_bytes, groups_, w.interleaved_a, ld_);
    operand.interleaved = true;
    operand.add({w.interleaved_a, 2 * ld_, nullptr, panel_bytes_, groups_});
    return operand;
  }
  const std::int64_t whole = whole_groups_, rest = k_ - whole * format_.kr;
  if (!in_place) {
    // A matrix unit takes whole blocks of each pair, and must find the same ones wherever A is.
    const bool apart = geometry_.block_groups > 1 && rest;
    operand.add({data, ld, nullptr, panel_bytes_, apart ? whole : groups_});
    if (apart) operand.add({data + whole * a_group_bytes_, ld, nullptr, panel_bytes_, 1});
    return operand;
  }

  operand.add({data, ld, nullptr, panel_bytes_, whole});
  if (!rest) return operand;
  // Kernels would read the last group past the end of the row: it is copied and padded with zeros.
  std::memset(w.tail, 0, static_cast<std::size_t>(rows.size() * a_group_bytes_));
  for (std::int64_t r = 0; r < rows.size(); ++r)
    std::memcpy(w.tail + r * a_group_bytes_, data + r * ld + whole * a_group_bytes_,
                static_cast<std::size_t>(rest * format_.a_bytes));
  operand.add({w.tail, a_group_bytes_, nullptr, panel_bytes_, 1});
  return operand;
}

// Returns the part of A and B that belongs to a range of k-groups.
auto GemmDriver::cut(const AOperand& a, Range groups, Sums sums) const noexcept -> DepthBlock {
  if (sums == Sums::whole) return {groups, a, sums, false};
  DepthBlock block{groups, {}, sums, false};
  block.a.interleaved = a.interleaved;
  const std::int64_t group_bytes = a_group_bytes_ * (a.interleaved ? 2 : 1);
  std::int64_t begin = 0;  // start of the pair
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

// Subtracts the effect of the shift s of A from raw sums: sum a b = sum (a + s) b - s sum b,
// modulo 2^32.
void GemmDriver::unshift(Range rows, Range cols, const PackedMatrix& b,
                         OutputView c) const noexcept {
  const auto shift = static_cast<std::uint32_t>(a_shift_);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    auto* row = reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(c.data) + i * c.ld);
    for (std::int64_t j = cols.begin; j < cols.end; ++j)
      row[j] -= shift * static_cast<std::uint32_t>(b.col_offsets()[j]);
  }
}

void multiply_outliers(const Outliers& outliers, Range cols, std::span<const BlockPair> pairs,
                       std::int64_t rows, std::int64_t ld, Value* sums) noexcept {
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
