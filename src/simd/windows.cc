// The kernels of windows.h, compiled by Highway for each target: channels across the lanes of a
// vector, one accumulator for each vector of channels, the pixels of the window one after another.
#include "simd/windows.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/windows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// Any window. other(x, use) calls use(pixel) for every pixel after the first.
struct AnyPixels {
  template <class T, class Use>
  HWY_INLINE void other(const T* x, Use use) const {
    for (std::int64_t z = 0; z < w.count[0]; ++z)
      for (std::int64_t y = 0; y < w.count[1]; ++y) {
        const T* line = x + z * w.stride[0] + y * w.stride[1];
        for (std::int64_t i = z == 0 && y == 0 ? 1 : 0; i < w.count[2]; ++i)
          use(line + i * w.stride[2]);
      }
  }
  const PixelWindow& w;
};

// A small window of an image, without loops.
template <int kSize>
struct SquarePixels {
  template <class T, class Use>
  HWY_INLINE void other(const T* x, Use use) const {
    [&]<int... kAt>(std::integer_sequence<int, kAt...>) FBG_INLINE_LAMBDA {
      (use(x + (kAt + 1) / kSize * row + (kAt + 1) % kSize * column), ...);
    }
    (std::make_integer_sequence<int, kSize * kSize - 1>());
  }
  std::int64_t row, column;
};

// body(pixels, x, y) for each window.
template <class T, class Y, class Body>
HWY_INLINE void for_each_window(const T* x, const PixelWindow& w, Y* y, Body body) {
  const auto run = [&](auto pixels) FBG_INLINE_LAMBDA {
    for (std::int64_t i = 0; i < w.windows; ++i) body(pixels, x + i * w.x_step, y + i * w.y_step);
  };
  const auto is_square = [&](std::int64_t size) {
    return w.count[0] == 1 && w.count[1] == size && w.count[2] == size;
  };
  if constexpr (HWY_TARGET != HWY_SCALAR && sizeof(T) != 2) {  // where its size pays
    if (is_square(3)) return run(SquarePixels<3>{w.stride[1], w.stride[2]});
    if (is_square(2)) return run(SquarePixels<2>{w.stride[1], w.stride[2]});
  }
  run(AnyPixels{w});
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

// Numbers as floats, as which bfloat16 is the upper half.
HWY_INLINE FloatVec load_floats(auto access, const float* x) { return access.load(FloatTag(), x); }
HWY_INLINE FloatVec load_floats(auto access, const std::uint16_t* x) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto wide = hn::PromoteTo(du, access.load(hn::Rebind<std::uint16_t, FloatTag>(), x));
  return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(wide));
}

template <class Choice>
HWY_ATTR void choose_bfloat16(const std::uint16_t* source, const PixelWindow& window, std::size_t n,
                              std::uint16_t* target) {
  const IntTag di;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  const Choice choice;
  const auto one = [&](auto pixels, const std::uint16_t* x, std::uint16_t* y) FBG_INLINE_LAMBDA {
    for_each_vector_simple(n, hn::Lanes(di), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      auto best = load_floats(access, x + i);
      pixels.other(x + i, [&](const std::uint16_t* pixel) FBG_INLINE_LAMBDA {
        best = choice(best, load_floats(access, pixel));
      });
      const auto upper = hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<FloatTag>(), best));
      access.store(hn::DemoteTo(d16, hn::BitCast(di, upper)), d16, y + i);
    });
  };
  for_each_window(source, window, target, one);
}

template <class Choice, class T>
HWY_ATTR void choose(const T* source, const PixelWindow& window, std::size_t n, T* target) {
  const hn::ScalableTag<T> d;
  const Choice choice;
  const auto one = [&](auto pixels, const T* x, T* y) FBG_INLINE_LAMBDA {
    for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      auto best = access.load(d, x + i);
      pixels.other(x + i, [&](const T* pixel)
                              FBG_INLINE_LAMBDA { best = choice(best, access.load(d, pixel)); });
      access.store(best, d, y + i);
    });
  };
  for_each_window(source, window, target, one);
}

// How many numbers are added one by one before their sum joins those of other blocks, so that the
// error of a mean over a whole image does not grow with its pixels.
constexpr int kSumBlock = 64;

template <class T>
HWY_ATTR void sum_floats(const T* source, const PixelWindow& window, std::size_t n,
                         const SumScale& scale, float* target) {
  const FloatTag d;
  const auto factor = hn::Set(d, scale.factor);
  const auto one = [&](auto pixels, const T* x, float* y) FBG_INLINE_LAMBDA {
    for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      auto sum = load_floats(access, x + i);
      auto blocks = hn::Zero(d);
      int added = 1;
      pixels.other(x + i, [&](const T* pixel) FBG_INLINE_LAMBDA {
        if (added++ % kSumBlock == 0) blocks = hn::Add(blocks, std::exchange(sum, hn::Zero(d)));
        sum = hn::Add(sum, load_floats(access, pixel));
      });
      access.store(hn::Mul(hn::Add(blocks, sum), factor), d, y + i);
    });
  };
  for_each_window(source, window, target, one);
}

// The results of sums of T.
template <class T, class Y>
struct SumResult : SumScale {
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
      // Adding 1.5 * 2^23 rounds to the nearest integer, which is then in the lower bits.
      const auto rounded = hn::BitCast(di, hn::Add(bounded, hn::Set(d, 12582912.0f)));
      return hn::Sub(rounded, hn::Set(di, 0x4B400000 - zero_point));
    }
  }
  HWY_INLINE auto store(hn::VFromD<hn::RebindToSigned<FloatTag>> sum) const {
    if constexpr (sizeof(Y) == sizeof(float))
      return (*this)(sum);
    else
      return hn::DemoteTo(hn::Rebind<Y, FloatTag>(), (*this)(sum));
  }
};

// Sums of at most 256 bytes fit 16 bits. Each of the following adds and writes as many channels as
// it can of a window, and returns how many those are.
constexpr std::int64_t kMostShort = 256;
#if HWY_TARGET != HWY_SCALAR
template <class T, class Pixels>
HWY_INLINE std::size_t sum_short(Pixels pixels, const T* x, std::size_t n,
                                 const SumResult<T, float>& result, float* y) {
  using Short = std::conditional_t<std::is_signed_v<T>, std::int16_t, std::uint16_t>;
  const hn::ScalableTag<Short> ds;
  const hn::Half<decltype(ds)> dh;
  const hn::Rebind<T, decltype(ds)> dt;
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  std::size_t i = 0;
  for (; i + hn::Lanes(ds) <= n; i += hn::Lanes(ds)) {
    auto sum = hn::PromoteTo(ds, hn::LoadU(dt, x + i));
    pixels.other(x + i, [&](const T* pixel) FBG_INLINE_LAMBDA {
      sum = hn::Add(sum, hn::PromoteTo(ds, hn::LoadU(dt, pixel)));
    });
    hn::StoreU(result.store(hn::PromoteTo(di, hn::LowerHalf(sum))), d, y + i);
    hn::StoreU(result.store(hn::PromoteTo(di, hn::UpperHalf(dh, sum))), d, y + i + hn::Lanes(di));
  }
  return i;
}

// Bytes stay in the lanes that they come from, so that nothing is shuffled:
//
//   16 bits   odd = sum of (x >> 8), even = sum of x - (odd << 8)     modulo 2^16
//   32 bits   channels 0 and 2 of four are the halves of even, 1 and 3 those of odd
//
// Signed bytes are summed as unsigned ones that are larger by 128.
template <class T, class Pixels>
HWY_INLINE std::size_t sum_short(Pixels pixels, const T* x, std::size_t n,
                                 const SumResult<T, T>& result, T* y) {
  const hn::ScalableTag<std::uint8_t> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Repartition<std::uint32_t, decltype(d8)> d32;
  const hn::RebindToSigned<decltype(d32)> di;
  const auto load = [&](const T* pixel) FBG_INLINE_LAMBDA {
    const auto bytes = hn::LoadU(d8, reinterpret_cast<const std::uint8_t*>(pixel));
    if constexpr (std::is_signed_v<T>) return hn::BitCast(d16, hn::Xor(bytes, hn::Set(d8, 0x80)));
    return hn::BitCast(d16, bytes);
  };
  const auto byte = [&](hn::VFromD<decltype(d32)> sum) FBG_INLINE_LAMBDA {
    const auto q = hn::BitCast(d32, result(hn::BitCast(di, sum)));
    return std::is_signed_v<T> ? hn::And(q, hn::Set(d32, 0xFF)) : q;
  };
  const auto low = hn::Set(d32, 0xFFFF);
  const std::size_t lanes = hn::Lanes(d8);
  if (n < lanes) return 0;
  for (std::size_t i = 0;; i = std::min(i + lanes, n - lanes)) {  // the last vector may overlap
    auto all = load(x + i);
    auto odd = hn::ShiftRight<8>(all);
    pixels.other(x + i, [&](const T* pixel) FBG_INLINE_LAMBDA {
      const auto two = load(pixel);
      all = hn::Add(all, two);
      odd = hn::Add(odd, hn::ShiftRight<8>(two));
    });
    const auto even = hn::BitCast(d32, hn::Sub(all, hn::ShiftLeft<8>(odd)));
    const auto other = hn::BitCast(d32, odd);
    const auto first =
        hn::Or(byte(hn::And(even, low)), hn::ShiftLeft<8>(byte(hn::And(other, low))));
    const auto second =
        hn::Or(byte(hn::ShiftRight<16>(even)), hn::ShiftLeft<8>(byte(hn::ShiftRight<16>(other))));
    const auto four = hn::Or(first, hn::ShiftLeft<16>(second));
    hn::StoreU(hn::BitCast(d8, four), d8, reinterpret_cast<std::uint8_t*>(y + i));
    if (i + lanes == n) return n;
  }
}
#endif

template <class T, class Y>
HWY_ATTR void sum(const T* source, const PixelWindow& window, std::size_t n, const SumScale& scale,
                  Y* target) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  const hn::Rebind<Y, FloatTag> dy;
  const SumResult<T, Y> result{scale};
  const auto count = window.count[0] * window.count[1] * window.count[2];
  // The number that sum_short subtracts.
  SumResult<T, Y> short_result = result;
  if (sizeof(Y) == 1 && std::is_signed_v<T>)
    short_result.offset += 128 * static_cast<std::int32_t>(std::min(count, kMostShort));
  const auto one = [&](auto pixels, const T* x, Y* y) FBG_INLINE_LAMBDA {
    std::size_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    if (count <= kMostShort) done = sum_short(pixels, x, n, short_result, y);
#endif
    x += done;
    y += done;
    for_each_vector_simple(n - done, hn::Lanes(d),
                           [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
                             auto sum = hn::PromoteTo(di, access.load(dt, x + i));
                             pixels.other(x + i, [&](const T* pixel) FBG_INLINE_LAMBDA {
                               sum = hn::Add(sum, hn::PromoteTo(di, access.load(dt, pixel)));
                             });
                             access.store(result.store(sum), dy, y + i);
                           });
  };
  for_each_window(source, window, target, one);
}
template <class Choice>
HWY_INLINE FloatVec choose_in_row(const float* x, std::size_t n) {
  const FloatTag d;
  const Choice choice;
  const auto first = hn::Set(d, x[0]);
  FloatVec best[kUnroll] = {first, first, first, first};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    best[acc] = choice(best[acc], access.select(d, access.load(d, x + i), best[acc]));
  });
  const auto all = choice(choice(best[0], best[1]), choice(best[2], best[3]));
  // Reductions of lanes may lose a NaN: then all become one.
  const bool is_number = hn::AllFalse(d, hn::IsNaN(all));
  return is_number ? all : hn::Set(d, std::numeric_limits<float>::quiet_NaN());
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
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    sums[acc] = hn::Add(sums[acc], access.load(d, x + i));
  });
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

template <class T>
constexpr WindowsOf<T> windows_of() {
  return {choose<Larger>, choose<Smaller>, sum, sum};
}

extern const WindowKernels kWindowKernels;
const WindowKernels kWindowKernels = {
    .windows = {WindowsOf<float>{choose<Larger>, choose<Smaller>, sum_floats<float>,
                                 sum_floats<float>},
                windows_of<std::uint8_t>(), windows_of<std::int8_t>(),
                WindowsOf<std::uint16_t>{choose_bfloat16<Larger>, nullptr, nullptr,
                                         sum_floats<std::uint16_t>}},
    .row_max = row_max,
    .row_min = row_min,
    .row_sum = row_sum,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
