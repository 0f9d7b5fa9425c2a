// The kernels of bytes.h, compiled by Highway for each target.
#include "simd/bytes.h"

#include <cmath>
#include <type_traits>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/bytes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/math-inl.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// Two permutations of AVX512-VBMI, which look up 128 entries each. No set of features includes it:
// the results are the same without. Highway, whose headers declare these intrinsics, has no
// operation for them in the oldest version that is supported.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void look_up_by_permutation(
    const std::uint8_t* x, const std::uint8_t* table, std::size_t n, std::uint8_t* y) {
  const __m512i first = _mm512_loadu_si512(table), second = _mm512_loadu_si512(table + 64);
  const __m512i third = _mm512_loadu_si512(table + 128), fourth = _mm512_loadu_si512(table + 192);
  for (std::size_t i = 0; i < n; i += 64) {
    const std::size_t left = n - i;
    const __mmask64 valid = left < 64 ? (__mmask64{1} << left) - 1 : ~__mmask64{0};
    const __m512i index = _mm512_maskz_loadu_epi8(valid, x + i);
    // Seven bits of an index choose among 128 entries, and the eighth between the halves.
    const __m512i lower = _mm512_permutex2var_epi8(first, index, second);
    const __m512i upper = _mm512_permutex2var_epi8(third, index, fourth);
    const __mmask64 is_upper = _mm512_movepi8_mask(index);
    _mm512_mask_storeu_epi8(y + i, valid, _mm512_mask_mov_epi8(lower, is_upper, upper));
  }
}
#endif

// Sixteen tables of 16 entries. 16k is taken off by exclusive or; what is not below 16 then has to
// look up a zero, as every index does whose upper bit is set. On x86-64, adding 0x70 with
// saturation sets it, and leaves the lower half of an index below 16, which is all that the
// instruction takes.
void look_up(const std::uint8_t* x, const std::uint8_t* table, std::size_t n, std::uint8_t* y) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < n; ++i) y[i] = table[x[i]];
#else
#if HWY_TARGET == HWY_AVX3
  if (__builtin_cpu_supports("avx512vbmi")) return look_up_by_permutation(x, table, n, y);
#endif
  const hn::ScalableTag<std::uint8_t> d;
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    const auto index = access.load(d, x + i);
    auto result = hn::Zero(d);
    for (int k = 0; k < 16; ++k) {
      const auto part = hn::LoadDup128(d, table + 16 * k);
      const auto first = hn::Set(d, static_cast<std::uint8_t>(16 * k));
      const auto entry = hn::Xor(index, first);
#if HWY_ARCH_X86
      const auto at = hn::SaturatedAdd(entry, hn::Set(d, std::uint8_t{0x70}));
#else
      const auto inside = hn::Lt(entry, hn::Set(d, std::uint8_t{16}));
      const auto at = hn::IfThenElse(inside, entry, hn::Set(d, std::uint8_t{0x80}));
#endif
      result = hn::Or(result, hn::TableLookupBytesOr0(part, at));
    }
    access.store(result, d, y + i);
  });
#endif
}

// rint(real / scale) + zero_point as integers; a value outside of 8 unsigned bits may be any
// integer on that side of them. A NaN is below.
class DividedRounding {
 public:
  HWY_INLINE DividedRounding(float scale, float zero_point)
      : divisor_(hn::Set(FloatTag(), scale)), point_(hn::Set(FloatTag(), zero_point)) {}

  HWY_INLINE hn::Vec<IntTag> operator()(FloatVec real) const {
    const FloatTag d;
    const auto q = hn::Add(hn::Round(hn::Div(real, divisor_)), point_);
    return hn::ConvertTo(IntTag(), bounded(q, hn::Zero(d), hn::Set(d, 255.0f)));
  }

  // A NaN becomes the lower bound.
  static HWY_INLINE FloatVec bounded(FloatVec x, FloatVec low, FloatVec high) {
    // The maximum of x86 is the second operand if one is NaN.
    if constexpr (kX86Vectors) return hn::Min(hn::Max(x, low), high);
    const auto above = hn::IfThenElse(hn::Gt(x, low), x, low);
    return hn::IfThenElse(hn::Lt(above, high), above, high);
  }

 private:
  FloatVec divisor_, point_;
};

// The same without a division: the quotient is corrected (math-inl.h), and adding 1.5 * 2^23 rounds
// it to an integer, which is then in the lower bits. The bounds are two steps outside.
class CorrectedRounding {
 public:
  HWY_INLINE CorrectedRounding(float scale, float zero_point)
      : quotient_(scale),
        low_(hn::Set(FloatTag(), scale * (-2.0f - zero_point))),
        high_(hn::Set(FloatTag(), scale * (257.0f - zero_point))),
        bias_(hn::Set(IntTag(), 0x4B400000 - static_cast<std::int32_t>(zero_point))) {}

  HWY_INLINE hn::Vec<IntTag> operator()(FloatVec real) const {
    const auto near = DividedRounding::bounded(real, low_, high_);
    const auto rounded = hn::Add(quotient_.unbounded(near), hn::Set(FloatTag(), 12582912.0f));
    return hn::Sub(hn::BitCast(IntTag(), rounded), bias_);
  }

 private:
  Quotient quotient_;
  FloatVec low_, high_;
  hn::Vec<IntTag> bias_;
};

// y[i] = saturate(rint(real(access, i) / scale) + zero_point), n elements. Signed bytes are made as
// unsigned ones that are larger by 128, whose uppermost bit is then changed.
template <class T, class Rounding, class Real>
HWY_INLINE void store_rounded(const Rounding& rounding, std::size_t n, T* y, Real real) {
  const auto store = [&](auto access, auto bytes, std::size_t i) FBG_INLINE_LAMBDA {
    const hn::DFromV<decltype(bytes)> d;
    if (std::is_signed_v<T>) bytes = hn::Xor(bytes, hn::Set(d, std::uint8_t{128}));
    access.store(bytes, d, reinterpret_cast<std::uint8_t*>(y + i));
  };
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const Whole whole;
  for (; i + 2 * lanes <= n; i += 2 * lanes)
    store(whole, pack_bytes(rounding(real(whole, i)), rounding(real(whole, i + lanes))), i);
#endif
  const std::size_t done = i;
  const hn::Rebind<std::uint8_t, FloatTag> dt;
  for_each_vector_simple(n - done, lanes, [&](auto access, std::size_t k) FBG_INLINE_LAMBDA {
    store(access, hn::DemoteTo(dt, rounding(real(access, done + k))), done + k);
  });
}

// use(rounding) with the rounding that is fastest.
template <class T, class Use>
HWY_INLINE void with_rounding(float scale, float zero_point, Use use) {
  if (std::is_signed_v<T>) zero_point += 128.0f;
  const bool small = std::abs(zero_point) <= 256 && zero_point == std::rint(zero_point);
  if (Quotient::corrects(scale) && small)
    use(CorrectedRounding(scale, zero_point));
  else
    use(DividedRounding(scale, zero_point));
}

template <class T>
HWY_ATTR void quantize_floats(const float* x, float scale, float zero_point, std::size_t n, T* y) {
  const FloatTag d;
  with_rounding<T>(scale, zero_point, [&](auto rounding) FBG_INLINE_LAMBDA {
    store_rounded(rounding, n, y, [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      return access.load(d, x + i);
    });
  });
}

template <class T>
HWY_ATTR void gate_bytes(const T* x, const float* factors, const Gate& gate, std::size_t rows,
                         std::size_t cols, T* y) {
  const FloatTag d;
  const hn::Rebind<T, FloatTag> dt;
  const auto point = hn::Set(d, gate.zero_point), scale = hn::Set(d, gate.scale);
  with_rounding<T>(gate.output_scale, gate.output_zero_point, [&](auto rounding) FBG_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols)
      store_rounded(rounding, cols, y, [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
        const auto u = hn::ConvertTo(d, hn::PromoteTo(IntTag(), access.load(dt, x + i)));
        return hn::Mul(hn::Mul(hn::Sub(u, point), scale), access.load(d, factors + i));
      });
  });
}

extern const ByteKernels kByteKernels;
const ByteKernels kByteKernels = {
    .look_up = look_up,
    .gate_uint8 = gate_bytes<std::uint8_t>,
    .gate_int8 = gate_bytes<std::int8_t>,
    .quantize_uint8 = quantize_floats<std::uint8_t>,
    .quantize_int8 = quantize_floats<std::int8_t>,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
