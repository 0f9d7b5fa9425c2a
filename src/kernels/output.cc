// Names of stages and value types, and the typing of output pipelines.
#include "fbg/kernels/output.h"

#include <stdexcept>
#include <string>

namespace fbg {

const char* value_type_name(ValueType type) noexcept {
  static constexpr const char* kNames[] = {"acc",  "int32",   "float32", "uint8",
                                           "int8", "float16", "bfloat16"};
  return kNames[static_cast<int>(type)];
}

const char* stage_name(StageKind kind) noexcept {
  switch (kind) {
    case StageKind::correct_zero_points:
      return "CorrectZeroPoints";
    case StageKind::dequantize:
      return "Dequantize";
    case StageKind::bias:
      return "Bias";
    case StageKind::relu:
      return "ReLU";
    case StageKind::gelu:
      return "GELU";
    case StageKind::gelu_tanh:
      return "GELUTanh";
    case StageKind::tanh:
      return "Tanh";
    case StageKind::sigmoid:
      return "Sigmoid";
    case StageKind::clip:
      return "Clip";
    case StageKind::scale:
      return "Scale";
    case StageKind::add:
      return "Add";
    case StageKind::cast:
      return "Cast";
    case StageKind::requantize:
      return "Requantize";
    case StageKind::row_range:
      return "RowRange";
  }
  return "unknown stage";
}

std::optional<ValueType> stage_result(const Stage& stage, ValueType in) noexcept {
  switch (stage.kind) {
    case StageKind::correct_zero_points:
      return CorrectZeroPoints::result(in, stage.wanted);
    case StageKind::dequantize:
      return Dequantize::result(in, stage.wanted);
    case StageKind::bias:
      return Bias::result(in, stage.wanted);
    case StageKind::relu:
      return Relu::result(in, stage.wanted);
    case StageKind::gelu:
    case StageKind::gelu_tanh:
    case StageKind::tanh:
    case StageKind::sigmoid:
    case StageKind::clip:
    case StageKind::scale:
    case StageKind::add:
    case StageKind::row_range:
      return FloatStage<StageKind::gelu>::result(in, stage.wanted);
    case StageKind::cast:
      return Cast::result(in, stage.wanted);
    case StageKind::requantize:
      return Requantize::result(in, stage.wanted);
  }
  return std::nullopt;
}

namespace {

// Kernels add zero points to integers of 16 bits, with saturation. One outside the type of the
// result means nothing, and beyond those 16 bits it would be another number.
void require_zero_point(const Stage& stage) {
  if (stage.kind != StageKind::requantize) return;
  const auto low = static_cast<std::int32_t>(Requantize::lowest(stage.wanted));
  const auto high = static_cast<std::int32_t>(Requantize::highest(stage.wanted));
  const std::int32_t zero_point = stage.args.i0;
  if (zero_point < low || zero_point > high)
    throw std::invalid_argument("pipeline: Requantize: zero_point must be within [" +
                                std::to_string(low) + ", " + std::to_string(high) + "] for " +
                                value_type_name(stage.wanted) + ", got " +
                                std::to_string(zero_point));
}

}  // namespace

TypedPipeline type_pipeline(std::span<const Stage> stages, ValueType start) {
  if (stages.size() > kMaxStages)
    throw std::invalid_argument("pipeline: at most " + std::to_string(kMaxStages) +
                                " stages, got " + std::to_string(stages.size()));
  TypedPipeline typed;
  typed.output = start;
  for (const Stage& stage : stages) {
    const auto out = stage_result(stage, typed.output);
    if (!out)
      throw PipelineTypeError(std::string("pipeline: ") + stage_name(stage.kind) +
                              " does not accept " + value_type_name(typed.output));
    require_zero_point(stage);
    if (typed.count && ends_pipeline(typed.codes[typed.count - 1].kind))
      throw PipelineTypeError(std::string("pipeline: ") +
                              stage_name(typed.codes[typed.count - 1].kind) +
                              " must be the last stage");
    typed.codes[typed.count++] = type_stage(stage, typed.output, *out);
    typed.output = *out;
  }
  return typed;
}

}  // namespace fbg
