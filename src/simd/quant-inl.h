// Row kernels that make or read bytes: choose a row's scale, quantize it, sum it. They feed
// packing. Included once per Highway target by rows.cc.
#include <cmath>
#include <cstdint>
#include <limits>

#include "simd/rows.h"

#if defined(FBG_SIMD_QUANT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FBG_SIMD_QUANT_INL_H_
#undef FBG_SIMD_QUANT_INL_H_
#else
#define FBG_SIMD_QUANT_INL_H_
#endif

#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// A row as it is, or with a factor for each element. `access` is as for for_each_vector.
struct PlainRow {
  const float* x;
  template <class Access>
  HWY_INLINE FloatVec load(Access access, std::size_t i) const {
    return access.load(FloatTag(), x + i);
  }
};
struct ScaledRow {
  const float* x;
  const float* factors;
  template <class Access>
  HWY_INLINE FloatVec load(Access access, std::size_t i) const {
    const FloatTag d;
    return hn::Mul(access.load(d, x + i), access.load(d, factors + i));
  }
};

template <class Row>
HWY_INLINE RowQuant choose_quant_of(Row row, std::size_t n) {
  const FloatTag d;
  const auto zero = hn::Zero(d);
  FloatVec lo[kUnroll] = {zero, zero, zero, zero};
  FloatVec hi[kUnroll] = {zero, zero, zero, zero};
  // min and max may drop a NaN; 0 * x is NaN for NaN and Inf, and a sum never loses it.
  FloatVec poison[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto v = row.load(access, i);
    lo[acc] = hn::Min(lo[acc], v);
    hi[acc] = hn::Max(hi[acc], v);
    poison[acc] = hn::MulAdd(v, zero, poison[acc]);
  });
  const float bad = hn::GetLane(
      hn::SumOfLanes(d, hn::Add(hn::Add(poison[0], poison[1]), hn::Add(poison[2], poison[3]))));
  if (bad != 0.0f) return {std::numeric_limits<float>::quiet_NaN(), 0};

  const float low =
      hn::GetLane(hn::MinOfLanes(d, hn::Min(hn::Min(lo[0], lo[1]), hn::Min(lo[2], lo[3]))));
  const float high =
      hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(hi[0], hi[1]), hn::Max(hi[2], hi[3]))));
  const float range = high - low;
  // The range of finite floats may itself overflow.
  const float scale =
      range <= std::numeric_limits<float>::max() ? range / 255.0f : high / 255.0f - low / 255.0f;
  // A denormal scale has no usable reciprocal: such a row counts as zeros.
  if (scale < std::numeric_limits<float>::min()) return {1.0f, 0};
  // Adding 1.5 * 2^23 rounds half to even.
  const float zero_point = (-low / scale + 12582912.0f) - 12582912.0f;
  return {scale, static_cast<std::int32_t>(zero_point < 255.0f ? zero_point : 255.0f)};
}

RowQuant choose_row_quant(const float* x, const float* factors, std::size_t n) {
  if (factors) return choose_quant_of(ScaledRow{x, factors}, n);
  return choose_quant_of(PlainRow{x}, n);
}

// x * inverse rounded half to even, plus an offset, in 32-bit lanes. Adding 1.5 * 2^23 rounds, and
// the bits of positive floats are ordered as integers, so values far above saturate later as they
// should; those far below are clamped first. A NaN becomes the lower bound on x86.
HWY_INLINE hn::Vec<IntTag> scale_and_round(FloatVec x, FloatVec inverse, hn::Vec<IntTag> offset) {
  const FloatTag d;
  const auto v = hn::Max(hn::Mul(x, inverse), hn::Set(d, -4194304.0f));
  return hn::Add(hn::BitCast(IntTag(), hn::Add(v, hn::Set(d, 12582912.0f))), offset);
}
inline constexpr std::int32_t kRounderBits = 0x4B400000;  // bits of 12582912.0f

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3

// Two float vectors make one vector of bytes.
inline constexpr std::size_t kFloatsPerByteVec = 2;

// Sums of bytes in 64-bit lanes.
struct ByteSum {
  using Tag = hn::Repartition<std::uint64_t, ByteTag>;
  hn::Vec<Tag> lanes;
  // Written out: an implicit constructor would not have the target's attribute.
  HWY_INLINE ByteSum() : lanes(hn::Zero(Tag())) {}
  HWY_INLINE void add(ByteVec bytes) { lanes = hn::Add(lanes, hn::SumsOf8(bytes)); }
  HWY_INLINE std::int32_t total() const {
    return static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(Tag(), lanes)));
  }
};

template <class Row>
HWY_INLINE ByteVec quantize_vector(Whole whole, Row row, std::size_t i, FloatVec inverse,
                                   hn::Vec<IntTag> offset) {
  const auto a = scale_and_round(row.load(whole, i), inverse, offset);
  const auto b = scale_and_round(row.load(whole, i + hn::Lanes(FloatTag())), inverse, offset);
  return pack_bytes(a, b);
}

template <class Row>
HWY_INLINE ByteVec quantize_vector(Part part, Row row, std::size_t i, FloatVec inverse,
                                   hn::Vec<IntTag> offset) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const bool second = part.count > lanes;
  const auto va = row.load(Part{second ? lanes : part.count}, i);
  const auto vb = second ? row.load(Part{part.count - lanes}, i + lanes) : hn::Zero(d);
  return pack_bytes(scale_and_round(va, inverse, offset), scale_and_round(vb, inverse, offset));
}

#else  // One float vector makes one (short) vector of bytes.

inline constexpr std::size_t kFloatsPerByteVec = 1;

struct ByteSum {
  hn::Vec<IntTag> lanes;
  HWY_INLINE ByteSum() : lanes(hn::Zero(IntTag())) {}
  HWY_INLINE void add(ByteVec bytes) { lanes = hn::Add(lanes, hn::PromoteTo(IntTag(), bytes)); }
  HWY_INLINE std::int32_t total() const { return hn::GetLane(hn::SumOfLanes(IntTag(), lanes)); }
};

template <class Access, class Row>
HWY_INLINE ByteVec quantize_vector(Access access, Row row, std::size_t i, FloatVec inverse,
                                   hn::Vec<IntTag> offset) {
  return hn::DemoteTo(ByteTag(), scale_and_round(row.load(access, i), inverse, offset));
}

#endif

template <class Row>
HWY_INLINE std::int32_t quantize_elements(Row row, std::size_t n, RowQuant quant, std::uint8_t* q) {
  const ByteTag db;
  const auto inverse = hn::Set(FloatTag(), 1.0f / quant.scale);
  const auto offset = hn::Set(IntTag(), quant.zero_point - kRounderBits);
  ByteSum sum;
  for_each_vector_simple(n, kFloatsPerByteVec * hn::Lanes(FloatTag()),
                         [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
                           const auto bytes = quantize_vector(access, row, i, inverse, offset);
                           access.store(bytes, db, q + i);
                           sum.add(access.select(db, bytes, hn::Zero(db)));
                         });
  return sum.total();
}

std::int32_t quantize_row(const float* x, const float* factors, std::size_t n, RowQuant quant,
                          std::uint8_t* q) {
  if (std::isnan(quant.scale)) {
    std::memset(q, 0, n);
    return 0;
  }
  if (factors) return quantize_elements(ScaledRow{x, factors}, n, quant, q);
  return quantize_elements(PlainRow{x}, n, quant, q);
}

std::int32_t sum_row(const std::uint8_t* x, std::size_t n) {
  const ByteTag d;
  ByteSum sums[kUnroll];
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    sums[acc].add(access.load(d, x + i));
  });
  return sums[0].total() + sums[1].total() + sums[2].total() + sums[3].total();
}

std::int32_t shift_row(const std::int8_t* x, std::size_t n, std::uint8_t* q) {
  const ByteTag d;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(x);
  const auto sign = hn::Set(d, std::uint8_t{128});
  ByteSum sums[kUnroll];
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto shifted = hn::Xor(access.load(d, bytes + i), sign);  // b ^ 128 = b + 128 in uint8
    access.store(shifted, d, q + i);
    sums[acc].add(access.select(d, shifted, hn::Zero(d)));
  });
  return sums[0].total() + sums[1].total() + sums[2].total() + sums[3].total();
}

void sum_groups(const std::uint8_t* x, std::size_t n, std::size_t group, float* sums,
                std::size_t ld) {
  for (std::size_t begin = 0; begin < n; begin += group, sums += ld) {
    const std::size_t end = std::min(begin + group, n);
    std::size_t i = begin;
    std::uint32_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
    // Groups are as short as 32: vectors of 16 bytes, whose sums take few steps to add up.
    constexpr std::size_t kBytes = 16;
    const hn::FixedTag<std::uint8_t, kBytes> d;
    const hn::Repartition<std::uint64_t, decltype(d)> wide;
    auto sums_of_8 = hn::Zero(wide);
    for (; i + kBytes <= end; i += kBytes)
      sums_of_8 = hn::Add(sums_of_8, hn::SumsOf8(hn::LoadU(d, x + i)));
    sum = static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(wide, sums_of_8)));
#endif
    for (; i < end; ++i) sum += x[i];
    *sums = static_cast<float>(sum);
  }
}

void widen_groups(const std::uint8_t* x, std::size_t n, std::uint16_t* y) {
  constexpr std::uint32_t kLow = 0x00ff00ff;
  auto* out = reinterpret_cast<std::uint32_t*>(y);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  const auto low = hn::Set(d, kLow);
  for (; i + hn::Lanes(bytes) <= n; i += hn::Lanes(bytes)) {
    const auto group = hn::BitCast(d, hn::LoadU(bytes, x + i));
    const auto even = hn::And(group, low), odd = hn::And(hn::ShiftRight<8>(group), low);
    hn::StoreInterleaved2(even, odd, d, out + i / 2);
  }
#endif
  for (; i < n; i += 4) {
    std::uint32_t group = 0;
    std::memcpy(&group, x + i, n - i < 4 ? n - i : 4);
    out[i / 2] = group & kLow;
    out[i / 2 + 1] = group >> 8 & kLow;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
