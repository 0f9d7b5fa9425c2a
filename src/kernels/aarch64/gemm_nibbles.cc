// The K loop of 4-bit weights, in the order of the one of x64 (../x64/gemm_nibbles.cc). A group of
// k is summed in int32 registers, which are then scaled and added to float sums on the stack:
//
//   for each group
//     for each step of 8 or 16 k            a register for each row of A
//       for each block of 8 k and vector    two k-groups of 4
//         for each half of its bytes        B widened in registers
//           acc[row][v] += dot(A[row], B[v])
//     sum[row][v] = float(acc[row][v]) * scale[v] + sum[row][v];  acc = 0
//     sum[row][v] += sum of the group of A[row] * offset[v]           where groups have offsets
//
// Values stay in the high halves of bytes: sums are 16 times what they should be, which scvtf takes
// for bits behind the point.
#include <cstddef>

#include "kernels/aarch64/gemm_code.h"

namespace fbg::kernels {
namespace {

constexpr int kBlockDepth = PackedFormat::kNibbleDepth, kUnrolledBlocks = 4;  // the smallest group
constexpr int kBlockBytes = kPanelColumns * PackedFormat::kNibbleBytes;
constexpr int kScaleBytes = PackedFormat::kNibbleScaleBytes;
constexpr int kValueBits = 4;
constexpr int kLogPanelColumns = 5;
static_assert(1 << kLogPanelColumns == kPanelColumns && kScaleBytes == 2);

}  // namespace

void GemmCode::start_nibbles() {
  // Any registers, to make room: what they hold is overwritten.
  stp(acc(0, 0).d, acc(0, 0).d,
      aarch64::pre_ptr(aarch64::sp, -padded_rows() * vectors_ * kVectorBytes));
  for (int i = 0; i < padded_rows(); ++i)
    for (int v = 0; v < vectors_; ++v) {
      str(acc(i, v).q, float_sum(i, v));
      zero(acc(i, v));
    }
  movi(high_halves().b16, 0xf0);
  if (key_.group_offsets) ldr(group_sums_, at(args_, offsetof(TileArgs, int4.group_sums)));
  // A column has 4 bytes in a block, but only 2 bytes of scale: twice the columns of the panel that
  // are before the tile lie between.
  ldr(before_scales_, at(args_, offsetof(TileArgs, col)));
  lsl(before_scales_, before_scales_, 64 - kLogPanelColumns);
  lsr(before_scales_, before_scales_, 64 - kLogPanelColumns - 1);
}

void GemmCode::for_each_group() {
  const int rounds = a_group_bytes_ / kBlockDepth / kUnrolledBlocks;
  Label next, round, done;
  cbz(groups_, done);
  L(next);
  if (rounds > 1) {
    movz(blocks_left_, rounds);
    L(round);
  }
  for (int block = 0; block < kUnrolledBlocks; block += blocks_of_step()) nibbles_step(block);
  add(b_, b_, kUnrolledBlocks * kBlockBytes);
  for (int line = 0; line < kUnrolledBlocks; ++line) prfm(PLDL2KEEP, at(prefetch_, line * 64));
  add(prefetch_, prefetch_, kUnrolledBlocks * 64);
  if (rounds > 1) {
    subs(blocks_left_, blocks_left_, 1);
    b(NE, round);
  }
  add_group();
  add(b_, b_, kPanelColumns * kScaleBytes * (key_.group_offsets ? 2 : 1));
  subs(groups_, groups_, 1);
  b(NE, next);
  L(done);
}

void GemmCode::nibbles_step(int first_block) {
  const Vec packed = vec(first_b_ + (widens_bytes() || multiplies_matrices() ? 4 : 0));
  for (int i = 0; i < rows_; ++i) load_a(i, blocks_of_step() * kBlockDepth);
  if (multiplies_matrices()) interleave_rows();
  for (int block = 0; block < blocks_of_step(); ++block)
    for (int v = 0; v < vectors_; ++v) {
      ldr(packed.q, at(b_, (first_block + block) * kBlockBytes + v * kVectorBytes));
      if (multiplies_matrices()) {
        multiply_nibble_pairs(packed, v, block);
      } else {
        for (const int part : {0, 1}) multiply_nibbles(packed, v, block, part);
      }
    }
}

// By the low halves of bytes, which are k 0 to 3 of the block, or by the high ones, k 4 to 7.
void GemmCode::multiply_nibbles(const Vec& packed, int v, int block, int part) {
  if (part == 0)
    shl(widened().b16, packed.b16, kValueBits);
  else
    and_(widened().b16, packed.b16, high_halves().b16);
  if (sums_columns()) sdot(column_sum(v).s4, widened().b16, sign().b16);
  if (widens_bytes()) widen_b();
  for (int i = 0; i < rows_; ++i) dot_product(i, v, 2 * block + part);
}

// The halves of a column's bytes follow each other in k, so that 8 k of two columns are one
// operand.
void GemmCode::multiply_nibble_pairs(const Vec& packed, int v, int block) {
  const Vec low = vec(first_b_ + 1), high = vec(first_b_ + 2), columns01 = vec(first_b_ + 3);
  shl(low.b16, packed.b16, kValueBits);
  and_(high.b16, packed.b16, high_halves().b16);
  zip1(columns01.s4, low.s4, high.s4);
  zip2(high.s4, low.s4, high.s4);
  for (int pair = 0; pair < padded_rows() / 2; ++pair)
    multiply_pair(pair, v, left_pair(pair, block), columns01, high);
}

// The registers of B are free meanwhile.
void GemmCode::add_group() {
  if (sums_columns()) remove_shift();
  sub(scratch_, b_, before_scales_);
  for (int v = 0; v < vectors_; ++v) {
    load_scales(v);
    multiplies_matrices() ? add_row_pair_sums(v) : add_row_sums(v);
  }
  if (sums_columns())
    for (int v = 0; v < vectors_; ++v) zero(column_sum(v));
  if (!key_.group_offsets) return;
  ldr(scratch_, at(args_, offsetof(TileArgs, int4.ld_group_sums)));
  add(group_sums_, group_sums_, scratch_);
}

// The scales of a vector, and the offsets if there are any, in the first registers of B.
void GemmCode::load_scales(int v) {
  const Vec scale = vec(first_b_), offset = vec(first_b_ + 1);
  const int at_v = v * kLanes * kScaleBytes;
  ldr(scale.d, at(scratch_, at_v));
  fcvtl(scale.s4, scale.h4);
  if (!key_.group_offsets) return;
  ldr(offset.d, at(scratch_, kPanelColumns * kScaleBytes + at_v));
  fcvtl(offset.s4, offset.h4);
}

void GemmCode::add_row_sums(int v) {
  const Vec scale = vec(first_b_), offset = vec(first_b_ + 1), sum = vec(first_b_ + 2),
            row_sum = vec(first_b_ + 3);
  for (int i = 0; i < rows_; ++i) {
    add_float_sum(i, v, scale);
    if (key_.group_offsets) {
      ldr(row_sum.s, at(group_sums_, 4 * i));
      fmla(sum.s4, offset.s4, row_sum.s4[0]);
    }
    str(sum.q, float_sum(i, v));
  }
}

// The same of two rows by two columns.
void GemmCode::add_row_pair_sums(int v) {
  const Vec sum = vec(first_b_ + 2), row_sum = vec(first_b_ + 3), scale = vec(first_b_ + 4),
            offset = vec(first_b_ + 5);
  for (const int columns : {0, 1}) {
    for (int of_b = 0; of_b <= key_.group_offsets; ++of_b) {
      const Vec all = vec(first_b_ + of_b), two = of_b ? offset : scale;
      columns ? zip2(two.d2, all.d2, all.d2) : zip1(two.d2, all.d2, all.d2);
    }
    for (int i = columns; i < padded_rows(); i += 2) {
      add_float_sum(i, v, scale);
      if (key_.group_offsets) {
        const int row = i - columns;
        row + 1 < rows_ ? ldr(row_sum.d, at(group_sums_, 4 * row))
                        : ldr(row_sum.s, at(group_sums_, 4 * row));
        zip1(row_sum.s4, row_sum.s4, row_sum.s4);
        fmla(sum.s4, offset.s4, row_sum.s4);
      }
      str(sum.q, float_sum(i, v));
    }
  }
}

// The third register of B becomes the sum so far; the accumulator is 0 again.
void GemmCode::add_float_sum(int row, int v, const Vec& scale) {
  const Vec sum = vec(first_b_ + 2);
  scvtf(acc(row, v).s4, acc(row, v).s4, kValueBits);
  ldr(sum.q, float_sum(row, v));
  fmla(sum.s4, acc(row, v).s4, scale.s4);
  zero(acc(row, v));
}

void GemmCode::load_float_sums() {
  for (int i = 0; i < padded_rows(); ++i)
    for (int v = 0; v < vectors_; ++v) ldr(acc(i, v).q, float_sum(i, v));
  const Vec any = vec(first_b_), other = vec(first_b_ + 1);
  ldp(any.d, other.d, aarch64::post_ptr(aarch64::sp, padded_rows() * vectors_ * kVectorBytes));
}

// Complete sums become results: (sum - zA_i * offset_j) * sA_i.
void GemmCode::finish_nibbles() {
  const XReg &scales = b_, &zero_points = groups_, &offsets = scratch_;
  ldr(scales, at(args_, offsetof(TileArgs, a_scale)));
  ldr(zero_points, at(args_, offsetof(TileArgs, a_zero_point)));
  ldr(offsets, at(args_, offsetof(TileArgs, int4.weighted_offsets)));
  const Vec offset = vec(first_b_), row_zero_point = vec(first_b_ + 1),
            row_scale = vec(first_b_ + 2);
  for (int i = 0; i < rows_; ++i) {
    ldr(row_zero_point.s, at(zero_points, 4 * i));
    scvtf(row_zero_point.s4, row_zero_point.s4);
    ldr(row_scale.s, at(scales, 4 * i));
    for (int v = 0; v < vectors_; ++v) {
      ldr(offset.q, at(offsets, v * kVectorBytes));
      fmls(acc(i, v).s4, offset.s4, row_zero_point.s4[0]);
      fmul(acc(i, v).s4, acc(i, v).s4, row_scale.s4[0]);
    }
  }
}

}  // namespace fbg::kernels
