// The code of an AMX microkernel as it is being written: registers, the stack frame, and the parts
// in the order in which they run (amx_generator.cc).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "kernels/table.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {

class AmxCode : public SimdAssembler {
 public:
  AmxCode(const GemmFamily& family, const KernelKey& key)
      : SimdAssembler(family.vectors.lanes, isa_features(key.isa)),
        key_(key),
        rows_(key.rows),
        vectors_(key.vectors),
        row_tiles_(rows_ > kTileRows ? 2 : 1) {}

  bool fits() const { return rows_ <= 2 * kTileRows && row_tiles_ * vectors_ <= kSumTiles; }

  // Writes the whole kernel.
  void generate();
  // Writes a kernel that is nothing but a vector kernel.
  void generate_jump();

  // The key of the vector kernel of the same GEMM type and pipeline.
  static KernelKey vector_key(KernelKey key, int rows, Sums sums);

 private:
  using Reg64 = Xbyak::Reg64;

  static constexpr int kTileRows = 16, kBlockGroups = 16;
  static constexpr int kGroupBytes = 4;  // of a k-group of a row of A or a column of B
  static constexpr int kTileBytes = 64;  // of a row of a tile
  static constexpr int kSumTiles = 4, kFirstA = 4, kFirstB = 6;
  static constexpr int kPanelGroupBytes = kPanelColumns * kGroupBytes;
  static constexpr int kPairBytes = static_cast<int>(sizeof(BlockPair));
  // Bounds of the tiles in which the vector kernels finish results: vectors in all, and rows. They
  // leave registers for the tables of activations.
  static constexpr int kFinishedVectors = 16, kFinishedRows = 12;
  // Vectors of a step, whose instructions take less time than the multiplication of a block.
  static constexpr int kStepVectors = 8;

  // General registers by role.
  const Reg64 kSaved[6] = {rbx, rbp, r12, r13, r14, r15};
  const Reg64 args_ = r15;
  const Reg64 frame_ = r14;
  const Reg64 pair_ = r12, pairs_left_ = r13;
  const Reg64 a_[2] = {rsi, r9}, lda_ = r8;
  const Reg64 b_[2] = {rdx, r11}, b_stride_ = r10;  // panels of B, bytes between k-groups
  const Reg64 blocks_ = rcx, prefetch_ = rdi, scratch_ = rax;
  const Reg64 groups_seen_ = rbx;     // the disjunction of the k-groups of all pairs
  const Reg64 last_[2] = {r15, rbp};  // rows of the sums of the last tile, scratch_ bytes apart

  // The stack frame: the sums of the last tile, its TileArgs, which move on with its rows, and
  // slots; then the sums that a tile starts from, if they are not loaded as tiles (masked, where
  // they go on).
  enum class Slot {
    stack,        // the stack pointer of the caller
    tile,         // the TileArgs of the tile that is being multiplied
    last,         // those of the tile before it, or null if that has its results
    sums,         // where the sums of that tile are stored, if tiles are stored to C
    ldsums,       // and the bytes between their rows
    started,      // whether the first block has been multiplied
    steps,        // steps that are left of the tile whose sums are stored
    unfinished,   // whether rows are left of that tile
    single_rows,  // with a row mask: rows that are left after all steps
  };
  static constexpr int kArgsBytes = (static_cast<int>(sizeof(TileArgs)) + 63) / 64 * 64;
  static constexpr int kSlotBytes = 128;
  int sums_bytes() const { return rows_ * row_bytes(); }
  int slot_offset(Slot s) const { return sums_bytes() + kArgsBytes + 8 * static_cast<int>(s); }
  Xbyak::Address slot(Slot s) const { return ptr[frame_ + slot_offset(s)]; }
  int start_offset() const { return sums_bytes() + kArgsBytes + kSlotBytes; }
  int frame_bytes() const {
    return start_offset() + (goes_on(key_.sums) && key_.masked ? sums_bytes() : 0);
  }
  // Whether sums that need nothing else are stored to C as tiles, without the frame.
  bool stores_tiles() const {
    return key_.num_stages == 0 && !key_.masked && !key_.row_mask &&
           key_.caching != Caching::streams_c;
  }
  // Rows that are finished together while a block of k-groups is multiplied. Picked rows are
  // counted in steps by shifts.
  int step_rows() const {
    const auto rows = static_cast<unsigned>(
        std::min(kStepVectors / static_cast<int>(std::bit_ceil(unsigned(vectors_))), rows_));
    return static_cast<int>(key_.row_mask ? std::bit_floor(rows) : rows);
  }

  int row_bytes() const { return vectors_ * kTileBytes; }  // of sums in the frame
  // First row of a tile of A or of sums.
  int first_row(int tile) const { return tile == 0 ? 0 : rows_ - kTileRows; }
  Xbyak::Tmm sums(int i, int v) const { return Xbyak::Tmm(i * vectors_ + v); }
  Xbyak::Tmm a(int i) const { return Xbyak::Tmm(kFirstA + i); }
  Xbyak::Tmm b(int v) const { return Xbyak::Tmm(kFirstB + v % 2); }
  Xbyak::Address arg(std::size_t offset) const { return ptr[args_ + static_cast<int>(offset)]; }
  Xbyak::Address copied(std::size_t offset) const {
    return ptr[frame_ + sums_bytes() + static_cast<int>(offset)];
  }
  Xbyak::Address field(std::size_t offset) const { return ptr[pair_ + static_cast<int>(offset)]; }

  // With the distance between rows in b_stride_.
  Xbyak::Address sum_address(int i, int v, int offset = 0) const {
    return ptr[frame_ + b_stride_ + offset + first_row(i) * row_bytes() + v * kTileBytes];
  }

  template <class F>
  void for_each_sum(F f) {
    for (int i = 0; i < row_tiles_; ++i)
      for (int v = 0; v < vectors_; ++v) f(i, v);
  }
  template <class F>
  void for_each_sum_by_column(F f) {
    for (int v = 0; v < vectors_; ++v)
      for (int i = 0; i < row_tiles_; ++i) f(i, v);
  }

  void step_argument(std::size_t offset, int bytes) {
    add(qword[frame_ + sums_bytes() + static_cast<int>(offset)], bytes);
  }

  // Sums: amx_generator.cc.
  void prepare_mask();
  void initialize_sums();
  void store_sums();
  void forget_last_tile();
  void locate_second_row_tile();
  void locate_last_sums();
  void store_last_sum(int i, int v);
  void multiply();
  void multiply_first_block();
  void multiply_block();
  void advance_block();
  void load_a(int i);
  void load_b(int v);
  void keep_vectors_awake();
  void dot_product(const Xbyak::Tmm& sum, const Xbyak::Tmm& x, const Xbyak::Tmm& y);

  // Results: amx_finish.cc.
  void copy_args(bool all);
  void copy_rests();
  void begin_steps();
  void finish_step();
  void finish_remaining();
  void load_sums(int height, bool more);
  void load_picked_sums(int height, bool more);
  void finish_rows(int height, bool more);
  void finish_with_rests();
  void call_kernel(const KernelKey& key);
  void move_down_rows(int height);
  void move_down(int height);

  const KernelKey key_;
  const int rows_, vectors_, row_tiles_;
  Xbyak::Label begin_, step_, finish_;  // subroutines
};

}  // namespace fbg::kernels
