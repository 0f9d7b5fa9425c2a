// The results of an AMX microkernel: stages and stores of the last tile, whose sums are in the
// stack frame. Rows are finished in steps of a few rows. If k-groups are left, vector kernels
// finish the tile.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "kernels/x64/amx_code.h"
#include "kernels/x64/epilogue.h"

namespace fbg::kernels {

// The arguments of the steps or the vector kernels: those of this one, but for the sums to start
// from. Steps without stages read only the first of them.
void AmxCode::copy_args(bool all) {
  constexpr std::size_t bytes = offsetof(TileArgs, next), first = offsetof(TileArgs, columns);
  static_assert(bytes % 64 == 0 && first == 64);
  for (std::size_t offset = 0; offset < (all ? bytes : first); offset += 64) {
    vmovups(vec(0), arg(offset));
    vmovups(copied(offset), vec(0));
  }
  if (key_.row_mask) {
    mov(scratch_, arg(offsetof(TileArgs, picked)));
    mov(copied(offsetof(TileArgs, picked)), scratch_);
  } else {
    mov(copied(offsetof(TileArgs, partial)), frame_);
  }
}

// Once the sums of the last tile are stored: all of its steps are left.
void AmxCode::begin_steps() {
  Xbyak::Label none;
  mov(args_, slot(Slot::last));
  test(args_, args_);
  jz(none, T_NEAR);
  copy_args(key_.num_stages > 0);
  if (key_.row_mask) {
    const Reg64& left = last_[1];
    mov(scratch_, arg(offsetof(TileArgs, num_picked)));
    mov(left, scratch_);
    shr(scratch_, std::countr_zero(static_cast<unsigned>(step_rows())));
    and_(left, step_rows() - 1);
    mov(slot(Slot::steps), scratch_);
    mov(slot(Slot::single_rows), left);
  } else {
    mov(qword[frame_ + slot_offset(Slot::steps)], rows_ / step_rows());
  }
  mov(qword[frame_ + slot_offset(Slot::unfinished)], 1);
  L(none);
}

// Called between blocks: a step of the last tile, if any is left.
void AmxCode::finish_step() {
  std::vector<Reg64> used{blocks_};  // a step has the distance between rows of C there
  for (const Reg64& r :
       {groups_seen_, b_[0], b_[1], a_[0], a_[1], lda_, b_stride_, pair_, pairs_left_})
    if (epilogue_overwrites(key_, r)) used.push_back(r);
  if (vectors_ <= 2) std::erase(used, b_[1]);
  if (row_tiles_ == 1) std::erase(used, a_[1]);
  const auto steps = qword[frame_ + slot_offset(Slot::steps)];
  Xbyak::Label none;
  keep_vectors_awake();
  cmp(steps, 0);
  jz(none, T_NEAR);
  for (const Reg64& r : used) push(r);
  call(step_);
  for (auto r = std::rbegin(used); r != std::rend(used); ++r) pop(*r);
  dec(steps);
  L(none);
}

// All that is left of the last tile.
void AmxCode::finish_remaining() {
  const auto steps = qword[frame_ + slot_offset(Slot::steps)];
  const auto unfinished = qword[frame_ + slot_offset(Slot::unfinished)];
  Xbyak::Label next, rest, done;
  cmp(unfinished, 0);
  jz(done, T_NEAR);
  mov(unfinished, 0);
  L(next);
  cmp(steps, 0);
  jz(rest, T_NEAR);
  call(step_);
  dec(steps);
  jmp(next, T_NEAR);
  L(rest);
  if (key_.row_mask) {
    const auto single_rows = qword[frame_ + slot_offset(Slot::single_rows)];
    Xbyak::Label row;
    cmp(single_rows, 0);
    jz(done, T_NEAR);
    L(row);
    finish_rows(1, step_rows() > 2);
    dec(single_rows);
    jnz(row, T_NEAR);
  } else if (rows_ % step_rows() != 0) {
    finish_rows(rows_ % step_rows(), false);
  }
  L(done);
}

// Loads the sums of the next rows.
void AmxCode::load_sums(int height, bool more) {
  mov(scratch_, copied(offsetof(TileArgs, partial)));
  if (more) step_argument(offsetof(TileArgs, partial), height * row_bytes());
  for (int i = 0; i < height * vectors_; ++i) vmovups(vec(i), ptr[scratch_ + i * kTileBytes]);
}

// Loads the sums of the next rows that are picked.
void AmxCode::load_picked_sums(int height, bool more) {
  mov(rdx, copied(offsetof(TileArgs, picked)));
  if (more) step_argument(offsetof(TileArgs, picked), height);
  for (int i = 0; i < height; ++i) {
    movzx(scratch_, byte[rdx + i]);
    imul(scratch_, scratch_, row_bytes());
    for (int v = 0; v < vectors_; ++v)
      vmovups(vec(i * vectors_ + v), ptr[frame_ + scratch_ + v * kTileBytes]);
  }
}

// Stages and stores of the next rows, whose sums are complete. `more`: there may be others below.
void AmxCode::finish_rows(int height, bool more) {
  const Reg64 &copy = r15, &c = rbp, &ldc = rcx;  // emit_epilogue() leaves these
  KernelKey key = key_;
  key.rows = static_cast<std::uint8_t>(height);
  if (key_.num_stages > 0) lea(copy, copied(0));
  if (key_.row_mask)
    load_picked_sums(height, more);
  else
    load_sums(height, more);
  mov(c, copied(offsetof(TileArgs, c)));
  mov(ldc, copied(offsetof(TileArgs, ldc)));
  emit_epilogue(*this, key, {copy, c, ldc});
  if (!more) return;
  add(c, ldc);
  mov(copied(offsetof(TileArgs, c)), c);
  move_down_rows(height);
}

// Moves those copied arguments on by that many rows that count rows of C.
void AmxCode::move_down_rows(int height) {
  if (key_.reads_rows_of_stages()) step_argument(offsetof(TileArgs, row), height);
  if (key_.folds()) return;
  if (key_.reads_scales()) step_argument(offsetof(TileArgs, a_scale), height * 4);
  if (key_.reads_zero_points()) step_argument(offsetof(TileArgs, a_zero_point), height * 4);
  if (key_.corrections == Corrections::both)
    step_argument(offsetof(TileArgs, row_terms), height * 4);
}

// The block pairs of the vector kernels: what is left of each pair, below the stack pointer.
void AmxCode::copy_rests() {
  const Reg64 &left = rcx, &to = rdi, &rest = rdx, &count = pairs_left_;
  const auto to_field = [&](std::size_t offset) { return ptr[to + static_cast<int>(offset)]; };
  Xbyak::Label next, skip, done;
  mov(left, arg(offsetof(TileArgs, num_pairs)));
  imul(scratch_, left, kPairBytes);
  sub(rsp, scratch_);
  mov(to, rsp);
  mov(pair_, arg(offsetof(TileArgs, pairs)));
  xor_(count, count);
  L(next);
  test(left, left);
  jz(done, T_NEAR);
  mov(scratch_, field(offsetof(BlockPair, groups)));
  mov(rest, scratch_);
  and_(rest, kBlockGroups - 1);
  jz(skip, T_NEAR);
  sub(scratch_, rest);
  mov(to_field(offsetof(BlockPair, groups)), rest);
  lea(rest, ptr[scratch_ * kGroupBytes]);
  add(rest, field(offsetof(BlockPair, a)));
  mov(to_field(offsetof(BlockPair, a)), rest);
  imul(scratch_, scratch_, kPanelGroupBytes);
  add(scratch_, field(offsetof(BlockPair, b)));
  mov(to_field(offsetof(BlockPair, b)), scratch_);
  const auto copy = [&](std::size_t offset) {
    mov(scratch_, field(offset));
    mov(to_field(offset), scratch_);
  };
  copy(offsetof(BlockPair, lda));
  if (vectors_ > 2) copy(offsetof(BlockPair, b_panel_stride));
  add(to, kPairBytes);
  inc(count);
  L(skip);
  add(pair_, kPairBytes);
  dec(left);
  jmp(next, T_NEAR);
  L(done);
  mov(copied(offsetof(TileArgs, pairs)), rsp);
  mov(copied(offsetof(TileArgs, num_pairs)), count);
}

void AmxCode::finish_with_rests() {
  mov(qword[frame_ + sums_bytes() + static_cast<int>(offsetof(TileArgs, ldpartial))], row_bytes());
  const BalancedSplit tiles =
      BalancedSplit::split(rows_, std::min(kFinishedVectors / vectors_, kFinishedRows));
  for (std::int64_t t = 0; t < tiles.count; ++t) {
    const int height = static_cast<int>(tiles[t].size());
    lea(rdi, copied(0));
    call_kernel(vector_key(key_, height, sums_of(false, completes(key_.sums))));
    if (t + 1 < tiles.count) move_down(height);
  }
}

void AmxCode::call_kernel(const KernelKey& key) {
  mov(scratch_, reinterpret_cast<std::uintptr_t>(find_kernel(key)));
  call(scratch_);
}

// Moves all copied arguments on by that many rows.
void AmxCode::move_down(int height) {
  mov(scratch_, copied(offsetof(TileArgs, ldc)));
  imul(scratch_, scratch_, height);
  add(copied(offsetof(TileArgs, c)), scratch_);
  step_argument(offsetof(TileArgs, partial), height * row_bytes());
  move_down_rows(height);
  Xbyak::Label next, done;
  mov(pair_, rsp);
  mov(rcx, pairs_left_);
  L(next);
  test(rcx, rcx);
  jz(done, T_NEAR);
  imul(scratch_, field(offsetof(BlockPair, lda)), height);
  add(field(offsetof(BlockPair, a)), scratch_);
  add(pair_, kPairBytes);
  dec(rcx);
  jmp(next, T_NEAR);
  L(done);
}

}  // namespace fbg::kernels
