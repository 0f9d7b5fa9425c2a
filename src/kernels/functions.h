// Functions of elements, each written once: on floats it is the scalar implementation, and on Node
// (kernels/function_code.h) the instructions that every assembler emits, so that all give the same
// bits.
//
// V is a value of 32 bits, float or integer. least(a, b) is a < b ? a : b and greatest(a, b) is
// a > b ? a : b, as the instructions of x86-64: a NaN in b stays. Comparisons give a mask, all bits
// or none. To add a function: its Operation (fbg/kernels/stage.h) and a row of kFunctions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "core/exp_coefficients.h"
#include "core/tanh_coefficients.h"
#include "fbg/kernels/output.h"

namespace fbg::functions {

inline constexpr std::uint32_t kSign = 0x80000000u;

template <class V, std::size_t N>
V polynomial(const float (&coefficients)[N], V x) {
  V sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = fma(sum, x, coefficients[i]);
  return sum;
}

template <class V>
V absolute(V x) {
  return x & V::of_bits(~kSign);
}
template <class V>
V clip(V x, float lo, float hi) {
  return least(hi, greatest(lo, x));
}
template <class V>
V one_where(V mask) {
  return mask & V(1.0f);
}
template <class V>
V is_false(V x) {
  return equal(x, V(0.0f));
}

// The smaller or greater one; a NaN in x gives x, otherwise a NaN in y gives y.
template <class V>
V keep_nan(V x, V chosen) {
  return select(equal(x, x), chosen, x);
}

// e^x = power * (1 + expm1_r), of x within [-88, 88]: see core/exp_coefficients.h.
template <class V>
struct ExpParts {
  V power, expm1_r;
  V product() const { return fma(power, expm1_r, power); }
};
template <class V>
ExpParts<V> exp_parts(V x) {
  const V shifted = fma(x, kLog2E, kExpRounder);
  const V k = shifted - kExpRounder;
  const V power = shift_left(shifted, 23);
  const V r = fma(k, -kLn2Low, fma(k, -kLn2High, x));
  return {power, polynomial(kExpP, r) * r};
}
template <class V>
V exp(V x) {
  const V y = exp_parts(clip(x, kLeastExp, kMostPower)).product();
  const V factor = exp_parts(clip(x - kMostPower, 0.0f, 1.0f)).product();
  const V large = select(less(kMostPower, x), y * factor, y);
  const V finite = select(less(kMostExp, x), std::numeric_limits<float>::infinity(), large);
  return select(less(x, kLeastExp), 0.0f, finite);
}
// e^-|x|
template <class V>
V exp_of_minus(V x) {
  return exp_parts(greatest(-kMostPower, x | V::of_bits(kSign))).product();
}
// e^min(x, 0) - 1, exact near 0
template <class V>
V expm1_below_zero(V x) {
  const ExpParts<V> e = exp_parts(clip(x, -kMostPower, 0.0f));
  return fma(e.power, e.expm1_r, e.power - 1.0f);
}
// x / (1 + e^-x), by e^-|x|, which cannot overflow
template <class V>
V silu(V x) {
  const V e = exp_of_minus(x);
  return select(less(x, 0.0f), x * e, x) / (e + 1.0f);
}
// See core/tanh_coefficients.h.
template <class V>
V tanh(V x) {
  const V t = greatest(-kTanhClamp, least(kTanhClamp, x));
  const V u = t * t;
  const V p = t * polynomial(kTanhP, u);
  return greatest(-1.0f, least(1.0f, p / polynomial(kTanhQ, u)));
}
template <class V>
V sigmoid(V x) {
  return fma(tanh(x * 0.5f), 0.5f, 0.5f);
}
template <class V>
V gelu_tanh(V x) {
  const V half = x * 0.5f;
  const V inner = x * fma(x * x, GeluTanh::kCubic, GeluTanh::kLinear);
  return fma(half, tanh(inner), half);
}

// The same with relative accuracy: -m / (2 + m), m = e^(-2 |x|) - 1, and 1 / (1 + e^-x).
template <class V>
V tanh_relative(V x) {
  const V t = least(10.0f, absolute(x));  // 1 - tanh(10) is below half an ulp
  const ExpParts<V> e = exp_parts(t * -2.0f);
  const V m = fma(e.power, e.expm1_r, e.power - 1.0f);
  return absolute(m / (m + 2.0f)) | (x & V::of_bits(kSign));
}
template <class V>
V sigmoid_relative(V x) {
  const V e = exp_of_minus(x);
  return select(less(x, 0.0f), e, 1.0f) / (e + 1.0f);
}
template <class V>
V gelu_tanh_relative(V x) {
  const V half = x * 0.5f;
  const V inner = x * fma(x * x, GeluTanh::kCubic, GeluTanh::kLinear);
  return fma(half, tanh_relative(inner), half);
}

// ln x of a normal number: x = 2^k m with m within [sqrt(1/2), sqrt(2)], and ln m by a polynomial
// in m - 1 (S. Moshier, Cephes).
inline constexpr float kLogP[] = {3.3333331174e-1f,  -2.4999993993e-1f, 2.0000714765e-1f,
                                  -1.6668057665e-1f, 1.4249322787e-1f,  -1.2420140846e-1f,
                                  1.1676998740e-1f,  -1.1514610310e-1f, 7.0376836292e-2f};
template <class V>
V log_of_normal(V x, float scaled_by = 0.0f, V where = V(0.0f)) {
  constexpr std::uint32_t kRoot = 0x3f3504f3u, kOne = 0x3f800000u;  // of 1/2, and 1
  const V shifted = add_int(x, V::of_bits(kOne - kRoot));
  const V exponent = to_float(shift_right(shifted, 23)) - 127.0f;
  const V k = scaled_by == 0.0f ? exponent : exponent - (where & V(scaled_by));
  const V f = add_int(shifted & V::of_bits(0x7fffffu), V::of_bits(kRoot)) - 1.0f;
  const V square = f * f;
  const V tail = fma(k, kLn2Low, polynomial(kLogP, f) * f * square);
  return fma(k, kLn2High, fma(square, -0.5f, tail) + f);
}
template <class V>
V log(V x) {
  constexpr float kNormal = std::numeric_limits<float>::min();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const V small = less(x, kNormal);
  const V y = log_of_normal<V>(select(small, x * 0x1p25f, x), 25.0f, small);
  const V finite = select(less(x, infinity), y, x);  // a NaN stays
  const V negative = select(less(x, 0.0f), std::numeric_limits<float>::quiet_NaN(), finite);
  return select(equal(x, 0.0f), -infinity, negative);
}
// ln(1 + e^x), by e^-|x| = e: what 1 + e loses is added.
template <class V>
V softplus(V x) {
  const V e = exp_of_minus(x);
  const V sum = e + 1.0f;
  const V lost = (e - (sum - 1.0f)) / sum;
  return greatest(0.0f, x) + (log_of_normal<V>(sum) + lost);
}

// By N. Juffa: a polynomial near 0, elsewhere 1 - e^(|x| P(|x|) - |x|).
inline constexpr float kErfNear[] = {1.28379166e-1f,  -3.76125336e-1f, 1.12819925e-1f,
                                     -2.67681349e-2f, 4.99119423e-3f,  -5.96761703e-4f};
inline constexpr float kErfFar[] = {-1.28717512e-1f, -6.34846687e-1f, -1.06777877e-1f,
                                    2.42546219e-2f,  -3.88396438e-3f, 3.83197126e-4f,
                                    -1.72853470e-5f};
template <class V>
V erf(V x) {
  const V near = fma(polynomial(kErfNear, x * x), x, x);
  const V t = least(4.0f, absolute(x));
  const V far = V(1.0f) - exp_parts(fma(polynomial(kErfFar, t), t, V(0.0f) - t)).product();
  return select(less(0.927734375f, t), far | (x & V::of_bits(kSign)), near);
}

// Without the fraction. Saturated; NaN becomes the lowest.
template <class V>
V to_int32(V x) {
  constexpr float kBound = 0x1p31f;
  const V low = select(less(-kBound, x), x, -kBound);
  return select(less(low, kBound), to_int(low), V::of_bits(~kSign));
}

template <class V>
struct Row {
  Operation operation;
  const char* name;
  bool binary;  // takes y, too
  V (*apply)(V x, V y);
};

// In the order of Operation. Comparisons give 1 or 0.
template <class V>
inline constexpr Row<V> kFunctions[] = {
    {Operation::none, "none", false, [](V x, V) { return x; }},
    {Operation::add, "add", true, [](V x, V y) { return x + y; }},
    {Operation::subtract, "subtract", true, [](V x, V y) { return x - y; }},
    {Operation::multiply, "multiply", true, [](V x, V y) { return x * y; }},
    {Operation::divide, "divide", true, [](V x, V y) { return x / y; }},
    {Operation::minimum, "minimum", true, [](V x, V y) { return keep_nan(x, least(x, y)); }},
    {Operation::maximum, "maximum", true, [](V x, V y) { return keep_nan(x, greatest(x, y)); }},
    {Operation::prelu, "prelu", true, [](V x, V y) { return select(less(x, 0.0f), x * y, x); }},
    {Operation::less, "less", true, [](V x, V y) { return one_where(less(x, y)); }},
    {Operation::greater, "greater", true, [](V x, V y) { return one_where(less(y, x)); }},
    {Operation::equal, "equal", true, [](V x, V y) { return one_where(equal(x, y)); }},
    {Operation::less_equal, "less_equal", true,
     [](V x, V y) { return one_where(less_equal(x, y)); }},
    {Operation::greater_equal, "greater_equal", true,
     [](V x, V y) { return one_where(less_equal(y, x)); }},
    {Operation::keep_where, "keep_where", true,
     [](V x, V y) { return select(is_false(x), 0.0f, y); }},
    {Operation::keep_unless, "keep_unless", true, [](V x, V y) { return is_false(x) & y; }},
    {Operation::merge, "merge", true, [](V x, V y) { return x | y; }},
    {Operation::add_int32, "add_int32", true, [](V x, V y) { return add_int(x, y); }},
    {Operation::subtract_int32, "subtract_int32", true,
     [](V x, V y) { return subtract_int(x, y); }},
    {Operation::multiply_int32, "multiply_int32", true,
     [](V x, V y) { return multiply_int(x, y); }},
    {Operation::less_int32, "less_int32", true,
     [](V x, V y) { return one_where(greater_int(y, x)); }},
    {Operation::greater_int32, "greater_int32", true,
     [](V x, V y) { return one_where(greater_int(x, y)); }},
    {Operation::equal_int32, "equal_int32", true,
     [](V x, V y) { return one_where(equal_int(x, y)); }},
    {Operation::replace, "replace", true, [](V, V y) { return y; }},
    {Operation::absolute, "absolute", false, [](V x, V) { return absolute(x); }},
    {Operation::square_root, "square_root", false, [](V x, V) { return square_root(x); }},
    {Operation::round, "round", false, [](V x, V) { return round_to(x, 0); }},
    {Operation::floor, "floor", false, [](V x, V) { return round_to(x, 1); }},
    {Operation::ceil, "ceil", false, [](V x, V) { return round_to(x, 2); }},
    {Operation::truncate, "truncate", false, [](V x, V) { return round_to(x, 3); }},
    {Operation::to_int32, "to_int32", false, [](V x, V) { return to_int32(x); }},
    {Operation::exp, "exp", false, [](V x, V) { return exp(x); }},
    {Operation::expm1_below_zero, "expm1_below_zero", false,
     [](V x, V) { return expm1_below_zero(x); }},
    {Operation::log, "log", false, [](V x, V) { return log(x); }},
    {Operation::softplus, "softplus", false, [](V x, V) { return softplus(x); }},
    {Operation::erf, "erf", false, [](V x, V) { return erf(x); }},
    {Operation::silu, "silu", false, [](V x, V) { return silu(x); }},
    {Operation::tanh, "tanh", false, [](V x, V) { return tanh(x); }},
    {Operation::sigmoid, "sigmoid", false, [](V x, V) { return sigmoid(x); }},
    {Operation::gelu_tanh, "gelu_tanh", false, [](V x, V) { return gelu_tanh(x); }},
    {Operation::tanh_relative, "tanh_relative", false, [](V x, V) { return tanh_relative(x); }},
    {Operation::sigmoid_relative, "sigmoid_relative", false,
     [](V x, V) { return sigmoid_relative(x); }},
    {Operation::gelu_tanh_relative, "gelu_tanh_relative", false,
     [](V x, V) { return gelu_tanh_relative(x); }},
};

// Whether rows are one for every operation, in their order.
constexpr bool lists_operations(const auto& rows) {
  std::size_t i = 0;
  for (const auto& row : rows)
    if (row.operation != static_cast<Operation>(i++)) return false;
  return i == kOperations;
}

}  // namespace fbg::functions

namespace fbg {

// The function of an operation, of one element; y is not read where there is no operand.
float apply_function(Operation operation, float x, float y) noexcept;

}  // namespace fbg
