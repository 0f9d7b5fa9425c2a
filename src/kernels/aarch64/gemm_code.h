// The code of one GEMM microkernel as it is being written: registers by role, and the parts in the
// order in which they run.
//
//   prologue                            gemm_generator.cc
//   for each block pair                 gemm_k_loop.cc
//     for each step of k-groups
//       load A: a register for each row, which holds the k-groups of the step
//       for each k-group
//         load B: vectors of the k-group                         gemm_operands.cc
//         acc[row][v] += dot(A[row][group], B[v])
//     or, of 4-bit weights, for each group                       gemm_nibbles.cc
//   for each row and vector: stages, store                       epilogue.cc
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/aarch64/gemm_generator.h"
#include "kernels/aarch64/neon_assembler.h"

namespace fbg::kernels {

class GemmCode : public NeonAssembler {
 public:
  GemmCode(Dot dot, const GemmFamily& family, const KernelKey& key);

  // Whether the tile fits the register file.
  bool fits() const;
  // Writes the whole kernel.
  void generate();

 private:
  static constexpr int kMaxRows = 8;

  // General registers by role (AAPCS64: x0 holds the arguments). Rows of A have pointers of their
  // own, so that it makes no difference whether they lie at equal distances.
  const XReg args_{0};
  XReg row_pointer(int row) const { return XReg(1 + row); }
  const XReg b_{9}, groups_{10}, pair_{11}, pairs_left_{12}, prefetch_{13};
  const XReg scratch_{14}, scratch2_{15}, rest_{16};
  // Of 4-bit weights, whose kernels do not read rows through pointers and are not masked before C.
  const XReg group_sums_{15}, blocks_left_{16}, before_scales_{17};

  // Vector registers by role: rows of A first, because some instructions read elements of v0 to
  // v15 only, then accumulators, then B, then sums of columns. Where matrices are multiplied, two
  // rows and two columns share an accumulator, and an odd row counts twice.
  Vec left(int row) const { return vec(row); }
  Vec acc(int row, int v) const { return vec(rows_ + row * vectors_ + v); }
  Vec right(int v, int half = 0) const { return vec(first_b_ + v * (splits() ? 2 : 1) + half); }
  Vec column_sum(int v) const { return vec(first_b_ + (nibbles() ? 2 : vectors_) + v); }
  Vec sign() const { return vec(kVectors - 1); }  // 0x80 in every byte

  int group_offset(int group, int v) const {
    return group * b_group_bytes_ + v * kLanes * b_column_bytes_;
  }
  // Groups of rows that have a pointer.
  bool interleaved() const { return key_.a == ARows::interleaved; }
  int num_row_pointers() const { return interleaved() ? padded_rows() / 2 : rows_; }
  int b_registers() const;
  bool nibbles() const { return is_int4(key_.gemm_type); }
  bool shifts_a() const { return dot_ == Dot::sdot || dot_ == Dot::sdot_int4; }
  // Whether the sums of columns are computed beside the products: B less its outliers has others
  // than those that the driver knows, and so have groups of 4-bit weights.
  bool sums_columns() const {
    return shifts_a() && (key_.gemm_type == GemmType::int16 || nibbles());
  }
  bool splits() const { return dot_ == Dot::fma_bf16 || dot_ == Dot::widen_bf16; }
  bool widens_bytes() const { return dot_ == Dot::widen_int8 || dot_ == Dot::widen_int4; }
  bool multiplies_matrices() const {
    return (dot_ == Dot::sudot || dot_ == Dot::bfdot || dot_ == Dot::sudot_int4) &&
           (rows_ > 1 || interleaved());
  }
  int padded_rows() const { return multiplies_matrices() ? (rows_ + 1) / 2 * 2 : rows_; }
  // The halves of a step of two rows, 8 bytes of each: the first takes the place of what is not
  // needed any more.
  Vec left_pair(int pair, int half) const {
    if (half == 1) return left(std::min(2 * pair + 1, rows_ - 1));
    return pair == 0 ? vec(first_b_) : left(2 * pair - 2);
  }

  // Prologue and epilogue.
  void initialize_accumulators();
  void add_column_sums();
  void load_partial_sums();
  void add_sums();

  // K loop.
  void for_each_pair();
  void for_each_step();
  void load_row_pointers();
  void step(int groups);
  void k_group(int group);
  void remove_shift();
  void matrix_step(int half, bool single_group);
  void paired_step(int halves);
  void multiply_pair(int row_pair, int v, const Vec& a, const Vec& low, const Vec& high);
  void exchange_pairs();

  // Operands.
  void load_a(int row, int bytes);
  void interleave_rows();
  void load_b(int v, int group);
  void widen_b();
  void dot_product(int row, int v, int group);

  // 4-bit weights.
  Vec widened() const { return vec(first_b_ + 1); }
  Vec high_halves() const { return vec(kVectors - 1 - shifts_a()); }  // 0xf0 in every byte
  aarch64::At float_sum(int row, int v) const {
    return at(aarch64::sp, (row * vectors_ + v) * kVectorBytes);
  }
  int blocks_of_step() const { return widens_bytes() ? 1 : 2; }  // that a register of A holds
  void start_nibbles();
  void for_each_group();
  void nibbles_step(int first_block);
  void multiply_nibbles(const Vec& packed, int v, int block, int part);
  void multiply_nibble_pairs(const Vec& packed, int v, int block);
  void add_group();
  void load_scales(int v);
  void add_row_sums(int v);
  void add_row_pair_sums(int v);
  void add_float_sum(int row, int v, const Vec& scale);
  void load_float_sums();
  void finish_nibbles();

  const KernelKey key_;
  const int rows_, vectors_;
  const Dot dot_;
  const int a_group_bytes_, b_column_bytes_, b_group_bytes_;
  const int groups_of_step_;  // that a register of A holds
  const int first_b_;
};

}  // namespace fbg::kernels
