// One emitter per stage; each follows the formula of its scalar implementation in
// src/kernels/generic/stages.cc, operation by operation, so that both give the same bits.
// Activation functions are the approximations of src/core.
#include <iterator>
#include <limits>
#include <utility>

#include "core/exp_coefficients.h"
#include "core/gelu_coefficients.h"
#include "core/tanh_coefficients.h"
#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {
namespace {

struct Stages : StageEmitter {
  using StageEmitter::StageEmitter;

  // x - zA_i * colsum_j + row_term_i * zB_j
  void correct(const Vec& x, const StageCode&) {
    if (key_.folds()) {
      load_column_values(t0_, r_.column_offsets);
      return as_.sub(x.s4, x.s4, t0_.s4);
    }
    if (key_.corrections == Corrections::both) {
      load_row_value(t0_, r_.row_terms);
      load_column_values(t1_, r_.b_zero_point);
      as_.mla(x.s4, t1_.s4, t0_.s4[0]);
    }
    load_row_value(t0_, r_.a_zero_point);
    load_column_values(t1_, r_.column_offsets);
    as_.mls(x.s4, t1_.s4, t0_.s4[0]);
  }

  // x * (sA_i * sB_j), or x * ((sA_i * sB_j) / scale of the stage)
  void multiply_by_scales(const Vec& x, bool divides) {
    load_column_values(t0_, r_.b_scale);
    if (!key_.folds()) {
      load_row_value(t1_, r_.a_scale);
      as_.fmul(t0_.s4, t0_.s4, t1_.s4[0]);
      if (divides) {
        broadcast_field(t1_, offsetof(StageArgs, f0));
        as_.fdiv(t0_.s4, t0_.s4, t1_.s4);
      }
    }
    as_.fmul(x.s4, x.s4, t0_.s4);
  }

  void dequantize(const Vec& x, const StageCode& code) {
    if (code.in == ValueType::acc) correct(x, code);
    as_.scvtf(x.s4, x.s4);
    multiply_by_scales(x, false);
  }

  // x op y, or y op x
  void binary(const Vec& x, const StageCode& code) {
    load_operand(code);
    if (code.in != ValueType::float32) return as_.add(x.s4, x.s4, t0_.s4);
    const bool reversed = code.binary.reversed;
    combine(code.binary.operation, x, reversed ? t0_ : x, reversed ? x : t0_);
  }

  void save(const Vec& x, const StageCode& code) { as_.str(x.q, slot(code.binary.slot)); }

  aarch64::At slot(int number) { return at(aarch64::sp, number * NeonAssembler::kVectorBytes); }

  // x = u op v, of which x is one; follows src/kernels/generic/stages.cc.
  void combine(Operation operation, const Vec& x, const Vec& u, const Vec& v) {
    const Vec& result = as_.vec(kEpilogueTable);
    switch (operation) {
      case Operation::add:
        return as_.fadd(x.s4, u.s4, v.s4);
      case Operation::subtract:
        return as_.fsub(x.s4, u.s4, v.s4);
      case Operation::multiply:
        return as_.fmul(x.s4, u.s4, v.s4);
      case Operation::divide:
        return as_.fdiv(x.s4, u.s4, v.s4);
      case Operation::minimum:
      case Operation::maximum: {
        const bool least = operation == Operation::minimum;
        least ? as_.fcmgt(t1_.s4, v.s4, u.s4) : as_.fcmgt(t1_.s4, u.s4, v.s4);
        as_.fcmeq(t2_.s4, u.s4, u.s4);
        as_.copy(result, v);
        as_.bit(result.b16, u.b16, t1_.b16);
        as_.bif(result.b16, u.b16, t2_.b16);
        return as_.copy(x, result);
      }
      case Operation::prelu:
        as_.fmul(result.s4, u.s4, v.s4);
        as_.fcmlt(t1_.s4, u.s4, 0);
        as_.bif(result.b16, u.b16, t1_.b16);
        return as_.copy(x, result);
      case Operation::less:
        as_.fcmgt(t1_.s4, v.s4, u.s4);
        break;
      case Operation::greater:
        as_.fcmgt(t1_.s4, u.s4, v.s4);
        break;
      case Operation::equal:
        as_.fcmeq(t1_.s4, u.s4, v.s4);
        break;
      case Operation::replace:
        return as_.copy(x, v);
      case Operation::none:
        return;
    }
    as_.load_constant(t2_, 1.0f);
    as_.and_(x.b16, t1_.b16, t2_.b16);
  }

  // t0 = the operand; t1 is overwritten.
  void load_operand(const StageCode& code) {
    switch (code.binary.operand) {
      case OperandKind::columns:
        as_.ldr(r_.scratch, at(r_.stages, stage_offset_ + offsetof(StageArgs, data)));
        return load_elements(t0_, 4);
      case OperandKind::slot:
        return as_.ldr(t0_.q, slot(code.binary.slot));
      case OperandKind::matrix:
        return load_matrix(code.operand);
      default:
        return broadcast_field(t0_, offsetof(StageArgs, f0));
    }
  }

  void load_matrix(ValueType type) {
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
  }

  // 0 > x ? 0 : x, which keeps a NaN and -0: the comparison is false for both.
  void relu(const Vec& x, const StageCode& code) {
    if (code.in != ValueType::float32) {
      as_.zero(t0_);
      return as_.smax(x.s4, x.s4, t0_.s4);
    }
    as_.fcmlt(t0_.s4, x.s4, 0);
    as_.bic(x.b16, x.b16, t0_.b16);
  }

  // lo > x ? lo : x, then hi < x ? hi : x; a NaN in x stays.
  void clip(const Vec& x, const StageCode&) {
    broadcast_field(t0_, offsetof(StageArgs, f0));
    as_.fcmgt(t1_.s4, t0_.s4, x.s4);
    as_.bit(x.b16, t0_.b16, t1_.b16);
    broadcast_field(t0_, offsetof(StageArgs, f1));
    as_.fcmgt(t1_.s4, x.s4, t0_.s4);
    as_.bit(x.b16, t0_.b16, t1_.b16);
  }

  // x becomes 32-bit lanes whose low half is the 16-bit float.
  void cast(const Vec& x, const StageCode& code) {
    if (code.out == ValueType::float16) {
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

  void requantize(const Vec& x, const StageCode& code) {
    if (code.in == ValueType::acc) correct(x, code);
    if (code.specialization.unit_scale) {
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

  // to = values[i] in each lane, by four registers of 16 bytes that hold the table.
  void look_up(const Vec& to, const Vec& byte_index, const NeonAssembler::Table& values) {
    const Vec table = as_.vec(kEpilogueTable), last = as_.vec(kEpilogueTable + 3);
    as_.table_address(r_.scratch, values);
    as_.ld1(table.b16 - last.b16, r_.scratch);
    as_.tbl(to.b16, table.b16 - last.b16, byte_index.b16);
  }

  // y = max(x, 0) - g(u): see core/gelu_coefficients.h
  void gelu(const Vec& x, const StageCode&) {
    const Vec &index = t0_, &u = t1_, &spare = as_.vec(kEpilogueTable);
    as_.load_constant(spare, kGeluClamp);
    as_.fabs(u.s4, x.s4);
    as_.fmin(u.s4, u.s4, spare.s4);  // a NaN stays
    as_.load_constant(spare, kGeluScale);
    as_.load_constant(index, kGeluRounder);
    as_.fmla(index.s4, u.s4, spare.s4);
    Vec g = t2_, c = t3_;
    as_.load_constant(g, kGeluRounder);
    as_.fsub(g.s4, g.s4, index.s4);
    as_.fmla(g.s4, u.s4, spare.s4);
    as_.copy(u, g);
    // The four bytes of element i % 16.
    as_.shl(index.s4, index.s4, 28);
    as_.ushr(index.s4, index.s4, 28);
    as_.load_constant(c, 0x04040404u);
    as_.load_constant(g, 0x03020100u);
    as_.mla(g.s4, index.s4, c.s4);
    as_.copy(index, g);

    std::size_t j = std::size(kGeluTable) - 1;
    look_up(g, index, kGeluTable[j]);
    while (j-- > 0) {
      look_up(c, index, kGeluTable[j]);
      as_.fmla(c.s4, g.s4, u.s4);
      std::swap(g, c);
    }
    as_.fcmlt(c.s4, x.s4, 0);
    as_.bic(x.b16, x.b16, c.b16);
    as_.fsub(x.s4, x.s4, g.s4);
  }

  // min(max(x, lo), hi), neither of which is zero; a NaN in x stays.
  void clamp(const Vec& x, float lo, float hi) {
    as_.load_constant(t0_, hi);
    as_.fmin(x.s4, x.s4, t0_.s4);
    as_.load_constant(t0_, lo);
    as_.fmax(x.s4, x.s4, t0_.s4);
  }

  // tanh(x): see core/tanh_coefficients.h
  void tanh(const Vec& x, const StageCode&) {
    const Vec& u = t0_;
    const auto polynomial = [&](const auto& coefficients, Vec sum, Vec next) {
      std::size_t i = std::size(coefficients) - 1;
      as_.load_constant(sum, coefficients[i]);
      while (i-- > 0) {
        as_.load_constant(next, coefficients[i]);
        as_.fmla(next.s4, sum.s4, u.s4);
        std::swap(sum, next);
      }
      return sum;
    };
    clamp(x, -kTanhClamp, kTanhClamp);
    as_.fmul(u.s4, x.s4, x.s4);
    const Vec p = polynomial(kTanhP, t1_, t2_);
    as_.fmul(x.s4, x.s4, p.s4);
    const Vec q = polynomial(kTanhQ, t1_, t2_);
    as_.fdiv(x.s4, x.s4, q.s4);
    clamp(x, -1.0f, 1.0f);
  }

  // 1/2 + tanh(x / 2) / 2
  void sigmoid(const Vec& x, const StageCode& code) {
    as_.load_constant(t0_, 0.5f);
    as_.fmul(x.s4, x.s4, t0_.s4);
    tanh(x, code);
    as_.load_constant(t0_, 0.5f);
    as_.load_constant(t1_, 0.5f);
    as_.fmla(t1_.s4, x.s4, t0_.s4);
    as_.copy(x, t1_);
  }

  // x becomes e^x = t0 (1 + x): see core/exp_coefficients.h
  void exp_parts(const Vec& x) {
    const Vec &power = t0_, &k = t1_, &c = t2_;
    as_.load_constant(power, kExpRounder);
    as_.load_constant(k, kLog2E);
    as_.fmla(power.s4, x.s4, k.s4);
    as_.load_constant(c, kExpRounder);
    as_.fsub(k.s4, power.s4, c.s4);
    for (const float part : {-kLn2High, -kLn2Low}) {
      as_.load_constant(c, part);
      as_.fmla(x.s4, k.s4, c.s4);
    }
    Vec p = t1_, next = t2_;
    std::size_t i = std::size(kExpP) - 1;
    as_.load_constant(p, kExpP[i]);
    while (i-- > 0) {
      as_.load_constant(next, kExpP[i]);
      as_.fmla(next.s4, p.s4, x.s4);
      std::swap(p, next);
    }
    as_.fmul(x.s4, p.s4, x.s4);
    as_.shl(power.s4, power.s4, 23);
  }

  // x = t0 (1 + x)
  void multiply_parts(const Vec& x) {
    as_.fmla(t0_.s4, t0_.s4, x.s4);
    as_.copy(x, t0_);
  }

  // lo > x ? lo : x, then hi < x ? hi : x
  void clip(const Vec& x, float lo, float hi) {
    as_.load_constant(t0_, lo);
    as_.fcmgt(t1_.s4, t0_.s4, x.s4);
    as_.bit(x.b16, t0_.b16, t1_.b16);
    as_.load_constant(t0_, hi);
    as_.fcmgt(t1_.s4, x.s4, t0_.s4);
    as_.bit(x.b16, t0_.b16, t1_.b16);
  }

  void exp(const Vec& x, const StageCode&) {
    const Vec &argument = as_.vec(kEpilogueTable), &result = as_.vec(kEpilogueTable + 1);
    as_.copy(argument, x);
    clip(x, kLeastExp, kMostPower);
    exp_parts(x);
    multiply_parts(x);
    as_.copy(result, x);
    as_.load_constant(t0_, kMostPower);
    as_.fsub(x.s4, argument.s4, t0_.s4);
    clip(x, 0.0f, 1.0f);
    exp_parts(x);
    multiply_parts(x);
    as_.fmul(x.s4, x.s4, result.s4);
    as_.load_constant(t0_, kMostPower);
    as_.fcmgt(t0_.s4, argument.s4, t0_.s4);
    as_.bif(x.b16, result.b16, t0_.b16);
    as_.load_constant(t1_, kMostExp);
    as_.fcmgt(t1_.s4, argument.s4, t1_.s4);
    as_.load_constant(t0_, std::numeric_limits<float>::infinity());
    as_.bit(x.b16, t0_.b16, t1_.b16);
    as_.load_constant(t1_, kLeastExp);
    as_.fcmgt(t1_.s4, t1_.s4, argument.s4);
    as_.bic(x.b16, x.b16, t1_.b16);
  }

  // x / (1 + e^-x), by e^-|x|, which cannot overflow
  void silu(const Vec& x, const StageCode&) {
    const Vec& argument = as_.vec(kEpilogueTable);
    as_.copy(argument, x);
    as_.load_constant(t0_, 0x80000000u);
    as_.orr(x.b16, x.b16, t0_.b16);
    as_.load_constant(t0_, -kMostPower);
    as_.fcmgt(t1_.s4, t0_.s4, x.s4);
    as_.bit(x.b16, t0_.b16, t1_.b16);
    exp_parts(x);
    multiply_parts(x);
    as_.fmul(t0_.s4, argument.s4, x.s4);
    as_.fcmlt(t1_.s4, argument.s4, 0);
    as_.bit(argument.b16, t0_.b16, t1_.b16);
    as_.load_constant(t0_, 1.0f);
    as_.fadd(x.s4, t0_.s4, x.s4);
    as_.fdiv(x.s4, argument.s4, x.s4);
  }

  void absolute(const Vec& x, const StageCode&) { as_.fabs(x.s4, x.s4); }
  void square_root(const Vec& x, const StageCode&) { as_.fsqrt(x.s4, x.s4); }
  void round(const Vec& x, const StageCode&) { as_.frintn(x.s4, x.s4); }
  void floor(const Vec& x, const StageCode&) { as_.frintm(x.s4, x.s4); }
  void ceil(const Vec& x, const StageCode&) { as_.frintp(x.s4, x.s4); }

  // h + h tanh(x (c + 0.044715 c x^2)), h = x / 2
  void gelu_tanh(const Vec& x, const StageCode& code) {
    const Vec& half = t3_;
    as_.load_constant(half, 0.5f);
    as_.fmul(half.s4, x.s4, half.s4);
    as_.fmul(t0_.s4, x.s4, x.s4);
    as_.load_constant(t1_, GeluTanh::kCubic);
    as_.load_constant(t2_, GeluTanh::kLinear);
    as_.fmla(t2_.s4, t0_.s4, t1_.s4);
    as_.fmul(x.s4, x.s4, t2_.s4);
    tanh(x, code);
    as_.copy(t0_, half);
    as_.fmla(t0_.s4, half.s4, x.s4);
    as_.copy(x, t0_);
  }

  void pass(const Vec&, const StageCode&) {}
};

struct EmitterRow {
  StageKind kind;
  void (Stages::*emit)(const Stages::Vec& x, const StageCode& code);
};
constexpr EmitterRow kEmitters[] = {
    {StageKind::correct_zero_points, &Stages::correct},
    {StageKind::dequantize, &Stages::dequantize},
    {StageKind::bias, &Stages::binary},
    {StageKind::relu, &Stages::relu},
    {StageKind::gelu, &Stages::gelu},
    {StageKind::gelu_tanh, &Stages::gelu_tanh},
    {StageKind::tanh, &Stages::tanh},
    {StageKind::sigmoid, &Stages::sigmoid},
    {StageKind::clip, &Stages::clip},
    {StageKind::scale, &Stages::binary},
    {StageKind::add, &Stages::binary},
    {StageKind::cast, &Stages::cast},
    {StageKind::requantize, &Stages::requantize},
    {StageKind::row_range, &Stages::pass},  // see StageEmitter::row_range
    {StageKind::binary, &Stages::binary},
    {StageKind::save, &Stages::save},
    {StageKind::absolute, &Stages::absolute},
    {StageKind::square_root, &Stages::square_root},
    {StageKind::floor, &Stages::floor},
    {StageKind::ceil, &Stages::ceil},
    {StageKind::round, &Stages::round},
    {StageKind::exp, &Stages::exp},
    {StageKind::silu, &Stages::silu},
};
static_assert(lists_stages(kEmitters));

}  // namespace

void emit_stage(NeonAssembler& as, const KernelKey& key, const StagePosition& position, int stage,
                int first_free, const NeonAssembler::Vec& x) {
  const StageCode& code = key.stages[static_cast<std::size_t>(stage)];
  Stages emit(as, key, position, stage, first_free);
  (emit.*kEmitters[static_cast<std::size_t>(code.kind)].emit)(x, code);
}

}  // namespace fbg::kernels
