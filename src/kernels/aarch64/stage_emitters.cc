// One emitter per stage; each follows the formula of its scalar implementation in
// src/kernels/generic/stages.cc, operation by operation, so that both give the same bits. Functions
// of elements are those of src/kernels/functions.h.
#include <iterator>
#include <utility>

#include "core/gelu_coefficients.h"
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

  // f(x), f(x, y) or f(y, x)
  void binary(const Vec& x, const StageCode& code) {
    if (is_binary(code.binary.operation)) load_operand(code);
    if (code.in != ValueType::float32) return as_.add(x.s4, x.s4, t0_.s4);
    apply(code.binary, x);
  }

  void save(const Vec& x, const StageCode& code) { as_.str(x.q, slot(code.binary.slot)); }

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
    if (code.specialization.unit_scale) {  // nothing has made x a quiet NaN
      as_.fcmgt(t1_.s4, x.s4, t0_.s4);
      as_.bif(x.b16, t0_.b16, t1_.b16);
    } else {
      as_.fmaxnm(x.s4, x.s4, t0_.s4);  // the number, where x is a quiet NaN: the lowest
    }
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
    {StageKind::gelu_tanh, &Stages::binary},
    {StageKind::tanh, &Stages::binary},
    {StageKind::sigmoid, &Stages::binary},
    {StageKind::clip, &Stages::clip},
    {StageKind::scale, &Stages::binary},
    {StageKind::add, &Stages::binary},
    {StageKind::cast, &Stages::cast},
    {StageKind::requantize, &Stages::requantize},
    {StageKind::row_range, &Stages::pass},  // see StageEmitter::row_range
    {StageKind::binary, &Stages::binary},
    {StageKind::save, &Stages::save},
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
