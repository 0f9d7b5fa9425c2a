// The K loop of a microkernel: over block pairs, over steps of k-groups, over the rows of the tile.
#include "kernels/aarch64/gemm_code.h"

namespace fbg::kernels {

void GemmCode::for_each_pair() {
  Label next, done;
  ldr(pair_, at(args_, offsetof(TileArgs, pairs)));
  ldr(pairs_left_, at(args_, offsetof(TileArgs, num_pairs)));
  ldr(prefetch_, at(args_, offsetof(TileArgs, prefetch)));
  L(next);
  cbz(pairs_left_, done);
  load_row_pointers();
  ldr(b_, at(pair_, offsetof(BlockPair, b)));
  ldr(groups_, at(pair_, offsetof(BlockPair, groups)));
  nibbles() ? for_each_group() : for_each_step();
  add(pair_, pair_, sizeof(BlockPair));
  sub(pairs_left_, pairs_left_, 1);
  b(next);
  L(done);
}

void GemmCode::for_each_step() {
  Label steps, rest, last, done;
  subs(groups_, groups_, groups_of_step_);
  b(LT, last);
  L(steps);
  step(groups_of_step_);
  subs(groups_, groups_, groups_of_step_);
  b(GE, steps);
  L(last);  // groups_ is what is left, less a whole step
  adds(groups_, groups_, groups_of_step_);
  b(EQ, done);
  L(rest);
  const int least = interleaved() ? 2 : 1;  // the last of an odd number stands with zeros
  step(least);
  subs(groups_, groups_, least);
  b(GT, rest);
  L(done);
}

// The start of each row, which lies at an equal distance from the row before or behind a pointer.
void GemmCode::load_row_pointers() {
  const XReg &ld = scratch_, &array = scratch2_;
  ldr(ld, at(pair_, offsetof(BlockPair, lda)));
  ldr(key_.a == ARows::pointers ? array : row_pointer(0), at(pair_, offsetof(BlockPair, a)));
  for (int i = 0; i < num_row_pointers(); ++i) {
    if (key_.a == ARows::pointers) {
      ldr(row_pointer(i), at(array, 8 * i));
      add(row_pointer(i), row_pointer(i), ld);
    } else if (i > 0) {
      add(row_pointer(i), row_pointer(i - 1), ld);
    }
  }
}

void GemmCode::step(int groups) {
  if (groups > 1) {  // a line of the next panel for every second k-group
    for (int line = 0; line < groups / 2; ++line) prfm(PLDL2KEEP, at(prefetch_, line * 64));
    add(prefetch_, prefetch_, groups / 2 * 64);
  }
  if (interleaved()) return paired_step((groups + 1) / 2);
  for (int i = 0; i < rows_; ++i) load_a(i, groups * a_group_bytes_);
  if (multiplies_matrices()) {
    interleave_rows();
    for (int half = 0; half < (groups + 1) / 2; ++half) matrix_step(half, groups == 1);
  } else {
    for (int g = 0; g < groups; ++g) k_group(g);
  }
  add(b_, b_, groups * b_group_bytes_);
}

void GemmCode::k_group(int group) {
  for (int v = 0; v < vectors_; ++v) {
    if (widens_bytes()) {  // one vector at a time has the registers
      ldr(vec(first_b_ + 1).q, at(b_, group_offset(group, v)));
      widen_b();
      for (int i = 0; i < rows_; ++i) dot_product(i, v, group);
    } else {
      load_b(v, group);
      if (sums_columns()) sdot(column_sum(v).s4, right(v).b16, sign().b16);
    }
  }
  if (widens_bytes()) return;
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) dot_product(i, v, group);
}

// Two k-groups of B, of which the second may be missing, by the same half of all pairs of rows.
void GemmCode::matrix_step(int half, bool single_group) {
  const Vec low = vec(first_b_ + 1), high = vec(first_b_ + 2), first = vec(first_b_ + 3);
  for (int v = 0; v < vectors_; ++v) {
    ldr(first.q, at(b_, group_offset(2 * half, v)));
    if (single_group)
      zero(high);
    else
      ldr(high.q, at(b_, group_offset(2 * half + 1, v)));
    zip1(low.s4, first.s4, high.s4);  // columns 0 and 1, 8 bytes of each
    zip2(high.s4, first.s4, high.s4);
    for (int pair = 0; pair < padded_rows() / 2; ++pair)
      multiply_pair(pair, v, left_pair(pair, half), low, high);
  }
}

// Pairs of k-groups of operands that are interleaved.
void GemmCode::paired_step(int halves) {
  for (int half = 0; half < halves; ++half) {
    for (int pair = 0; pair < num_row_pointers(); ++pair)
      ldr(left(pair).q, post_ptr(row_pointer(pair), kVectorBytes));
    for (int v = 0; v < vectors_; ++v) {
      const Vec low = vec(first_b_ + v % 2 * 2), high = vec(first_b_ + v % 2 * 2 + 1);
      const int offset = (half * vectors_ + v) * 2 * kVectorBytes;
      ldr(low.q, at(b_, offset));
      ldr(high.q, at(b_, offset + kVectorBytes));
      for (int pair = 0; pair < num_row_pointers(); ++pair)
        multiply_pair(pair, v, left(pair), low, high);
    }
  }
  add(b_, b_, halves * vectors_ * 2 * kVectorBytes);
}

// Two rows of a k-group pair by the columns 0 and 1, and by 2 and 3, of a vector.
void GemmCode::multiply_pair(int row_pair, int v, const Vec& a, const Vec& low, const Vec& high) {
  for (const int columns : {0, 1}) {
    const Vec sum = acc(2 * row_pair + columns, v);
    const Vec& b = columns ? high : low;
    dot_ == Dot::bfdot ? bfmmla(sum.s4, a.h8, b.h8) : usmmla(sum.s4, a.b16, b.b16);
  }
}

// Between rows of four columns and two rows by two columns, in either direction.
void GemmCode::exchange_pairs() {
  const Vec spare = vec(first_b_);
  for (int i = 0; i < padded_rows(); i += 2)
    for (int v = 0; v < vectors_; ++v) {
      const Vec even = acc(i, v), odd = acc(i + 1, v);
      copy(spare, even);
      zip1(even.d2, spare.d2, odd.d2);
      zip2(odd.d2, spare.d2, odd.d2);
    }
}

// As add_column_sums(), with sums that have the factor -128.
void GemmCode::remove_shift() {
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) sub(acc(i, v).s4, acc(i, v).s4, column_sum(v).s4);
}

}  // namespace fbg::kernels
