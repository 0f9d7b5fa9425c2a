// Names of value types, and the typing of output pipelines.
#include "fbg/kernels/output.h"

#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

namespace fbg {

const char* value_type_name(ValueType type) noexcept {
  static constexpr const char* kNames[] = {"acc",  "int32",   "float32", "uint8",
                                           "int8", "float16", "bfloat16"};
  return kNames[static_cast<int>(type)];
}

namespace {

constexpr const char* kOperands[] = {"none", "constant",    "columns", "matrix",
                                     "slot", "row_extents", "given"};

// The value of an enum whose name is called so.
template <class E>
E named(int count, const char* (*name_of)(E) noexcept, const char* what, std::string_view name) {
  for (int i = 0; i < count; ++i)
    if (name == name_of(static_cast<E>(i))) return static_cast<E>(i);
  throw std::invalid_argument(std::string("pipeline: there is no ") + what + " '" +
                              std::string(name) + "'");
}

}  // namespace

const char* operand_name(OperandKind kind) noexcept { return kOperands[static_cast<int>(kind)]; }
OperandKind operand_named(std::string_view name) {
  return named(static_cast<int>(std::size(kOperands)), operand_name, "kind of operand", name);
}
Operation operation_named(std::string_view name) {
  return named(kOperations, operation_name, "operation", name);
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

// A stage reads what an earlier one has saved.
void require_saved(const Stage& stage, unsigned& saved) {
  const std::string name = std::string("pipeline: ") + stage_name(stage.kind);
  const bool saves = stage.kind == StageKind::save;
  if (!saves && operand_of(stage) != OperandKind::slot) return;
  if (stage.binary.slot >= kMaxSlots)
    throw std::invalid_argument(name + ": slot must be less than " + std::to_string(kMaxSlots) +
                                ", got " + std::to_string(stage.binary.slot));
  const unsigned bit = 1u << stage.binary.slot;
  if (!saves && !(saved & bit))
    throw std::invalid_argument(name + ": nothing was saved in slot " +
                                std::to_string(stage.binary.slot));
  saved |= bit;
}

}  // namespace

TypedPipeline type_pipeline(std::span<const Stage> stages, ValueType start) {
  if (stages.size() > kMaxStages)
    throw std::invalid_argument("pipeline: at most " + std::to_string(kMaxStages) +
                                " stages, got " + std::to_string(stages.size()));
  TypedPipeline typed;
  typed.output = start;
  unsigned saved = 0;
  for (const Stage& stage : stages) {
    const StageRow& row = stage_row(stage.kind);
    const auto out = row.result(typed.output, stage.wanted);
    if (!out)
      throw PipelineTypeError(std::string("pipeline: ") + row.name + " does not accept " +
                              value_type_name(typed.output));
    require_zero_point(stage, *out);
    require_saved(stage, saved);
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
