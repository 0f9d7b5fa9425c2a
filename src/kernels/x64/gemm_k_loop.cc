// The K loop of a microkernel: over block pairs, over k-groups, over the rows of the tile.
#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

void GemmCode::for_each_pair() {
  Xbyak::Label next, done;
  mov(pair_, arg(offsetof(TileArgs, pairs)));
  mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
  mov(prefetch_, arg(offsetof(TileArgs, prefetch)));
  L(next);
  test(pairs_left_, pairs_left_);
  jz(done, T_NEAR);
  const auto field = [&](std::size_t offset) { return ptr[pair_ + static_cast<int>(offset)]; };
  mov(a_[0], field(offsetof(BlockPair, a)));
  mov(lda_, field(offsetof(BlockPair, lda)));
  mov(b_, field(offsetof(BlockPair, b)));
  if (spans_panels()) mov(panel_, field(offsetof(BlockPair, b_panel_stride)));
  mov(groups_, field(offsetof(BlockPair, groups)));
  lea(lda3_, ptr[lda_ + lda_ * 2]);
  lea(lda5_, ptr[lda_ + lda_ * 4]);
  if (rows_ > kBaseRows) {
    lea(a_[1], ptr[a_[0] + lda5_]);
    lea(a_[1], ptr[a_[1] + lda_ * 2]);
  }
  if (spans_panels()) lea(panel3_, ptr[panel_ + panel_ * 2]);
  if (dot_ == Dot::maddubs)
    spilling_k_loop();
  else if (nibbles())
    nibbles_k_loop();
  else if (halves())
    halves_k_loop();
  else
    k_loop();
  add(pair_, static_cast<int>(sizeof(BlockPair)));
  dec(pairs_left_);
  jmp(next, T_NEAR);
  L(done);
}

void GemmCode::k_loop() {
  Xbyak::Label next, check, last, rest, done;
  const auto unrolled = [&] {
    unrolled_k_groups();
    advance(kUnroll);
    sub(groups_, kUnroll);
  };
  // The loop ends when fewer k-groups are left: at first, those in which rows are fetched.
  const Address limit = qword[rsp - 8];
  const auto compare = [&] {
    if (fetches_in_k_loop())
      cmp(groups_, limit);
    else
      cmp(groups_, kUnroll);
  };
  if (fetches_in_k_loop()) {
    Xbyak::Label shallow;
    mov(limit, kUnroll);
    jump_if_shallow(groups_, shallow);
    mov(limit, deep_groups());
    L(shallow);
  }
  jmp(check, T_NEAR);
  L(next);
  unrolled();
  L(check);
  compare();
  jge(next, T_NEAR);
  if (fetches_in_k_loop()) {
    // The rows of the tile, one after the other: many at once would keep the loads of operands
    // waiting. They are early enough, and not so early that they leave the L1 before the end.
    Xbyak::Label fetching;
    cmp(limit, kUnroll);
    je(last, T_NEAR);
    mov(limit, kUnroll);
    fetches_rows_ = true;
    L(fetching);
    unrolled();
    cmp(groups_, deep_groups() - kUnroll * rows_);
    jge(fetching, T_NEAR);
    fetches_rows_ = false;
    jmp(check, T_NEAR);
    L(last);
  }
  test(groups_, groups_);
  jz(done, T_NEAR);
  L(rest);
  k_group(0);
  advance(1);
  dec(groups_);
  jnz(rest, T_NEAR);
  L(done);
}

// Where the K loop has no time to fetch rows for the epilogue, which the prologue does then.
void GemmCode::jump_if_shallow(const Xbyak::Operand& groups, const Xbyak::Label& target) {
  cmp(qword[args_ + static_cast<int>(offsetof(TileArgs, num_pairs))], 1);
  jne(target, T_NEAR);
  cmp(groups, deep_groups());
  jl(target, T_NEAR);
}

// Runs pieces of at most spill_groups k-groups, and before each but the first adds the sums of the
// pieces so far to memory.
void GemmCode::spilling_k_loop() {
  Xbyak::Label piece, fits, first, done;
  mov(sums_, arg(offsetof(TileArgs, partial)));
  mov(groups_left_, groups_);
  L(piece);
  test(groups_left_, groups_left_);
  jz(done, T_NEAR);
  // The very first piece finds nothing to spill: the whole of the first pair is still to come.
  cmp(pair_, arg(offsetof(TileArgs, pairs)));
  jne(fits, T_NEAR);
  cmp(groups_left_, ptr[pair_ + static_cast<int>(offsetof(BlockPair, groups))]);
  je(first, T_NEAR);
  L(fits);
  spill();
  L(first);
  mov(groups_, groups_left_);
  cmp(groups_, arg(offsetof(TileArgs, spill_groups)));
  cmovg(groups_, arg(offsetof(TileArgs, spill_groups)));
  sub(groups_left_, groups_);
  k_loop();
  jmp(piece, T_NEAR);
  L(done);
}

void GemmCode::unrolled_k_groups() {
  for (int u = 0; u < kUnroll; u += pairs_groups() ? 2 : 1) {
    if (!pairs_groups()) {
      k_group(u);
      continue;
    }
    fetch(u);
    fetch(u + 1);
    multiply_groups(u, 2);
  }
}

void GemmCode::fetch(int u) {
  if (key_.caching != Caching::b_resident) fetch_b(u);
  if (u % 2 == 0 && fetches_next_panel()) prefetcht1(ptr[prefetch_ + u / 2 * 64]);
  if (fetches_rows_ && u == 0 && !streams()) {
    fetch_row(c_, value_size(key_.output()), /*writes=*/true);
    add(c_, ldc_);
  }
  if (fetches_rows_ && u == 2 && added_stages() > 0) {
    fetch_row(operand_, value_size(key_.stages[first_added_stage()].operand), /*writes=*/false);
    add(operand_, operand_ld_);
  }
}

void GemmCode::k_group(int u) {
  fetch(u);
  if (pairs_groups()) return multiply_groups(u, 1);
  if (in_halves()) {  // so that half of the registers of B do
    for (const int odd : {0, 1}) {
      for (int v = 0; v < vectors_; ++v) load_half(b(v), b_address(v, u * b_group_bytes_), odd);
      multiply_rows(u * a_group_bytes_ + odd * a_group_bytes_ / 2);
    }
    return;
  }
  for (int v = 0; v < vectors_; v += product_vectors()) load_b(v, u * b_group_bytes_);
  multiply_rows(u * a_group_bytes_, u % accumulators_);
}

void GemmCode::multiply_rows(int a_offset, int accumulator) {
  for (int i = 0; i < rows_; ++i) {
    broadcast_a(i, a_offset);
    const int fused = fuses() ? vectors_ : 0;
    for (int v = 0; v < fused; v += product_vectors()) dot_product(sum(i, v, accumulator), i, v);
    // Units that multiply are kept busier if two products come before their additions, the last one
    // in the register of A. (By 7 % on Zen 3.)
    for (int v = fused; v < vectors_; ++v) {
      multiply(product(), i, v);
      const bool two = v == vectors_ - 2;
      if (two) multiply(a(i), i, v + 1);
      add_product(acc(i, v, accumulator), product());
      if (two) add_product(acc(i, ++v, accumulator), a(i));
    }
  }
}

void GemmCode::advance(int groups) {
  add(a_[0], groups * a_group_bytes_);
  if (rows_ > kBaseRows) add(a_[1], groups * a_group_bytes_);
  add(b_, groups * b_group_bytes_);
  if (groups > 1) add(prefetch_, groups / 2 * 64);
}

// Prefetches lines of B, of this panel or of those that follow it in memory. With few rows, the K
// loop reads as fast as memory delivers, and the CPU's own prefetchers keep as many lines in flight
// as it can; they stop where a page ends, and one line of some of the next page makes them go on.
// With more rows, the loop is too slow for them: each line is fetched, far ahead into the L2,
// because hiding the latency of DRAM takes more lines in flight than the L1 has buffers for, and a
// little ahead from there into the L1. Tiles that span four panels are as fast without.
void GemmCode::fetch_b(int u) {
  if (vectors_ * lanes() > 2 * panel_columns_) return;
  const int offset = u * b_group_bytes_;
  if (reads_at_speed_of_memory()) {
    if (u == 0) prefetcht1(b_address(0, offset + policy::prefetch::kPage));
    return;
  }
  for (int v = 0; v < vectors_; ++v)
    if (v * lanes() * b_column_bytes_ % 64 == 0) {
      prefetcht0(b_address(v, offset + policy::prefetch::kNear));
      prefetcht1(b_address(v, offset + policy::prefetch::kFar));
    }
}

// sums += accumulators, which start again at zero: pairs of int16 lanes belong to one column.
void GemmCode::spill() {
  load_ones(vec(first_b_));
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) {
      widen_sum(acc(i, v));
      vpaddd(acc(i, v), acc(i, v), sum_address(i, v));
      vmovups(sum_address(i, v), acc(i, v));
      zero(acc(i, v));
    }
}

void GemmCode::add_accumulators() {
  if (accumulators_ == 1) return;
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) vpaddd(acc(i, v), acc(i, v), acc(i, v, 1));
}

// Widens int16 accumulators to int32 and adds the sums in memory, if there are any.
void GemmCode::add_sums() {
  if (dot_ == Dot::maddubs) {
    load_ones(vec(first_b_));
    for (int i = 0; i < rows_; ++i)
      for (int v = 0; v < vectors_; ++v) widen_sum(acc(i, v));
  }
  Xbyak::Label none;
  mov(sums_, arg(offsetof(TileArgs, partial)));
  test(sums_, sums_);
  jz(none, T_NEAR);
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) vpaddd(acc(i, v), acc(i, v), sum_address(i, v));
  L(none);
}

}  // namespace fbg::kernels
