// exp, GELU and tanh on one vector of floats: the arithmetic of the activation and softmax kernels.
// Included once per Highway target by rows.cc.
#include "core/exp_coefficients.h"
#include "core/gelu_coefficients.h"

#if defined(FBG_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FBG_SIMD_MATH_INL_H_
#undef FBG_SIMD_MATH_INL_H_
#else
#define FBG_SIMD_MATH_INL_H_
#endif

#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// e^x = 2^k e^r with k = rint(x / ln 2), |r| <= ln(2) / 2, and e^r = 1 + expm1_r.
struct ExpParts {
  FloatVec power;    // 2^k, 0 when k = -127
  FloatVec expm1_r;  // r + r^2 / 2 + ..., relative error of e^r < 1e-8 before rounding
};

// x in [-88, 89] or NaN. The power is infinity where k = 128.
HWY_INLINE ExpParts exp_parts(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto rounder = hn::Set(d, kExpRounder);
  const auto shifted = hn::MulAdd(x, hn::Set(d, kLog2E), rounder);
  const auto k = hn::Sub(shifted, rounder);
  auto r = hn::NegMulAdd(k, hn::Set(d, kLn2High), x);
  r = hn::NegMulAdd(k, hn::Set(d, kLn2Low), r);
  constexpr int degree = sizeof(kExpP) / sizeof(kExpP[0]) - 1;
  auto p = hn::Set(d, kExpP[degree]);
  for (int i = degree - 1; i >= 0; --i) p = hn::MulAdd(p, r, hn::Set(d, kExpP[i]));
  return {hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))), hn::Mul(p, r)};
}

// e^x for x <= 0 or close to it: the softmax case. Below about -87.7 the result is 0.
HWY_INLINE FloatVec exp_nonpositive(FloatVec x) {
  const ExpParts e = exp_parts(max_keep_nan(hn::Set(FloatTag(), -88.0f), x));
  return hn::MulAdd(e.power, e.expm1_r, e.power);
}

// 2^x for x <= 0, relative error < 4e-6: enough where bfloat16 follows. Below -126.5 it is 0.
HWY_INLINE FloatVec exp2_nonpositive(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto rounder = hn::Set(d, kExpRounder);
  x = max_keep_nan(hn::Set(d, -127.0f), x);
  const auto shifted = hn::Add(x, rounder);
  const auto r = hn::Sub(x, hn::Sub(shifted, rounder));
  // Minimax in relative error on [-1/2, 1/2].
  auto p = hn::Set(d, 0.00957010221f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0559178591f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.240247443f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.693121791f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// tanh(t) = -m / (2 + m), m = e^(-2t) - 1, t = |x|; 1 - tanh(10) is below half an ulp.
HWY_INLINE FloatVec tanh(FloatVec x) {
  const FloatTag d;
  const auto t = min_keep_nan(hn::Set(d, 10.0f), hn::Abs(x));
  const ExpParts e = exp_parts(hn::Mul(t, hn::Set(d, -2.0f)));
  const auto m = hn::MulAdd(e.power, e.expm1_r, hn::Sub(e.power, hn::Set(d, 1.0f)));
  return hn::CopySign(hn::Div(m, hn::Add(hn::Set(d, 2.0f), m)), x);
}

// x / (1 + e^-x), by e^-|x|, which cannot overflow: where x < 0, it is x e^x / (1 + e^x).
HWY_INLINE FloatVec silu(FloatVec x) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f);
  const auto e = exp_nonpositive(hn::Neg(hn::Abs(x)));
  const auto numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, e), x);
  return hn::Div(numerator, hn::Add(one, e));
}

// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
HWY_INLINE FloatVec gelu_tanh(FloatVec x) {
  const FloatTag d;
  const auto half = hn::Mul(x, hn::Set(d, 0.5f));
  const auto slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.0356774081f), hn::Set(d, 0.797884561f));
  return hn::MulAdd(half, tanh(hn::Mul(x, slope)), half);
}

// table[i % 16] for each lane.
HWY_INLINE FloatVec look_up(const float (&table)[kGeluPieces],
                            hn::Vec<hn::RebindToSigned<FloatTag>> i) {
  const FloatTag d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, table[hn::GetLane(i) % kGeluPieces]);
#else
  const hn::RebindToSigned<FloatTag> di;
  constexpr int kLanes = hn::MaxLanes(d);
  if constexpr (2 * kLanes < kGeluPieces) {  // short vectors: one load per lane
    return hn::GatherIndex(d, table, hn::And(i, hn::Set(di, kGeluPieces - 1)));
  } else {
    const auto lane = hn::IndicesFromVec(d, hn::And(i, hn::Set(di, kLanes - 1)));
    const auto low = hn::TableLookupLanes(hn::LoadU(d, table), lane);
    if constexpr (kLanes == kGeluPieces) return low;
    const auto high = hn::TableLookupLanes(hn::LoadU(d, table + kLanes % kGeluPieces), lane);
    return hn::IfThenElse(hn::RebindMask(d, hn::TestBit(i, hn::Set(di, kLanes))), high, low);
  }
#endif
}

// The operations are given in core/gelu_coefficients.h: the JIT epilogue gives the same bits.
HWY_INLINE FloatVec gelu(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  constexpr int degree = sizeof(kGeluTable) / sizeof(kGeluTable[0]) - 1;
  const auto rounder = hn::Set(d, kGeluRounder), scale = hn::Set(d, kGeluScale);
  const auto t = min_keep_nan(hn::Set(d, kGeluClamp), hn::Abs(x));
  const auto rounded = hn::MulAdd(t, scale, rounder);
  const auto u = hn::MulSub(t, scale, hn::Sub(rounded, rounder));
  const auto i = hn::BitCast(di, rounded);
  auto g = look_up(kGeluTable[degree], i);
  for (int j = degree - 1; j >= 0; --j) g = hn::MulAdd(g, u, look_up(kGeluTable[j], i));
  return hn::Sub(max_keep_nan(hn::Zero(d), x), g);
}

// a / c with the rounding of a division, which is slow: the quotient by the reciprocal r is
// corrected by the rest,
//   q = a r,  q + (a - q c) r
// (Markstein, 1990). Quotients far beyond 8 bits are cut off before, so that infinity leaves no
// NaN.
class Quotient {
 public:
  // Whether the correction is exact for a divisor, on this target.
  static bool corrects(float c) { return HWY_NATIVE_FMA != 0 && c > 1e-30f && c < 1e30f; }

  HWY_INLINE explicit Quotient(float c)
      : divisor_(hn::Set(FloatTag(), c)),
        reciprocal_(hn::Set(FloatTag(), 1.0f / c)),
        high_(hn::Set(FloatTag(), c * 0x1p20f)) {}

  HWY_INLINE FloatVec operator()(FloatVec a) const {
    return unbounded(min_keep_nan(high_, max_keep_nan(hn::Neg(high_), a)));
  }
  // For a that is known to be within the bounds.
  HWY_INLINE FloatVec unbounded(FloatVec a) const {
    const auto q = hn::Mul(a, reciprocal_);
    return hn::MulAdd(hn::NegMulAdd(q, divisor_, a), reciprocal_, q);
  }

 private:
  FloatVec divisor_, reciprocal_, high_;
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
