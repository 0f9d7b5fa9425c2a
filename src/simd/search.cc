// The kernels of search.h, compiled by Highway for each target.
#include "simd/search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "core/policy.h"
#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/search.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

// How the vectors of a query and of a row are compared: `step` elements at a time, into a sum whose
// lanes are added in the end.
struct DotFloat {
  using T = float;
  using Sum = FloatVec;
  static std::size_t step() { return hn::Lanes(FloatTag()); }
  static HWY_INLINE Sum zero() { return hn::Zero(FloatTag()); }
  template <class Access>
  static HWY_INLINE FloatVec load(Access access, const T* x) {
    return access.load(FloatTag(), x);
  }
  static HWY_INLINE Sum add(Sum sum, FloatVec query, FloatVec row) {
    return hn::MulAdd(query, row, sum);
  }
  static HWY_INLINE float total(Sum sum) { return hn::GetLane(hn::SumOfLanes(FloatTag(), sum)); }
};

#if HWY_TARGET == HWY_SCALAR
struct Scalars {
  using Sum = std::int32_t;
  static std::size_t step() { return 1; }
  static Sum zero() { return 0; }
  template <class Access, class T>
  static T load(Access, const T* x) {
    return *x;
  }
  static std::int32_t total(Sum sum) { return sum; }
};

struct DotInt8 : Scalars {
  using T = std::int8_t;
  static Sum add(Sum sum, T query, T row) { return sum + query * row; }
};

struct DifferentBits : Scalars {
  using T = std::uint8_t;
  static Sum add(Sum sum, T query, T row) {
    return sum - std::popcount(static_cast<T>(query ^ row));
  }
};
#else
struct DotInt8 {
  using T = std::int8_t;
  using SumTag = hn::ScalableTag<std::int32_t>;
  using WideTag = hn::Repartition<std::int16_t, SumTag>;
  using Tag = hn::Rebind<std::int8_t, WideTag>;
  using Sum = hn::Vec<SumTag>;
  using Wide = hn::Vec<WideTag>;
  static std::size_t step() { return hn::Lanes(WideTag()); }
  static HWY_INLINE Sum zero() { return hn::Zero(SumTag()); }
  template <class Access>
  static HWY_INLINE Wide load(Access access, const T* x) {
    return hn::PromoteTo(WideTag(), access.load(Tag(), x));
  }
  static HWY_INLINE Sum add(Sum sum, Wide query, Wide row) {
    Sum other = zero();  // which some targets use beside the first
    sum = hn::ReorderWidenMulAccumulate(SumTag(), query, row, sum, other);
    return kX86Vectors ? sum : hn::Add(sum, other);
  }
  static HWY_INLINE std::int32_t total(Sum sum) {
    return hn::GetLane(hn::SumOfLanes(SumTag(), sum));
  }
};

struct DifferentBits {
  using T = std::uint8_t;
  using Tag = hn::ScalableTag<std::uint8_t>;
  using SumTag = hn::Repartition<std::uint64_t, Tag>;
  using Sum = hn::Vec<SumTag>;
  static std::size_t step() { return hn::Lanes(Tag()); }
  static HWY_INLINE Sum zero() { return hn::Zero(SumTag()); }
  template <class Access>
  static HWY_INLINE hn::Vec<Tag> load(Access access, const T* x) {
    return access.load(Tag(), x);
  }
  static HWY_INLINE Sum add(Sum sum, hn::Vec<Tag> query, hn::Vec<Tag> row) {
    return hn::Add(sum, hn::SumsOf8(hn::PopulationCount(hn::Xor(query, row))));
  }
  static HWY_INLINE std::int32_t total(Sum sum) {
    return -static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(SumTag(), sum)));
  }
};
#endif

// The scores of kQueries x kRows pairs, whose sums stay in registers. A score has the same bits in
// a tile of any size.
template <class Pair, std::size_t kQueries, std::size_t kRows, class Score>
HWY_INLINE void score_tile(const typename Pair::T* queries, const typename Pair::T* rows,
                           std::size_t stride, std::size_t n, Score* y, std::size_t ldy) {
  typename Pair::Sum sums[kQueries][kRows];
  for (auto& of_query : sums)
    for (auto& sum : of_query) sum = Pair::zero();
  for_each_vector_simple(n, Pair::step(), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    decltype(Pair::load(access, queries)) q[kQueries];
    for (std::size_t a = 0; a < kQueries; ++a) q[a] = Pair::load(access, queries + a * n + i);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto row = Pair::load(access, rows + r * stride + i);
      for (std::size_t a = 0; a < kQueries; ++a) sums[a][r] = Pair::add(sums[a][r], q[a], row);
    }
  });
  for (std::size_t a = 0; a < kQueries; ++a)
    for (std::size_t r = 0; r < kRows; ++r) y[a * ldy + r] = Pair::total(sums[a][r]);
}

template <class Pair, std::size_t kRows, class Score>
HWY_INLINE void score_rows(const SearchOperands<typename Pair::T>& operands, std::size_t row,
                           Score* y, std::size_t ldy) {
  const auto* const rows = operands.rows + row * operands.stride;
  const auto* queries = operands.queries;
  std::size_t left = operands.num_queries;
  for (y += row; left >= 4; left -= 4, queries += 4 * operands.n, y += 4 * ldy)
    score_tile<Pair, 4, kRows>(queries, rows, operands.stride, operands.n, y, ldy);
  for (; left; --left, queries += operands.n, y += ldy)
    score_tile<Pair, 1, kRows>(queries, rows, operands.stride, operands.n, y, ldy);
}

template <class Pair, class Score>
HWY_ATTR void score(const SearchOperands<typename Pair::T>& operands, Score* y, std::size_t ldy) {
  const std::size_t bytes = operands.num_rows * operands.n * sizeof(typename Pair::T);
  const bool streams = std::is_same_v<Pair, DotFloat> && operands.num_queries == 1 &&
                       bytes > policy::search::kStreamedBytes;
  const std::size_t tiled = streams ? 0 : operands.num_rows;
  std::size_t row = 0;
  for (; row + 4 <= tiled; row += 4) score_rows<Pair, 4>(operands, row, y, ldy);
  for (; row < operands.num_rows; ++row) score_rows<Pair, 1>(operands, row, y, ldy);
}

template <class T>
HWY_ATTR std::size_t find_above(const T* x, std::size_t n, T bound) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto least = hn::Set(d, bound);
  const auto above = [&](std::size_t i)
                         FBG_INLINE_LAMBDA { return hn::Gt(hn::LoadU(d, x + i), least); };
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto any = hn::Or(hn::Or(above(i), above(i + lanes)),
                            hn::Or(above(i + 2 * lanes), above(i + 3 * lanes)));
    if (!hn::AllFalse(d, any)) break;
  }
  for (; i < n; ++i)
    if (x[i] > bound) return i;
  return n;
}

void square_float(const SearchOperands<float>& operands, float* squares) {
  for (std::size_t r = 0; r < operands.num_rows; ++r) {
    const float* const row = operands.rows + r * operands.stride;
    score_tile<DotFloat, 1, 1>(row, row, operands.stride, operands.n, squares + r, 1);
  }
}

#if HWY_TARGET == HWY_AVX3
#define FBG_COUNTS_BITS __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")))

// Where the CPU counts the bits of words itself (AVX512-VPOPCNTDQ), three instructions compare 64
// bytes. The eight parts of eight rows are bytes of one vector, which is transposed and whose bytes
// are added up. No set of features includes it: the results are the same without.
FBG_COUNTS_BITS void minus_counted_bits(const SearchOperands<std::uint8_t>& operands,
                                        std::int32_t* y, std::size_t ldy) {
  constexpr std::size_t kRows = 8, kBytes = 64;
  constexpr std::size_t kMost = 3 * kBytes;  // whose parts are bytes: at most 192
  alignas(64) std::array<std::uint8_t, kBytes> transposed;
  for (std::size_t i = 0; i < kBytes; ++i)
    transposed[i] = static_cast<std::uint8_t>(i % kRows * 8 + i / kRows);
  const __m512i transpose = _mm512_load_si512(transposed.data());
  const std::size_t n = operands.n, queries = operands.num_queries;
  for (std::size_t r = 0; r < operands.num_rows; r += kRows) {
    const std::size_t count = std::min(kRows, operands.num_rows - r);
    const auto stored = static_cast<__mmask8>((1u << count) - 1);
    const std::uint8_t* rows[kRows];
    for (std::size_t i = 0; i < kRows; ++i)
      rows[i] = operands.rows + (r + std::min(i, count - 1)) * operands.stride;
    for (std::size_t q = 0; q < queries; ++q) {
      const std::uint8_t* const query = operands.queries + q * n;
      __m512i sums = _mm512_setzero_si512();
      for (std::size_t begin = 0; begin < n; begin += kMost) {
        __m512i bytes = _mm512_setzero_si512();
        for (std::size_t at = begin; at < std::min(n, begin + kMost); at += kBytes) {
          const __mmask64 valid = ~__mmask64{0} >> (kBytes - std::min(kBytes, n - at));
          const __m512i x = _mm512_maskz_loadu_epi8(valid, query + at);
#pragma GCC unroll 8
          for (unsigned i = 0; i < kRows; ++i) {
            const __m512i different =
                _mm512_xor_si512(x, _mm512_maskz_loadu_epi8(valid, rows[i] + at));
            bytes =
                _mm512_add_epi64(bytes, _mm512_slli_epi64(_mm512_popcnt_epi64(different), 8 * i));
          }
        }
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(_mm512_permutexvar_epi8(transpose, bytes),
                                                      _mm512_setzero_si512()));
      }
      _mm512_mask_cvtepi64_storeu_epi32(y + q * ldy + r, stored,
                                        _mm512_sub_epi64(_mm512_setzero_si512(), sums));
    }
  }
}
#undef FBG_COUNTS_BITS
#endif

void minus_different_bits(const SearchOperands<std::uint8_t>& operands, std::int32_t* y,
                          std::size_t ldy) {
#if HWY_TARGET == HWY_AVX3
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi"))
    return minus_counted_bits(operands, y, ldy);
#endif
  score<DifferentBits>(operands, y, ldy);
}

extern const SearchKernels kSearchKernels;
const SearchKernels kSearchKernels = {
    .dot_float = score<DotFloat, float>,
    .dot_int8 = score<DotInt8, std::int32_t>,
    .square_float = square_float,
    .minus_different_bits = minus_different_bits,
    .find_above_float = find_above<float>,
    .find_above_int32 = find_above<std::int32_t>,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
