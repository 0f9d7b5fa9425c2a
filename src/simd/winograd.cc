// Winograd's transforms, one source compiled by Highway for each target. The coefficients are
// compile-time constants, so that zeros and ones cost nothing.
#include "simd/winograd.h"

#include <utility>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/winograd.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

using winograd::is_pair;
using winograd::kMaxTile;
using winograd::points;
using winograd::Rational;

template <class Body, std::size_t... I>
HWY_INLINE void unroll(std::index_sequence<I...>, Body body) {
  (body(std::integral_constant<int, static_cast<int>(I)>{}), ...);
}
template <int kCount, class Body>
HWY_INLINE void unroll(Body body) {
  unroll(std::make_index_sequence<kCount>{}, body);
}

constexpr Rational point(int t, int j) { return points(t)[static_cast<std::size_t>(j)]; }

// sum + c * x; `started` says whether there is a sum yet.
template <std::int64_t kNumerator, std::int64_t kDenominator, bool kStarted>
HWY_INLINE void add_multiple(FloatVec& sum, FloatVec x) {
  constexpr Rational c(kNumerator, kDenominator);
  if constexpr (c == Rational(0)) {
    return;
  } else if constexpr (!kStarted) {
    sum = c == Rational(1) ? x : hn::Mul(hn::Set(FloatTag(), static_cast<float>(c.value())), x);
  } else if constexpr (c == Rational(1)) {
    sum = hn::Add(sum, x);
  } else if constexpr (c == Rational(-1)) {
    sum = hn::Sub(sum, x);
  } else {
    sum = hn::MulAdd(hn::Set(FloatTag(), static_cast<float>(c.value())), x, sum);
  }
}

// The coefficients of M(x) without two of its factors, against x[kShift], x[kShift + 1], ...: the
// highest, which is 1, first.
template <int T, int I, int J, int kShift>
HWY_INLINE FloatVec quotient(const FloatVec* x) {
  constexpr int kDegree = T - 1 - (I >= 0) - (J >= 0);
  FloatVec sum = x[kDegree + kShift];
  unroll<kDegree>([&](auto index) FBG_INLINE_LAMBDA {
    constexpr int kPower = kDegree - 1 - index;
    constexpr Rational c = winograd::product_without(T, I, J)[static_cast<std::size_t>(kPower)];
    add_multiple<c.numerator, c.denominator, true>(sum, x[kPower + kShift]);
  });
  return sum;
}

// y = B^T x. Row j is (x + p) R(x) where -p is a point as well, and row j + 1 (x - p) R(x).
template <int T>
struct Source {
  static constexpr int kLines = T;
  static HWY_INLINE void apply(const FloatVec* x, FloatVec* y) {
    unroll<T>([&](auto index) FBG_INLINE_LAMBDA {
      constexpr int j = index;
      if constexpr (j == T - 1) {
        y[j] = quotient<T, -1, -1, 0>(x);
      } else if constexpr (is_pair(T, j)) {
        const FloatVec even = quotient<T, j, j + 1, 1>(x), odd = quotient<T, j, j + 1, 0>(x);
        constexpr Rational p = point(T, j);
        y[j] = y[j + 1] = even;
        add_multiple<p.numerator, p.denominator, true>(y[j], odd);
        add_multiple<-p.numerator, p.denominator, true>(y[j + 1], odd);
      } else if constexpr (!is_pair(T, j - 1)) {
        y[j] = quotient<T, j, -1, 0>(x);
      }
    });
  }
};

// y = A^T x. Points p and -p give p^i (x_j + x_j+1) to even rows and p^i (x_j - x_j+1) to odd ones.
template <int T, int N>
struct Output {
  static constexpr int kLines = N;
  static HWY_INLINE void apply(const FloatVec* x, FloatVec* y) {
    FloatVec even[T], odd[T];
    unroll<T - 1>([&](auto index) FBG_INLINE_LAMBDA {
      constexpr int j = index;
      if constexpr (is_pair(T, j)) {
        even[j] = hn::Add(x[j], x[j + 1]);
        odd[j] = hn::Sub(x[j], x[j + 1]);
      }
    });
    unroll<N>([&](auto row) FBG_INLINE_LAMBDA {
      constexpr int i = row;
      // Point 0 gives to row 0 alone, infinity to the last.
      FloatVec sum = x[0];
      unroll<T - 2>([&](auto index) FBG_INLINE_LAMBDA {
        constexpr int j = index + 1;
        constexpr Rational c = winograd::output(T, N, i, j);
        constexpr bool kStarted = i == 0 || j > 1;
        if constexpr (is_pair(T, j))
          add_multiple<c.numerator, c.denominator, kStarted>(sum, i % 2 ? odd[j] : even[j]);
        else if constexpr (!is_pair(T, j - 1))
          add_multiple<c.numerator, c.denominator, kStarted>(sum, x[j]);
      });
      if constexpr (i == N - 1) sum = hn::Add(sum, x[T - 1]);
      y[i] = sum;
    });
  }
};

struct Copy {
  static constexpr int kLines = 1;
  static HWY_INLINE void apply(const FloatVec* x, FloatVec* y) { y[0] = x[0]; }
};

template <class Transform, int T>
void transform_lines(const LineTransform& a) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < a.items; ++i) {
    const float* x[T];
    for (int p = 0; p < T; ++p) x[p] = a.x[p] + static_cast<std::ptrdiff_t>(i) * a.step_x[p];
    float* const y = a.y + static_cast<std::ptrdiff_t>(i) * a.step_y;
    for_each_vector_simple(a.channels, lanes, [&](auto access, std::size_t c) FBG_INLINE_LAMBDA {
      FloatVec in[T], out[Transform::kLines];
      unroll<T>([&](auto p) FBG_INLINE_LAMBDA { in[p] = access.load(d, x[p] + c); });
      Transform::apply(in, out);
      unroll<Transform::kLines>(
          [&](auto l) FBG_INLINE_LAMBDA { access.store(out[l], d, y + l * a.line_y + c); });
    });
  }
}

template <int T>
constexpr void fill(WinogradKernels& table) {
  table.source[T] = transform_lines<Source<T>, T>;
  unroll<T - 2>([&](auto n) FBG_INLINE_LAMBDA {
    table.output[T][n + 2] = transform_lines<Output<T, n + 2>, T>;
  });
}

extern const WinogradKernels kWinogradKernels;
const WinogradKernels kWinogradKernels = [] {
  WinogradKernels table{};
  table.source[1] = table.output[1][1] = transform_lines<Copy, 1>;
  fill<3>(table);
  fill<4>(table);
  fill<5>(table);
  fill<6>(table);
  fill<7>(table);
  fill<8>(table);
  return table;
}();

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
