// How row kernels walk a row: full vectors, four at a time, then one partial vector that touches
// no byte outside [0, n). Included once per Highway target by rows.cc, before the kernels.
#include <cstddef>
#include <cstdint>
#include <cstring>

// The toggle is Highway's per-target include guard.
#if defined(FBG_SIMD_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FBG_SIMD_VECTORS_INL_H_
#undef FBG_SIMD_VECTORS_INL_H_
#else
#define FBG_SIMD_VECTORS_INL_H_
#endif

#include "hwy/highway.h"

// A lambda does not inherit the target attribute on every compiler, and GCC does not inline a
// kernel body that is called five times: both have to be asked for.
#undef FBG_INLINE_LAMBDA
#define FBG_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;
using IntTag = hn::RebindToSigned<FloatTag>;
inline constexpr bool kX86Vectors = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;
inline constexpr std::size_t kUnroll = 4;

// True where a masked load or store neither faults nor writes outside the mask.
template <typename T>
inline constexpr bool kMaskedAccess = HWY_TARGET == HWY_AVX3 ||
                                      (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);

// Access to a whole vector.
struct Whole {
  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p) const {
    return hn::LoadU(d, p);
  }
  template <class D>
  HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* p) const {
    hn::StoreU(v, d, p);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> select(D, hn::Vec<D> v, hn::Vec<D>) const {
    return v;
  }
};

// Access to the first `count` lanes; the others load as zero and are not stored.
struct Part {
  std::size_t count;

  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* p) const {
    using T = hn::TFromD<D>;
    if constexpr (kMaskedAccess<T>) {
      return hn::MaskedLoad(hn::FirstN(d, count), d, p);
    } else if constexpr (HWY_TARGET == HWY_AVX2) {
      return load_words(d, reinterpret_cast<const std::uint8_t*>(p), count * sizeof(T));
    } else {
      HWY_ALIGN T buffer[hn::MaxLanes(D())] = {};
      std::memcpy(buffer, p, count * sizeof(T));
      return hn::Load(d, buffer);
    }
  }
  template <class D>
  HWY_INLINE void store(hn::Vec<D> v, D d, hn::TFromD<D>* p) const {
    using T = hn::TFromD<D>;
    if constexpr (kMaskedAccess<T>) {
      hn::BlendedStore(v, hn::FirstN(d, count), d, p);
    } else {
      HWY_ALIGN T buffer[hn::MaxLanes(D())];
      hn::Store(v, d, buffer);
      std::memcpy(p, buffer, count * sizeof(T));
    }
  }
  // The first `bytes` of a vector whose elements have no masks, but whose words of 32 bits have. A
  // buffer would cost more than all else for a row of one or two vectors. A call keeps code small.
  template <class D>
  static HWY_NOINLINE hn::Vec<D> load_words(D d, const std::uint8_t* p, std::size_t bytes) {
    const hn::Repartition<std::uint32_t, D> words;
    const std::size_t whole = bytes / 4;
    auto v =
        hn::MaskedLoad(hn::FirstN(words, whole), words, reinterpret_cast<const std::uint32_t*>(p));
    if (bytes % 4 != 0) {
      std::uint32_t last = 0;
      for (std::size_t i = 4 * whole; i < bytes; ++i) last |= std::uint32_t{p[i]} << (8 * (i % 4));
      const auto position = hn::Set(words, static_cast<std::uint32_t>(whole));
      const auto is_last = hn::Eq(hn::Iota(words, 0), position);
      v = hn::Or(v, hn::IfThenElseZero(is_last, hn::Set(words, last)));
    }
    return hn::BitCast(d, v);
  }
  // v in the first `count` lanes, `other` beyond them.
  template <class D>
  HWY_INLINE hn::Vec<D> select(D d, hn::Vec<D> v, hn::Vec<D> other) const {
    return hn::IfThenElse(hn::FirstN(d, count), v, other);
  }
};

// Calls body(access, i, accumulator) for vectors of `step` elements: i is the first element,
// `accumulator` in [0, kUnroll) says which of several independent accumulators to use.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, std::size_t step, Body body) {
  std::size_t i = 0;
  for (; i + kUnroll * step <= n; i += kUnroll * step) {
    body(Whole{}, i, 0);
    body(Whole{}, i + step, 1);
    body(Whole{}, i + 2 * step, 2);
    body(Whole{}, i + 3 * step, 3);
  }
  for (; i + step <= n; i += step) body(Whole{}, i, 0);
  if (i < n) body(Part{n - i}, i, 1);
}

// For bodies long enough to keep the machine busy without unrolling.
template <class Body>
HWY_INLINE void for_each_vector_simple(std::size_t n, std::size_t step, Body body) {
  std::size_t i = 0;
  for (; i + step <= n; i += step) body(Whole{}, i);
  if (i < n) body(Part{n - i}, i);
}

// min and max that keep a NaN of x. x86's minps/maxps answer the second operand when either is NaN.
HWY_INLINE FloatVec min_keep_nan(FloatVec bound, FloatVec x) {
  if constexpr (kX86Vectors) return hn::Min(bound, x);
  return hn::IfThenElse(hn::Lt(bound, x), bound, x);
}
HWY_INLINE FloatVec max_keep_nan(FloatVec bound, FloatVec x) {
  if constexpr (kX86Vectors) return hn::Max(bound, x);
  return hn::IfThenElse(hn::Gt(bound, x), bound, x);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Two vectors of integers become one of bytes, saturated. Packing works inside 128-bit blocks:
//   int16: a0 b0 a1 b1 ... (four lanes each), bytes in the same order, one 32-bit group per name.
using ByteTag = hn::Rebind<std::uint8_t, hn::Repartition<std::int16_t, FloatTag>>;
using ByteVec = hn::Vec<ByteTag>;

HWY_INLINE ByteVec pack_bytes(hn::Vec<IntTag> a, hn::Vec<IntTag> b) {
  const hn::Repartition<std::int16_t, FloatTag> d16;
  const hn::Repartition<std::uint32_t, ByteTag> d32;
  const auto bytes = hn::DemoteTo(ByteTag(), hn::ReorderDemote2To(d16, a, b));
  HWY_ALIGN static constexpr std::uint32_t kGroups512[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  HWY_ALIGN static constexpr std::uint32_t kGroups256[4] = {0, 2, 1, 3};
  const auto order = hn::SetTableIndices(d32, HWY_TARGET == HWY_AVX3 ? kGroups512 : kGroups256);
  return hn::BitCast(ByteTag(), hn::TableLookupLanes(hn::BitCast(d32, bytes), order));
}
#else
using ByteTag = hn::Rebind<std::uint8_t, FloatTag>;
using ByteVec = hn::Vec<ByteTag>;
#endif

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
