// One function per stage; each follows the formula of its scalar implementation in
// fbg/kernels/output.h, operation by operation, so that both give the same bits.
#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {

// x - zA_i * colsum_j + row_term_i * zB_j
void StageEmitter::correct(const Vec& x) {
  if (key_.column_terms) {
    load_column_values(t0_, r_.column_offsets);
    return as_.sub(x.s4, x.s4, t0_.s4);
  }
  if (key_.correct_b) {
    load_row_value(t0_, r_.row_terms);
    load_column_values(t1_, r_.b_zero_point);
    as_.mla(x.s4, t1_.s4, t0_.s4[0]);
  }
  if (key_.correct_a) {
    load_row_value(t0_, r_.a_zero_point);
    load_column_values(t1_, r_.column_offsets);
    as_.mls(x.s4, t1_.s4, t0_.s4[0]);
  }
}

// x * (sA_i * sB_j), or x * ((sA_i * sB_j) / scale of the stage)
void StageEmitter::multiply_by_scales(const Vec& x, bool divides) {
  load_column_values(t0_, r_.b_scale);
  if (!key_.column_terms) {
    load_row_value(t1_, r_.a_scale);
    as_.fmul(t0_.s4, t0_.s4, t1_.s4[0]);
    if (divides) {
      broadcast_field(t1_, offsetof(StageArgs, f0));
      as_.fdiv(t0_.s4, t0_.s4, t1_.s4);
    }
  }
  as_.fmul(x.s4, x.s4, t0_.s4);
}

void StageEmitter::dequantize(const Vec& x) {
  as_.scvtf(x.s4, x.s4);
  multiply_by_scales(x, false);
}

// x + bias_j
void StageEmitter::bias(const Vec& x, bool integer) {
  as_.ldr(r_.scratch, at(r_.stages, stage_offset_ + offsetof(StageArgs, data)));
  load_elements(t0_, 4);
  if (integer)
    as_.add(x.s4, x.s4, t0_.s4);
  else
    as_.fadd(x.s4, x.s4, t0_.s4);
}

// x + residual_ij
void StageEmitter::add(const Vec& x, ValueType type) {
  row_pointer(r_.scratch);
  load_elements(t0_, static_cast<int>(value_size(type)));
  switch (type) {
    case ValueType::uint8:
    case ValueType::int8:
      if (type == ValueType::uint8) {
        as_.ushll(t0_.h8, t0_.b8, 0);
        as_.ushll(t0_.s4, t0_.h4, 0);
      } else {
        as_.sxtl(t0_.h8, t0_.b8);
        as_.sxtl(t0_.s4, t0_.h4);
      }
      as_.scvtf(t0_.s4, t0_.s4);
      broadcast_field(t1_, offsetof(StageArgs, f1));
      as_.fsub(t0_.s4, t0_.s4, t1_.s4);
      load_field(t1_, offsetof(StageArgs, f0));
      as_.fmul(t0_.s4, t0_.s4, t1_.s4[0]);
      break;
    case ValueType::float16:
      as_.fcvtl(t0_.s4, t0_.h4);
      break;
    case ValueType::bfloat16:
      as_.shll(t0_.s4, t0_.h4, 16);
      break;
    default:
      break;
  }
  as_.fadd(x.s4, x.s4, t0_.s4);
}

// 0 > x ? 0 : x, which keeps a NaN and -0: the comparison is false for both.
void StageEmitter::relu(const Vec& x, bool integer) {
  if (integer) {
    as_.zero(t0_);
    return as_.smax(x.s4, x.s4, t0_.s4);
  }
  as_.fcmlt(t0_.s4, x.s4, 0);
  as_.bic(x.b16, x.b16, t0_.b16);
}

// lo > x ? lo : x, then hi < x ? hi : x; a NaN in x stays.
void StageEmitter::clip(const Vec& x) {
  broadcast_field(t0_, offsetof(StageArgs, f0));
  as_.fcmgt(t1_.s4, t0_.s4, x.s4);
  as_.bit(x.b16, t0_.b16, t1_.b16);
  broadcast_field(t0_, offsetof(StageArgs, f1));
  as_.fcmgt(t1_.s4, x.s4, t0_.s4);
  as_.bit(x.b16, t0_.b16, t1_.b16);
}

// x becomes 32-bit lanes whose low half is the 16-bit float.
void StageEmitter::cast(const Vec& x, ValueType type) {
  if (type == ValueType::float16) {
    as_.fcvtn(x.h4, x.s4);  // half to even, as FloatEnvironment sees to
    return as_.ushll(x.s4, x.h4, 0);
  }
  // bits + 0x7fff + (bits >> 16 & 1), and a NaN made quiet instead: see core/float16.h
  as_.ushr(t0_.s4, x.s4, 16);
  as_.load_constant(t1_, 1u);
  as_.and_(t0_.b16, t0_.b16, t1_.b16);
  as_.load_constant(t1_, 0x7fffu);
  as_.add(t0_.s4, t0_.s4, t1_.s4);
  as_.add(t0_.s4, t0_.s4, x.s4);
  as_.load_constant(t1_, 0x400000u);
  as_.orr(t1_.b16, t1_.b16, x.b16);
  as_.fcmeq(t2_.s4, x.s4, x.s4);
  as_.bif(t0_.b16, t1_.b16, t2_.b16);
  as_.ushr(x.s4, t0_.s4, 16);
}

void StageEmitter::requantize(const Vec& x, const StageCode& code) {
  if (code.promise.unit_scale) {
    // nothing to divide by
  } else if (code.in == ValueType::float32) {
    broadcast_field(t0_, offsetof(StageArgs, f0));
    as_.fdiv(x.s4, x.s4, t0_.s4);
  } else {
    as_.scvtf(x.s4, x.s4);
    multiply_by_scales(x, true);
  }
  broadcast_field(t0_, offsetof(StageArgs, f1));
  as_.fmaxnm(x.s4, x.s4, t0_.s4);  // the number, where x is a NaN: the lowest
  broadcast_field(t0_, offsetof(StageArgs, f2));
  as_.fminnm(x.s4, x.s4, t0_.s4);
  as_.fcvtns(x.s4, x.s4);  // half to even
  broadcast_field(t0_, offsetof(StageArgs, i0));
  as_.add(x.s4, x.s4, t0_.s4);
}

void StageEmitter::apply(const StageCode& code, const Vec& x) {
  const bool integer = code.in != ValueType::float32;
  switch (code.kind) {
    case StageKind::correct_zero_points:
      return correct(x);
    case StageKind::dequantize:
      if (code.in == ValueType::acc) correct(x);
      return dequantize(x);
    case StageKind::bias:
      return bias(x, integer);
    case StageKind::relu:
      return relu(x, integer);
    case StageKind::gelu:
      return gelu(x);
    case StageKind::gelu_tanh:
      return gelu_tanh(x);
    case StageKind::tanh:
      return tanh(x);
    case StageKind::sigmoid:
      return sigmoid(x);
    case StageKind::clip:
      return clip(x);
    case StageKind::scale:
      load_field(t0_, offsetof(StageArgs, f0));
      return as_.fmul(x.s4, x.s4, t0_.s4[0]);
    case StageKind::cast:
      return cast(x, code.out);
    case StageKind::add:
      return add(x, code.operand);
    case StageKind::requantize:
      if (code.in == ValueType::acc) correct(x);
      return requantize(x, code);
    case StageKind::row_range:  // x passes; see row_range()
      return;
  }
}

}  // namespace fbg::kernels
