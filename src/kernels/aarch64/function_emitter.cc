// The instructions of functions of elements (kernels/functions.h).
#include "kernels/aarch64/stage_emitter.h"
#include "kernels/function_code.h"

namespace fbg::kernels {
namespace {

// x, the temporary registers of stages, v0 and the registers of tables but the last, which an
// instruction may overwrite.
constexpr int kFunctionRegisters = 8;

}  // namespace

// No function has so many values at a time that one would have to be saved.
void StageEmitter::apply(const Binary& binary, const Vec& x) {
  const FunctionCode code =
      function_code(binary.operation, binary.reversed, false, {kFunctionRegisters, false});
  for (const FunctionStep& step : code.steps) emit(step, x);
}

NeonAssembler::Vec StageEmitter::register_of(std::uint32_t number, const Vec& x) const {
  const Vec own[] = {x, t0_, t1_, t2_, t3_};
  if (number < 5) return own[number];
  return as_.vec(kEpilogueTable + static_cast<int>(number) - 5);
}

// to = mask ? then : otherwise; to may be any of them.
void StageEmitter::select(const Vec& to, const Vec& mask, const Vec& then, const Vec& otherwise) {
  if (to.s4.index == then.s4.index) return as_.bif(to.b16, otherwise.b16, mask.b16);
  if (to.s4.index == otherwise.s4.index) return as_.bit(to.b16, then.b16, mask.b16);
  if (to.s4.index != mask.s4.index) as_.copy(to, mask);
  as_.bsl(to.b16, then.b16, otherwise.b16);
}

void StageEmitter::emit(const FunctionStep& step, const Vec& x) {
  using Op = FunctionOp;
  const auto place = [&](const FunctionOperand& operand) {
    return operand.place == FunctionOperand::in_register ? register_of(operand.number, x) : x;
  };
  const Vec to = register_of(static_cast<std::uint32_t>(step.to), x);
  const Vec a = place(step.a), b = place(step.b), c = place(step.c);
  const Vec scratch = as_.vec(kEpilogueTable + 3);
  const int shift = static_cast<int>(step.bits);
  switch (step.op) {
    case Op::load:
      if (step.a.place != FunctionOperand::constant) return as_.copy(to, a);
      return step.a.number ? as_.load_constant(to, step.a.number) : as_.zero(to);
    case Op::add:
      return as_.fadd(to.s4, a.s4, b.s4);
    case Op::subtract:
      return as_.fsub(to.s4, a.s4, b.s4);
    case Op::multiply:
      return as_.fmul(to.s4, a.s4, b.s4);
    case Op::divide:
      return as_.fdiv(to.s4, a.s4, b.s4);
    case Op::fma:
      if (to.s4.index != c.s4.index) as_.copy(to, c);
      return as_.fmla(to.s4, a.s4, b.s4);
    case Op::least:
      if (step.bits) return as_.fmin(to.s4, a.s4, b.s4);
      as_.fcmgt(scratch.s4, b.s4, a.s4);
      return select(to, scratch, a, b);
    case Op::greatest:
      if (step.bits) return as_.fmax(to.s4, a.s4, b.s4);
      as_.fcmgt(scratch.s4, a.s4, b.s4);
      return select(to, scratch, a, b);
    case Op::square_root:
      return as_.fsqrt(to.s4, a.s4);
    case Op::round:
      return shift == 0   ? as_.frintn(to.s4, a.s4)
             : shift == 1 ? as_.frintm(to.s4, a.s4)
             : shift == 2 ? as_.frintp(to.s4, a.s4)
                          : as_.frintz(to.s4, a.s4);
    case Op::less:
      return as_.fcmgt(to.s4, b.s4, a.s4);
    case Op::less_equal:
      return as_.fcmge(to.s4, b.s4, a.s4);
    case Op::equal:
      return as_.fcmeq(to.s4, a.s4, b.s4);
    case Op::greater_int:
      return as_.cmgt(to.s4, a.s4, b.s4);
    case Op::equal_int:
      return as_.cmeq(to.s4, a.s4, b.s4);
    case Op::select:
      return select(to, a, b, c);
    case Op::bit_and:
      return as_.and_(to.b16, a.b16, b.b16);
    case Op::bit_or:
      return as_.orr(to.b16, a.b16, b.b16);
    case Op::shift_left:
      return as_.shl(to.s4, a.s4, shift);
    case Op::shift_right:
      return as_.ushr(to.s4, a.s4, shift);
    case Op::add_int:
      return as_.add(to.s4, a.s4, b.s4);
    case Op::subtract_int:
      return as_.sub(to.s4, a.s4, b.s4);
    case Op::multiply_int:
      return as_.mul(to.s4, a.s4, b.s4);
    case Op::to_float:
      return as_.scvtf(to.s4, a.s4);
    case Op::to_int:
      return as_.fcvtzs(to.s4, a.s4);
    default:
      return;
  }
}

}  // namespace fbg::kernels
