// Activation functions of the output pipeline, by the approximations of src/core.
#include <iterator>
#include <utility>

#include "core/gelu_coefficients.h"
#include "core/tanh_coefficients.h"
#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {

// to = values[i] in each lane, by four registers of 16 bytes that hold the table.
void StageEmitter::look_up(const Vec& to, const Vec& byte_index,
                           const NeonAssembler::Table& values) {
  const Vec table = as_.vec(kEpilogueTable), last = as_.vec(kEpilogueTable + 3);
  as_.table_address(r_.scratch, values);
  as_.ld1(table.b16 - last.b16, r_.scratch);
  as_.tbl(to.b16, table.b16 - last.b16, byte_index.b16);
}

// y = max(x, 0) - g(u): see core/gelu_coefficients.h
void StageEmitter::gelu(const Vec& x) {
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
void StageEmitter::clamp(const Vec& x, float lo, float hi) {
  as_.load_constant(t0_, hi);
  as_.fmin(x.s4, x.s4, t0_.s4);
  as_.load_constant(t0_, lo);
  as_.fmax(x.s4, x.s4, t0_.s4);
}

// tanh(x): see core/tanh_coefficients.h
void StageEmitter::tanh(const Vec& x) {
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
void StageEmitter::sigmoid(const Vec& x) {
  as_.load_constant(t0_, 0.5f);
  as_.fmul(x.s4, x.s4, t0_.s4);
  tanh(x);
  as_.load_constant(t0_, 0.5f);
  as_.load_constant(t1_, 0.5f);
  as_.fmla(t1_.s4, x.s4, t0_.s4);
  as_.copy(x, t1_);
}

// h + h tanh(x (c + 0.044715 c x^2)), h = x / 2
void StageEmitter::gelu_tanh(const Vec& x) {
  const Vec& half = t3_;
  as_.load_constant(half, 0.5f);
  as_.fmul(half.s4, x.s4, half.s4);
  as_.fmul(t0_.s4, x.s4, x.s4);
  as_.load_constant(t1_, GeluTanh::kCubic);
  as_.load_constant(t2_, GeluTanh::kLinear);
  as_.fmla(t2_.s4, t0_.s4, t1_.s4);
  as_.fmul(x.s4, x.s4, t2_.s4);
  tanh(x);
  as_.copy(t0_, half);
  as_.fmla(t0_.s4, half.s4, x.s4);
  as_.copy(x, t0_);
}

}  // namespace fbg::kernels
