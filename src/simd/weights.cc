// Kernels for compressing linear layers, one source compiled by Highway for each target (see
// rows.cc), and the table that picks a target.
#include "simd/weights.h"

#include <bit>

#include "core/float8.h"
#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/weights.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

using BitsTag = hn::RebindToUnsigned<FloatTag>;
using BitsVec = hn::Vec<BitsTag>;

// x[i] / divisor * factors[i]. Most divisors are 1 and cost nothing.
struct Scaled {
  const float* x;
  float divisor;
  const float* factors;

  template <class Access>
  HWY_INLINE FloatVec load(Access access, std::size_t i) const {
    const FloatTag d;
    auto v = access.load(d, x + i);
    if (divisor != 1.0f) v = hn::Div(v, hn::Set(d, divisor));
    return factors ? hn::Mul(v, access.load(d, factors + i)) : v;
  }
};

// Magnitudes are compared by their bits: that is the order of floats, with NaN above all numbers,
// which the instructions for floats do not give.
HWY_INLINE BitsVec magnitude(FloatVec v) { return hn::BitCast(BitsTag(), hn::Abs(v)); }

void widen_magnitudes(const float* x, float divisor, std::size_t n, float* largest) {
  const FloatTag d;
  const Scaled row{x, divisor, nullptr};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto before = hn::BitCast(BitsTag(), access.load(d, largest + i));
    const auto widened = hn::Max(before, magnitude(row.load(access, i)));
    access.store(hn::BitCast(d, widened), d, largest + i);
  });
}

float largest_magnitude(const float* x, float divisor, const float* factors, std::size_t n) {
  const FloatTag d;
  const BitsTag db;
  const Scaled row{x, divisor, factors};
  const auto zero = hn::Zero(db);
  BitsVec largest[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    largest[acc] = hn::Max(largest[acc], magnitude(row.load(access, i)));
  });
  const auto all = hn::Max(hn::Max(largest[0], largest[1]), hn::Max(largest[2], largest[3]));
  return std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(db, all)));
}

void quantize(const float* x, float divisor, const float* factors, float scale, std::size_t n,
              std::int8_t* q) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<std::int8_t, FloatTag> dq;
  const Scaled row{x, divisor, factors};
  const auto step = hn::Set(d, scale), limit = hn::Set(d, 127.0f), least = hn::Set(d, -127.0f);
  const auto magic = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto steps = hn::Max(hn::Min(hn::Div(row.load(access, i), step), limit), least);
    const auto rounded = hn::ConvertTo(di, hn::Sub(hn::Add(steps, magic), magic));
    access.store(hn::DemoteTo(dq, rounded), dq, q + i);
  });
}

bool find_extent(const float* x, std::size_t n, float* lo, float* hi) {
  const FloatTag d;
  const auto first = hn::Set(d, x[0]);
  FloatVec least = first, most = first;
  FloatVec poison = hn::Zero(d);  // a sum of 0 * x never loses a NaN
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    const auto v = access.select(d, access.load(d, x + i), first);
    least = hn::Min(least, v);
    most = hn::Max(most, v);
    poison = hn::MulAdd(v, hn::Zero(d), poison);
  });
  *lo = hn::GetLane(hn::MinOfLanes(d, least));
  *hi = hn::GetLane(hn::MaxOfLanes(d, most));
  return hn::AllTrue(d, hn::Eq(poison, hn::Zero(d)));
}

void quantize_from(const float* x, float bias, float inverse, float top, std::size_t n,
                   std::uint8_t* q) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::Rebind<std::uint8_t, FloatTag> dq;
  const auto from = hn::Set(d, bias), factor = hn::Set(d, inverse), limit = hn::Set(d, top);
  const auto magic = hn::Set(d, 12582912.0f);  // the sum has the rounded number in its low bits
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    const auto steps = hn::Mul(hn::Sub(access.load(d, x + i), from), factor);
    const auto within = hn::Max(hn::Min(steps, limit), hn::Zero(d));
    access.store(hn::TruncateTo(dq, hn::BitCast(du, hn::Add(within, magic))), dq, q + i);
  });
}

// Adding 2^20 times the power of two of a number rounds it to 3 bits of mantissa, or to multiples
// of 2^-9 where it is less than 2^-6. How many of these steps it has counts on from the code of
// that power of two, less 8: from 0 for 2^-6.
void quantize_to_e4m3(const float* x, float scale, std::size_t n, std::uint8_t* q) {
  constexpr std::uint32_t kLeast = 121u << 23;  // 2^-6
  const FloatTag d;
  const BitsTag db;
  const hn::Rebind<std::uint8_t, FloatTag> dq;
  const auto step = hn::Set(d, scale), limit = hn::Set(d, kLargestE4m3);
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    const auto v = access.load(d, x + i);
    const auto y = hn::Min(hn::Abs(hn::Div(v, step)), limit);
    const auto exponent = hn::And(hn::BitCast(db, y), hn::Set(db, 0x7f800000u));
    const auto power = hn::Max(exponent, hn::Set(db, kLeast));
    const auto magic = hn::Add(power, hn::Set(db, 20u << 23));
    const auto sum = hn::BitCast(db, hn::Add(y, hn::BitCast(d, magic)));
    const auto from = hn::ShiftRight<20>(hn::Sub(power, hn::Set(db, kLeast)));
    const auto sign = hn::ShiftLeft<7>(hn::ShiftRight<31>(hn::BitCast(db, v)));
    const auto code = hn::Or(hn::Add(from, hn::Sub(sum, magic)), sign);
    access.store(hn::TruncateTo(dq, code), dq, q + i);
  });
}

float round_to_half(float x, std::uint16_t* half) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  *half = _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
  return _cvtsh_ss(*half);
#else
  *half = from_float<float16>(x).bits;
  return to_float(float16{*half});
#endif
}

// A word has the values of a byte: neighbours move together, then pairs.
template <typename Word>
HWY_INLINE void pack_words(const std::uint8_t* q, std::size_t n, std::uint8_t* packed) {
  constexpr int kUnused = 8 - 8 / static_cast<int>(sizeof(Word));
  const hn::ScalableTag<Word> d;
  const hn::Rebind<std::uint8_t, decltype(d)> dq;
  const auto* words = reinterpret_cast<const Word*>(q);
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    auto v = access.load(d, words + i);
    v = hn::Or(v, hn::ShiftRight<kUnused>(v));
    if constexpr (sizeof(Word) == 4) v = hn::Or(v, hn::ShiftRight<2 * kUnused>(v));
    access.store(hn::TruncateTo(dq, v), dq, packed + i);
  });
}

void pack_fields(const std::uint8_t* q, int bits, std::size_t n, std::uint8_t* packed) {
  bits == 4 ? pack_words<std::uint16_t>(q, n, packed) : pack_words<std::uint32_t>(q, n, packed);
}

void divide(const float* x, float divisor, std::size_t n, float* y) {
  const FloatTag d;
  const Scaled row{x, divisor, nullptr};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(row.load(access, i), d, y + i);
  });
}

void sum_squares(const float* x, std::size_t rows, std::size_t row_stride, std::size_t n,
                 double* sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, hn::ScalableTag<double>> df;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kUnroll * lanes <= n; i += kUnroll * lanes) {
    const auto zero = hn::Zero(d);
    hn::Vec<decltype(d)> sum[kUnroll] = {zero, zero, zero, zero};
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < kUnroll; ++c) {
        const auto v = hn::LoadU(df, x + r * row_stride + i + c * lanes);
        sum[c] = hn::Add(sum[c], hn::PromoteTo(d, hn::Mul(v, v)));
      }
    for (std::size_t c = 0; c < kUnroll; ++c) hn::StoreU(sum[c], d, sums + i + c * lanes);
  }
  for (; i < n; ++i) {
    sums[i] = 0.0;
    for (std::size_t r = 0; r < rows; ++r) {
      const float square = x[r * row_stride + i] * x[r * row_stride + i];
      sums[i] += static_cast<double>(square);
    }
  }
}

extern const WeightKernels kWeightKernels;
const WeightKernels kWeightKernels = {
    .widen_magnitudes = widen_magnitudes,
    .largest_magnitude = largest_magnitude,
    .quantize = quantize,
    .divide = divide,
    .find_extent = find_extent,
    .quantize_from = quantize_from,
    .quantize_to_e4m3 = quantize_to_e4m3,
    .round_to_half = round_to_half,
    .pack_fields = pack_fields,
    .sum_squares = sum_squares,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
