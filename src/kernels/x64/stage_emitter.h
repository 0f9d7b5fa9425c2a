// What the emitters of stages share: the assembler, the position of the vector in the tile, three
// temporary registers and the parameters of the stage. The methods are defined in these files:
//
//   stage_emitters.cc      an emitter for each stage, and their table
//   operand_emitters.cc    what a stage combines its value with, and how
//   element_emitters.cc    operands and results of 8, 16 and 32 bits in memory
//   row_range_emitter.cc   the least and the greatest value of a row
#pragma once

#include <cstddef>

#include "kernels/function_code.h"
#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {

// Register 0 is that of the value, the others are the three temporary ones.
FunctionCode x64_function(const Binary& binary, bool y_in_memory);

class StageEmitter {
 public:
  using Vec = SimdAssembler::Vec;

  StageEmitter(SimdAssembler& as, const StageContext& ctx, int stage)
      : as_(as),
        ctx_(ctx),
        t0_(as.vec(ctx.temps)),
        t1_(as.vec(ctx.temps + 1)),
        t2_(as.vec(ctx.temps + 2)),
        stage_offset_(stage * static_cast<int>(sizeof(StageArgs))),
        pointer_(ctx.pointer_of(stage)) {}

  void row_range(int first, int vectors);

 protected:
  void skip_if_within(int first, int vectors, const Xbyak::Reg64& target, const Xbyak::Label& done);
  void load_row_pointer();
  Xbyak::Address element(int size);
  const Xbyak::Operand& operand(const StageCode& code);
  void apply(const Binary& binary, const Vec& x, const Xbyak::Operand& y);
  Vec register_of(std::uint32_t number, const Vec& x) const;
  void load(const Vec& to, const FunctionOperand& from, const Vec& x, const Xbyak::Operand& y);
  void emit(const FunctionStep& step, const Vec& x, const Xbyak::Operand& y);
  void load_narrow(const Vec& to, const Xbyak::Address& from, ValueType type);
  void widen(const Vec& to, const Xbyak::Operand& from, ValueType type);

  // Where a value is saved: above the aligned stack pointer.
  Xbyak::Address slot(int number) { return as_.ptr[as_.rsp + 64 * (1 + number)]; }
  Xbyak::Address stage_field(std::size_t offset) {
    return as_.ptr[ctx_.operands.stages + stage_offset_ + static_cast<int>(offset)];
  }
  void broadcast_stage(const Vec& v, std::size_t field) { as_.vbroadcastss(v, stage_field(field)); }
  // A parameter of the stage in every lane, as the last operand of an instruction: in memory with
  // AVX-512, otherwise in `scratch`.
  const Xbyak::Operand& stage_operand(const Vec& scratch, std::size_t field) {
    if (!as_.is_zmm()) {
      broadcast_stage(scratch, field);
      return scratch;
    }
    return broadcast_ = as_.ptr_b[ctx_.operands.stages + stage_offset_ + static_cast<int>(field)];
  }
  Xbyak::Address row(const Xbyak::Reg64& base) { return as_.ptr[base + ctx_.row * 4]; }
  Xbyak::Address column(const Xbyak::Reg64& base) { return as_.ptr[base + ctx_.column_bytes]; }
  // Folded values of the columns of this vector: number 0 (offsets) or 1 (scales), from registers
  // if these keep them.
  const Xbyak::Operand& folded_column(const Xbyak::Reg64& base, int number) {
    if (ctx_.kept_columns < 0) return folded_ = column(base);
    const int v = ctx_.column_bytes / as_.vector_bytes();
    return kept_ = as_.vec(ctx_.kept_columns + number * ctx_.row_vectors + v);
  }

  SimdAssembler& as_;
  const StageContext& ctx_;
  const Vec t0_, t1_, t2_;
  Xbyak::Address broadcast_{0}, folded_{0}, operand_{0};
  Vec kept_;
  const int stage_offset_;
  const Xbyak::Reg64* pointer_;  // to the row of the stage's matrix, if a register has it
};

}  // namespace fbg::kernels
