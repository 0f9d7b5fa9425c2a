// What stages combine a value with: an operand in memory or in a register, and the instructions of
// each operation. Both follow src/kernels/generic/stages.cc.
#include <cstddef>

#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {

// The operand as the last one of an instruction; t0 and t1 may be overwritten.
const Xbyak::Operand& StageEmitter::operand(const StageCode& code) {
  const auto in_memory = [&](const Xbyak::Address& from) -> const Xbyak::Operand& {
    if (!ctx_.masked) return operand_ = from;
    as_.load(t0_, from, true);
    return t0_;
  };
  switch (code.binary.operand) {
    case OperandKind::columns:
      as_.mov(ctx_.scratch, stage_field(offsetof(StageArgs, data)));
      return in_memory(element(4));
    case OperandKind::slot:
      return operand_ = slot(code.binary.slot);
    case OperandKind::matrix:
      break;
    default:
      if (!code.binary.reversed && code.binary.operation != Operation::replace)
        return stage_operand(t0_, offsetof(StageArgs, f0));
      broadcast_stage(t0_, offsetof(StageArgs, f0));
      return t0_;
  }
  const ValueType type = code.operand;
  if (!ctx_.row_is_loaded) load_row_pointer();
  if (type == ValueType::float32) return in_memory(element(4));
  load_narrow(t0_, element(static_cast<int>(value_size(type))), type);
  if (value_size(type) == 1) {
    as_.vcvtdq2ps(t0_, t0_);
    if (!code.specialization.centered)
      as_.vsubps(t0_, t0_, stage_operand(t1_, offsetof(StageArgs, f1)));
    as_.vmulps(t0_, t0_, stage_operand(t1_, offsetof(StageArgs, f0)));
  }
  return t0_;
}

// to = u op v; `to` is u or v, and t1 and t2 are overwritten.
void StageEmitter::combine(Operation operation, const Vec& to, const Vec& u,
                           const Xbyak::Operand& v) {
  constexpr int kEqual = 0, kLess = 1, kGreater = 14;
  switch (operation) {
    case Operation::add:
      return as_.vaddps(to, u, v);
    case Operation::subtract:
      return as_.vsubps(to, u, v);
    case Operation::multiply:
      return as_.vmulps(to, u, v);
    case Operation::divide:
      return as_.vdivps(to, u, v);
    case Operation::minimum:
    case Operation::maximum:  // the second source where one is a NaN, or both are zeros
      operation == Operation::minimum ? as_.vminps(t1_, u, v) : as_.vmaxps(t1_, u, v);
      as_.blend_nan(t1_, u, u, t2_);
      return as_.vmovaps(to, t1_);
    case Operation::prelu:
      as_.vmulps(t1_, u, v);
      as_.zero(t2_);
      return as_.select(to, u, t2_, kLess, t1_, u, t2_);
    case Operation::less:
      return as_.compare(to, u, v, kLess, t1_);
    case Operation::greater:
      return as_.compare(to, u, v, kGreater, t1_);
    case Operation::equal:
      return as_.compare(to, u, v, kEqual, t1_);
    case Operation::replace:
      if (v.isMEM()) return as_.vmovups(to, static_cast<const Xbyak::Address&>(v));
      return as_.vmovaps(to, v);
    case Operation::none:
      return;
  }
}

}  // namespace fbg::kernels
