// Names of value types, and the typing of output pipelines.
#include "fbg/kernels/output.h"

#include <stdexcept>
#include <string>

namespace fbg {

const char* value_type_name(ValueType type) noexcept {
  static constexpr const char* kNames[] = {"acc",  "int32",   "float32", "uint8",
                                           "int8", "float16", "bfloat16"};
  return kNames[static_cast<int>(type)];
}

namespace {

// Kernels add zero points to integers of 16 bits, with saturation. A zero point outside the type of
// the result has no meaning, and one outside 16 bits would be truncated.
void require_zero_point(const Stage& stage, ValueType out) {
  if (value_size(out) != 1) return;
  const auto low = static_cast<std::int32_t>(Requantize::lowest(out));
  const auto high = static_cast<std::int32_t>(Requantize::highest(out));
  const std::int32_t zero_point = stage.args.i0;
  if (zero_point < low || zero_point > high)
    throw std::invalid_argument(std::string("pipeline: ") + stage_name(stage.kind) +
                                ": zero_point must be within [" + std::to_string(low) + ", " +
                                std::to_string(high) + "] for " + value_type_name(out) + ", got " +
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
    const StageRow& row = stage_row(stage.kind);
    const auto out = row.result(typed.output, stage.wanted);
    if (!out)
      throw PipelineTypeError(std::string("pipeline: ") + row.name + " does not accept " +
                              value_type_name(typed.output));
    require_zero_point(stage, *out);
    if (typed.count && stage_row(typed.codes[typed.count - 1].kind).ends())
      throw PipelineTypeError(std::string("pipeline: ") +
                              stage_name(typed.codes[typed.count - 1].kind) +
                              " must be the last stage");
    typed.codes[typed.count++] = type_stage(stage, typed.output, *out);
    typed.output = *out;
  }
  return typed;
}

}  // namespace fbg
