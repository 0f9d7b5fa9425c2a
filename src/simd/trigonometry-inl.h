// Sine, cosine, tangent and their inverses on one vector of floats (S. Moshier, Cephes). Included
// once per Highway target by elementwise.cc. The error is at most 4 units in the last place.
#include <cmath>

#if defined(FBG_SIMD_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FBG_SIMD_TRIGONOMETRY_INL_H_
#undef FBG_SIMD_TRIGONOMETRY_INL_H_
#else
#define FBG_SIMD_TRIGONOMETRY_INL_H_
#endif

#include "simd/math-inl.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// Up to here the parts of a quarter turn below are long enough.
constexpr float kLargestAngle = 8192.0f;
constexpr float kHalfPi = 1.57079633f, kPi = 3.14159265f;

template <std::size_t N>
HWY_INLINE FloatVec polynomial(const float (&coefficients)[N], FloatVec x) {
  const FloatTag d;
  auto sum = hn::Set(d, coefficients[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i]));
  return sum;
}

// x = (pi / 2) k + r, |r| <= pi / 4: sine and cosine of r, and k in the lowest bits of an integer.
struct QuarterTurns {
  FloatVec sine, cosine;
  hn::Vec<hn::RebindToSigned<FloatTag>> k;
};
HWY_INLINE QuarterTurns quarter_turns(FloatVec x) {
  constexpr float kSine[] = {-1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f};
  constexpr float kCosine[] = {4.166664568298827e-2f, -1.388731625493765e-3f,
                               2.443315711809948e-5f};
  // The first parts of pi / 2 have 11 bits and k has 13, so that their products are exact without
  // FMA, too: r has all its bits close to multiples of pi / 2.
  constexpr float kParts[] = {0x1.92p0f, 0x1.fb4p-12f, 0x1.444p-24f, 0x1.68c234p-39f};
  const FloatTag d;
  const auto rounder = hn::Set(d, 0x1.8p23f);  // leaves integers in the lowest bits
  const auto shifted = hn::MulAdd(x, hn::Set(d, 0.636619772f), rounder);
  const auto k = hn::Sub(shifted, rounder);
  auto r = x;
  for (const float part : kParts) r = hn::NegMulAdd(k, hn::Set(d, part), r);
  const auto z = hn::Mul(r, r);
  const auto sine = hn::MulAdd(hn::Mul(polynomial(kSine, z), z), r, r);
  const auto cosine = hn::MulAdd(hn::Mul(polynomial(kCosine, z), z), z,
                                 hn::NegMulAdd(z, hn::Set(d, 0.5f), hn::Set(d, 1.0f)));
  return {hn::CopySign(sine, r), cosine, hn::BitCast(hn::RebindToSigned<FloatTag>(), shifted)};
}

HWY_INLINE hn::Mask<FloatTag> is_odd(hn::Vec<hn::RebindToSigned<FloatTag>> k) {
  return hn::RebindMask(FloatTag(), hn::TestBit(k, hn::Set(hn::RebindToSigned<FloatTag>(), 1)));
}

// The sine of an angle that is `quarters` quarter turns further.
template <int quarters>
HWY_INLINE FloatVec sine_after(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const QuarterTurns a = quarter_turns(x);
  const auto k = hn::Add(a.k, hn::Set(di, quarters));
  const auto sign = hn::ShiftLeft<30>(hn::And(k, hn::Set(di, 2)));
  return hn::Xor(hn::IfThenElse(is_odd(k), a.cosine, a.sine), hn::BitCast(d, sign));
}

HWY_INLINE FloatVec tangent(FloatVec x) {
  const QuarterTurns a = quarter_turns(x);
  const auto turned = is_odd(a.k);
  return hn::Div(hn::IfThenElse(turned, hn::Neg(a.cosine), a.sine),
                 hn::IfThenElse(turned, a.sine, a.cosine));
}

// asin x of x within [0, 1/2], of which z is the square.
HWY_INLINE FloatVec arcsine_part(FloatVec x, FloatVec z) {
  constexpr float kP[] = {1.6666752422e-1f, 7.4953002686e-2f, 4.5470025998e-2f, 2.4181311049e-2f,
                          4.2163199048e-2f};
  return hn::MulAdd(hn::Mul(polynomial(kP, z), z), x, x);
}

struct Arcsine {
  hn::Mask<FloatTag> large;  // |x| > 1/2
  FloatVec part;             // asin |x|, or half of acos |x| where x is large
};
HWY_INLINE Arcsine arcsine_parts(FloatVec x) {
  const FloatTag d;
  const auto half = hn::Set(d, 0.5f), a = hn::Abs(x);
  const auto large = hn::Gt(a, half);
  const auto z = hn::IfThenElse(large, hn::NegMulAdd(a, half, half), hn::Mul(a, a));
  return {large, arcsine_part(hn::IfThenElse(large, hn::Sqrt(z), a), z)};
}

HWY_INLINE FloatVec arcsine(FloatVec x) {
  const FloatTag d;
  const Arcsine a = arcsine_parts(x);
  const auto rest = hn::NegMulAdd(a.part, hn::Set(d, 2.0f), hn::Set(d, kHalfPi));
  return hn::CopySign(hn::IfThenElse(a.large, rest, a.part), x);
}

HWY_INLINE FloatVec arccosine(FloatVec x) {
  const FloatTag d;
  const Arcsine a = arcsine_parts(x);
  const auto twice = hn::Add(a.part, a.part);
  const auto outer = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, kPi), twice), twice);
  return hn::IfThenElse(a.large, outer, hn::Sub(hn::Set(d, kHalfPi), hn::CopySign(a.part, x)));
}

// Beyond tan(pi / 8) by atan x = pi / 4 + atan((x - 1) / (x + 1)), beyond tan(3 pi / 8) by
// pi / 2 - atan(1 / x).
HWY_INLINE FloatVec arctangent(FloatVec x) {
  constexpr float kP[] = {-3.33329491539e-1f, 1.99777106478e-1f, -1.38776856032e-1f,
                          8.05374449538e-2f};
  const FloatTag d;
  const auto one = hn::Set(d, 1.0f), a = hn::Abs(x);
  const auto middle = hn::Gt(a, hn::Set(d, 0.414213562f)), far = hn::Gt(a, hn::Set(d, 2.41421356f));
  const auto above = hn::IfThenElse(middle, hn::Sub(a, one), a);
  const auto below = hn::IfThenElse(middle, hn::Add(a, one), one);
  const auto t = hn::Div(hn::IfThenElse(far, hn::Neg(one), above), hn::IfThenElse(far, a, below));
  const auto offset = hn::IfThenElse(far, hn::Set(d, kHalfPi),
                                     hn::IfThenElseZero(middle, hn::Set(d, 0.785398163f)));
  const auto z = hn::Mul(t, t);
  const auto part = hn::MulAdd(hn::Mul(polynomial(kP, z), z), t, t);
  return hn::CopySign(hn::Add(offset, part), x);
}

// A function of angles: those that are too large, and what is no number, go to the C library.
template <auto kFunction, float (*kExact)(float)>
HWY_ATTR void of_angles(const float* a, const float*, float, float, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto x = access.load(d, a + i);
    auto result = kFunction(x);
    if (!hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kLargestAngle)))) {
      HWY_ALIGN float angles[hn::MaxLanes(FloatTag())], exact[hn::MaxLanes(FloatTag())];
      hn::Store(x, d, angles);
      hn::Store(result, d, exact);
      for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane)
        if (!(std::abs(angles[lane]) <= kLargestAngle)) exact[lane] = kExact(angles[lane]);
      result = hn::Load(d, exact);
    }
    access.store(result, d, y + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
