// The K loop of a kernel that finds the rows of A through an array of pointers. Each row has a
// register that points to the end of the current piece of k, and one index for all rows counts up
// to zero, so that a step costs one addition however many rows there are. Up to twelve rows take
// nearly all registers, so that arguments and counters are on the stack meanwhile.
#include <cstddef>
#include <utility>

#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {
namespace {

// Offsets in the stack frame.
constexpr int kArgs = 0, kPair = 8, kPairsLeft = 16, kPrefetch = 24, kGroupsLeft = 32, kBegun = 40;
constexpr int kFrameBytes = 48;

}  // namespace

void GemmCode::for_each_indirect_pair() {
  Xbyak::Label next, done;
  sub(rsp, kFrameBytes);
  mov(ptr[rsp + kArgs], args_);
  for (const auto& [field, slot] : {std::pair{offsetof(TileArgs, pairs), kPair},
                                    {offsetof(TileArgs, num_pairs), kPairsLeft},
                                    {offsetof(TileArgs, prefetch), kPrefetch}}) {
    mov(scratch_, arg(field));
    mov(ptr[rsp + slot], scratch_);
  }
  mov(qword[rsp + kBegun], 0);
  L(next);
  cmp(qword[rsp + kPairsLeft], 0);
  jz(done, T_NEAR);
  load_row_pointers();
  if (dot_ == Dot::maddubs) {
    spilling_indirect_pieces();
  } else {
    if (fetches_next_panel()) mov(prefetch_, ptr[rsp + kPrefetch]);
    indirect_piece();
    if (fetches_next_panel()) mov(ptr[rsp + kPrefetch], prefetch_);
  }
  add(qword[rsp + kPair], static_cast<int>(sizeof(BlockPair)));
  dec(qword[rsp + kPairsLeft]);
  jmp(next, T_NEAR);
  L(done);
  mov(args_, ptr[rsp + kArgs]);
  add(rsp, kFrameBytes);
}

// The start of each row, B, and the number of k-groups in row_index_.
void GemmCode::load_row_pointers() {
  const Reg64 &pair = rax, &offset = rdx, &array = row_end_[rows_ - 1];
  const auto field = [&](std::size_t f) { return ptr[pair + static_cast<int>(f)]; };
  mov(pair, ptr[rsp + kPair]);
  mov(array, field(offsetof(BlockPair, a)));
  mov(offset, field(offsetof(BlockPair, lda)));
  for (int i = 0; i < rows_; ++i) {  // the array's register is that of the last row
    mov(row_end_[i], ptr[array + 8 * i]);
    add(row_end_[i], offset);
  }
  mov(row_index_, field(offsetof(BlockPair, groups)));
  mov(b_, field(offsetof(BlockPair, b)));
  if (spans_panels()) {
    mov(panel_, field(offsetof(BlockPair, b_panel_stride)));
    lea(panel3_, ptr[panel_ + panel_ * 2]);
  }
}

// As k_loop, for as many k-groups as row_index_ says.
void GemmCode::indirect_piece() {
  const auto step = [this](int groups) {
    add(b_, groups * b_group_bytes_);
    if (groups > 1 && fetches_next_panel()) add(prefetch_, groups / 2 * 64);
    add(row_index_, groups * a_group_bytes_);
  };
  Xbyak::Label unrolled, single, rest, done;
  imul(row_index_, row_index_, a_group_bytes_);
  for (int i = 0; i < rows_; ++i) add(row_end_[i], row_index_);
  neg(row_index_);
  cmp(row_index_, -kUnroll * a_group_bytes_);
  jg(single, T_NEAR);
  L(unrolled);
  unrolled_k_groups();
  step(kUnroll);
  cmp(row_index_, -kUnroll * a_group_bytes_);
  jle(unrolled, T_NEAR);
  L(single);
  test(row_index_, row_index_);
  jz(done, T_NEAR);
  L(rest);
  k_group(0);
  step(1);
  jnz(rest, T_NEAR);
  L(done);
}

// As spilling_k_loop.
void GemmCode::spilling_indirect_pieces() {
  Xbyak::Label piece, first, done;
  mov(ptr[rsp + kGroupsLeft], row_index_);
  L(piece);
  cmp(qword[rsp + kGroupsLeft], 0);
  jz(done, T_NEAR);
  mov(row_index_, ptr[rsp + kArgs]);
  mov(sums_, ptr[row_index_ + static_cast<int>(offsetof(TileArgs, partial))]);
  mov(row_index_, ptr[row_index_ + static_cast<int>(offsetof(TileArgs, spill_groups))]);
  cmp(qword[rsp + kBegun], 0);
  jz(first, T_NEAR);
  spill();
  L(first);
  mov(qword[rsp + kBegun], 1);
  cmp(row_index_, ptr[rsp + kGroupsLeft]);
  cmovg(row_index_, ptr[rsp + kGroupsLeft]);
  sub(ptr[rsp + kGroupsLeft], row_index_);
  indirect_piece();
  jmp(piece, T_NEAR);
  L(done);
}

}  // namespace fbg::kernels
