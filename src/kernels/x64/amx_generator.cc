// A microkernel with AMX, from its first to its last instruction:
//
//   for each of the pipelined tiles (TileArgs::next)
//     the remaining steps of the tile before the last
//     the first block: for each of the sums
//       store the sum of the last tile in the stack frame, which stays in the L1
//       sum = 0, or TileArgs::partial
//       sums[i][v] += A[i] * B[v]
//     for each further block pair       the K loop, in tile registers
//       for each 16 k-groups
//         load A: up to 2 tiles of 16 rows, load B: up to 4 tiles of 16 columns
//         sums[i][v] += A[i] * B[v]
//         a step of the last tile: stages and stores of a few rows (amx_finish.cc)
//   store the sums of the last tile, and its steps
//
// Vector instructions run beside those of the matrix unit, so that the results of a tile cost
// little time while the next one is multiplied. A store waits for its sum, and the matrix unit goes
// on with other sums meanwhile only if their products follow at once. Where K is not a multiple of
// 16 k-groups, vector kernels finish the tile at once instead: they start from its sums and add the
// k-groups that are left.
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
  forget_last_tile();
  if (!stores_tiles()) {
    mov(qword[frame_ + slot_offset(Slot::steps)], 0);
    mov(qword[frame_ + slot_offset(Slot::unfinished)], 0);
  }
  if (key_.masked) {
    mov(args_, rdi);
    prepare_mask();
  }

  Xbyak::Label tile, rest, next;
  L(tile);
  if (!stores_tiles()) call(finish_);
  mov(args_, slot(Slot::tile));
  multiply();
  mov(args_, slot(Slot::tile));
  if (!key_.row_mask) {
    test(groups_seen_, kBlockGroups - 1);
    jnz(rest, T_NEAR);
  }
  if (stores_tiles()) {
    mov(scratch_, arg(offsetof(TileArgs, c)));
    mov(slot(Slot::sums), scratch_);
    mov(scratch_, arg(offsetof(TileArgs, ldc)));
    mov(slot(Slot::ldsums), scratch_);
  } else {
    mov(slot(Slot::last), args_);
  }
  L(next);
  mov(args_, arg(offsetof(TileArgs, next)));
  mov(slot(Slot::tile), args_);
  test(args_, args_);
  jnz(tile, T_NEAR);
  if (!stores_tiles()) call(finish_);
  locate_last_sums();
  for_each_sum([&](int i, int v) { store_last_sum(i, v); });
  if (!stores_tiles()) {
    call(begin_);
    call(finish_);
  }
  vzeroupper();
  mov(rsp, slot(Slot::stack));
  for (auto r = std::rbegin(kSaved); r != std::rend(kSaved); ++r) pop(*r);
  ret();

  if (!key_.row_mask) {
    L(rest);
    if (!stores_tiles()) call(finish_);
    store_sums();
    mov(args_, slot(Slot::tile));
    copy_args(true);
    copy_rests();
    finish_with_rests();
    mov(rsp, frame_);
    forget_last_tile();
    mov(args_, slot(Slot::tile));
    if (key_.masked) prepare_mask();
    jmp(next, T_NEAR);
  }

  if (!stores_tiles()) {
    L(begin_);
    begin_steps();
    ret();
    L(step_);
    finish_rows(step_rows(), key_.row_mask || rows_ > step_rows());
    ret();
    L(finish_);
    finish_remaining();
    ret();
  }
  emit_data();
}

// No results of a tile before the next one are left. What the registers hold is stored
// nevertheless, to the frame, where nothing reads it.
void AmxCode::forget_last_tile() {
  if (stores_tiles()) {
    mov(slot(Slot::sums), frame_);
    mov(qword[frame_ + slot_offset(Slot::ldsums)], row_bytes());
  } else {
    mov(qword[frame_ + slot_offset(Slot::last)], 0);
  }
}

void AmxCode::prepare_mask() {
  mov(blocks_, arg(offsetof(TileArgs, columns)));
  sub(blocks_, (vectors_ - 1) * lanes());
  set_mask(blocks_, scratch_, num_vectors() - 1);
}

// Sums so far are loaded as tiles, but for a partial vector: a tile would read beyond the valid
// columns, so that those sums pass through the scratch.
void AmxCode::initialize_sums() {
  if (!key_.masked) {
    mov(a_[0], arg(offsetof(TileArgs, partial)));
    mov(b_stride_, arg(offsetof(TileArgs, ldpartial)));
    locate_second_row_tile();
    for_each_sum(
        [&](int i, int v) { tileloadd(sums(i, v), ptr[a_[i] + b_stride_ + v * kTileBytes]); });
    return;
  }
  mov(scratch_, arg(offsetof(TileArgs, partial)));
  for (int i = 0; i < rows_; ++i) {
    for (int v = 0; v < vectors_; ++v) {
      load(vec(v), ptr[scratch_ + v * kTileBytes], key_.masked && v == vectors_ - 1);
      vmovups(ptr[frame_ + start_offset() + i * row_bytes() + v * kTileBytes], vec(v));
    }
    if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));
  }
  mov(b_stride_, row_bytes());
  for_each_sum([&](int i, int v) { tileloadd(sums(i, v), sum_address(i, v, start_offset())); });
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

// Where the sums of the last tile go: raw ones of whole vectors are results, and belong in C.
void AmxCode::locate_last_sums() {
  if (stores_tiles()) {
    mov(last_[0], slot(Slot::sums));
    mov(scratch_, slot(Slot::ldsums));
  } else {
    mov(last_[0], frame_);
    mov(scratch_, row_bytes());
  }
  if (row_tiles_ == 1) return;
  imul(last_[1], scratch_, first_row(1));
  add(last_[1], last_[0]);
}

void AmxCode::store_last_sum(int i, int v) {
  tilestored(ptr[last_[i] + scratch_ + v * kTileBytes], sums(i, v));
}

void AmxCode::multiply() {
  const auto started = qword[frame_ + slot_offset(Slot::started)];
  Xbyak::Label next, loop, skip, done, complete;
  mov(prefetch_, arg(offsetof(TileArgs, prefetch)));
  mov(pair_, arg(offsetof(TileArgs, pairs)));
  mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
  const auto store_last_sums = [&] {
    locate_last_sums();
    for_each_sum([&](int i, int v) { store_last_sum(i, v); });
    if (!stores_tiles()) call(begin_);
  };
  if (goes_on(key_.sums)) {
    store_last_sums();
    mov(args_, slot(Slot::tile));
    initialize_sums();
  } else {
    mov(started, 0);
  }
  mov(b_stride_, kPanelGroupBytes);
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
  if (!goes_on(key_.sums)) {
    cmp(started, 0);
    jnz(loop, T_NEAR);
    mov(started, 1);
    multiply_first_block();
    if (!stores_tiles()) call(begin_);
    dec(blocks_);
    jz(skip, T_NEAR);
  }
  L(loop);
  multiply_block();
  if (stores_tiles())
    keep_vectors_awake();
  else
    finish_step();
  dec(blocks_);
  jnz(loop, T_NEAR);
  L(skip);
  add(pair_, kPairBytes);
  dec(pairs_left_);
  jmp(next, T_NEAR);
  L(done);
  if (!goes_on(key_.sums)) {
    cmp(started, 0);
    jnz(complete, T_NEAR);
    store_last_sums();
    for_each_sum([&](int i, int v) { tilezero(sums(i, v)); });
    L(complete);
  }
}

void AmxCode::load_a(int i) { tileloadd(a(i), ptr[a_[i] + lda_]); }
void AmxCode::load_b(int v) { tileloadd(b(v), ptr[b_[v / 2] + b_stride_ + v % 2 * kTileBytes]); }

// Sums of the last tile are stored one by one, so that each has been multiplied to the end when its
// turn comes.
void AmxCode::multiply_first_block() {
  locate_last_sums();
  for_each_sum_by_column([&](int i, int v) {
    if (i == 0) load_b(v);
    if (v == 0) load_a(i);
    store_last_sum(i, v);
    tilezero(sums(i, v));
    dot_product(sums(i, v), a(i), b(v));
  });
  advance_block();
}

// Loads past the L1 (tileloaddt1) are slower for either operand. All loads stand before the
// products, whose operands are then on the way when they are due.
void AmxCode::multiply_block() {
  load_b(0);
  for (int i = 0; i < row_tiles_; ++i) load_a(i);
  if (vectors_ > 1) load_b(1);
  for (int v = 0; v < vectors_; ++v) {
    for (int i = 0; i < row_tiles_; ++i) dot_product(sums(i, v), a(i), b(v));
    if (v + 2 < vectors_) load_b(v + 2);
  }
  advance_block();
}

void AmxCode::advance_block() {
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

// A tile store takes about 1000 cycles more if no vector instruction came in the last 2000 cycles.
void AmxCode::keep_vectors_awake() { vpaddd(vec(0), vec(0), vec(0)); }

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
