// The kernels of bytes.h, compiled by Highway for each target.
#include "simd/bytes.h"

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

// Sixteen tables of 16 entries. 16k is taken off by exclusive or; what is not below 16 then has to
// look up a zero, as every index does whose upper bit is set. On x86-64, adding 0x70 with
// saturation sets it, and leaves the lower half of an index below 16, which is all that the
// instruction takes.
void look_up(const std::uint8_t* x, const std::uint8_t* table, std::size_t n, std::uint8_t* y) {
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t i = 0; i < n; ++i) y[i] = table[x[i]];
#else
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

// The quotient by division, where it cannot be corrected.
struct Division {
  FloatVec divisor;
  HWY_INLINE FloatVec operator()(FloatVec a) const { return hn::Div(a, divisor); }
};

// saturate(rint(quotient(real)) + zero_point) as lanes of T.
template <class T, class Quotients>
class Rounding {
 public:
  using Tag = hn::Rebind<T, FloatTag>;

  HWY_INLINE Rounding(Quotients quotient, float zero_point)
      : quotient_(quotient),
        point_(hn::Set(FloatTag(), zero_point)),
        lowest_(hn::Set(FloatTag(), static_cast<float>(hwy::LowestValue<T>()))),
        highest_(hn::Set(FloatTag(), static_cast<float>(hwy::HighestValue<T>()))) {}

  HWY_INLINE hn::Vec<Tag> operator()(FloatVec real) const {
    auto q = hn::Add(hn::Round(quotient_(real)), point_);
    if constexpr (kX86Vectors) {  // whose maximum is the second operand if one is NaN
      q = hn::Min(hn::Max(q, lowest_), highest_);
    } else {
      q = hn::IfThenElse(hn::Gt(q, lowest_), q, lowest_);
      q = hn::IfThenElse(hn::Lt(q, highest_), q, highest_);
    }
    return hn::DemoteTo(Tag(), hn::ConvertTo(hn::RebindToSigned<FloatTag>(), q));
  }

 private:
  Quotients quotient_;
  FloatVec point_, lowest_, highest_;
};

// use(rounding) with the quotient by `scale` that is fastest.
template <class T, class Use>
HWY_INLINE void with_rounding(float scale, float zero_point, Use use) {
  if (Quotient::corrects(scale))
    use(Rounding<T, Quotient>(Quotient(scale), zero_point));
  else
    use(Rounding<T, Division>(Division{hn::Set(FloatTag(), scale)}, zero_point));
}

template <class T>
HWY_ATTR void quantize_floats(const float* x, float scale, float zero_point, std::size_t n, T* y) {
  const FloatTag d;
  with_rounding<T>(scale, zero_point, [&](auto rounding) FBG_INLINE_LAMBDA {
    for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
      access.store(rounding(access.load(d, x + i)), hn::Rebind<T, FloatTag>(), y + i);
    });
  });
}

template <class T>
HWY_ATTR void gate_bytes(const T* x, const float* factors, const Gate& gate, std::size_t rows,
                         std::size_t cols, T* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  const auto point = hn::Set(d, gate.zero_point), scale = hn::Set(d, gate.scale);
  with_rounding<T>(gate.output_scale, gate.output_zero_point, [&](auto rounding) FBG_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row, x += cols, y += cols)
      for_each_vector(cols, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
        const auto u = hn::ConvertTo(d, hn::PromoteTo(di, access.load(dt, x + i)));
        const auto real = hn::Mul(hn::Sub(u, point), scale);
        access.store(rounding(hn::Mul(real, access.load(d, factors + i))), dt, y + i);
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

#if HWY_ONCE
namespace fbg::simd {
#if HWY_TARGETS & HWY_AVX3
namespace {

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

const ByteKernels& avx512_kernels() noexcept {
  static const ByteKernels kernels = [] {
    ByteKernels best = N_AVX3::kByteKernels;
    if (__builtin_cpu_supports("avx512vbmi")) best.look_up = look_up_by_permutation;
    return best;
  }();
  return kernels;
}

}  // namespace
#endif

const ByteKernels& byte_kernels([[maybe_unused]] Features features) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (features & feature::avx512) return avx512_kernels();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (features & feature::avx2) return N_AVX2::kByteKernels;
#endif
  return HWY_STATIC_DISPATCH(kByteKernels);
}

}  // namespace fbg::simd
#endif  // HWY_ONCE
