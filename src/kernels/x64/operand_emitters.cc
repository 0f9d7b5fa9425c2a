// What stages combine a value with: an operand in memory or in a register; and the instructions of
// functions (kernels/functions.h).
#include <cstddef>

#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {
namespace {

// Of comparisons: equal, less, less or equal, and the last two from right to left.
int predicate_of(const FunctionStep& step) {
  if (step.op == FunctionOp::equal) return 0;
  if (step.op == FunctionOp::less) return step.bits ? 14 : 1;
  return step.bits ? 13 : 2;
}

}  // namespace

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
      return stage_operand(t0_, offsetof(StageArgs, f0));
  }
  const ValueType type = code.operand;
  if (!ctx_.row_is_loaded && !pointer_) load_row_pointer();
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

// x = the function of an operation, of x and y. The temporary registers are overwritten.
void StageEmitter::apply(const Binary& binary, const Vec& x, const Xbyak::Operand& y) {
  const FunctionCode code = x64_function(binary, y.isMEM());
  for (const FunctionStep& step : code.steps) emit(step, x, y);
}

FunctionCode x64_function(const Binary& binary, bool y_in_memory) {
  return function_code(binary.operation, binary.reversed, y_in_memory, {4, true});
}

SimdAssembler::Vec StageEmitter::register_of(std::uint32_t number, const Vec& x) const {
  return number == 0 ? x : number == 1 ? t0_ : number == 2 ? t1_ : t2_;
}

void StageEmitter::load(const Vec& to, const FunctionOperand& from, const Vec& x,
                        const Xbyak::Operand& y) {
  switch (from.place) {
    case FunctionOperand::constant:
      return from.number ? as_.load_constant(to, from.number) : as_.zero(to);
    case FunctionOperand::in_slot:
      return as_.vmovups(to, slot(ctx_.first_spill + static_cast<int>(from.number)));
    case FunctionOperand::operand: {
      const auto& address = static_cast<const Xbyak::Address&>(y);
      return address.isBroadcast() ? broadcast_stage(to, offsetof(StageArgs, f0))
                                   : as_.vmovups(to, address);
    }
    default:
      return as_.vmovaps(to, register_of(from.number, x));
  }
}

void StageEmitter::emit(const FunctionStep& step, const Vec& x, const Xbyak::Operand& y) {
  using Op = FunctionOp;
  const Vec to = register_of(static_cast<std::uint32_t>(step.to), x);
  const Vec a = register_of(step.a.number, x);
  if (step.op == Op::load) return load(to, step.a, x, y);
  Vec place[2];
  Xbyak::Address memory[2]{Xbyak::Address(0), Xbyak::Address(0)};
  const Xbyak::Operand* operands[2];
  for (const int i : {0, 1}) {
    const FunctionOperand& from = i ? step.c : step.b;
    operands[i] = &memory[i];
    if (from.place == FunctionOperand::constant)
      memory[i] = as_.constant(from.number);
    else if (from.place == FunctionOperand::in_slot)
      memory[i] = slot(ctx_.first_spill + static_cast<int>(from.number));
    else if (from.place == FunctionOperand::operand)
      operands[i] = &y;
    else
      operands[i] = &(place[i] = register_of(from.number, x));
  }
  const Xbyak::Operand &b = *operands[0], &c = *operands[1];
  const auto shift = static_cast<std::uint8_t>(step.bits);
  switch (step.op) {
    case Op::spill:
      return as_.vmovups(static_cast<const Xbyak::Address&>(b), a);
    case Op::add:
      return as_.vaddps(to, a, b);
    case Op::subtract:
      return as_.vsubps(to, a, b);
    case Op::multiply:
      return as_.vmulps(to, a, b);
    case Op::divide:
      return as_.vdivps(to, a, b);
    case Op::fma:
      return as_.multiply_add(to, a, b, c);
    case Op::least:
      return as_.vminps(to, a, b);
    case Op::greatest:
      return as_.vmaxps(to, a, b);
    case Op::square_root:
      return as_.vsqrtps(to, a);
    case Op::round:
      return as_.round(to, a, shift);
    case Op::less:
    case Op::less_equal:
    case Op::equal:
      return as_.compare(to, a, b, predicate_of(step));
    case Op::greater_int:
    case Op::equal_int:
      return as_.compare_integers(to, a, b, step.op == Op::equal_int);
    case Op::select:
      return as_.select(to, a, b, static_cast<const Vec&>(c));
    case Op::bit_and:
      return as_.bit_and(to, a, b);
    case Op::bit_or:
      return as_.bit_or(to, a, b);
    case Op::shift_left:
      return as_.vpslld(to, a, shift);
    case Op::shift_right:
      return as_.vpsrld(to, a, shift);
    case Op::add_int:
      return as_.vpaddd(to, a, b);
    case Op::subtract_int:
      return as_.vpsubd(to, a, b);
    case Op::multiply_int:
      return as_.vpmulld(to, a, b);
    case Op::to_float:
      return as_.vcvtdq2ps(to, a);
    case Op::to_int:
      return as_.vcvttps2dq(to, a);
    default:
      return;
  }
}

}  // namespace fbg::kernels
