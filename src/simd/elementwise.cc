// The functions of elementwise.h, compiled by Highway for each target, and the table of their
// names.
#include "simd/elementwise.h"

#include <cmath>

#include "simd/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/elementwise.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "simd/math-inl.h"
#include "simd/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fbg::simd {
namespace HWY_NAMESPACE {

HWY_INLINE FloatVec number(float value) { return hn::Set(FloatTag(), value); }

// e^x for every x: infinite above 88.7, 0 below -87.3.
HWY_INLINE FloatVec exp_any(FloatVec x) {
  const auto bounded = min_keep_nan(number(88.0f), max_keep_nan(number(-87.3f), x));
  const ExpParts e = exp_parts(bounded);
  auto y = hn::MulAdd(e.power, e.expm1_r, e.power);
  // Between 88 and 88.72 the power alone would overflow: the rest of the exponent is a factor.
  const auto rest =
      exp_parts(min_keep_nan(number(1.0f), max_keep_nan(number(0.0f), hn::Sub(x, number(88.0f)))));
  const auto factor = hn::MulAdd(rest.power, rest.expm1_r, rest.power);
  y = hn::IfThenElse(hn::Gt(x, number(88.0f)), hn::Mul(y, factor), y);
  y = hn::IfThenElse(hn::Gt(x, number(88.8f)), number(HUGE_VALF), y);
  return hn::IfThenElse(hn::Lt(x, number(-87.3f)), hn::Zero(FloatTag()), y);
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

// What a function computes of vectors u and v of its operands and of its constants.
struct Add {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::Add(u, v);
  }
};
struct Subtract {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::Sub(u, v);
  }
};
struct Multiply {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::Mul(u, v);
  }
};
struct Divide {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::Div(u, v);
  }
};
struct Minimum {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::IfThenElse(hn::IsNaN(u), u, min_keep_nan(u, v));
  }
};
struct Maximum {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::IfThenElse(hn::IsNaN(u), u, max_keep_nan(u, v));
  }
};
struct Prelu {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::IfThenElse(hn::Lt(u, hn::Zero(FloatTag())), hn::Mul(u, v), u);
  }
};
struct Less {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return one_or_zero(hn::Lt(u, v));
  }
};
struct Greater {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return one_or_zero(hn::Gt(u, v));
  }
};
struct Equal {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return one_or_zero(hn::Eq(u, v));
  }
};
struct QuantizeBy {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec v, float, float) const {
    return hn::Round(hn::Div(u, v));
  }
};
struct Negate {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Neg(u); }
};
struct Absolute {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Abs(u); }
};
struct Square {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Mul(u, u); }
};
struct SquareRoot {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Sqrt(u); }
};
struct Reciprocal {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const {
    return hn::Div(number(1.0f), u);
  }
};
struct Exp {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return exp_any(u); }
};
struct Tanh {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return tanh(u); }
};
struct Sigmoid {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return sigmoid(u); }
};
struct Silu {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return silu(u); }
};
struct Gelu {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return gelu(u); }
};
struct GeluTanh {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return gelu_tanh(u); }
};
struct Floor {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Floor(u); }
};
struct Ceil {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Ceil(u); }
};
struct Round {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const { return hn::Round(u); }
};
struct Relu {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const {
    return max_keep_nan(hn::Zero(FloatTag()), u);
  }
};
struct HardSwish {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float, float) const {
    return hn::Mul(u, hard_sigmoid(u, 1.0f / 6.0f, 0.5f));
  }
};
struct Affine {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float c1) const {
    return hn::Add(hn::Mul(u, number(c0)), number(c1));
  }
};
struct Clip {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float c1) const {
    return min_keep_nan(number(c1), max_keep_nan(number(c0), u));
  }
};
struct Leaky {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float) const {
    return hn::IfThenElse(hn::Lt(u, hn::Zero(FloatTag())), hn::Mul(u, number(c0)), u);
  }
};
struct HardSigmoid {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float c1) const {
    return hard_sigmoid(u, c0, c1);
  }
};
struct Quantize {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float c1) const {
    return hn::Add(hn::Round(hn::Div(u, number(c0))), number(c1));
  }
};
struct Dequantize {
  HWY_INLINE FloatVec operator()(FloatVec u, FloatVec, float c0, float c1) const {
    return hn::Mul(hn::Sub(u, number(c1)), number(c0));
  }
};

// All elements of a row. `kUnary` functions do not read b.
template <class Function, bool kUnary>
HWY_ATTR void apply(const float* a, [[maybe_unused]] const float* b, float c0, float c1,
                    std::size_t n, float* y) {
  const FloatTag d;
  const Function function;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    const auto u = access.load(d, a + i);
    const auto v = kUnary ? u : access.load(d, b + i);
    access.store(function(u, v, c0, c1), d, y + i);
  });
}

void quantize(const float* a, const float* b, float c0, float c1, std::size_t n, float* y) {
  if (!Quotient::corrects(c0)) return apply<Quantize, true>(a, b, c0, c1, n, y);
  const FloatTag d;
  const Quotient quotient(c0);
  const auto point = number(c1);
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    access.store(hn::Add(hn::Round(quotient(access.load(d, a + i))), point), d, y + i);
  });
}

// y[3 i + k] = x[k * stride + i]
template <class T>
HWY_ATTR void interleave3(const T* x, std::int64_t stride, std::size_t n, T* y) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    hn::StoreInterleaved3(hn::LoadU(d, x + i), hn::LoadU(d, x + stride + i),
                          hn::LoadU(d, x + 2 * stride + i), d, y + 3 * i);
#endif
  for (; i < n; ++i)
    for (std::int64_t k = 0; k < 3; ++k)
      y[3 * i + static_cast<std::size_t>(k)] = x[k * stride + static_cast<std::int64_t>(i)];
}
template <class T>
HWY_INLINE void load_integers(const T* x, std::size_t n, float* y) {
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
void load_uint8(const std::uint8_t* x, std::size_t n, float* y) { load_integers(x, n, y); }
void load_int8(const std::int8_t* x, std::size_t n, float* y) { load_integers(x, n, y); }
void load_int32(const std::int32_t* x, std::size_t n, float* y) { load_integers(x, n, y); }

template <class T>
HWY_INLINE void store_integers(const float* x, std::size_t n, T* y, float lowest, float highest) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const hn::Rebind<T, FloatTag> dt;
  for_each_vector(n, hn::Lanes(d), [&](auto access, std::size_t i, int) FBG_INLINE_LAMBDA {
    auto value = access.load(d, x + i);
    // NaN fails the comparison.
    value = hn::IfThenElse(hn::Gt(value, number(lowest)), value, number(lowest));
    value = hn::IfThenElse(hn::Lt(value, number(highest)), value, number(highest));
    access.store(hn::DemoteTo(dt, hn::ConvertTo(di, value)), dt, y + i);
  });
}
void store_uint8(const float* x, std::size_t n, std::uint8_t* y) {
  store_integers(x, n, y, 0.0f, 255.0f);
}
void store_int8(const float* x, std::size_t n, std::int8_t* y) {
  store_integers(x, n, y, -128.0f, 127.0f);
}

extern const ConversionKernels kConversionKernels;
const ConversionKernels kConversionKernels = {
    .load_uint8 = load_uint8,
    .load_int8 = load_int8,
    .load_int32 = load_int32,
    .store_uint8 = store_uint8,
    .store_int8 = store_int8,
    .interleave3_bytes = interleave3<std::uint8_t>,
    .interleave3_words = interleave3<std::uint32_t>,
};

struct NamedFunction {
  std::string_view name;
  ElementwiseFunction function;
};

extern const NamedFunction kFunctions[];
const NamedFunction kFunctions[] = {
    {"add", apply<Add, false>},
    {"subtract", apply<Subtract, false>},
    {"multiply", apply<Multiply, false>},
    {"divide", apply<Divide, false>},
    {"minimum", apply<Minimum, false>},
    {"maximum", apply<Maximum, false>},
    {"prelu", apply<Prelu, false>},
    {"less", apply<Less, false>},
    {"greater", apply<Greater, false>},
    {"equal", apply<Equal, false>},
    {"quantize_by", apply<QuantizeBy, false>},
    {"negate", apply<Negate, true>},
    {"absolute", apply<Absolute, true>},
    {"square", apply<Square, true>},
    {"square_root", apply<SquareRoot, true>},
    {"reciprocal", apply<Reciprocal, true>},
    {"exp", apply<Exp, true>},
    {"tanh", apply<Tanh, true>},
    {"sigmoid", apply<Sigmoid, true>},
    {"silu", apply<Silu, true>},
    {"gelu", apply<Gelu, true>},
    {"gelu_tanh", apply<GeluTanh, true>},
    {"floor", apply<Floor, true>},
    {"ceil", apply<Ceil, true>},
    {"round", apply<Round, true>},
    {"relu", apply<Relu, true>},
    {"hard_swish", apply<HardSwish, true>},
    {"affine", apply<Affine, true>},
    {"clip", apply<Clip, true>},
    {"leaky", apply<Leaky, true>},
    {"hard_sigmoid", apply<HardSigmoid, true>},
    {"quantize", quantize},
    {"dequantize", apply<Dequantize, true>},
    {{}, nullptr},
};

}  // namespace HWY_NAMESPACE
}  // namespace fbg::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fbg::simd {
namespace {

template <float (*function)(float, float, float)>
void for_each_float(const float* a, const float*, float c0, float c1, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = function(a[i], c0, c1);
}

float erf_of(float x, float, float) { return std::erf(x); }
float log_of(float x, float, float) { return std::log(x); }
float sign_of(float x, float, float) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }
float softplus_of(float x, float, float) { return x > 20 ? x : std::log1p(std::exp(x)); }
float mish_of(float x, float, float) { return x * std::tanh(softplus_of(x, 0, 0)); }
float elu_of(float x, float c0, float) { return x < 0 ? c0 * std::expm1(x) : x; }
float selu_of(float x, float c0, float c1) { return c1 * (x > 0 ? x : c0 * std::expm1(x)); }
float celu_of(float x, float c0, float) { return x < 0 ? c0 * std::expm1(x / c0) : x; }
float softsign_of(float x, float, float) { return x / (1 + std::abs(x)); }
float threshold_of(float x, float c0, float) { return x > c0 ? x : 0.0f; }
float not_of(float x, float, float) { return x == 0 ? 1.0f : 0.0f; }
float truncate_of(float x, float, float) { return std::trunc(x); }
float sin_of(float x, float, float) { return std::sin(x); }
float cos_of(float x, float, float) { return std::cos(x); }

void power(const float* a, const float* b, float, float, std::size_t n, float* y) {
  for (std::size_t i = 0; i < n; ++i) y[i] = std::pow(a[i], b[i]);
}

struct ScalarFunction {
  std::string_view name;
  ElementwiseFunction function;
};
constexpr ScalarFunction kScalarFunctions[] = {
    {"power", power},
    {"erf", for_each_float<erf_of>},
    {"log", for_each_float<log_of>},
    {"sign", for_each_float<sign_of>},
    {"softplus", for_each_float<softplus_of>},
    {"mish", for_each_float<mish_of>},
    {"elu", for_each_float<elu_of>},
    {"selu", for_each_float<selu_of>},
    {"celu", for_each_float<celu_of>},
    {"softsign", for_each_float<softsign_of>},
    {"threshold", for_each_float<threshold_of>},
    {"not", for_each_float<not_of>},
    {"truncate", for_each_float<truncate_of>},
    {"sin", for_each_float<sin_of>},
    {"cos", for_each_float<cos_of>},
};

template <class Named>
ElementwiseFunction find(const Named* functions, std::string_view name) {
  for (; functions->function; ++functions)
    if (functions->name == name) return functions->function;
  for (const ScalarFunction& scalar : kScalarFunctions)
    if (scalar.name == name) return scalar.function;
  return nullptr;
}

}  // namespace

ElementwiseFunction elementwise_function(std::string_view name,
                                         [[maybe_unused]] Features features) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (features & feature::avx512) return find(N_AVX3::kFunctions, name);
#endif
#if HWY_TARGETS & HWY_AVX2
  if (features & feature::avx2) return find(N_AVX2::kFunctions, name);
#endif
  return find(HWY_STATIC_DISPATCH(kFunctions), name);
}

const ConversionKernels& conversion_kernels([[maybe_unused]] Features features) noexcept {
#if HWY_TARGETS & HWY_AVX3
  if (features & feature::avx512) return N_AVX3::kConversionKernels;
#endif
#if HWY_TARGETS & HWY_AVX2
  if (features & feature::avx2) return N_AVX2::kConversionKernels;
#endif
  return HWY_STATIC_DISPATCH(kConversionKernels);
}

}  // namespace fbg::simd
#endif  // HWY_ONCE
