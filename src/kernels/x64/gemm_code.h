// The code of one GEMM microkernel as it is being written: registers by role, and the parts in the
// order in which they run.
//
//   prologue                            gemm_generator.cc
//   for each block pair                 gemm_k_loop.cc, gemm_indirect.cc for rows behind pointers
//     for each k-group
//       load A: rows broadcasts, load B: vectors of one k-group    gemm_operands.cc
//       acc[row][v] += dot(A[row], B[v])
//     or, of 4-bit weights, for each group of k                    gemm_nibbles.cc
//     or, of float16, for each kHalfDepth k                        gemm_halves.cc
//   add up independent accumulators
//   for each row and vector: stages, store                         epilogue.cc
#pragma once

#include <cstddef>

#include "core/policy.h"
#include "kernels/x64/generators.h"
#include "kernels/x64/simd_assembler.h"
#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {

class GemmCode : public SimdAssembler {
 public:
  GemmCode(Dot dot, const GemmFamily& family, const KernelKey& key);

  // Whether the tile fits the register file.
  bool fits() const;
  // Writes the whole kernel.
  void generate();

 private:
  using Address = Xbyak::Address;
  using Reg64 = Xbyak::Reg64;

  static constexpr int kUnroll = 4;
  static constexpr int kBaseRows = 7;  // rows reached from one base register
  static constexpr int kMaxRows = 14;

  // General registers by role (System V: rdi holds the arguments).
  const Reg64 args_ = rdi;
  const Reg64 a_[2] = {rsi, r11};  // rows 0 and 7 of A
  const Reg64 b_ = rdx, groups_ = rcx;
  const Reg64 lda_ = r8, lda3_ = r9, lda5_ = r10;
  const Reg64 panel_ = rbx, panel3_ = rbp;        // bytes to the next panel, and three times that
  const Reg64 operand_ = rbx, operand_ld_ = rbp;  // a row of what a stage adds; of one panel only
  const Reg64 pair_ = r12, pairs_left_ = r13;
  const Reg64 c_ = r14, ldc_ = r15;
  const Reg64 scratch_ = rax;
  const Reg64 prefetch_ = rax;  // in the K loop, where nothing else needs scratch
  const Reg64 sums_;            // where sums are spilled: r14, or rax if rows are behind pointers
  const Reg64 groups_left_ = r15;  // C is not needed meanwhile
  const Reg64 to_scale_ =
      r14;  // of 4-bit weights: what scales are further to the left than columns
  const Reg64 blocks_left_ = r15;  // of a group of them
  // Behind pointers, rows of A end at row_end_[i] + row_index_, and what the K loop needs besides
  // is on the stack.
  const Reg64 row_end_[12] = {rsi, r8, r9, r10, r11, r14, r15, r12, r13, rdi, rbx, rbp};
  const Reg64 row_index_ = rcx;

  // Vector registers by role: accumulators first, then B, then A.
  Vec acc(int row, int v, int accumulator = 0) const {
    return vec((accumulator * rows_ + row) * vectors_ + v);
  }
  // A sum of products in the K loop. A vector of float16 is two of float sums, and has the number
  // of the first one.
  Vec sum(int row, int v, int accumulator) const {
    if (!halves()) return acc(row, v, accumulator);
    return vec((accumulator * rows_ + row) * products_ + v / 2);
  }
  Vec b(int v, int half = 0) const {
    return vec(first_b_ + (splits_ ? 2 * v : v / product_vectors()) + half);
  }
  Vec a(int row) const;
  Vec product() const { return vec(num_vectors() - 1); }
  int a_registers() const;
  // What the registers of A leave free at the end besides: a mask of 4-bit weights, or ones.
  int reserved() const { return dot_ == Dot::nibbles || pairs_groups(); }

  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }
  bool fuses() const {
    return dot_ != Dot::widen_int8 && dot_ != Dot::maddubs && dot_ != Dot::wide_nibbles;
  }
  // Whether two k-groups are multiplied at a time, by vectors of B in memory.
  bool pairs_groups() const { return dot_ == Dot::pair_sums; }
  bool nibbles() const { return dot_ == Dot::nibbles || dot_ == Dot::wide_nibbles; }
  bool halves() const { return dot_ == Dot::fma_half; }
  // Vectors of float sums for one of products.
  int product_vectors() const { return halves() ? 2 : 1; }
  // Whether float sums are on the stack during the K loop.
  bool keeps_sums() const { return nibbles() || halves(); }
  // Whether the even k of a k-group are multiplied before the odd k.
  bool in_halves() const { return dot_ == Dot::widen_int8 || (dot_ == Dot::fma_bf16 && !splits_); }
  // Whether tiles fetch the next panel into the L2. Not where rows are so few that no other tile
  // shares their panel, and where sums take the register.
  bool fetches_next_panel() const {
    return (accumulators_ == 1 || halves()) && !(reads_pointers() && dot_ == Dot::maddubs) &&
           !(nibbles() && rows_ <= policy::prefetch::kFewNibbleRows);
  }
  // Whether the K loop of deep products fetches rows for the epilogue. Tiles of few rows leave that
  // to the prologue, and so do kernels that have no registers left for it.
  bool fetches_in_k_loop() const {
    return rows_ > 4 && !spans_panels() && !reads_pointers() && !keeps_sums() &&
           added_stages() <= 1 && key_.gemm_type != GemmType::int16;
  }
  // The k-groups of such a product that are left when it begins to fetch rows; it needs as many.
  int deep_groups() const { return kUnroll * (rows_ + 8); }
  // Multiply-adds with a line of B, for each row of the tile.
  int dots_per_line() const {
    if (nibbles()) return dot_ == Dot::nibbles ? 2 : 4;
    return in_halves() ? 2 : 1;
  }
  // Whether the K loop reads B as fast as DRAM delivers it, even where all other data is in the L1.
  bool reads_at_speed_of_memory() const {
    return rows_ * dots_per_line() <= (reads_bytes(key_.gemm_type) ? 5 : 6) && !spans_panels();
  }
  bool spans_panels() const { return vectors_ * lanes() > panel_columns_; }
  bool reads_pointers() const { return key_.a == ARows::pointers; }
  bool streams() const { return key_.caching == Caching::streams_c; }
  bool is_partial(int v) const { return key_.masked && v == vectors_ - 1; }
  int choose_accumulators() const;
  // Whether sums start from what the first stage would subtract from each of them.
  bool starts_corrected() const;

  // Prologue.
  void save_registers();
  void restore_registers();
  void load_c_registers();
  void initialize_accumulators();
  void subtract_column_offsets();
  void load_partial_sums();
  void fetch_epilogue();
  void fetch_rows(const Reg64& row, const Reg64& ld, std::int64_t size, bool writes);
  void fetch_row(const Reg64& row, std::int64_t size, bool writes);
  void find_operand(int stage);
  int added_stages() const;  // those that add a matrix
  int first_added_stage() const;
  void prepare_mask();

  // K loop.
  void for_each_pair();
  void k_loop();
  void jump_if_shallow(const Xbyak::Operand& groups, const Xbyak::Label& target);
  void spilling_k_loop();
  void for_each_indirect_pair();
  void load_row_pointers();
  void indirect_piece();
  void spilling_indirect_pieces();
  void unrolled_k_groups();
  void k_group(int u);
  void fetch(int u);
  void multiply_groups(int u, int groups);
  void multiply_rows(int a_offset, int accumulator = 0);
  void advance(int groups);
  void fetch_b(int u);
  void spill();
  void load_ones(const Vec& to) { load_constant(to, 0x00010001u); }
  void widen_sum(const Vec& sum) { vpmaddwd(sum, sum, vec(first_b_)); }
  void add_accumulators();
  void add_sums();
  // Of float16 (gemm_halves.cc) and 4-bit weights (gemm_nibbles.cc): float sums are on the stack,
  // those of kHalfDepth k or of a group in registers.
  void start_sums();
  void load_sums();
  void halves_k_loop();
  void add_halves();
  void start_nibbles();
  void nibbles_k_loop();
  void nibbles_block(int block);
  void fetch_nibbles(const Address& to_l1, const Address& to_l2);
  Vec high_halves() const { return vec(num_vectors() - 1); }
  void load_nibbles(const Vec& to, const Address& from, int part);
  void add_group();
  void finish_nibbles();
  int sums_bytes() const { return rows_ * vectors_ * vector_bytes(); }
  Address float_sum(int row, int v) { return ptr[rsp + (row * vectors_ + v) * vector_bytes()]; }
  // Behind these sums: the stack pointer to restore, and the sums of the group of A.
  Address group_sums() { return ptr[rsp + sums_bytes() + 8]; }
  Address scale_address(int v, int offset = 0);
  int scale_bytes() const {
    return panel_columns_ * static_cast<int>(PackedFormat::kNibbleScaleBytes);
  }
  Address sum_address(int row, int v) { return ptr[sums_ + (row * vectors_ + v) * vector_bytes()]; }

  // Operands.
  Address a_address(int row, int offset);
  Address panel_address(int panel, const Xbyak::RegExp& disp);
  Address b_address(int v, int offset);
  void load_b(int v, int offset);
  void load_half(const Vec& to, const Address& from, int odd);
  void broadcast_a(int row, int offset);
  void dot_product(const Vec& sum, int row, int v);
  void multiply(const Vec& product, int row, int v);
  void add_product(const Vec& sum, const Vec& product);

  // Epilogue.
  void run_pipeline();

  const KernelKey key_;
  const int rows_, vectors_;
  const Dot dot_;
  const int products_;  // vectors of products of a row
  const bool splits_;   // registers hold the even and the odd k of B at the same time
  const int a_group_bytes_, b_column_bytes_, b_group_bytes_, panel_columns_;
  const int accumulators_;  // of each sum over k, added up at the end
  const int first_b_, first_a_;
  bool fetches_rows_ = false;  // in the part of the K loop that is being written
};

}  // namespace fbg::kernels
