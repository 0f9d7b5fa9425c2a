// Output pipeline: what happens to an accumulator between the last multiply-add and memory.
//
// A stage is a small struct with a `kind`, a rule for its types (`result`) and two faces: a scalar
// one, its case of apply_stage() in src/kernels/generic/stages.cc (longer formulas are `apply` of
// the struct), and an emitter of each architecture, which does the same to a vector. Both read
// the same StageArgs, so a pipeline composed at compile time (Pipeline<Dequantize, Bias, Relu>) and
// one built at run time are the same to the kernels. Pipelines with C++ functors:
// fbg/gemm/pipeline.h.
//
// To add a stage: (1) kind and struct here, (2) name and type in src/kernels/output.cc, the scalar
// implementation in generic/stages.cc, (3) the emitter, (4) the Python class; docs/add-a-kernel.md
// walks through one.
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "fbg/core/types.h"

namespace fbg {

// Types a value takes on its way: acc is the raw sum of products of quantized operands, int32 the
// same corrected for zero points (units of sA * sB), float32 a real number.
enum class ValueType : std::uint8_t { acc, int32, float32, uint8, int8, float16, bfloat16 };
const char* value_type_name(ValueType type) noexcept;
constexpr std::int64_t value_size(ValueType type) {
  switch (type) {
    case ValueType::uint8:
    case ValueType::int8:
      return 1;
    case ValueType::float16:
    case ValueType::bfloat16:
      return 2;
    default:
      return 4;
  }
}

// The type of elements in memory.
template <class T>
inline constexpr ValueType value_type = ValueType::float32;
template <>
inline constexpr ValueType value_type<float16> = ValueType::float16;
template <>
inline constexpr ValueType value_type<bfloat16> = ValueType::bfloat16;
template <>
inline constexpr ValueType value_type<std::uint8_t> = ValueType::uint8;
template <>
inline constexpr ValueType value_type<std::int8_t> = ValueType::int8;

enum class StageKind : std::uint8_t {
  correct_zero_points,
  dequantize,
  bias,
  relu,
  gelu,
  gelu_tanh,
  tanh,
  sigmoid,
  clip,
  scale,
  add,
  cast,
  requantize,
  row_range,
};
const char* stage_name(StageKind kind) noexcept;

// What holds of the parameters of a stage in every run of a kernel, which then leaves out what they
// make superfluous. Results are the same with and without.
struct Promise {
  bool unit_scale = false;  // requantize of float32: the scale is 1
  bool centered = false;    // requantize, add of integers: the zero point is 0
  bool bounded = false;     // requantize: what is rounded is a number within int32
  friend auto operator<=>(const Promise&, const Promise&) = default;
};

// What a kernel is compiled for: the kind and the types around it. The only parameters that are
// part of it are the promised ones.
struct StageCode {
  StageKind kind;
  ValueType in, out;
  ValueType operand = ValueType::float32;  // type of the matrix of Add
  Promise promise{};
  friend bool operator==(const StageCode&, const StageCode&) = default;
};

// Parameters of one stage as the kernel reads them.
struct StageArgs {
  const void* data = nullptr;    // element (0, 0) of a vector (bias), a matrix (add) or of what the
                                 // stage writes (row_range)
  std::int64_t ld = 0;           // bytes between rows of a matrix
  float f0 = 0, f1 = 0, f2 = 0;  // scalars
  std::int32_t i0 = 0;
};

struct Stage {
  StageKind kind;
  // requantize, cast: the output type; bias, add: the type of their array; others: ignored.
  ValueType wanted;
  StageArgs args;
  Promise promise{};
};

// Quantization parameters around one element of C.
struct Element {
  std::int64_t row, col;
  float a_scale, b_scale;
  std::int32_t a_zero_point, b_zero_point;
  std::int32_t row_term;    // K * zA_i - sum of the row of Aq, modulo 2^32
  std::int32_t col_offset;  // sum of the column of Bq
  // b_scale and col_offset are the whole terms of the column (fbg/kernels/microkernel.h).
  bool column_terms = false;
};

union Value {
  std::int32_t i;
  float f;
};

// acc -> int32:  acc - zA * colsum_j - zB * rowsum_i + K * zA * zB, modulo 2^32 (K is limited so
// that the true value fits).
struct CorrectZeroPoints {
  static constexpr StageKind kind = StageKind::correct_zero_points;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType) {
    if (in == ValueType::acc) return ValueType::int32;
    return std::nullopt;
  }
  static std::int32_t apply(std::int32_t acc, const Element& e) {
    const auto u = [](std::int32_t x) { return static_cast<std::uint32_t>(x); };
    if (e.column_terms) return static_cast<std::int32_t>(u(acc) - u(e.col_offset));
    return static_cast<std::int32_t>(u(acc) - u(e.a_zero_point) * u(e.col_offset) +
                                     u(e.row_term) * u(e.b_zero_point));
  }
  Stage stage() const { return {kind, ValueType::int32, {}}; }
};

// acc | int32 -> float32:  float(corrected) * (sA_i * sB_j)
struct Dequantize {
  static constexpr StageKind kind = StageKind::dequantize;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType) {
    if (in == ValueType::acc || in == ValueType::int32) return ValueType::float32;
    return std::nullopt;
  }
  static float apply(std::int32_t corrected, const Element& e) {
    return static_cast<float>(corrected) * (e.column_terms ? e.b_scale : e.a_scale * e.b_scale);
  }
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// x + bias_j, in the type that x has: int32 (units of sA * sB; before or after the correction,
// which it commutes with) or float32.
template <class T>
struct BasicBias {
  const T* values;  // N of them
  static constexpr StageKind kind = StageKind::bias;
  static constexpr ValueType type =
      std::is_same_v<T, float> ? ValueType::float32 : ValueType::int32;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType wanted) {
    const bool integer = in == ValueType::acc || in == ValueType::int32;
    if (wanted == ValueType::int32 ? integer : in == wanted) return in;
    return std::nullopt;
  }
  Stage stage() const { return {kind, type, {values, 0, 0, 0}}; }
};
using Bias = BasicBias<float>;
using BiasInt32 = BasicBias<std::int32_t>;

// max(x, 0) on int32 or float32; a NaN stays a NaN.
struct Relu {
  static constexpr StageKind kind = StageKind::relu;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType) {
    if (in == ValueType::int32 || in == ValueType::float32) return in;
    return std::nullopt;
  }
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// What elementwise functions of a float have in common.
template <StageKind Kind>
struct FloatStage {
  static constexpr StageKind kind = Kind;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType) {
    if (in == ValueType::float32) return ValueType::float32;
    return std::nullopt;
  }
};

// x * Phi(x), the erf form; see src/core/gelu_coefficients.h for the approximation and its error.
struct Gelu : FloatStage<StageKind::gelu> {
  static float apply(float x);
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// h + h * tanh(x * (c + 0.044715 c x^2)), h = x / 2, c = sqrt(2 / pi): the tanh form of GELU.
struct GeluTanh : FloatStage<StageKind::gelu_tanh> {
  static constexpr float kLinear = 0.7978845608f, kCubic = 0.7978845608f * 0.044715f;
  static float apply(float x);
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// tanh(x); see src/core/tanh_coefficients.h.
struct Tanh : FloatStage<StageKind::tanh> {
  static float apply(float x);
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// 1 / (1 + exp(-x)) = 1/2 + tanh(x / 2) / 2
struct Sigmoid : FloatStage<StageKind::sigmoid> {
  static float apply(float x) { return std::fma(0.5f, Tanh::apply(x * 0.5f), 0.5f); }
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// min(max(x, lo), hi); a NaN stays a NaN.
struct Clip : FloatStage<StageKind::clip> {
  float lo, hi;
  Clip(float low, float high) : lo(low), hi(high) {}
  static float apply(float x, float lo, float hi) {
    x = lo > x ? lo : x;
    return hi < x ? hi : x;
  }
  Stage stage() const { return {kind, ValueType::float32, {nullptr, 0, lo, hi}}; }
};

// x * factor
struct Scale : FloatStage<StageKind::scale> {
  float factor;
  explicit Scale(float f) : factor(f) {}
  Stage stage() const { return {kind, ValueType::float32, {nullptr, 0, factor, 0}}; }
};

// To float16 or bfloat16, half to even; last of a pipeline.
struct Cast {
  ValueType type;
  static constexpr StageKind kind = StageKind::cast;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType wanted) {
    if (in == ValueType::float32) return wanted;
    return std::nullopt;
  }
  Stage stage() const { return {kind, type, {}}; }
};

// x + residual[i][j]: floats of 32 or 16 bits, or quantized ones, which stand for
//   scale * (float(q) - zero_point)
// Strides count elements.
struct Add : FloatStage<StageKind::add> {
  ValueType type;
  StageArgs args;
  Add(const float* residual, std::int64_t row_stride) : Add(residual, row_stride, 1, 0) {}
  template <class T>
  requires std::is_same_v<T, float16> || std::is_same_v<T, bfloat16> Add(const T* residual,
                                                                         std::int64_t row_stride)
      : Add(residual, row_stride, 1, 0) {}
  template <class T>
  Add(const T* residual, std::int64_t row_stride, float scale, std::int32_t zero_point)
      : type(value_type<T>),
        args{residual, row_stride * static_cast<std::int64_t>(sizeof(T)), scale,
             static_cast<float>(zero_point)} {}
  static float real(std::int32_t q, float scale, float zero_point) {
    return scale * (static_cast<float>(q) - zero_point);
  }
  Stage stage() const { return {kind, type, args}; }
};

// To uint8 or int8, last of a pipeline: q = saturate(rint(r) + zero_point), where
//   r = float(corrected) * ((sA_i * sB_j) / scale)   from acc or int32
//   r = x / scale                                    from float32
// r is clamped before it becomes an integer, so that no value overflows; NaN gives the lowest q.
struct Requantize {
  float scale;
  std::int32_t zero_point;
  ValueType type = ValueType::uint8;
  Promise promise{};
  static constexpr StageKind kind = StageKind::requantize;
  static constexpr std::optional<ValueType> result(ValueType in, ValueType wanted) {
    if (in == ValueType::acc || in == ValueType::int32 || in == ValueType::float32) return wanted;
    return std::nullopt;
  }
  static constexpr float lowest(ValueType t) { return t == ValueType::uint8 ? 0.0f : -128.0f; }
  static constexpr float highest(ValueType t) { return t == ValueType::uint8 ? 255.0f : 127.0f; }
  static std::int32_t apply(float r, const StageArgs& args) {
    r = r > args.f1 ? r : args.f1;
    r = r < args.f2 ? r : args.f2;
    return static_cast<std::int32_t>(std::nearbyintf(r)) + args.i0;
  }
  Stage stage() const {
    const std::int32_t point = promise.centered ? 0 : zero_point;
    const auto z = static_cast<float>(point);
    const float divisor = promise.unit_scale ? 1.0f : scale;
    return {kind, type, {nullptr, 0, divisor, lowest(type) - z, highest(type) - z, point}, promise};
  }
};

// x as it is, and into rows[i] the least and the greatest value written to row i; last of a
// pipeline. Call reset() before the threads of a run start: tiles of a row, which may belong to
// several threads, each widen what is there. The result does not depend on their order: a zero
// counts as +0, and a NaN makes both NaN for good.
struct RowRange : FloatStage<StageKind::row_range> {
  RowExtent* rows;
  explicit RowRange(RowExtent* extents) : rows(extents) {}

  void reset(std::int64_t count) const noexcept;
  // Widens one row's extent by [lo, hi]; any number of threads may do so at once.
  static void widen(RowExtent& row, float lo, float hi) noexcept;

  Stage stage() const {
    return {kind, ValueType::float32, {rows, static_cast<std::int64_t>(sizeof(RowExtent)), 0, 0}};
  }
};

inline constexpr int kMaxStages = 8;

// Stages that nothing may follow even where types would allow it.
constexpr bool ends_pipeline(StageKind kind) { return kind == StageKind::row_range; }

// The type after one stage; nullopt when the stage does not accept `in`.
std::optional<ValueType> stage_result(const Stage& stage, ValueType in) noexcept;

// A stage with the types around it.
constexpr StageCode type_stage(const Stage& stage, ValueType in, ValueType out) {
  const bool adds = stage.kind == StageKind::add;
  Promise promise = stage.promise;
  const bool requantizes = stage.kind == StageKind::requantize;
  promise.unit_scale &= requantizes && in == ValueType::float32;  // otherwise it is that of columns
  promise.centered &= requantizes || (adds && value_size(stage.wanted) == 1);
  promise.bounded &= requantizes;
  return {stage.kind, in, out, adds ? stage.wanted : ValueType::float32, promise};
}

// Stages, operands and accumulator whose types do not go together.
struct PipelineTypeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Types every stage of a pipeline that starts at `start`; throws PipelineTypeError naming the stage
// that does not fit, std::invalid_argument when there are more than kMaxStages.
struct TypedPipeline {
  std::array<StageCode, kMaxStages> codes{};
  int count = 0;
  ValueType output;
};
TypedPipeline type_pipeline(std::span<const Stage> stages, ValueType start);

// The scalar implementation of a stage, dispatched by kind: the reference for every emitter.
Value apply_stage(const StageCode& code, const StageArgs& args, Value x, const Element& e) noexcept;

// The same for a row of float32 in memory: x[j] is element (row, col + j) of C.
void apply_stage(const StageCode& code, const StageArgs& args, Value* x, std::int64_t count,
                 std::int64_t row, std::int64_t col) noexcept;

// Writes values to C as elements of `type`.
void store_values(const Value* x, std::int64_t count, ValueType type, void* to) noexcept;

}  // namespace fbg
