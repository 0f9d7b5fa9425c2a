// A microkernel with AMX, from its first to its last instruction:
//
//   sums = 0, or TileArgs::partial
//   for each block pair                 the K loop, in tile registers
//     for each 16 k-groups
//       load A: up to 2 tiles of 16 rows, load B: up to 4 tiles of 16 columns
//       sums[i][v] += A[i] * B[v]
//   store sums in a scratch on the stack, which stays in the L1
//   for each few rows                   vector kernels, which start from those sums (load_c):
//     add the k-groups that are left of each pair, run the stages, store to C
//
// Panels of B are loaded as they are: a k-group of 16 columns is a row of a tile, and the next
// k-group is 128 bytes further on. A tile of C that has between 17 and 31 rows is computed by two
// tiles of 16 rows that overlap: both compute the rows in the middle, with the same results. So one
// configuration of the tile registers (amx_scope.cc) serves all heights from 16 on. Lower tiles of
// C occur only alone and have a configuration of their own.
#include "kernels/x64/amx_generator.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
namespace {

constexpr int kTileRows = 16, kBlockGroups = 16;
constexpr int kGroupBytes = 4;  // of a k-group of a row of A or a column of B
constexpr int kTileBytes = 64;  // of a row of a tile
constexpr int kSumTiles = 4, kFirstA = 4, kFirstB = 6;
constexpr int kPanelGroupBytes = kPanelColumns * kGroupBytes;
constexpr int kPairBytes = static_cast<int>(sizeof(BlockPair));
// Bounds of the tiles in which the results are finished: vectors in all, and rows. They leave
// registers for the tables of activations.
constexpr int kFinishedVectors = 16, kFinishedRows = 12;

class AmxCode : public SimdAssembler {
 public:
  AmxCode(const GemmFamily& family, const KernelKey& key)
      : SimdAssembler(family.vectors.lanes, isa_features(key.isa)),
        key_(key),
        rows_(key.rows),
        vectors_(key.vectors),
        row_tiles_(rows_ > kTileRows ? 2 : 1) {}

  bool fits() const { return rows_ <= 2 * kTileRows && row_tiles_ * vectors_ <= kSumTiles; }

  void generate() {
    for (const Reg64& r : kSaved) push(r);
    mov(rbp, rsp);
    sub(rsp, rows_ * row_bytes() + kArgsBytes);
    and_(rsp, -64);
    mov(frame_, rsp);
    mov(args_, rdi);
    initialize_sums();
    multiply();
    store_sums();
    copy_args();
    copy_rests();
    finish();
    mov(rsp, rbp);
    for (auto r = std::rbegin(kSaved); r != std::rend(kSaved); ++r) pop(*r);
    ret();
  }

 private:
  using Reg64 = Xbyak::Reg64;

  // General registers by role.
  const Reg64 kSaved[6] = {rbx, rbp, r12, r13, r14, r15};
  const Reg64 args_ = r15;
  const Reg64 frame_ = r14;  // sums, then a copy of the TileArgs
  const Reg64 pair_ = r12, pairs_left_ = r13;
  const Reg64 a_[2] = {rsi, r9}, lda_ = r8;
  const Reg64 b_[2] = {rdx, r11}, b_stride_ = r10;  // panels of B, bytes between k-groups
  const Reg64 blocks_ = rcx, prefetch_ = rbx, scratch_ = rax;

  static constexpr int kArgsBytes = (static_cast<int>(sizeof(TileArgs)) + 63) / 64 * 64;

  int row_bytes() const { return vectors_ * kTileBytes; }  // of sums in the scratch
  // First row of a tile of A or of sums.
  int first_row(int tile) const { return tile == 0 ? 0 : rows_ - kTileRows; }
  Xbyak::Tmm sums(int i, int v) const { return Xbyak::Tmm(i * vectors_ + v); }
  Xbyak::Tmm a(int i) const { return Xbyak::Tmm(kFirstA + i); }
  Xbyak::Tmm b(int v) const { return Xbyak::Tmm(kFirstB + v % 2); }
  Xbyak::Address arg(std::size_t offset) const { return ptr[args_ + static_cast<int>(offset)]; }
  Xbyak::Address copied(std::size_t offset) const {
    return ptr[frame_ + rows_ * row_bytes() + static_cast<int>(offset)];
  }
  Xbyak::Address field(std::size_t offset) const { return ptr[pair_ + static_cast<int>(offset)]; }

  // Sums so far pass through the scratch: a tile would read beyond the valid columns.
  void initialize_sums() {
    mov(b_stride_, row_bytes());
    if (key_.load_c) {
      if (key_.masked) {
        mov(blocks_, arg(offsetof(TileArgs, columns)));
        sub(blocks_, (vectors_ - 1) * lanes());
        set_mask(blocks_, scratch_, num_vectors() - 1);
      }
      mov(scratch_, arg(offsetof(TileArgs, partial)));
      for (int i = 0; i < rows_; ++i) {
        for (int v = 0; v < vectors_; ++v) {
          load(vec(v), ptr[scratch_ + v * kTileBytes], key_.masked && v == vectors_ - 1);
          vmovups(ptr[frame_ + i * row_bytes() + v * kTileBytes], vec(v));
        }
        if (i + 1 < rows_) add(scratch_, arg(offsetof(TileArgs, ldpartial)));
      }
    }
    for_each_sum([&](int i, int v) {
      if (key_.load_c)
        tileloadd(sums(i, v), sum_address(i, v));
      else
        tilezero(sums(i, v));
    });
  }

  void store_sums() {
    mov(b_stride_, row_bytes());
    for_each_sum([&](int i, int v) { tilestored(sum_address(i, v), sums(i, v)); });
  }

  // With the distance between rows in b_stride_.
  Xbyak::Address sum_address(int i, int v) const {
    return ptr[frame_ + b_stride_ + first_row(i) * row_bytes() + v * kTileBytes];
  }

  template <class F>
  void for_each_sum(F f) {
    for (int i = 0; i < row_tiles_; ++i)
      for (int v = 0; v < vectors_; ++v) f(i, v);
  }

  void multiply() {
    Xbyak::Label next, loop, skip, done;
    mov(b_stride_, kPanelGroupBytes);
    mov(prefetch_, arg(offsetof(TileArgs, prefetch)));
    mov(pair_, arg(offsetof(TileArgs, pairs)));
    mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
    L(next);
    test(pairs_left_, pairs_left_);
    jz(done, T_NEAR);
    mov(blocks_, field(offsetof(BlockPair, groups)));
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
    dec(blocks_);
    jnz(loop, T_NEAR);
    L(skip);
    add(pair_, kPairBytes);
    dec(pairs_left_);
    jmp(next, T_NEAR);
    L(done);
  }

  // Of the operands, the one that passes by while the other one is used again is loaded past the
  // L1, which it would only displace: A if there are tiles of C below this one, else B.
  void load_operand(const Xbyak::Tmm& to, const Xbyak::Address& from, bool passes) {
    passes ? tileloaddt1(to, from) : tileloadd(to, from);
  }

  void multiply_block() {
    const bool tall = row_tiles_ == 2;
    for (int v = 0; v < vectors_; ++v) {
      load_operand(b(v), ptr[b_[v / 2] + b_stride_ + v % 2 * kTileBytes], !tall);
      for (int i = 0; i < row_tiles_; ++i) {
        if (v == 0) load_operand(a(i), ptr[a_[i] + lda_], tall);
        dot_product(sums(i, v), a(i), b(v));
      }
    }
    // A line for every second k-group, as TileArgs::prefetch says.
    for (int line = 0; line < kBlockGroups / 2; ++line) prefetcht1(ptr[prefetch_ + line * 64]);
    add(prefetch_, kBlockGroups / 2 * 64);
    for (int i = 0; i < row_tiles_; ++i) add(a_[i], kTileBytes);
    for (int p = 0; p < (vectors_ + 1) / 2; ++p) add(b_[p], kBlockGroups * kPanelGroupBytes);
  }

  void dot_product(const Xbyak::Tmm& sum, const Xbyak::Tmm& x, const Xbyak::Tmm& y) {
    if (is_integer(key_.accumulator))
      tdpbusd(sum, x, y);
    else
      tdpbf16ps(sum, x, y);
  }

  // The arguments of the vector kernels: those of this one, but for the sums to start from.
  void copy_args() {
    constexpr int bytes = sizeof(TileArgs);
    static_assert(bytes % 8 == 0);
    int offset = 0;
    for (; offset + 64 <= bytes; offset += 64) {
      vmovups(vec(0), ptr[args_ + offset]);
      vmovups(copied(static_cast<std::size_t>(offset)), vec(0));
    }
    for (; offset < bytes; offset += 8) {
      mov(scratch_, ptr[args_ + offset]);
      mov(copied(static_cast<std::size_t>(offset)), scratch_);
    }
    mov(copied(offsetof(TileArgs, partial)), frame_);
    mov(qword[frame_ + rows_ * row_bytes() + static_cast<int>(offsetof(TileArgs, ldpartial))],
        row_bytes());
  }

  // The block pairs of the vector kernels: what is left of each pair, below the stack pointer.
  void copy_rests() {
    const Reg64 &left = rcx, &to = rdi, &rest = rdx, &count = pairs_left_;
    const auto to_field = [&](std::size_t offset) { return ptr[to + static_cast<int>(offset)]; };
    Xbyak::Label next, skip, done;
    mov(left, arg(offsetof(TileArgs, num_pairs)));
    imul(scratch_, left, kPairBytes);
    add(scratch_, 63);
    and_(scratch_, -64);
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
    for (const std::size_t same : {offsetof(BlockPair, lda), offsetof(BlockPair, b_panel_stride)}) {
      mov(scratch_, field(same));
      mov(to_field(same), scratch_);
    }
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

  void finish() {
    const BalancedSplit tiles =
        BalancedSplit::split(rows_, std::min(kFinishedVectors / vectors_, kFinishedRows));
    for (std::int64_t t = 0; t < tiles.count; ++t) {
      const int height = static_cast<int>(tiles[t].size());
      lea(rdi, copied(0));
      call_kernel(vector_key(key_, height, true));
      if (t + 1 < tiles.count) move_down(height);
    }
  }

  void call_kernel(const KernelKey& key) {
    mov(scratch_, reinterpret_cast<std::uintptr_t>(find_kernel(key)));
    call(scratch_);
  }

  // Moves the copied arguments on by that many rows.
  void move_down(int height) {
    mov(scratch_, copied(offsetof(TileArgs, ldc)));
    imul(scratch_, scratch_, height);
    add(copied(offsetof(TileArgs, c)), scratch_);
    const auto step = [&](std::size_t offset, int bytes) {
      add(qword[frame_ + rows_ * row_bytes() + static_cast<int>(offset)], bytes);
    };
    step(offsetof(TileArgs, partial), height * row_bytes());
    step(offsetof(TileArgs, row), height);
    step(offsetof(TileArgs, a_scale), height * 4);
    step(offsetof(TileArgs, a_zero_point), height * 4);
    step(offsetof(TileArgs, row_terms), height * 4);
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

 public:
  // The key of the vector kernel of the same accumulator and pipeline.
  static KernelKey vector_key(KernelKey key, int rows, bool load_c) {
    key.isa = choose_geometry(key.accumulator, isa_features(key.isa)).isa;
    key.rows = static_cast<std::uint8_t>(rows);
    key.load_c = load_c;
    return key;
  }

  // Nothing but the vector kernel.
  void generate_jump() {
    mov(rax, reinterpret_cast<std::uintptr_t>(find_kernel(vector_key(key_, rows_, key_.load_c))));
    jmp(rax);
  }

 private:
  const KernelKey key_;
  const int rows_, vectors_, row_tiles_;
};

}  // namespace

std::vector<std::uint8_t> generate_amx(const GemmFamily& family, const KernelKey& key) {
  AmxCode code(family, key);
  if (key.indirect) return {};
  if (key.rows <= family.unit.vector_rows) {
    code.generate_jump();
    return code.code();
  }
  if (!code.fits()) return {};
  code.generate();
  return code.code();
}

}  // namespace fbg::kernels
