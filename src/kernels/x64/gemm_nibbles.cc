// The K loop of 4-bit weights. A group of k is summed in int32 registers, which are then scaled and
// added to float sums. These are on the stack, so that tiles are as large as those of int8 weights:
//
//   for each group
//     for each block of 8 k                 a vector of B holds two k-groups of 4, or four pairs
//       for each part of a byte or word     B widened in registers
//         acc[row][v] += dot(A[row], B[v])
//     sum[row][v] = float(acc[row][v]) * scale[v] + sum[row][v];  acc = 0
//     sum[row][v] += sum of the group of A[row] * offset[v]           where groups have offsets
//
// Values stay in the high bits of the elements that they are widened to, which takes fewer
// instructions: sums are 16 times what they should be, or 4096 times. They still are exact, in
// int32 and as floats, and so are scales that are divided by as much.
#include <cstddef>

#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {
namespace {

constexpr int kBlockDepth = PackedFormat::kNibbleDepth;
constexpr int kUnrolledBlocks = 4;  // in the smallest group
constexpr std::uint32_t kHighHalves = 0xf0f0f0f0u, kHighQuarters = 0xf000f000u;
constexpr float kByteUnit = 1.0f / 16, kWordUnit = 1.0f / 4096;

}  // namespace

void GemmCode::start_nibbles() {
  if (key_.group_offsets) {
    mov(scratch_, arg(offsetof(TileArgs, int4.group_sums)));
    mov(group_sums(), scratch_);
  }
  // A column has 4 bytes in a block, but only 2 bytes of scale.
  mov(to_scale_, arg(offsetof(TileArgs, col)));
  and_(to_scale_, panel_columns_ - 1);
  add(to_scale_, to_scale_);
  neg(to_scale_);
}

void GemmCode::nibbles_k_loop() {
  if (dot_ == Dot::nibbles) load_constant(high_halves(), kHighHalves);
  const int depth = a_group_bytes_ / (dot_ == Dot::nibbles ? 1 : 2);
  const int rounds = depth / kBlockDepth / kUnrolledBlocks;
  const int block_bytes = panel_columns_ * b_column_bytes_;
  Xbyak::Label next, done;
  test(groups_, groups_);
  jz(done, T_NEAR);
  L(next);
  Xbyak::Label round;
  if (rounds > 1) {
    mov(blocks_left_.cvt32(), rounds);
    L(round);
  }
  for (int block = 0; block < kUnrolledBlocks; ++block) nibbles_block(block);
  add(a_[0], a_group_bytes_ / rounds);
  if (rows_ > kBaseRows) add(a_[1], a_group_bytes_ / rounds);
  add(b_, kUnrolledBlocks * block_bytes);
  add(prefetch_, kUnrolledBlocks * 64);
  if (rounds > 1) {
    dec(blocks_left_.cvt32());
    jnz(round, T_NEAR);
  }
  add_group();
  add(b_, scale_bytes() * (key_.group_offsets ? 2 : 1));
  dec(groups_);
  jnz(next, T_NEAR);
  L(done);
}

void GemmCode::nibbles_block(int block) {
  const int offset = block * panel_columns_ * b_column_bytes_;
  if (block == 0 && reads_at_speed_of_memory())
    prefetcht1(b_address(0, offset + policy::prefetch::kPage));
  for (int v = 0; v < vectors_; ++v)
    if (v * lanes() * b_column_bytes_ % 64 == 0)
      fetch_nibbles(b_address(v, offset + policy::prefetch::kNearNibbles),
                    b_address(v, offset + policy::prefetch::kFarNibbles));
  if (fetches_next_panel()) prefetcht1(ptr[prefetch_ + block * 64]);
  const int parts = dot_ == Dot::nibbles ? 2 : 4;
  for (int part = 0; part < parts; ++part) {
    for (int v = 0; v < vectors_; ++v) load_nibbles(b(v), b_address(v, offset), part);
    multiply_rows((block * parts + part) * 4, part % accumulators_);
  }
}

// Weights from DRAM are fetched in two steps. Lines on their way to the L1 take one of its few fill
// buffers, and would take it for long if they came from further away than the L2. Where that costs
// more than it gains, the CPU does it (fetch_b).
void GemmCode::fetch_nibbles(const Address& to_l1, const Address& to_l2) {
  if (spans_panels() || reads_at_speed_of_memory()) return;
  prefetcht0(to_l1);
  prefetcht1(to_l2);
}

// Widens weights to bytes: k 0 to 3 of the block, then 4 to 7. Or to words: the even k of 0 to 3,
// the odd ones, then the same of 4 to 7, as A has them (PackedFormat::wide_a).
void GemmCode::load_nibbles(const Vec& to, const Address& from, int part) {
  constexpr int kByteShift[] = {4, 0}, kWordShift[] = {12, 4, 8, 0};
  if (dot_ == Dot::wide_nibbles) {
    const int shift = kWordShift[part];
    vmovups(to, from);
    if (shift) vpsllw(to, to, shift);
    if (shift != 12) bit_and(to, to, constant(kHighQuarters));
    return;
  }
  const int shift = kByteShift[part];
  if (!shift) return bit_and(to, high_halves(), from);
  if (is_zmm()) {
    vpslld(to, from, shift);
  } else {
    vmovups(to, from);
    vpslld(to, to, shift);
  }
  bit_and(to, to, high_halves());
}

// The scales of a group follow its values: two bytes for each column. `offset` bytes further on.
Xbyak::Address GemmCode::scale_address(int v, int offset) {
  const int column = v * lanes();
  const int disp =
      column % panel_columns_ * static_cast<int>(PackedFormat::kNibbleScaleBytes) + offset;
  const int panel = column / panel_columns_;
  return panel_address(panel, panel == 0 ? to_scale_ + disp : Xbyak::RegExp(disp));
}

void GemmCode::add_group() {
  add_accumulators();
  fetch_nibbles(ptr[b_ + policy::prefetch::kNearNibbles], ptr[b_ + policy::prefetch::kFarNibbles]);
  const float unit = dot_ == Dot::nibbles ? kByteUnit : kWordUnit;
  // The other accumulators have been added, so that all registers behind those of C are free but
  // the last one.
  const Vec scale = vec(rows_ * vectors_), offset = vec(rows_ * vectors_ + 1),
            sum = vec(rows_ * vectors_ + 2);
  const Reg64& sums = blocks_left_;
  if (key_.group_offsets) mov(sums, group_sums());
  for (int v = 0; v < vectors_; ++v) {
    vcvtph2ps(scale, scale_address(v));
    vmulps(scale, scale, constant(unit));
    if (key_.group_offsets) vcvtph2ps(offset, scale_address(v, scale_bytes()));
    for (int i = 0; i < rows_; ++i) {
      vcvtdq2ps(acc(i, v), acc(i, v));
      vfmadd213ps(acc(i, v), scale, float_sum(i, v));
      if (key_.group_offsets && is_zmm()) {
        vfmadd231ps(acc(i, v), offset, ptr_b[sums + i * 4]);
      } else if (key_.group_offsets) {
        vbroadcastss(sum, ptr[sums + i * 4]);
        vfmadd231ps(acc(i, v), offset, sum);
      }
      vmovups(float_sum(i, v), acc(i, v));
      zero(acc(i, v));
    }
  }
  for (int accumulator = 1; accumulator < accumulators_; ++accumulator)
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) zero(acc(i, v, accumulator));
  if (!key_.group_offsets) return;
  add(sums, arg(offsetof(TileArgs, int4.ld_group_sums)));
  mov(group_sums(), sums);
}

// Complete sums become results: (sum - zA_i * offset_j) * sA_i.
void GemmCode::finish_nibbles() {
  const Reg64 &scale = rbx, &zero_point = rcx, &offsets = rdx;
  mov(scale, arg(offsetof(TileArgs, a_scale)));
  mov(zero_point, arg(offsetof(TileArgs, a_zero_point)));
  mov(offsets, arg(offsetof(TileArgs, int4.weighted_offsets)));
  const Vec row_zero_point = vec(rows_ * vectors_), row_scale = vec(rows_ * vectors_ + 1);
  for (int i = 0; i < rows_; ++i) {
    vpbroadcastd(row_zero_point, ptr[zero_point + i * 4]);
    vcvtdq2ps(row_zero_point, row_zero_point);
    vbroadcastss(row_scale, ptr[scale + i * 4]);
    for (int v = 0; v < vectors_; ++v) {
      vfnmadd231ps(acc(i, v), row_zero_point, ptr[offsets + v * vector_bytes()]);
      vmulps(acc(i, v), acc(i, v), row_scale);
    }
  }
}

}  // namespace fbg::kernels
