// One emitter per stage; each follows the formula of its scalar implementation in
// src/kernels/generic/stages.cc, operation by operation, so that both give the same bits. Functions
// of elements are those of src/kernels/functions.h.
#include "kernels/x64/stage_emitters.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "core/gelu_coefficients.h"
#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {
namespace {

struct Stages : StageEmitter {
  using StageEmitter::StageEmitter;

  // x - zA_i * colsum_j + row_term_i * zB_j
  void correct(const Vec& x, const StageCode&) {
    if (ctx_.corrected) return;
    if (ctx_.key.folds()) return as_.vpsubd(x, x, folded_column(ctx_.operands.col_offsets, 0));
    if (ctx_.key.corrections == Corrections::both) {
      as_.vpbroadcastd(t0_, row(ctx_.operands.row_terms));
      as_.vpmulld(t0_, t0_, column(ctx_.operands.b_zero_point));
      as_.vpaddd(x, x, t0_);
    }
    as_.vpbroadcastd(t0_, row(ctx_.operands.a_zero_point));
    as_.vpmulld(t0_, t0_, column(ctx_.operands.col_offsets));
    as_.vpsubd(x, x, t0_);
  }

  // x * (sA_i * sB_j), or x * ((sA_i * sB_j) / scale of the stage)
  void multiply_by_scales(const Vec& x, bool divides) {
    if (ctx_.key.folds()) return as_.vmulps(x, x, folded_column(ctx_.operands.b_scale, 1));
    as_.vbroadcastss(t0_, row(ctx_.operands.a_scale));
    as_.vmulps(t0_, t0_, column(ctx_.operands.b_scale));
    if (divides) {
      broadcast_stage(t1_, offsetof(StageArgs, f0));
      as_.vdivps(t0_, t0_, t1_);
    }
    as_.vmulps(x, x, t0_);
  }

  void dequantize(const Vec& x, const StageCode& code) {
    if (code.in == ValueType::acc) correct(x, code);
    as_.vcvtdq2ps(x, x);
    multiply_by_scales(x, false);
  }

  // f(x), f(x, y) or f(y, x)
  void binary(const Vec& x, const StageCode& code) {
    if (!is_binary(code.binary.operation)) return apply(code.binary, x, t0_);
    const Xbyak::Operand& y = operand(code);
    if (code.in != ValueType::float32) return as_.vpaddd(x, x, y);
    apply(code.binary, x, y);
  }

  void save(const Vec& x, const StageCode& code) { as_.vmovups(slot(code.binary.slot), x); }

  void relu(const Vec& x, const StageCode& code) {
    as_.zero(t0_);
    if (code.in == ValueType::float32)
      as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays
    else
      as_.vpmaxsd(x, x, t0_);
  }

  void clip(const Vec& x, const StageCode&) {
    broadcast_stage(t0_, offsetof(StageArgs, f0));
    as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays; and so below
    broadcast_stage(t0_, offsetof(StageArgs, f1));
    as_.vminps(x, t0_, x);
  }

  // The lower half of x becomes the 16-bit floats; of AVX2, x 32-bit lanes whose low half they are.
  void cast(const Vec& x, const StageCode& code) {
    const Vec half = as_.is_zmm() ? Vec(Xbyak::Ymm(x.getIdx())) : Xbyak::Xmm(x.getIdx());
    if (code.out == ValueType::float16) {
      as_.vcvtps2ph(half, x, 0);  // 0: half to even
      if (!as_.is_zmm()) as_.vpmovzxwd(x, half);
      return;
    }
    as_.to_bfloat16(x, t0_, t1_, t2_);
  }

  void requantize(const Vec& x, const StageCode& code) {
    if (code.in == ValueType::acc) correct(x, code);
    if (code.in == ValueType::float32) {
      if (!code.specialization.unit_scale)
        as_.vdivps(x, x, stage_operand(t0_, offsetof(StageArgs, f0)));
    } else {
      as_.vcvtdq2ps(x, x);
      multiply_by_scales(x, true);
    }
    if (ctx_.upper >= 0) {
      // A NaN stays, being the second source, and becomes the least integer, which packing
      // saturates.
      if (!code.specialization.bounded) as_.vminps(x, as_.vec(ctx_.upper), x);
      as_.vcvtps2dq(x, x);
      return;
    }
    // A NaN gives the second source: the lowest.
    as_.vmaxps(x, x, stage_operand(t0_, offsetof(StageArgs, f1)));
    as_.vminps(x, x, stage_operand(t0_, offsetof(StageArgs, f2)));
    as_.vcvtps2dq(x, x);  // rounds half to even, as FloatEnvironment sees to
    as_.vpaddd(x, x, stage_operand(t0_, offsetof(StageArgs, i0)));
    if (!code.specialization.looked_up) return;
    as_.mov(ctx_.scratch2, stage_field(offsetof(StageArgs, data)));
    emit_look_up(as_, Xbyak::Zmm(x.getIdx()), Xbyak::Zmm(t0_.getIdx()), Xbyak::Zmm(t1_.getIdx()),
                 ctx_.scratch2);  // of each lane, only the lowest byte is stored
  }

  // y = max(x, 0) - g(u): see core/gelu_coefficients.h
  void gelu(const Vec& x, const StageCode&) {
    // x waits in the red zone below the stack pointer, and so does u on AVX2, whose look-ups need a
    // register more.
    const auto saved = as_.ptr[as_.rsp - 64], saved_u = as_.ptr[as_.rsp - 128];
    const Vec &index = t0_, &u = t1_, &g = t2_, &c = x, &spare = t1_;
    as_.vmovups(saved, x);
    if (as_.is_zmm()) {
      constexpr int kLeastMagnitude = 0b1010;  // without its sign; a NaN of x comes back below
      as_.vrangeps(u, x, as_.constant(kGeluClamp), kLeastMagnitude);
    } else {
      as_.bit_and(u, x, as_.constant(0x7fffffffu));
      as_.vminps(u, u, as_.constant(kGeluClamp));
    }
    as_.load_constant(c, kGeluScale);
    as_.load_constant(index, kGeluRounder);
    as_.vfmadd231ps(index, u, c);
    as_.vsubps(g, index, as_.constant(kGeluRounder));
    as_.vfmsub213ps(u, c, g);
    if (!as_.is_zmm()) {
      as_.vmovups(saved_u, u);
      as_.vpslld(g, index, 28);
      as_.bit_or(index, index, g);
    }
    std::size_t j = std::size(kGeluTable) - 1;
    as_.look_up(g, index, kGeluTable[j], spare);
    while (j-- > 0) {
      as_.look_up(c, index, kGeluTable[j], spare);
      if (as_.is_zmm())
        as_.vfmadd213ps(g, u, c);
      else
        as_.vfmadd132ps(g, c, saved_u);
    }
    as_.zero(u);
    as_.vmaxps(x, u, saved);
    as_.vsubps(x, x, g);
  }

  void pass(const Vec&, const StageCode&) {}
};

struct EmitterRow {
  StageKind kind;
  void (Stages::*emit)(const Stages::Vec& x, const StageCode& code);
  bool uses_stack = false;
  std::span<const SimdAssembler::Table> tables{};  // that AVX-512 looks up in registers
};
constexpr EmitterRow kEmitters[] = {
    {StageKind::correct_zero_points, &Stages::correct},
    {StageKind::dequantize, &Stages::dequantize},
    {StageKind::bias, &Stages::binary},
    {StageKind::relu, &Stages::relu},
    {StageKind::gelu, &Stages::gelu, true, kGeluTable},
    {StageKind::gelu_tanh, &Stages::binary},
    {StageKind::tanh, &Stages::binary},
    {StageKind::sigmoid, &Stages::binary},
    {StageKind::clip, &Stages::clip},
    {StageKind::scale, &Stages::binary},
    {StageKind::add, &Stages::binary},
    {StageKind::cast, &Stages::cast},
    {StageKind::requantize, &Stages::requantize},
    {StageKind::row_range, &Stages::pass},  // see emit_row_range
    {StageKind::binary, &Stages::binary},
    {StageKind::save, &Stages::save, true},
};
static_assert(lists_stages(kEmitters));

const EmitterRow& row_of(const StageCode& code) {
  return kEmitters[static_cast<std::size_t>(code.kind)];
}

}  // namespace

void emit_look_up(SimdAssembler& as, const Xbyak::Zmm& x, const Xbyak::Zmm& lower,
                  const Xbyak::Zmm& upper, const Xbyak::Reg64& table) {
  as.vmovups(lower, as.ptr[table]);
  as.vmovups(upper, as.ptr[table + 128]);
  as.vpmovb2m(as.k2, x);
  as.vpermt2b(lower, x, as.ptr[table + 64]);
  as.vpermt2b(upper, x, as.ptr[table + 192]);
  as.vpblendmb(x | as.k2, lower, upper);
}

void emit_stage(SimdAssembler& as, const StageCode& code, int stage, const SimdAssembler::Vec& x,
                const StageContext& ctx) {
  (Stages(as, ctx, stage).*row_of(code).emit)(x, code);
}

bool uses_stack(const StageCode& code) {
  return row_of(code).uses_stack || spilled_vectors(code) > 0;
}

int spilled_vectors(const StageCode& code) {
  if (code.binary.operation == Operation::none || code.in != ValueType::float32) return 0;
  return std::max(x64_function(code.binary, false).slots, x64_function(code.binary, true).slots);
}

int emit_kept_tables(SimdAssembler& as, const StageCode& code, int first, int end) {
  if (!as.is_zmm()) return first;
  for (const auto& table : row_of(code).tables)
    if (first < end) as.keep_table(as.vec(first++), table);
  return first;
}

}  // namespace fbg::kernels
