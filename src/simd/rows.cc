// Row kernels: everything between the matrix products (LayerNorm, softmax, activations,
// conversions) and the table that picks a target. One source, compiled by Highway for each target.
#include "simd/rows.h"

#include <cmath>

#include "core/float16.h"
#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/rows.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/math-inl.h"
#include "simd/quant-inl.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

HWY_INLINE float sum_of_accumulators(const FloatVec (&v)[kUnroll]) {
  const auto sum = hn::Add(hn::Add(v[0], v[1]), hn::Add(v[2], v[3]));
  return hn::GetLane(hn::SumOfLanes(FloatTag(), sum));
}

HWY_INLINE FloatVec max_of_accumulators(const FloatVec (&v)[kUnroll]) {
  return hn::MaxOfLanes(FloatTag(), hn::Max(hn::Max(v[0], v[1]), hn::Max(v[2], v[3])));
}

// Two passes for the moments: E[x^2] - mean^2 would cancel.
void layer_norm(const float* x, const float* gamma, const float* beta, float eps, std::size_t n,
                float* y) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  const float per_element = 1.0f / static_cast<float>(n);

  FloatVec sum[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    sum[acc] = hn::Add(sum[acc], access.load(d, x + i));
  });
  const auto mean = hn::Set(d, sum_of_accumulators(sum) * per_element);

  FloatVec square[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto centered = access.select(d, hn::Sub(access.load(d, x + i), mean), zero);
    square[acc] = hn::MulAdd(centered, centered, square[acc]);
  });
  const float variance = sum_of_accumulators(square) * per_element;
  const auto inverse = hn::Set(d, 1.0f / std::sqrt(variance + eps));

  for_each_vector(n, lanes, [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto normal = hn::Mul(hn::Sub(access.load(d, x + i), mean), inverse);
    access.store(hn::MulAdd(normal, access.load(d, gamma + i), access.load(d, beta + i)), d, y + i);
  });
}

void rms_norm(const float* x, const float* gamma, float eps, std::size_t n, float* y) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  FloatVec square[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto value = access.load(d, x + i);
    square[acc] = hn::MulAdd(value, value, square[acc]);
  });
  const float mean_square = sum_of_accumulators(square) / static_cast<float>(n);
  const auto inverse = hn::Set(d, 1.0f / std::sqrt(mean_square + eps));
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto normal = hn::Mul(access.load(d, x + i), inverse);
    access.store(hn::Mul(normal, access.load(d, gamma + i)), d, y + i);
  });
}

ExpSum softmax(float* x, std::size_t n, float scale) {
  if (n == 0) return {};
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, scale);

  // A NaN that max drops comes back in the sum.
  const auto first = hn::Set(d, x[0] * scale);
  FloatVec most[kUnroll] = {first, first, first, first};
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto scaled = hn::Mul(access.load(d, x + i), factor);
    most[acc] = hn::Max(most[acc], access.select(d, scaled, first));
  });
  const auto max = max_of_accumulators(most);

  auto sum = hn::Zero(d);
  for_each_vector_simple(n, lanes, [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    const auto e = exp_nonpositive(hn::Sub(hn::Mul(access.load(d, x + i), factor), max));
    access.store(e, d, x + i);
    sum = hn::Add(sum, access.select(d, e, hn::Zero(d)));
  });
  const float total = hn::GetLane(hn::SumOfLanes(d, sum));
  const auto inverse = hn::Set(d, 1.0f / total);

  for_each_vector(n, lanes, [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Mul(access.load(d, x + i), inverse), d, x + i);
  });
  return {total, hn::GetLane(max)};
}

void log_softmax(const float* x, std::size_t n, float* y) {
  if (n == 0) return;
  const FloatTag d;
  const auto first = hn::Set(d, x[0]);
  FloatVec most[kUnroll] = {first, first, first, first};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    most[acc] = hn::Max(most[acc], access.select(d, access.load(d, x + i), first));
  });
  const auto max = max_of_accumulators(most);
  const auto zero = hn::Zero(d);
  FloatVec sum[kUnroll] = {zero, zero, zero, zero};
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto e = exp_nonpositive(hn::Sub(access.load(d, x + i), max));
    sum[acc] = hn::Add(sum[acc], access.select(d, e, zero));
  });
  const auto log = hn::Set(d, std::log(sum_of_accumulators(sum)));
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Sub(hn::Sub(access.load(d, x + i), max), log), d, y + i);
  });
}

// bfloat16 in the upper half of each lane, half to even; a NaN stays a NaN. Lower halves are noise.
HWY_INLINE hn::Vec<hn::RebindToUnsigned<FloatTag>> round_to_bfloat16(FloatVec value) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(du, 0x7FFFu), odd));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), quiet, rounded);
}

template <class Access>
HWY_INLINE void store_upper_halves(Access access, hn::Vec<hn::RebindToUnsigned<FloatTag>> bits,
                                   std::uint16_t* y) {
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  access.store(hn::DemoteTo(d16, hn::BitCast(di, hn::ShiftRight<16>(bits))), d16, y);
}

ExpSum exp_bfloat16(const float* x, std::size_t n, float scale, std::uint16_t* y) {
  if (n == 0) return {};
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const std::size_t lanes = hn::Lanes(d);

  const auto first = hn::Set(d, x[0]);
  FloatVec most[kUnroll] = {first, first, first, first};
  for_each_vector(n, lanes, [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    most[acc] = hn::Max(most[acc], access.select(d, access.load(d, x + i), first));
  });
  const auto max = max_of_accumulators(most);

  const auto factor = hn::Set(d, scale * 1.44269504f);
  FloatVec sum[2] = {hn::Zero(d), hn::Zero(d)};
  // The bfloat16 is the upper half. Positive numbers need no more to be rounded than half a unit,
  // and ties are none to speak of. A NaN reaches every result by way of the sum.
  const auto next = [&](auto access, std::size_t i, int acc) FBG_INLINE_LAMBDA {
    const auto e = exp2_nonpositive(hn::Mul(hn::Sub(access.load(d, x + i), max), factor));
    sum[acc] = hn::Add(sum[acc], access.select(d, e, hn::Zero(d)));
    return hn::Add(hn::BitCast(du, e), hn::Set(du, 0x8000u));
  };
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint16_t, FloatTag> d16;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto low = hn::BitCast(d16, next(Whole{}, i, 0));
    const auto high = hn::BitCast(d16, next(Whole{}, i + lanes, 1));
    hn::StoreU(hn::ConcatOdd(d16, high, low), d16, y + i);
  }
#endif
  for_each_vector_simple(n - i, lanes, [&](auto access, std::size_t j) FBG_INLINE_LAMBDA {
    store_upper_halves(access, next(access, i + j, 0), y + i + j);
  });
  return {hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[0], sum[1]))), hn::GetLane(max) * scale};
}

void gelu_row(const float* x, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(gelu(access.load(d, x + i)), d, y + i);
  });
}

void tanh_row(const float* x, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    access.store(tanh(access.load(d, x + i)), d, y + i);
  });
}

// y = f(x) * gate
template <class F>
HWY_INLINE void gated(const float* x, const float* gate, std::size_t n, float* y, F f) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Mul(f(access.load(d, x + i)), access.load(d, gate + i)), d, y + i);
  });
}

void geglu(const float* x, const float* gate, std::size_t n, float* y) {
  gated(x, gate, n, y, [](FloatVec v) FBG_INLINE_LAMBDA { return gelu(v); });
}

void geglu_tanh(const float* x, const float* gate, std::size_t n, float* y) {
  gated(x, gate, n, y, [](FloatVec v) FBG_INLINE_LAMBDA { return gelu_tanh(v); });
}

void swiglu(const float* x, const float* gate, std::size_t n, float* y) {
  gated(x, gate, n, y, [](FloatVec v) FBG_INLINE_LAMBDA { return silu(v); });
}

void reglu(const float* x, const float* gate, std::size_t n, float* y) {
  gated(x, gate, n, y,
        [](FloatVec v) FBG_INLINE_LAMBDA { return max_keep_nan(hn::Zero(FloatTag()), v); });
}

void rotate(float* x, const float* cos_sin, std::size_t n, std::size_t pairs, std::size_t stride) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t pair = 0; pair < pairs; ++pair, x += stride)
    for_each_vector_simple(n, lanes, [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      const auto a = access.load(d, x + i), b = access.load(d, x + n + i);
      const auto cos = access.load(d, cos_sin + i), sin = access.load(d, cos_sin + n + i);
      access.store(hn::NegMulAdd(b, sin, hn::Mul(a, cos)), d, x + i);
      access.store(hn::MulAdd(a, sin, hn::Mul(b, cos)), d, x + n + i);
    });
}

void add(const float* a, const float* b, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Add(access.load(d, a + i), access.load(d, b + i)), d, y + i);
  });
}

void add_rows(const float* a, const float* b, const float* c, std::size_t n, float* y) {
  if (c == nullptr) return add(a, b, n, y);
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto ab = hn::Add(access.load(d, a + i), access.load(d, b + i));
    access.store(hn::Add(ab, access.load(d, c + i)), d, y + i);
  });
}

void add_columns(const float* a, const float* b, std::size_t stride, const std::int32_t* columns,
                 std::int32_t first, std::size_t n, float* y) {
  const FloatTag d;
  const IntTag di;
  const auto steps = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(stride)));
  for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
    // Lanes beyond the row read the first element, which is valid.
    const auto zero = hn::Zero(di);
    const auto c =
        access.select(di, hn::Sub(access.load(di, columns + i), hn::Set(di, first)), zero);
    const auto below = access.select(di, hn::Add(c, steps), zero);
    auto sum = a ? hn::GatherIndex(d, a, c) : hn::Zero(d);
    if (b) sum = hn::Add(sum, hn::GatherIndex(d, b + i * stride, below));
    access.store(hn::Add(access.load(d, y + i), sum), d, y + i);
  });
}

void multiply(float* x, float factor, std::size_t n) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Mul(access.load(d, x + i), f), d, x + i);
  });
}

void accumulate(const float* x, float factor, std::size_t n, float* y) {
  const FloatTag d;
  const auto f = hn::Set(d, factor);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::MulAdd(access.load(d, x + i), f, access.load(d, y + i)), d, y + i);
  });
}

void interpolate(const float* x, const std::int32_t* sources, const float* factors,
                 std::size_t taps, std::size_t n, float* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    auto sum = hn::Zero(d);
    for (std::size_t t = i; t < taps * n; t += n) {
      const auto f = access.load(d, factors + t);
      const auto added = hn::MulAdd(hn::GatherIndex(d, x, access.load(di, sources + t)), f, sum);
      sum = hn::IfThenElse(hn::Eq(f, hn::Zero(d)), sum, added);
    }
    access.store(sum, d, y + i);
  });
}

void accumulate_squares(const float* x, const float* center, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto distance = hn::Sub(access.load(d, x + i), access.load(d, center + i));
    access.store(hn::MulAdd(distance, distance, access.load(d, y + i)), d, y + i);
  });
}

void normalize(const float* x, const float* center, const float* factor, const float* offset,
               std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto distance = hn::Sub(access.load(d, x + i), access.load(d, center + i));
    const auto scaled =
        hn::MulAdd(distance, access.load(d, factor + i), access.load(d, offset + i));
    access.store(scaled, d, y + i);
  });
}

// Without F16C: move exponent and mantissa into place (1 5 10 -> 1 8 23 bits), then mend the ends.
HWY_INLINE FloatVec half_bits_to_float(hn::Vec<hn::RebindToUnsigned<FloatTag>> half) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(du, 0x7FFFu)));
  const auto exponent = hn::And(magnitude, hn::Set(du, 0x7C00u << 13));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000u)));
  auto bits = hn::Add(magnitude, hn::Set(du, (127u - 15u) << 23));
  // Inf and NaN: the largest exponent stays the largest.
  const auto largest = hn::Eq(exponent, hn::Set(du, 0x7C00u << 13));
  bits = hn::IfThenElse(largest, hn::Add(bits, hn::Set(du, (128u - 16u) << 23)), bits);
  // Denormal: give it the exponent of 2^-14 and subtract the hidden one as a float.
  const auto hidden_one = hn::Set(du, 113u << 23);
  const auto denormal = hn::BitCast(
      du,
      hn::Sub(hn::BitCast(d, hn::Add(bits, hn::Set(du, 1u << 23))), hn::BitCast(d, hidden_one)));
  bits = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), denormal, bits);
  return hn::BitCast(d, hn::Or(bits, sign));
}

void half_to_float(const std::uint16_t* x, std::size_t n, float* y) {
  const FloatTag d;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto half = access.load(d16, x + i);
    if constexpr (kX86Vectors) {
      const hn::Rebind<hwy::float16_t, FloatTag> dh;
      access.store(hn::PromoteTo(d, hn::BitCast(dh, half)), d, y + i);
    } else {
      const hn::RebindToUnsigned<FloatTag> du;
      access.store(half_bits_to_float(hn::PromoteTo(du, half)), d, y + i);
    }
  });
}

void float_to_half(const float* x, float factor, std::size_t n, std::uint16_t* y) {
  if constexpr (kX86Vectors) {
    const FloatTag d;
    const hn::Rebind<std::uint16_t, FloatTag> d16;
    const hn::Rebind<hwy::float16_t, FloatTag> dh;
    const auto by = hn::Set(d, factor);
    for_each_vector_simple(n, hn::Lanes(d), [&](auto access, std::size_t i) FBG_INLINE_LAMBDA {
      const auto half = hn::DemoteTo(dh, hn::Mul(access.load(d, x + i), by));
      access.store(hn::BitCast(d16, half), d16, y + i);
    });
  } else {
    for (std::size_t i = 0; i < n; ++i) y[i] = from_float<float16>(x[i] * factor).bits;
  }
}

void bfloat16_to_float(const std::uint16_t* x, std::size_t n, float* y) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto wide = hn::PromoteTo(du, access.load(d16, x + i));
    access.store(hn::BitCast(d, hn::ShiftLeft<16>(wide)), d, y + i);
  });
}

void float_to_bfloat16(const float* x, std::size_t n, std::uint16_t* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    store_upper_halves(access, round_to_bfloat16(access.load(d, x + i)), y + i);
  });
}

void pair_bfloat16(const float* a, const float* b, std::size_t n, std::uint32_t* y) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const auto upper = hn::Set(du, 0xFFFF0000u);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto low = hn::ShiftRight<16>(round_to_bfloat16(access.load(d, a + i)));
    const auto high = hn::And(round_to_bfloat16(access.load(d, b + i)), upper);
    access.store(hn::Or(low, high), du, y + i);
  });
}

void pair_words(const std::uint16_t* a, const std::uint16_t* b, std::size_t n, std::uint32_t* y) {
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  for_each_vector(n, hn::Lanes(du), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto low = hn::PromoteTo(du, access.load(d16, a + i));
    const auto high = hn::ShiftLeft<16>(hn::PromoteTo(du, access.load(d16, b + i)));
    access.store(hn::Or(low, high), du, y + i);
  });
}

extern const RowKernels kRowKernels;
const RowKernels kRowKernels = {
    .layer_norm = layer_norm,
    .rms_norm = rms_norm,
    .softmax = softmax,
    .log_softmax = log_softmax,
    .exp_bfloat16 = exp_bfloat16,
    .gelu = gelu_row,
    .tanh = tanh_row,
    .geglu = geglu,
    .geglu_tanh = geglu_tanh,
    .swiglu = swiglu,
    .reglu = reglu,
    .rotate = rotate,
    .add = add,
    .add_rows = add_rows,
    .add_columns = add_columns,
    .multiply = multiply,
    .accumulate = accumulate,
    .interpolate = interpolate,
    .accumulate_squares = accumulate_squares,
    .normalize = normalize,
    .choose_row_quant = choose_row_quant,
    .quantize_row = quantize_row,
    .sum_row = sum_row,
    .shift_row = shift_row,
    .sum_groups = sum_groups,
    .widen_groups = widen_groups,
    .half_to_float = half_to_float,
    .bfloat16_to_float = bfloat16_to_float,
    .float_to_half = float_to_half,
    .float_to_bfloat16 = float_to_bfloat16,
    .pair_bfloat16 = pair_bfloat16,
    .pair_words = pair_words,
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();
