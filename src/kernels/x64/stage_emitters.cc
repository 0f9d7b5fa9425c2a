// One function per stage; each follows the formula of its scalar implementation in
// fbg/kernels/output.h, operation by operation, so that both give the same bits.
#include "kernels/x64/stage_emitters.h"

#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {

// x - zA_i * colsum_j + row_term_i * zB_j
void StageEmitter::correct(const Vec& x) {
  if (ctx_.corrected) return;
  if (ctx_.column_terms) return as_.vpsubd(x, x, column_term(ctx_.operands.col_offsets, 0));
  if (ctx_.correct_b) {
    as_.vpbroadcastd(t0_, row(ctx_.operands.row_terms));
    as_.vpmulld(t0_, t0_, column(ctx_.operands.b_zero_point));
    as_.vpaddd(x, x, t0_);
  }
  if (ctx_.correct_a) {
    as_.vpbroadcastd(t0_, row(ctx_.operands.a_zero_point));
    as_.vpmulld(t0_, t0_, column(ctx_.operands.col_offsets));
    as_.vpsubd(x, x, t0_);
  }
}

// x * (sA_i * sB_j), or x * ((sA_i * sB_j) / scale of the stage)
void StageEmitter::multiply_by_scales(const Vec& x, bool divides) {
  if (ctx_.column_terms) return as_.vmulps(x, x, column_term(ctx_.operands.b_scale, 1));
  as_.vbroadcastss(t0_, row(ctx_.operands.a_scale));
  as_.vmulps(t0_, t0_, column(ctx_.operands.b_scale));
  if (divides) {
    broadcast_stage(t1_, offsetof(StageArgs, f0));
    as_.vdivps(t0_, t0_, t1_);
  }
  as_.vmulps(x, x, t0_);
}

void StageEmitter::dequantize(const Vec& x) {
  as_.vcvtdq2ps(x, x);
  multiply_by_scales(x, false);
}

// x + bias_j
void StageEmitter::bias(const Vec& x, bool integer) {
  as_.mov(ctx_.scratch, stage_field(offsetof(StageArgs, data)));
  add_words(x, element(4), integer);
}

// x + residual_ij
void StageEmitter::add(const Vec& x, const StageCode& code) {
  const ValueType type = code.operand;
  if (!ctx_.row_is_loaded) load_row_pointer();
  if (type == ValueType::float32) return add_words(x, element(4), false);
  load_narrow(t0_, element(static_cast<int>(value_size(type))), type);
  if (value_size(type) == 1) {
    as_.vcvtdq2ps(t0_, t0_);
    if (!code.promise.centered) as_.vsubps(t0_, t0_, stage_operand(t1_, offsetof(StageArgs, f1)));
    as_.vmulps(t0_, t0_, stage_operand(t1_, offsetof(StageArgs, f0)));
  }
  as_.vaddps(x, x, t0_);
}

void StageEmitter::relu(const Vec& x, bool integer) {
  as_.zero(t0_);
  if (integer)
    as_.vpmaxsd(x, x, t0_);
  else
    as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays
}

void StageEmitter::clip(const Vec& x) {
  broadcast_stage(t0_, offsetof(StageArgs, f0));
  as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays; and so below
  broadcast_stage(t0_, offsetof(StageArgs, f1));
  as_.vminps(x, t0_, x);
}

void StageEmitter::scale(const Vec& x) {
  broadcast_stage(t0_, offsetof(StageArgs, f0));
  as_.vmulps(x, x, t0_);
}

// The lower half of x becomes the 16-bit floats; of AVX2, x 32-bit lanes whose low half they are.
void StageEmitter::cast(const Vec& x, ValueType type) {
  const Vec half = as_.is_zmm() ? Vec(Xbyak::Ymm(x.getIdx())) : Xbyak::Xmm(x.getIdx());
  if (type == ValueType::float16) {
    as_.vcvtps2ph(half, x, 0);  // 0: half to even
    if (!as_.is_zmm()) as_.vpmovzxwd(x, half);
    return;
  }
  Xbyak::Label by_hand, done;
  if (as_.converts_bfloat16()) {  // the instruction takes denormals for zeros
    constexpr int kDenormal = 0x20;
    as_.vfpclassps(as_.k2, x, kDenormal);
    as_.kortestw(as_.k2, as_.k2);
    as_.jnz(by_hand, as_.T_NEAR);
    as_.vcvtneps2bf16(half, x);
    as_.jmp(done, as_.T_NEAR);
  }
  as_.L(by_hand);
  // bits + 0x7fff + (bits >> 16 & 1), and a NaN made quiet instead: see core/float16.h
  as_.vpsrld(t0_, x, 16);
  as_.bit_and(t0_, t0_, as_.constant(1u));
  as_.vpaddd(t0_, t0_, as_.constant(0x7fffu));
  as_.vpaddd(t0_, t0_, x);
  as_.bit_or(t1_, x, as_.constant(0x400000u));
  as_.blend_nan(t0_, x, t1_, t2_);
  as_.vpsrld(x, t0_, 16);
  if (as_.is_zmm()) as_.vpmovdw(half, x);
  as_.L(done);
}

void StageEmitter::requantize(const Vec& x, const StageCode& code) {
  if (code.in == ValueType::float32) {
    if (!code.promise.unit_scale) as_.vdivps(x, x, stage_operand(t0_, offsetof(StageArgs, f0)));
  } else {
    as_.vcvtdq2ps(x, x);
    multiply_by_scales(x, true);
  }
  if (ctx_.upper >= 0) {
    // A NaN stays, being the second source, and becomes the least integer, which packing saturates.
    if (!code.promise.bounded) as_.vminps(x, as_.vec(ctx_.upper), x);
    as_.vcvtps2dq(x, x);
    return;
  }
  // A NaN gives the second source: the lowest.
  as_.vmaxps(x, x, stage_operand(t0_, offsetof(StageArgs, f1)));
  as_.vminps(x, x, stage_operand(t0_, offsetof(StageArgs, f2)));
  as_.vcvtps2dq(x, x);  // rounds half to even, as FloatEnvironment sees to
  as_.vpaddd(x, x, stage_operand(t0_, offsetof(StageArgs, i0)));
}

void emit_stage(SimdAssembler& as, const StageCode& code, int stage, const SimdAssembler::Vec& x,
                const StageContext& ctx) {
  StageEmitter emit(as, ctx, stage);
  const bool integer = code.in != ValueType::float32;
  switch (code.kind) {
    case StageKind::correct_zero_points:
      emit.correct(x);
      break;
    case StageKind::dequantize:
      if (code.in == ValueType::acc) emit.correct(x);
      emit.dequantize(x);
      break;
    case StageKind::bias:
      emit.bias(x, integer);
      break;
    case StageKind::relu:
      emit.relu(x, integer);
      break;
    case StageKind::gelu:
      emit.gelu(x);
      break;
    case StageKind::gelu_tanh:
      emit.gelu_tanh(x);
      break;
    case StageKind::tanh:
      emit.tanh(x);
      break;
    case StageKind::sigmoid:
      emit.sigmoid(x);
      break;
    case StageKind::clip:
      emit.clip(x);
      break;
    case StageKind::scale:
      emit.scale(x);
      break;
    case StageKind::cast:
      emit.cast(x, code.out);
      break;
    case StageKind::add:
      emit.add(x, code);
      break;
    case StageKind::requantize:
      if (code.in == ValueType::acc) emit.correct(x);
      emit.requantize(x, code);
      break;
    case StageKind::row_range:  // x passes; see emit_row_range
      break;
  }
}

}  // namespace fbg::kernels
