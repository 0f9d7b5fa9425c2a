// Names of value types, and the typing of output pipelines.
#include "fbg/kernels/output.h"

#include <algorithm>
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

constexpr const char* kOperations[] = {"none",   "add",     "subtract", "multiply",
                                       "divide", "minimum", "maximum",  "prelu",
                                       "less",   "greater", "equal",    "replace"};
constexpr const char* kOperands[] = {"none", "constant",    "columns", "matrix",
                                     "slot", "row_extents", "given"};

template <class E>
E named(std::span<const char* const> names, const char* what, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    throw std::invalid_argument(std::string("pipeline: there is no ") + what + " '" +
                                std::string(name) + "'");
  return static_cast<E>(found - names.begin());
}

}  // namespace

const char* operation_name(Operation operation) noexcept {
  return kOperations[static_cast<int>(operation)];
}
const char* operand_name(OperandKind kind) noexcept { return kOperands[static_cast<int>(kind)]; }
Operation operation_named(std::string_view name) {
  return named<Operation>(kOperations, "operation", name);
}
OperandKind operand_named(std::string_view name) {
  return named<OperandKind>(kOperands, "kind of operand", name);
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
