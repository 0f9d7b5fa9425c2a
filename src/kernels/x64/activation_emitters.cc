// Activation functions of the output pipeline, by the approximations of src/core.
#include <iterator>

#include "core/gelu_coefficients.h"
#include "core/tanh_coefficients.h"
#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {

// y = max(x, 0) - g(u): see core/gelu_coefficients.h
void StageEmitter::gelu(const Vec& x) {
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

// min(max(x, lo), hi); a NaN in x, the second source, stays.
void StageEmitter::clamp(const Vec& x, float lo, float hi) {
  as_.load_constant(t0_, hi);
  as_.vminps(x, t0_, x);
  as_.load_constant(t0_, lo);
  as_.vmaxps(x, t0_, x);
}

// tanh(x): see core/tanh_coefficients.h
void StageEmitter::tanh(const Vec& x) {
  const Vec &u = t0_, &p = t1_, &q = t2_;
  constexpr int n = static_cast<int>(std::size(kTanhP));
  clamp(x, -kTanhClamp, kTanhClamp);
  as_.vmulps(u, x, x);
  as_.load_constant(p, kTanhP[n - 1]);
  as_.load_constant(q, kTanhQ[n - 1]);
  for (int i = n - 2; i >= 0; --i) {
    as_.vfmadd213ps(p, u, as_.constant(kTanhP[i]));
    as_.vfmadd213ps(q, u, as_.constant(kTanhQ[i]));
  }
  as_.vmulps(x, x, p);
  as_.vdivps(x, x, q);
  clamp(x, -1.0f, 1.0f);
}

void StageEmitter::sigmoid(const Vec& x) {
  as_.vmulps(x, x, as_.constant(0.5f));
  tanh(x);
  as_.load_constant(t0_, 0.5f);
  as_.vfmadd213ps(x, t0_, as_.constant(0.5f));
}

void StageEmitter::gelu_tanh(const Vec& x) {
  // Half of x waits in the red zone below the stack pointer: registers are short on AVX2.
  const auto half = as_.ptr[as_.rsp - 64];
  as_.vmulps(t0_, x, as_.constant(0.5f));
  as_.vmovups(half, t0_);
  as_.vmulps(t0_, x, x);
  as_.load_constant(t1_, GeluTanh::kCubic);
  as_.vfmadd213ps(t0_, t1_, as_.constant(GeluTanh::kLinear));
  as_.vmulps(x, x, t0_);
  tanh(x);
  as_.vmovups(t0_, half);
  as_.vfmadd213ps(x, t0_, t0_);
}

int emit_kept_tables(SimdAssembler& as, const StageCode& code, int first, int end) {
  if (code.kind == StageKind::gelu && as.is_zmm())
    for (const auto& table : kGeluTable)
      if (first < end) as.keep_table(as.vec(first++), table);
  return first;
}

}  // namespace fbg::kernels
