// Output pipeline: what happens to an accumulator between the last multiply-add and memory.
//
// A stage is a row of the table below, which says what it is called, which types it takes and gives
// and what it reads, and three implementations: a scalar one, the reference of the others, in
// src/kernels/generic/stages.cc, and an emitter in stage_emitters.cc of each architecture. All read
// the same StageArgs, so a pipeline composed at compile time of the structs below
// (Pipeline<Dequantize, Bias, Relu>) and one built at run time are the same to the kernels.
// Pipelines with C++ functors: fbg/gemm/pipeline.h.
//
// To add a stage: (1) kind, row and struct here, (2) the three implementations, (3) the Python
// class; docs/add-a-kernel.md walks through one.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>

#include "fbg/core/types.h"
#include "fbg/kernels/stage.h"

namespace fbg {

// Files of measurements have the numbers: new kinds come last.
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
  binary,
  save,
};

// The table of stages, in the order of their kinds.
namespace stage_table {

using enum StageKind;
using enum ValueType;
using enum OperandKind;
using enum StageBounds;
inline constexpr ValueTypes sums{acc, int32}, floats{float32}, numbers{int32, float32};
inline constexpr ValueTypes any{acc, int32, float32};

inline constexpr StageRow kRows[] = {
    {.kind = correct_zero_points,
     .name = "CorrectZeroPoints",
     .takes = {acc},
     .gives = int32,
     .foldable = true},
    {.kind = dequantize, .name = "Dequantize", .takes = sums, .gives = float32, .scales = true},
    {.kind = bias,
     .name = "Bias",
     .takes = any,
     .operation = Operation::add,
     .operand = {columns, "values"},
     .foldable = true},
    {.kind = relu, .name = "ReLU", .takes = numbers, .bounds = low, .function = "relu", .cost = 2},
    {.kind = gelu, .name = "GELU", .takes = floats, .function = "gelu", .cost = 24},
    {.kind = StageKind::gelu_tanh,
     .name = "GELUTanh",
     .takes = floats,
     .operation = Operation::gelu_tanh,
     .function = "gelu_tanh"},
    {.kind = StageKind::tanh,
     .name = "Tanh",
     .takes = floats,
     .operation = Operation::tanh,
     .function = "tanh"},
    {.kind = StageKind::sigmoid,
     .name = "Sigmoid",
     .takes = floats,
     .operation = Operation::sigmoid,
     .function = "sigmoid"},
    {.kind = clip,
     .name = "Clip",
     .takes = floats,
     .constants = {"lo", "hi"},
     .bounds = both,
     .function = "clip",
     .cost = 4},
    {.kind = scale,
     .name = "Scale",
     .takes = floats,
     .operation = Operation::multiply,
     .operand = {constant},
     .constants = {"factor"}},
    {.kind = StageKind::add,
     .name = "Add",
     .takes = floats,
     .operation = Operation::add,
     .operand = {matrix, "residual"},
     .constants = {"scale", "zero_point"}},
    {.kind = cast, .name = "Cast", .takes = floats, .as_wanted = true},
    {.kind = requantize, .name = "Requantize", .takes = any, .as_wanted = true, .scales = true},
    {.kind = row_range, .name = "RowRange", .takes = floats, .operand = {row_extents, "out"}},
    {.kind = binary, .name = "Binary", .takes = floats, .operand = {OperandKind::given}},
    {.kind = save, .name = "Save", .takes = floats},
};

}  // namespace stage_table

inline constexpr std::span<const StageRow> kStages = stage_table::kRows;

constexpr const StageRow& stage_row(StageKind kind) {
  return kStages[static_cast<std::size_t>(kind)];
}
constexpr const char* stage_name(StageKind kind) { return stage_row(kind).name; }

// Whether `rows`, each of which has a kind, are one for every stage, in their order.
constexpr bool lists_stages(const auto& rows) {
  std::size_t i = 0;
  for (const auto& row : rows)
    if (row.kind != static_cast<StageKind>(i++)) return false;
  return i == std::size(kStages);
}
static_assert(lists_stages(kStages));

// What a stage reads.
constexpr OperandKind operand_of(const Stage& stage) {
  const OperandKind kind = stage_row(stage.kind).operand.kind;
  return kind == OperandKind::given ? stage.binary.operand : kind;
}
constexpr bool reads_matrix(const Stage& stage) { return operand_of(stage) == OperandKind::matrix; }
constexpr bool reads_matrix(const StageCode& code) {
  return code.binary.operand == OperandKind::matrix;
}
constexpr bool writes_extents(StageKind kind) {
  return stage_row(kind).operand.kind == OperandKind::row_extents;
}

// What a stage does to values of the types around it.
constexpr bool gives_bytes(const StageCode& code) { return value_size(code.out) == 1; }
constexpr bool corrects_sums(const StageCode& code) {
  return code.in == ValueType::acc && code.out != ValueType::acc;
}
constexpr bool is_foldable(const StageCode& code) {
  return stage_row(code.kind).foldable && code.in != ValueType::float32;
}
constexpr bool scales_sums(const StageCode& code) {
  return stage_row(code.kind).scales && code.in != ValueType::float32;
}

// What stages without parameters have in common.
template <StageKind Kind>
struct PlainStage {
  static constexpr StageKind kind = Kind;
  Stage stage() const { return {kind, ValueType::float32, {}}; }
};

// acc -> int32:  acc - zA * colsum_j - zB * rowsum_i + K * zA * zB, modulo 2^32 (K is limited so
// that the true value fits).
struct CorrectZeroPoints : PlainStage<StageKind::correct_zero_points> {
  static std::int32_t apply(std::int32_t acc, const Element& e) {
    const auto u = [](std::int32_t x) { return static_cast<std::uint32_t>(x); };
    if (e.folded) return static_cast<std::int32_t>(u(acc) - u(e.col_offset));
    return static_cast<std::int32_t>(u(acc) - u(e.a_zero_point) * u(e.col_offset) +
                                     u(e.row_term) * u(e.b_zero_point));
  }
};

// acc | int32 -> float32:  float(corrected) * (sA_i * sB_j)
struct Dequantize : PlainStage<StageKind::dequantize> {
  static float apply(std::int32_t corrected, const Element& e) {
    return static_cast<float>(corrected) * (e.folded ? e.b_scale : e.a_scale * e.b_scale);
  }
};

// x + bias_j, in the type that x has: int32 (units of sA * sB; before or after the correction,
// which it commutes with) or float32.
template <class T>
struct BasicBias {
  const T* values;  // N of them
  static constexpr StageKind kind = StageKind::bias;
  static constexpr ValueType type = value_type<T>;
  Stage stage() const { return {kind, type, {values, 0, 0, 0}}; }
};
using Bias = BasicBias<float>;
using BiasInt32 = BasicBias<std::int32_t>;

// max(x, 0) on int32 or float32; a NaN stays a NaN.
struct Relu : PlainStage<StageKind::relu> {};

// x * Phi(x), the erf form; see src/core/gelu_coefficients.h for the approximation and its error.
struct Gelu : PlainStage<StageKind::gelu> {
  static float apply(float x);
};

// h + h * tanh(x * (c + 0.044715 c x^2)), h = x / 2, c = sqrt(2 / pi): the tanh form of GELU.
struct GeluTanh : PlainStage<StageKind::gelu_tanh> {
  static constexpr float kLinear = 0.7978845608f, kCubic = 0.7978845608f * 0.044715f;
  static float apply(float x);
};

// tanh(x); see src/core/tanh_coefficients.h.
struct Tanh : PlainStage<StageKind::tanh> {
  static float apply(float x);
};

// 1 / (1 + exp(-x)) = 1/2 + tanh(x / 2) / 2
struct Sigmoid : PlainStage<StageKind::sigmoid> {
  static float apply(float x);
};

// min(max(x, lo), hi); a NaN stays a NaN.
struct Clip {
  static constexpr StageKind kind = StageKind::clip;
  float lo, hi;
  Clip(float low, float high) : lo(low), hi(high) {}
  static float apply(float x, float lo, float hi) {
    x = lo > x ? lo : x;
    return hi < x ? hi : x;
  }
  Stage stage() const { return {kind, ValueType::float32, {nullptr, 0, lo, hi}}; }
};

// x * factor
struct Scale {
  static constexpr StageKind kind = StageKind::scale;
  float factor;
  explicit Scale(float f) : factor(f) {}
  Stage stage() const { return {kind, ValueType::float32, {nullptr, 0, factor, 0}}; }
};

// To float16 or bfloat16, half to even; last of a pipeline.
struct Cast {
  ValueType type;
  static constexpr StageKind kind = StageKind::cast;
  Stage stage() const { return {kind, type, {}}; }
};

// x + residual[i][j]: floats of 32 or 16 bits, or quantized ones, which stand for
//   scale * (float(q) - zero_point)
// Strides count elements.
struct Add {
  static constexpr StageKind kind = StageKind::add;
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
  std::int32_t zero_point = 0;
  ValueType type = ValueType::uint8;
  Specialization specialization{};
  static constexpr StageKind kind = StageKind::requantize;
  static constexpr float lowest(ValueType t) { return t == ValueType::uint8 ? 0.0f : -128.0f; }
  static constexpr float highest(ValueType t) { return t == ValueType::uint8 ? 255.0f : 127.0f; }
  static std::int32_t apply(float r, const StageArgs& args) {
    r = r > args.f1 ? r : args.f1;
    r = r < args.f2 ? r : args.f2;
    return static_cast<std::int32_t>(std::nearbyintf(r)) + args.i0;
  }
  Stage stage() const {
    const std::int32_t point = specialization.centered ? 0 : zero_point;
    const auto z = static_cast<float>(point);
    const float divisor = specialization.unit_scale ? 1.0f : scale;
    return {kind,
            type,
            {nullptr, 0, divisor, lowest(type) - z, highest(type) - z, point},
            specialization};
  }
};

// x as it is, and into rows[i] the least and the greatest value written to row i; last of a
// pipeline. Call reset() before the threads of a run start: tiles of a row, which may belong to
// several threads, each widen what is there. The result does not depend on their order: a zero
// counts as +0, and a NaN makes both NaN for good.
struct RowRange {
  static constexpr StageKind kind = StageKind::row_range;
  RowExtent* rows;
  explicit RowRange(RowExtent* extents) : rows(extents) {}

  void reset(std::int64_t count) const noexcept;
  // Widens one row's extent by [lo, hi]; any number of threads may do so at once.
  static void widen(RowExtent& row, float lo, float hi) noexcept;

  Stage stage() const {
    return {kind, ValueType::float32, {rows, static_cast<std::int64_t>(sizeof(RowExtent)), 0, 0}};
  }
};

inline constexpr int kMaxStages = 24;
inline constexpr int kMaxSlots = 6;  // values that are saved at a time

// A stage with the types around it.
constexpr StageCode type_stage(const Stage& stage, ValueType in, ValueType out) {
  StageCode code{stage.kind, in, out, ValueType::float32, stage.specialization, stage.binary};
  code.binary.operand = operand_of(stage);
  if (const Operation own = stage_row(code.kind).operation; own != Operation::none)
    code.binary.operation = own;
  if (reads_matrix(code)) code.operand = stage.wanted;
  const bool rounds = gives_bytes(code);
  code.specialization.unit_scale &=
      rounds && in == ValueType::float32;  // otherwise it is that of columns
  code.specialization.centered &= rounds || value_size(code.operand) == 1;
  code.specialization.bounded &= rounds;
  code.specialization.looked_up &= rounds;
  return code;
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
