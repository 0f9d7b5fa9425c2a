// The functions of elementwise.h, compiled by Highway for each target, and the table of their
// names.
#include "simd/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/kernels.h"
#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/elementwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/math-inl.h"
#include "simd/trigonometry-inl.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

HWY_INLINE FloatVec number(float value) { return hn::Set(FloatTag(), value); }

// e^x for every x: infinite above 88.72, 0 below -87.3. Where x is positive, half the power is the
// exponent, for 2^128 is no float.
HWY_INLINE FloatVec exp_any(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto bounded = min_keep_nan(number(89.0f), max_keep_nan(number(-87.3f), x));
  const ExpParts e = exp_parts(bounded);
  const auto positive = hn::Gt(x, hn::Zero(d));
  const auto one_less = hn::BitCast(di, hn::IfThenElseZero(positive, number(0x1p-126f)));
  const auto power = hn::BitCast(d, hn::Sub(hn::BitCast(di, e.power), one_less));
  const auto y = hn::Mul(hn::Add(e.expm1_r, number(1.0f)), power);  // no part is subnormal
  const auto whole = hn::IfThenElse(positive, hn::Add(y, y), y);
  return hn::IfThenElse(hn::Lt(x, number(-87.3f)), hn::Zero(d), whole);
}

// 1 / (1 + e^-x), by e^-|x|, which cannot overflow: relative accuracy on both sides of 0.
HWY_INLINE FloatVec sigmoid(FloatVec x) {
  const auto e = exp_nonpositive(hn::Neg(hn::Abs(x)));
  const auto numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(FloatTag())), e, number(1.0f));
  return hn::Div(numerator, hn::Add(number(1.0f), e));
}

HWY_INLINE FloatVec hard_sigmoid(FloatVec x, float slope, float offset) {
  const auto y = hn::Add(hn::Mul(x, number(slope)), number(offset));
  return min_keep_nan(number(1.0f), max_keep_nan(number(0.0f), y));
}

HWY_INLINE FloatVec one_or_zero(hn::Mask<FloatTag> mask) {
  return hn::IfThenElseZero(mask, number(1.0f));
}

HWY_INLINE hn::Mask<FloatTag> is_true(FloatVec u) { return hn::Ne(u, number(0.0f)); }

// All elements of a row: f(u), f(u, v) or f(u, c0, c1) of vectors u and v of the operands.
template <auto kFunction>
HWY_ATTR void unary(const float* a, const float*, float, float, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(kFunction(access.load(d, a + i)), d, y + i);
  });
}
template <auto kFunction>
HWY_ATTR void binary(const float* a, const float* b, float, float, std::size_t n, float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(kFunction(access.load(d, a + i), access.load(d, b + i)), d, y + i);
  });
}
// The second operand is one number.
template <auto kFunction>
HWY_ATTR void with_number(const float* a, const float* b, float, float, std::size_t n, float* y) {
  const FloatTag d;
  const auto v = hn::Set(d, *b);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(kFunction(access.load(d, a + i), v), d, y + i);
  });
}
template <auto kFunction>
constexpr NamedFunction of_two(std::string_view name) {
  return {name, binary<kFunction>, with_number<kFunction>};
}
template <auto kFunction>
HWY_ATTR void with_constants(const float* a, const float*, float c0, float c1, std::size_t n,
                             float* y) {
  const FloatTag d;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(kFunction(access.load(d, a + i), c0, c1), d, y + i);
  });
}

HWY_INLINE FloatVec divide_and_round(FloatVec u, float c0, float c1) {
  return hn::Add(hn::Round(hn::Div(u, number(c0))), number(c1));
}
void quantize(const float* a, const float* b, float c0, float c1, std::size_t n, float* y) {
  if (!Quotient::corrects(c0)) return with_constants<divide_and_round>(a, b, c0, c1, n, y);
  const FloatTag d;
  const Quotient quotient(c0);
  const auto point = number(c1);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Add(hn::Round(quotient(access.load(d, a + i))), point), d, y + i);
  });
}

// Functions of int32, whose registers hold their bits.
using IntVec = hn::Vec<hn::RebindToSigned<FloatTag>>;
template <auto kFunction>
void of_integers(const float* a, const float* b, float c0, float c1, std::size_t n, float* y) {
  binary<[](FloatVec u, FloatVec v) FBG_INLINE_LAMBDA {
    const FloatTag d;
    const hn::RebindToSigned<FloatTag> di;
    return hn::BitCast(d, kFunction(hn::BitCast(di, u), hn::BitCast(di, v)));
  }>(a, b, c0, c1, n, y);
}

template <auto kFunction>
void compare_integers(const float* a, const float* b, float c0, float c1, std::size_t n, float* y) {
  binary<[](FloatVec u, FloatVec v) FBG_INLINE_LAMBDA {
    const FloatTag d;
    const hn::RebindToSigned<FloatTag> di;
    const auto found = kFunction(hn::BitCast(di, u), hn::BitCast(di, v));
    return one_or_zero(hn::RebindMask(d, found));
  }>(a, b, c0, c1, n, y);
}

// Functions of truth values in bytes, of which all but 0 are true.
template <auto kFunction>
HWY_ATTR void of_bytes(const float* a, const float* b, float, float, std::size_t n, float* y) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto one = hn::Set(d, std::uint8_t{1}), zero = hn::Zero(d);
  const auto* const u = reinterpret_cast<const std::uint8_t*>(a);
  const auto* const v = reinterpret_cast<const std::uint8_t*>(b);
  auto* const to = reinterpret_cast<std::uint8_t*>(y);
  const auto truth = [&](auto x)
                         FBG_INLINE_LAMBDA { return hn::IfThenZeroElse(hn::Eq(x, zero), one); };
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(kFunction(truth(hn::LoadU(d, u + i)), truth(hn::LoadU(d, v + i))), d, to + i);
  const hn::CappedTag<std::uint8_t, 1> d1;
  for (; i < n; ++i) {
    const auto x = hn::Set(d1, static_cast<std::uint8_t>(u[i] != 0));
    hn::Store(kFunction(x, hn::Set(d1, static_cast<std::uint8_t>(v[i] != 0))), d1, to + i);
  }
}

// Without the fraction. Saturated; NaN becomes the lowest.
HWY_INLINE FloatVec to_int32(FloatVec x) {
  const FloatTag d;
  const auto lowest = number(-0x1p31f);
  const auto bounded = hn::IfThenElse(hn::Gt(x, lowest), x, lowest);
  return hn::BitCast(d, hn::ConvertTo(hn::RebindToSigned<FloatTag>(), bounded));
}

using U = FloatVec;
using I = IntVec;
constexpr NamedFunction kFunctions[] = {
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Add(u, v); }>("add"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Sub(u, v); }>("subtract"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Mul(u, v); }>("multiply"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Div(u, v); }>("divide"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA {
      return hn::IfThenElse(hn::IsNaN(u), u, min_keep_nan(u, v));
    }>("minimum"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA {
      return hn::IfThenElse(hn::IsNaN(u), u, max_keep_nan(u, v));
    }>("maximum"),
    {"prelu", binary<[](U u, U v) FBG_INLINE_LAMBDA {
       return hn::IfThenElse(hn::Lt(u, number(0.0f)), hn::Mul(u, v), u);
     }>},
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return one_or_zero(hn::Lt(u, v)); }>("less"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return one_or_zero(hn::Gt(u, v)); }>("greater"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return one_or_zero(hn::Eq(u, v)); }>("equal"),
    {"add_int32", of_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Add(u, v); }>},
    {"subtract_int32", of_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Sub(u, v); }>},
    {"multiply_int32", of_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Mul(u, v); }>},
    {"less_int32", compare_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Lt(u, v); }>},
    {"greater_int32", compare_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Gt(u, v); }>},
    {"equal_int32", compare_integers<[](I u, I v) FBG_INLINE_LAMBDA { return hn::Eq(u, v); }>},
    {"to_int32", unary<to_int32>},
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return one_or_zero(hn::Le(u, v)); }>("less_equal"),
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return one_or_zero(hn::Ge(u, v)); }>("greater_equal"),
    {"and", binary<[](U u, U v)
                       FBG_INLINE_LAMBDA { return one_or_zero(hn::And(is_true(u), is_true(v))); }>},
    {"or", binary<[](U u, U v)
                      FBG_INLINE_LAMBDA { return one_or_zero(hn::Or(is_true(u), is_true(v))); }>},
    {"xor", binary<[](U u, U v)
                       FBG_INLINE_LAMBDA { return one_or_zero(hn::Xor(is_true(u), is_true(v))); }>},
    // A choice between two numbers: the first where a condition holds, the second where it does
    // not, and zeros in their other places, which are merged bit by bit.
    {"keep_where",
     binary<[](U u, U v) FBG_INLINE_LAMBDA { return hn::IfThenElseZero(is_true(u), v); }>},
    {"keep_unless",
     binary<[](U u, U v) FBG_INLINE_LAMBDA { return hn::IfThenZeroElse(is_true(u), v); }>},
    {"merge", binary<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Or(u, v); }>},
    of_two<[](U u, U v) FBG_INLINE_LAMBDA { return hn::Round(hn::Div(u, v)); }>("quantize_by"),
    {"negate", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Neg(u); }>},
    {"absolute", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Abs(u); }>},
    {"square", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Mul(u, u); }>},
    {"square_root", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Sqrt(u); }>},
    {"reciprocal", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Div(number(1.0f), u); }>},
    {"exp", unary<exp_any>},
    {"tanh", unary<tanh>},
    {"sigmoid", unary<sigmoid>},
    {"silu", unary<silu>},
    {"gelu", unary<gelu>},
    {"gelu_tanh", unary<gelu_tanh>},
    {"sin", of_angles<sine_after<0>, std::sin>},
    {"cos", of_angles<sine_after<1>, std::cos>},
    {"tan", of_angles<tangent, std::tan>},
    {"asin", unary<arcsine>},
    {"acos", unary<arccosine>},
    {"atan", unary<arctangent>},
    {"sign", unary<[](U u) FBG_INLINE_LAMBDA {
       // NaN and the sign of a zero stay, and subnormal numbers become zeros.
       const auto flushed = hn::CopySign(hn::Add(u, number(0.0f)), u);
       const auto below = hn::IfThenElse(hn::Lt(u, number(0.0f)), number(-1.0f), flushed);
       return hn::IfThenElse(hn::Gt(u, number(0.0f)), number(1.0f), below);
     }>},
    {"softsign",
     unary<[](U u) FBG_INLINE_LAMBDA { return hn::Div(u, hn::Add(number(1.0f), hn::Abs(u))); }>},
    {"not", unary<[](U u) FBG_INLINE_LAMBDA { return one_or_zero(hn::Eq(u, number(0.0f))); }>},
    {"truncate", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Trunc(u); }>},
    {"and_bytes", of_bytes<[](auto u, auto v) FBG_INLINE_LAMBDA { return hn::And(u, v); }>},
    {"or_bytes", of_bytes<[](auto u, auto v) FBG_INLINE_LAMBDA { return hn::Or(u, v); }>},
    {"xor_bytes", of_bytes<[](auto u, auto v) FBG_INLINE_LAMBDA { return hn::Xor(u, v); }>},
    {"floor", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Floor(u); }>},
    {"ceil", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Ceil(u); }>},
    {"round", unary<[](U u) FBG_INLINE_LAMBDA { return hn::Round(u); }>},
    {"relu", unary<[](U u) FBG_INLINE_LAMBDA { return max_keep_nan(number(0.0f), u); }>},
    {"hard_swish",
     unary<[](U u) FBG_INLINE_LAMBDA { return hn::Mul(u, hard_sigmoid(u, 1.0f / 6.0f, 0.5f)); }>},
    {"affine", with_constants<[](U u, float c0, float c1) FBG_INLINE_LAMBDA {
       return hn::Add(hn::Mul(u, number(c0)), number(c1));
     }>},
    {"clip", with_constants<[](U u, float c0, float c1) FBG_INLINE_LAMBDA {
       return min_keep_nan(number(c1), max_keep_nan(number(c0), u));
     }>},
    {"threshold", with_constants<[](U u, float c0, float) FBG_INLINE_LAMBDA {
       return hn::IfThenElseZero(hn::Gt(u, number(c0)), u);
     }>},
    {"leaky", with_constants<[](U u, float c0, float) FBG_INLINE_LAMBDA {
       return hn::IfThenElse(hn::Lt(u, number(0.0f)), hn::Mul(u, number(c0)), u);
     }>},
    {"hard_sigmoid", with_constants<hard_sigmoid>},
    {"quantize", quantize},
    {"dequantize", with_constants<[](U u, float c0, float c1) FBG_INLINE_LAMBDA {
       return hn::Mul(hn::Sub(u, number(c1)), number(c0));
     }>},
};
extern const ElementwiseKernels kElementwiseKernels;
constexpr ElementwiseKernels kElementwiseKernels = kFunctions;

#if HWY_TARGET != HWY_SCALAR
// Vectors of as many blocks of 16 bytes as there are rows `distance` apart, a block of each.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const hn::TFromD<D>* x, std::int64_t distance) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) <= 16) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    const auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half) * sizeof(*x) / 16);
    return hn::Combine(d, load_blocks(half, x + blocks * distance, distance),
                       load_blocks(half, x, distance));
  }
}

// Transposes as many rows as a vector has elements, and as many columns as 16 bytes have. A vector
// holds blocks of rows that lie apart, so that a column is one vector in the end. Interleaving the
// first half of the vectors with the second moves the upper bit of a row's number to the lower end
// of the columns, so that a block is transposed when all bits have moved.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void transpose_block(D d, const T* x, std::int64_t stride_x, T* y,
                                std::int64_t stride_y) {
  constexpr std::size_t kBlock = 16 / sizeof(T);
  using V = hn::Vec<D>;
  V v[kBlock], next[kBlock];
  for (std::size_t i = 0; i < kBlock; ++i)
    v[i] = load_blocks(d, x + static_cast<std::int64_t>(i) * stride_x, kBlock * stride_x);
  for (std::size_t bit = 1; bit < kBlock; bit *= 2) {
    for (std::size_t i = 0; i < kBlock / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kBlock / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kBlock / 2]);
    }
    for (std::size_t i = 0; i < kBlock; ++i) v[i] = next[i];
  }
  for (std::size_t i = 0; i < kBlock; ++i)
    hn::StoreU(v[i], d, y + static_cast<std::int64_t>(i) * stride_y);
}

// Columns that lie side by side, from `i` on as many as vectors of that size take: two to four of
// them become rows. Returns the row after the last.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE std::size_t deinterleave(D d, const T* x, std::size_t rows, std::size_t columns, T* y,
                                    std::int64_t stride, std::size_t i) {
  hn::Vec<D> a, b, c, e;
  for (; i + hn::Lanes(d) <= rows; i += hn::Lanes(d)) {
    const T* const from = x + i * columns;
    if (columns == 2) {
      hn::LoadInterleaved2(d, from, a, b);
    } else if (columns == 3) {
      hn::LoadInterleaved3(d, from, a, b, c);
    } else {
      hn::LoadInterleaved4(d, from, a, b, c, e);
    }
    hn::StoreU(a, d, y + i);
    hn::StoreU(b, d, y + stride + i);
    if (columns > 2) hn::StoreU(c, d, y + 2 * stride + i);
    if (columns > 3) hn::StoreU(e, d, y + 3 * stride + i);
  }
  return i;
}

// The reverse: two to four rows become columns that lie side by side.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE std::size_t interleave(D d, const T* x, std::int64_t stride, std::size_t rows,
                                  std::size_t columns, T* y, std::size_t i) {
  for (; i + hn::Lanes(d) <= columns; i += hn::Lanes(d)) {
    T* const to = y + i * rows;
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + stride + i);
    if (rows == 2) {
      hn::StoreInterleaved2(a, b, d, to);
      continue;
    }
    const auto c = hn::LoadU(d, x + 2 * stride + i);
    if (rows == 3)
      hn::StoreInterleaved3(a, b, c, d, to);
    else
      hn::StoreInterleaved4(a, b, c, hn::LoadU(d, x + 3 * stride + i), d, to);
  }
  return i;
}
#endif

// A transposition, element by element.
template <class T>
HWY_INLINE void transpose_elements(const T* x, std::int64_t stride_x, std::size_t rows,
                                   std::size_t columns, T* y, std::int64_t stride_y) {
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r)
      y[static_cast<std::int64_t>(c) * stride_y + static_cast<std::int64_t>(r)] =
          x[static_cast<std::int64_t>(r) * stride_x + static_cast<std::int64_t>(c)];
}

template <class T>
HWY_ATTR void transpose(const void* from, std::int64_t stride_x, std::size_t rows,
                        std::size_t columns, void* to, std::int64_t stride_y) {
  const T* const x = static_cast<const T*>(from);
  T* const y = static_cast<T*>(to);
#if HWY_TARGET == HWY_SCALAR
  transpose_elements(x, stride_x, rows, columns, y, stride_y);
#else
  constexpr std::size_t kBlock = 16 / sizeof(T);
  const hn::FixedTag<T, kBlock> block;
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const auto is_few = [](std::size_t n, std::int64_t stride) {
    return n >= 2 && n <= 4 && stride == static_cast<std::int64_t>(n);
  };
  if (is_few(columns, stride_x)) {
    std::size_t i = deinterleave(d, x, rows, columns, y, stride_y, 0);
    i = deinterleave(block, x, rows, columns, y, stride_y, i);
    return transpose_elements(x + i * columns, stride_x, rows - i, columns, y + i, stride_y);
  }
  if (is_few(rows, stride_y)) {
    std::size_t i = interleave(d, x, stride_x, rows, columns, y, 0);
    i = interleave(block, x, stride_x, rows, columns, y, i);
    return transpose_elements(x + i, stride_x, rows, columns - i, y + i * rows, stride_y);
  }
  if (rows < kBlock || columns < kBlock)
    return transpose_elements(x, stride_x, rows, columns, y, stride_y);
  // The last block of either direction may begin before the end of the one before it.
  const auto strip = [&](auto tag, std::size_t r) FBG_INLINE_LAMBDA {
    for (std::size_t at = 0; at < columns; at += kBlock) {
      const auto c = static_cast<std::int64_t>(std::min(at, columns - kBlock));
      transpose_block(tag, x + static_cast<std::int64_t>(r) * stride_x + c, stride_x,
                      y + c * stride_y + r, stride_y);
    }
  };
  std::size_t r = 0;
  for (; r + hn::Lanes(d) <= rows; r += hn::Lanes(d)) strip(d, r);
  for (; r < rows; r += kBlock) strip(block, std::min(r, rows - kBlock));
#endif
}

template <class T>
HWY_ATTR void load(const T* x, std::size_t n, float* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto narrow = access.load(dt, x + i);
    if constexpr (sizeof(T) == 4)
      access.store(hn::ConvertTo(d, narrow), d, y + i);
    else
      access.store(hn::ConvertTo(d, hn::PromoteTo(di, narrow)), d, y + i);
  });
}

template <class T>
HWY_ATTR void store(const float* x, std::size_t n, T* y) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  const auto lowest = number(std::numeric_limits<T>::lowest());
  const auto highest = number(std::numeric_limits<T>::max());
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    auto value = access.load(d, x + i);
    if constexpr (kX86Vectors) {  // where the second operand is the answer for a NaN
      value = hn::Min(hn::Max(value, lowest), highest);
    } else {
      value = hn::IfThenElse(hn::Gt(value, lowest), value, lowest);
      value = hn::IfThenElse(hn::Lt(value, highest), value, highest);
    }
    access.store(hn::DemoteTo(dt, hn::ConvertTo(di, value)), dt, y + i);
  });
}

// Without the fraction.
void store_int64(const float* x, std::size_t n, std::int64_t* y) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lowest = hn::Set(df, -0x1p63f);
  const auto highest = hn::Set(di, std::numeric_limits<std::int64_t>::max());
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto value = access.load(df, x + i);
    const auto bounded = hn::PromoteTo(d, hn::IfThenElse(hn::Gt(value, lowest), value, lowest));
    const auto beyond = hn::RebindMask(di, hn::Ge(bounded, hn::Set(d, 0x1p63)));
    access.store(hn::IfThenElse(beyond, highest, hn::ConvertTo(di, bounded)), di, y + i);
  });
}

extern const ConversionKernels kConversionKernels;
const ConversionKernels kConversionKernels = {
    .load_uint8 = load<std::uint8_t>,
    .load_int8 = load<std::int8_t>,
    .load_int32 = load<std::int32_t>,
    .store_uint8 = store<std::uint8_t>,
    .store_int8 = store<std::int8_t>,
    .store_int64 = store_int64,
    .transpose = {transpose<std::uint8_t>, transpose<std::uint16_t>, transpose<std::uint32_t>,
                  transpose<std::uint64_t>},
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fbg::simd {
namespace {

// Plans flush subnormal numbers, but functions of the C library that look at bits do not count them
// as zeros, and those that are close to the identity return them.
float flushed(float x) { return x == 0 ? std::copysign(0.0f, x) : x; }

template <float (*function)(float, float, float)>
void for_each_float(const float* a, const float*, float c0, float c1, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = function(flushed(a[i]), c0, c1);
}

float erf_of(float x, float, float) { return std::erf(x); }
float log_of(float x, float, float) { return std::log(x); }
float softplus_of(float x, float, float) { return x > 20 ? x : std::log1p(std::exp(x)); }
float expm1_below_zero_of(float x, float, float) { return std::expm1(x > 0 ? 0.0f : x); }
float elu_of(float x, float c0, float) { return x < 0 ? c0 * std::expm1(x) : x; }
float sinh_of(float x, float, float) { return std::sinh(x); }
float cosh_of(float x, float, float) { return std::cosh(x); }
float asinh_of(float x, float, float) { return std::asinh(x); }
float acosh_of(float x, float, float) { return std::acosh(x); }
float atanh_of(float x, float, float) { return std::atanh(x); }

void power(const float* a, const float* b, float, float, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = flushed(std::pow(flushed(a[i]), flushed(b[i])));
}

constexpr NamedFunction kScalarFunctions[] = {
    {"power", power},
    {"erf", for_each_float<erf_of>},
    {"log", for_each_float<log_of>},
    {"softplus", for_each_float<softplus_of>},
    {"expm1_below_zero", for_each_float<expm1_below_zero_of>},
    {"elu", for_each_float<elu_of>},
    {"sinh", for_each_float<sinh_of>},
    {"cosh", for_each_float<cosh_of>},
    {"asinh", for_each_float<asinh_of>},
    {"acosh", for_each_float<acosh_of>},
    {"atanh", for_each_float<atanh_of>},
};

}  // namespace

const NamedFunction* named_function(std::string_view name, Features features) noexcept {
  for (const ElementwiseKernels named : {kernels(features).elementwise, {kScalarFunctions}})
    for (const NamedFunction& function : named)
      if (function.name == name) return &function;
  return nullptr;
}

ElementwiseFunction elementwise_function(std::string_view name, Features features) noexcept {
  const NamedFunction* const found = named_function(name, features);
  return found ? found->function : nullptr;
}

}  // namespace fbg::simd
#endif  // HWY_ONCE
