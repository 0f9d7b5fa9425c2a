// A microkernel with AMX, from its first to its last instruction:
//
//   for each of the pipelined tiles (TileArgs::next)
//     sums = 0, or TileArgs::partial
//     for each block pair               the K loop, in tile registers
//       for each 16 k-groups
//         load A: up to 2 tiles of 16 rows, load B: up to 4 tiles of 16 columns
//         sums[i][v] += A[i] * B[v]
//         a step of the tile before: stages and stores of a few rows (amx_finish.cc)
//     the remaining steps of the tile before
//     store sums in the stack frame, which stays in the L1
//   the steps of the last tile
//
// Vector instructions run beside those of the matrix unit, so that the results of a tile cost
// little time while the next one is multiplied. Where K is not a multiple of 16 k-groups, vector
// kernels finish the tile at once instead: they start from its sums and add the k-groups that are
// left.
//
// Panels of B are loaded as they are: a k-group of 16 columns is a row of a tile, and the next
// k-group is 128 bytes further on. A tile of C that has between 17 and 31 rows is computed by two
// tiles of 16 rows that overlap: both compute the rows in the middle, with the same results. So one
// configuration of the tile registers (amx_scope.cc) serves all heights from 16 on. Lower tiles of
// C are all of one height, and have a configuration of their own.
#include <bit>

#include "kernels/x64/amx_code.h"
#include "kernels/x64/generators.h"

namespace fbg::kernels {

void AmxCode::generate() {
  for (const Reg64& r : kSaved) push(r);
  mov(scratch_, rsp);
  sub(rsp, frame_bytes());
  and_(rsp, -64);
  mov(frame_, rsp);
  mov(slot(Slot::stack), scratch_);
  mov(slot(Slot::tile), rdi);
  mov(qword[frame_ + slot_offset(Slot::steps)], 0);
  mov(qword[frame_ + slot_offset(Slot::unfinished)], 0);
  mov(qword[frame_ + slot_offset(Slot::until_store)], kUnreadInterval);
  mov(args_, rdi);
  if (key_.masked) prepare_mask();

  Xbyak::Label tile, rests, next;
  L(tile);
  initialize_sums();
  multiply();
  if (stores_tiles()) {
    Xbyak::Label rest;
    mov(args_, slot(Slot::tile));
    test(groups_seen_, kBlockGroups - 1);
    jnz(rest, T_NEAR);
    store_to_c();
    jmp(next, T_NEAR);
    L(rest);
  }
  call(finish_);
  store_sums();
  mov(args_, slot(Slot::tile));
  copy_args();
  if (!key_.row_mask) {
    test(groups_seen_, kBlockGroups - 1);
    jnz(rests, T_NEAR);
  }
  if (key_.row_mask) {
    mov(scratch_, arg(offsetof(TileArgs, num_picked)));
    mov(rdx, scratch_);
    shr(scratch_, std::countr_zero(static_cast<unsigned>(step_rows())));
    and_(rdx, step_rows() - 1);
    mov(slot(Slot::steps), scratch_);
    mov(slot(Slot::single_rows), rdx);
  } else {
    mov(qword[frame_ + slot_offset(Slot::steps)], rows_ / step_rows());
  }
  mov(qword[frame_ + slot_offset(Slot::unfinished)], 1);
  L(next);
  mov(args_, slot(Slot::tile));
  mov(args_, arg(offsetof(TileArgs, next)));
  mov(slot(Slot::tile), args_);
  test(args_, args_);
  jnz(tile, T_NEAR);
  call(finish_);
  vzeroupper();
  mov(rsp, slot(Slot::stack));
  for (auto r = std::rbegin(kSaved); r != std::rend(kSaved); ++r) pop(*r);
  ret();

  if (!key_.row_mask) {
    L(rests);
    copy_rests();
    finish_with_rests();
    mov(rsp, frame_);
    if (key_.masked) {
      mov(args_, slot(Slot::tile));
      prepare_mask();
    }
    jmp(next, T_NEAR);
  }

  L(step_);
  finish_rows(step_rows());
  ret();
  L(finish_);
  finish_remaining();
  ret();
  emit_data();
}

void AmxCode::prepare_mask() {
  mov(blocks_, arg(offsetof(TileArgs, columns)));
  sub(blocks_, (vectors_ - 1) * lanes());
  set_mask(blocks_, scratch_, num_vectors() - 1);
}

// Sums so far are loaded as tiles, but for a partial vector: a tile would read beyond the valid
// columns, so that those sums pass through the scratch.
void AmxCode::initialize_sums() {
  if (goes_on(key_.sums) && !key_.masked) {
    mov(a_[0], arg(offsetof(TileArgs, partial)));
    mov(b_stride_, arg(offsetof(TileArgs, ldpartial)));
    locate_second_row_tile();
    for_each_sum(
        [&](int i, int v) { tileloadd(sums(i, v), ptr[a_[i] + b_stride_ + v * kTileBytes]); });
    return;
  }
  mov(b_stride_, row_bytes());
  if (goes_on(key_.sums)) {
    mov(scratch_, arg(offsetof(TileArgs, partial)));
    for (int i = 0; i < rows_; ++i) {
      for (int v = 0; v < vectors_; ++v) {
        load(vec(v), ptr[scratch_ + v * kTileBytes], key_.masked && v == vectors_ - 1);
        vmovups(ptr[frame_ + start_offset() + i * row_bytes() + v * kTileBytes], vec(v));
      }
      if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));
    }
  }
  for_each_sum([&](int i, int v) {
    if (goes_on(key_.sums))
      tileloadd(sums(i, v), sum_address(i, v, start_offset()));
    else
      tilezero(sums(i, v));
  });
}

// Raw sums of whole vectors are results: tiles are stored where they belong.
void AmxCode::store_to_c() {
  mov(a_[0], arg(offsetof(TileArgs, c)));
  mov(b_stride_, arg(offsetof(TileArgs, ldc)));
  locate_second_row_tile();
  for_each_sum(
      [&](int i, int v) { tilestored(ptr[a_[i] + b_stride_ + v * kTileBytes], sums(i, v)); });
}

// With the first row of a matrix in a_[0] and the distance between its rows in b_stride_.
void AmxCode::locate_second_row_tile() {
  if (row_tiles_ == 1) return;
  imul(a_[1], b_stride_, first_row(1));
  add(a_[1], a_[0]);
}

void AmxCode::store_sums() {
  mov(b_stride_, row_bytes());
  for_each_sum([&](int i, int v) { tilestored(sum_address(i, v), sums(i, v)); });
}

void AmxCode::multiply() {
  Xbyak::Label next, loop, skip, done;
  mov(b_stride_, kPanelGroupBytes);
  mov(prefetch_, arg(offsetof(TileArgs, prefetch)));
  mov(pair_, arg(offsetof(TileArgs, pairs)));
  mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
  xor_(groups_seen_, groups_seen_);
  L(next);
  test(pairs_left_, pairs_left_);
  jz(done, T_NEAR);
  mov(blocks_, field(offsetof(BlockPair, groups)));
  or_(groups_seen_, blocks_);
  shr(blocks_, std::countr_zero(unsigned{kBlockGroups}));
  jz(skip, T_NEAR);
  mov(a_[0], field(offsetof(BlockPair, a)));
  mov(lda_, field(offsetof(BlockPair, lda)));
  mov(b_[0], field(offsetof(BlockPair, b)));
  if (row_tiles_ == 2) {
    imul(a_[1], lda_, first_row(1));
    add(a_[1], a_[0]);
  }
  if (vectors_ > 2) {
    mov(b_[1], b_[0]);
    add(b_[1], field(offsetof(BlockPair, b_panel_stride)));
  }
  L(loop);
  multiply_block();
  store_unread_tile();
  finish_step();
  dec(blocks_);
  jnz(loop, T_NEAR);
  L(skip);
  add(pair_, kPairBytes);
  dec(pairs_left_);
  jmp(next, T_NEAR);
  L(done);
}

// Loads past the L1 (tileloaddt1) are slower for either operand. All loads stand before the
// products, whose operands are then on the way when they are due.
void AmxCode::multiply_block() {
  const auto load_b = [&](int v) {
    tileloadd(b(v), ptr[b_[v / 2] + b_stride_ + v % 2 * kTileBytes]);
  };
  const auto load_a = [&](int i) { tileloadd(a(i), ptr[a_[i] + lda_]); };
  load_b(0);
  for (int i = 0; i < row_tiles_; ++i) load_a(i);
  if (vectors_ > 1) load_b(1);
  for (int v = 0; v < vectors_; ++v) {
    for (int i = 0; i < row_tiles_; ++i) dot_product(sums(i, v), a(i), b(v));
    if (v + 2 < vectors_) load_b(v + 2);
  }
  // A line for every second k-group, as TileArgs::prefetch says.
  Xbyak::Label nothing;
  test(prefetch_, prefetch_);
  jz(nothing, T_NEAR);
  for (int line = 0; line < kBlockGroups / 2; ++line) prefetcht1(ptr[prefetch_ + line * 64]);
  add(prefetch_, kBlockGroups / 2 * 64);
  L(nothing);
  for (int i = 0; i < row_tiles_; ++i) add(a_[i], kTileBytes);
  for (int p = 0; p < (vectors_ + 1) / 2; ++p) add(b_[p], kBlockGroups * kPanelGroupBytes);
}

// A tile store takes about 1000 cycles more if neither a tile store nor a vector instruction came
// in the last 2000 cycles. So the K loop of a long tile stores one that nobody reads every
// kUnreadInterval blocks, beside the products.
void AmxCode::store_unread_tile() {
  const auto until_store = qword[frame_ + slot_offset(Slot::until_store)];
  Xbyak::Label skip;
  dec(until_store);
  jnz(skip, T_NEAR);
  mov(until_store, kUnreadInterval);
  tilestored(ptr[frame_ + b_stride_ + unread_offset()], b(0));
  L(skip);
}

void AmxCode::dot_product(const Xbyak::Tmm& sum, const Xbyak::Tmm& x, const Xbyak::Tmm& y) {
  if (is_integer(key_.gemm_type))
    tdpbusd(sum, x, y);
  else
    tdpbf16ps(sum, x, y);
}

void AmxCode::generate_jump() {
  mov(rax, reinterpret_cast<std::uintptr_t>(find_kernel(vector_key(key_, rows_, key_.sums))));
  jmp(rax);
}

KernelKey AmxCode::vector_key(KernelKey key, int rows, Sums sums) {
  key.isa = choose_geometry(key.gemm_type, isa_features(key.isa)).isa;
  key.rows = static_cast<std::uint8_t>(rows);
  key.sums = sums;
  return key;
}

std::vector<std::uint8_t> generate_amx(const GemmFamily& family, const KernelKey& key) {
  AmxCode code(family, key);
  if (key.a != ARows::strided) return {};
  if (key.rows <= family.unit.vector_rows) {
    if (key.row_mask) return {};
    code.generate_jump();
    return code.code();
  }
  if (!code.fits()) return {};
  code.generate();
  return code.code();
}

}  // namespace fbg::kernels
