// Typing of output pipelines and the scalar face of every stage.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/gelu_coefficients.h"
#include "fbg/output.h"

namespace fbg {

const char* value_type_name(ValueType type) noexcept {
  static constexpr const char* kNames[] = {"acc", "int32", "float32", "uint8", "int8"};
  return kNames[static_cast<int>(type)];
}

const char* stage_name(StageKind kind) noexcept {
  static constexpr const char* kNames[] = {
      "CorrectZeroPoints", "Dequantize", "Bias", "ReLU", "GELU", "Add", "Requantize"};
  return kNames[static_cast<int>(kind)];
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
      return Gelu::result(in, stage.wanted);
    case StageKind::add:
      return Add::result(in, stage.wanted);
    case StageKind::requantize:
      return Requantize::result(in, stage.wanted);
  }
  return std::nullopt;
}

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
    typed.codes[typed.count++] = {stage.kind, typed.output, *out};
    typed.output = *out;
  }
  return typed;
}

float Gelu::apply(float x) {
  const float magnitude = std::fabs(x);
  const float t = kGeluClamp < magnitude ? kGeluClamp : magnitude;
  const float u = std::fma(t, kGeluScale, -1.0f);
  constexpr int n = static_cast<int>(std::size(kGeluPoly));
  float q = kGeluPoly[n - 1];
  for (int i = n - 2; i >= 0; --i) q = std::fma(q, u, kGeluPoly[i]);
  return std::fma(-t, q, 0.0f > x ? 0.0f : x);
}

Value apply_stage(const StageCode& code, const StageArgs& args, Value x,
                  const Element& e) noexcept {
  const auto corrected = [&] {
    return code.in == ValueType::acc ? CorrectZeroPoints::apply(x.i, e) : x.i;
  };
  Value y{0};
  switch (code.kind) {
    case StageKind::correct_zero_points:
      y.i = corrected();
      break;
    case StageKind::dequantize:
      y.f = Dequantize::apply(corrected(), e);
      break;
    case StageKind::bias:
      if (code.in == ValueType::float32)
        y.f = x.f + static_cast<const float*>(args.data)[e.col];
      else
        y.i = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(x.i) +
            static_cast<std::uint32_t>(static_cast<const std::int32_t*>(args.data)[e.col]));
      break;
    case StageKind::relu:
      if (code.in == ValueType::float32)
        y.f = 0.0f > x.f ? 0.0f : x.f;
      else
        y.i = std::max(x.i, 0);
      break;
    case StageKind::gelu:
      y.f = Gelu::apply(x.f);
      break;
    case StageKind::add: {
      const auto* row = static_cast<const std::byte*>(args.data) + e.row * args.ld;
      y.f = x.f + reinterpret_cast<const float*>(row)[e.col];
      break;
    }
    case StageKind::requantize: {
      const float real = code.in == ValueType::float32 ? x.f / args.f0
                                                       : static_cast<float>(corrected()) *
                                                             ((e.a_scale * e.b_scale) / args.f0);
      y.i = Requantize::apply(real, args.f1, code.out);
      break;
    }
  }
  return y;
}

void apply_stage(const StageCode& code, const StageArgs& args, Value* x, std::int64_t count,
                 std::int64_t row, std::int64_t col) noexcept {
  Element e{};
  e.row = row;
  for (std::int64_t j = 0; j < count; ++j) {
    e.col = col + j;
    x[j] = apply_stage(code, args, x[j], e);
  }
}

void store_values(const Value* x, std::int64_t count, ValueType type, void* to) noexcept {
  const auto store = [&]<class T>(T* out, auto member) {
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(x[j].*member);
  };
  switch (type) {
    case ValueType::acc:
    case ValueType::int32:
      return store(static_cast<std::int32_t*>(to), &Value::i);
    case ValueType::float32:
      return store(static_cast<float*>(to), &Value::f);
    case ValueType::uint8:
      return store(static_cast<std::uint8_t*>(to), &Value::i);
    case ValueType::int8:
      return store(static_cast<std::int8_t*>(to), &Value::i);
  }
}

}  // namespace fbg
