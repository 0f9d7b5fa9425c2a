// The kernels of windows.h, compiled by Highway for each target: channels across the lanes of a
// vector, one accumulator for each vector of channels, the pixels of the window one after another.
#include "simd/windows.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/windows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// use(pixel) for every pixel of a window after the first.
template <class T, class Use>
HWY_INLINE void for_other_pixels(const T* x, const PixelWindow& w, Use use) {
  for (std::int64_t z = 0; z < w.count[0]; ++z)
    for (std::int64_t y = 0; y < w.count[1]; ++y) {
      const T* line = x + z * w.stride[0] + y * w.stride[1];
      for (std::int64_t i = z == 0 && y == 0 ? 1 : 0; i < w.count[2]; ++i)
        use(line + i * w.stride[2]);
    }
}

struct Larger {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const {
    return hn::IfThenElse(hn::IsNaN(a), a, max_keep_nan(a, b));
  }
};
struct Smaller {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const {
    return hn::IfThenElse(hn::IsNaN(a), a, min_keep_nan(a, b));
  }
};

template <class Choice, class T>
HWY_INLINE void choose(const T* x, const PixelWindow& window, std::size_t n, T* y) {
  const hn::ScalableTag<T> d;
  const Choice choice;
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    auto best = access.load(d, x + i);
    for_other_pixels(x + i, window, [&](const T* pixel) FBG_INLINE_LAMBDA {
      best = choice(best, access.load(d, pixel));
    });
    access.store(best, d, y + i);
  });
}

void max_float(const float* x, const PixelWindow& w, std::size_t n, float* y) {
  choose<Larger>(x, w, n, y);
}
void min_float(const float* x, const PixelWindow& w, std::size_t n, float* y) {
  choose<Smaller>(x, w, n, y);
}
void max_uint8(const std::uint8_t* x, const PixelWindow& w, std::size_t n, std::uint8_t* y) {
  choose<Larger>(x, w, n, y);
}
void max_int8(const std::int8_t* x, const PixelWindow& w, std::size_t n, std::int8_t* y) {
  choose<Larger>(x, w, n, y);
}
void min_uint8(const std::uint8_t* x, const PixelWindow& w, std::size_t n, std::uint8_t* y) {
  choose<Smaller>(x, w, n, y);
}
void min_int8(const std::int8_t* x, const PixelWindow& w, std::size_t n, std::int8_t* y) {
  choose<Smaller>(x, w, n, y);
}

void sum_float(const float* x, const PixelWindow& window, std::size_t n, float factor, float* y) {
  const FloatTag d;
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    auto sum = access.load(d, x + i);
    for_other_pixels(x + i, window, [&](const float* pixel) FBG_INLINE_LAMBDA {
      sum = hn::Add(sum, access.load(d, pixel));
    });
    access.store(hn::Mul(sum, hn::Set(d, factor)), d, y + i);
  });
}

// What becomes of sums: y = saturate(rint(r) + zero_point), or r itself where Y is float.
template <class T, class Y>
struct SumResult {
  HWY_INLINE auto operator()(hn::VFromD<hn::RebindToSigned<FloatTag>> sum) const {
    const FloatTag d;
    const hn::RebindToSigned<FloatTag> di;
    const auto real = hn::ConvertTo(d, hn::Sub(sum, hn::Set(di, offset)));
    const auto scaled = hn::Mul(real, hn::Set(d, factor));
    if constexpr (sizeof(Y) == sizeof(float))
      return scaled;
    else {
      // Before it becomes an integer, so that nothing overflows.
      const auto point = static_cast<float>(zero_point);
      const auto lowest = hn::Set(d, static_cast<float>(std::numeric_limits<Y>::lowest()) - point);
      const auto highest = hn::Set(d, static_cast<float>(std::numeric_limits<Y>::max()) - point);
      const auto bounded = hn::Clamp(scaled, lowest, highest);
      return hn::DemoteTo(hn::Rebind<T, FloatTag>(),
                          hn::Add(hn::NearestInt(bounded), hn::Set(di, zero_point)));
    }
  }
  std::int32_t offset;
  float factor;
  std::int32_t zero_point;
};

#if HWY_TARGET != HWY_SCALAR
// Sums of at most 256 bytes fit 16 bits: two vectors of results at a time. Returns how many results
// there are; less than two vectors are left.
constexpr std::int64_t kMostShort = 256;
template <class T, class Y>
HWY_INLINE std::size_t sum_short(const T* x, const PixelWindow& window, std::size_t n,
                                 SumResult<T, Y> result, Y* y) {
  using Short = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  const hn::ScalableTag<Short> ds;
  const hn::Half<decltype(ds)> dh;
  const hn::Rebind<T, decltype(ds)> dt;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<Y, FloatTag> dy;
  std::size_t i = 0;
  for (; i + hn::Lanes(ds) <= n; i += hn::Lanes(ds)) {
    auto sum = hn::PromoteTo(ds, hn::LoadU(dt, x + i));
    for_other_pixels(x + i, window, [&](const T* pixel) FBG_INLINE_LAMBDA {
      sum = hn::Add(sum, hn::PromoteTo(ds, hn::LoadU(dt, pixel)));
    });
    hn::StoreU(result(hn::PromoteTo(di, hn::LowerHalf(sum))), dy, y + i);
    hn::StoreU(result(hn::PromoteTo(di, hn::UpperHalf(dh, sum))), dy, y + i + hn::Lanes(di));
  }
  return i;
}
#endif

template <class T, class Y>
HWY_INLINE void sum_integers(const T* x, const PixelWindow& window, std::size_t n,
                             std::int32_t offset, float factor, std::int32_t zero_point, Y* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  const hn::Rebind<Y, FloatTag> dy;
  const SumResult<T, Y> result{offset, factor, zero_point};
#if HWY_TARGET != HWY_SCALAR
  if (window.count[0] * window.count[1] * window.count[2] <= kMostShort) {
    const std::size_t done = sum_short(x, window, n, result, y);
    x += done;
    y += done;
    n -= done;
  }
#endif
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    auto sum = hn::PromoteTo(di, access.load(dt, x + i));
    for_other_pixels(x + i, window, [&](const T* pixel) FBG_INLINE_LAMBDA {
      sum = hn::Add(sum, hn::PromoteTo(di, access.load(dt, pixel)));
    });
    access.store(result(sum), dy, y + i);
  });
}
void sum_uint8_float(const std::uint8_t* x, const PixelWindow& window, std::size_t n,
                     std::int32_t offset, float factor, float* y) {
  sum_integers(x, window, n, offset, factor, 0, y);
}
void sum_int8_float(const std::int8_t* x, const PixelWindow& window, std::size_t n,
                    std::int32_t offset, float factor, float* y) {
  sum_integers(x, window, n, offset, factor, 0, y);
}
void sum_uint8(const std::uint8_t* x, const PixelWindow& window, std::size_t n, std::int32_t offset,
               float factor, std::int32_t zero_point, std::uint8_t* y) {
  sum_integers(x, window, n, offset, factor, zero_point, y);
}
void sum_int8(const std::int8_t* x, const PixelWindow& window, std::size_t n, std::int32_t offset,
              float factor, std::int32_t zero_point, std::int8_t* y) {
  sum_integers(x, window, n, offset, factor, zero_point, y);
}

template <class Choice>
HWY_INLINE FloatVec choose_in_row(const float* x, std::size_t n) {
  const FloatTag d;
  const Choice choice;
  auto best = hn::Set(d, x[0]);
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    best = choice(best, access.select(d, access.load(d, x + i), best));
  });
  return best;
}
float row_max(const float* x, std::size_t n) {
  return hn::GetLane(hn::MaxOfLanes(FloatTag(), choose_in_row<Larger>(x, n)));
}
float row_min(const float* x, std::size_t n) {
  return hn::GetLane(hn::MinOfLanes(FloatTag(), choose_in_row<Smaller>(x, n)));
}
float row_sum(const float* x, std::size_t n) {
  const FloatTag d;
  FloatVec sums[kUnroll] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int chain) FBG_INLINE_LAMBDA {
    sums[chain] = hn::Add(sums[chain], access.load(d, x + i));
  });
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

extern const WindowKernels kWindowKernels;
const WindowKernels kWindowKernels = {
    .max_float = max_float,
    .min_float = min_float,
    .max_uint8 = max_uint8,
    .max_int8 = max_int8,
    .min_uint8 = min_uint8,
    .min_int8 = min_int8,
    .sum_float = sum_float,
    .sum_uint8 = sum_uint8,
    .sum_int8 = sum_int8,
    .sum_uint8_float = sum_uint8_float,
    .sum_int8_float = sum_int8_float,
    .row_max = row_max,
    .row_min = row_min,
    .row_sum = row_sum,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fbg::simd {

const WindowKernels& window_kernels([[maybe_unused]] Features features) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (features & feature::avx512) return N_AVX3::kWindowKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
  if (features & feature::avx2) return N_AVX2::kWindowKernels;
#endif
  return HWY_STATIC_DISPATCH(kWindowKernels);
}

}  // namespace fbg::simd
#endif  // HWY_ONCE
