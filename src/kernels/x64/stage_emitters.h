// The vector implementation of the output pipeline: each stage applied to one register of results.
#pragma once

#include <array>

#include "kernels/microkernel.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {

// Registers that hold pointers of TileArgs while the pipeline runs.
struct StageOperands {
  Xbyak::Reg64 stages{Xbyak::Operand::RBX};
  // Point to the values of row 0 of the tile.
  Xbyak::Reg64 a_scale{Xbyak::Operand::R8}, a_zero_point{Xbyak::Operand::R9},
      row_terms{Xbyak::Operand::R10};
  // Point to the values of column 0.
  Xbyak::Reg64 b_scale{Xbyak::Operand::R11}, b_zero_point{Xbyak::Operand::R12},
      col_offsets{Xbyak::Operand::R13};
};

// Where one vector of results stands and what the emitters may use. `args` holds the TileArgs.
struct StageContext {
  const KernelKey& key;
  Xbyak::Reg64 args;
  int temps;             // the first of three free vector registers
  bool corrected;        // the folded offsets were subtracted before
  int row = 0;           // of the tile
  int column_bytes = 0;  // 4 * first column of the vector
  bool masked = false;   // the vector is partial
  StageOperands operands{};
  Xbyak::Reg64 scratch{Xbyak::Operand::RAX}, scratch2{Xbyak::Operand::RSI},
      scratch3{Xbyak::Operand::RDX};
  // Only one stage has an operand and uses `scratch`, which points to the row of that operand
  // already.
  bool row_is_loaded = false;
  // Stages whose matrices have pointers of their own to the columns of the tile in this row: in
  // a_scale, a_zero_point and row_terms, which the pipeline does not need then.
  std::array<int, 3> pointed{-1, -1, -1};
  // The first of the vector registers that hold what was folded: offsets of all vectors of a row,
  // then scales. -1: they are in memory.
  int kept_columns = -1;
  int row_vectors = 0;
  int first_spill = 0;  // slots of the stack from here on are free for functions
  // The vector register of requantize's upper bound, if packing does the rest after rounding: the
  // zero point and the lower bound. -1: the stage does all of it.
  int upper = -1;

  // The pointer of a stage of `pointed`, or null.
  const Xbyak::Reg64* pointer_of(int stage) const {
    const Xbyak::Reg64* const registers[] = {&operands.a_scale, &operands.a_zero_point,
                                             &operands.row_terms};
    for (std::size_t i = 0; i < pointed.size(); ++i)
      if (pointed[i] == stage) return registers[i];
    return nullptr;
  }
};

// x = stage(x). x holds int32 or float32 lanes; requantize leaves int32 lanes in the range of its
// type.
void emit_stage(SimdAssembler& as, const StageCode& code, int stage_index,
                const SimdAssembler::Vec& x, const StageContext& ctx);

// Whether an emitter keeps vectors on the stack, and in how many slots besides those of Save.
bool uses_stack(const StageCode& code);
int spilled_vectors(const StageCode& code);

// Loads what a stage looks up for every vector into registers from `first` on, which nobody else
// uses while the pipeline runs, as far as they reach; returns the first that is left.
int emit_kept_tables(SimdAssembler& as, const StageCode& code, int first, int end);

// x = the bytes of a table of 256 at the places that the bytes of x give, where looks_up_bytes();
// uses up two other vectors and k2.
void emit_look_up(SimdAssembler& as, const Xbyak::Zmm& x, const Xbyak::Zmm& lower,
                  const Xbyak::Zmm& upper, const Xbyak::Reg64& table);

// Stores a vector of results of the given type at column `column` of [row], respecting the column
// mask.
void emit_store(SimdAssembler& as, ValueType type, const Xbyak::Reg64& row, int column,
                const SimdAssembler::Vec& x, const StageContext& ctx);

// RowRange: widens the extent of a row by its vectors in the tile, numbered from `first` on, after
// they are stored. The last is partial where ctx.masked; their registers are used up.
void emit_row_range(SimdAssembler& as, int stage_index, int first, int vectors,
                    const StageContext& ctx);

}  // namespace fbg::kernels
