// Choices that kernels of all kinds have in common.
#include <algorithm>
#include <ranges>
#include <span>

#include "helpers/binary_stages.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

Stage any_stage(Choices& choices) {
  static constexpr float kScales[] = {0.37f, 1.0f, 2.5f, -0.6f};
  static constexpr std::int32_t kPoints[] = {0, 3, 101, 127};
  static constexpr OperandKind kOperands[] = {OperandKind::constant, OperandKind::columns,
                                              OperandKind::matrix, OperandKind::slot};
  const float scale = choices.one_of(kScales);
  const ValueType bytes = choices.flag() ? ValueType::uint8 : ValueType::int8;
  const std::int32_t positive = choices.one_of(kPoints);
  const std::int32_t point = bytes == ValueType::int8 ? positive - 90 : positive;
  // It holds for these parameters, and for sums of any operands that runners place.
  const Specialization specialization{choices.flag(), choices.flag(), choices.flag()};
  switch (choices.byte() % 24) {
    case 0:
      return CorrectZeroPoints{}.stage();
    case 1:
    case 2:
      return Dequantize{}.stage();
    case 3:
      return Bias{nullptr}.stage();
    case 4:
      return BiasInt32{nullptr}.stage();
    case 5:
      return Relu{}.stage();
    case 6:
      return Gelu{}.stage();
    case 7:
      return GeluTanh{}.stage();
    case 8:
      return Tanh{}.stage();
    case 9:
      return Sigmoid{}.stage();
    case 10:
      return Clip(-0.5f, scale < 0 ? 0.0f : scale).stage();
    case 11:
      return Scale(scale).stage();
    case 12:
      return Add(static_cast<const float*>(nullptr), 0).stage();
    case 13:
      return choices.flag() ? Add(static_cast<const float16*>(nullptr), 0).stage()
                            : Add(static_cast<const bfloat16*>(nullptr), 0).stage();
    case 14: {
      const std::int32_t zero = specialization.centered ? 0 : point;
      Stage add = bytes == ValueType::uint8
                      ? Add(static_cast<const std::uint8_t*>(nullptr), 0, scale, zero).stage()
                      : Add(static_cast<const std::int8_t*>(nullptr), 0, scale, zero).stage();
      add.specialization.centered = specialization.centered;
      return add;
    }
    case 15:
      return Cast{choices.flag() ? ValueType::float16 : ValueType::bfloat16}.stage();
    case 16:
    case 17:
    case 18:
      return Requantize{std::max(scale, 0.1f), point, bytes, specialization}.stage();
    case 19:
      return save(static_cast<std::uint8_t>(choices.within(0, 2)));
    case 20:
    case 21:
      return binary(static_cast<Operation>(choices.within(1, static_cast<int>(Operation::replace))),
                    choices.one_of(kOperands), choices.flag(),
                    static_cast<std::uint8_t>(choices.within(0, 2)), scale);
    case 22:
      return function(static_cast<Operation>(
          choices.within(static_cast<int>(Operation::absolute), kOperations - 1)));
    default:
      return RowRange(nullptr).stage();
  }
}

// Whether results lie between -1 and 1, of which rounding to integers leaves little.
bool are_small(std::span<const Stage> stages) {
  for (const Stage& stage : stages | std::views::reverse) {
    if (stage.kind == StageKind::tanh || stage.kind == StageKind::sigmoid) return true;
    if (stage.kind != StageKind::clip && stage.kind != StageKind::relu) return false;
  }
  return false;
}

bool compares(Operation operation) {
  return operation >= Operation::less && operation <= Operation::greater_equal;
}

}  // namespace

std::vector<Family> families_of(Isa isa) {
  std::vector<Family> families = generated_families();
  std::erase_if(families, [&](const Family& family) { return family.isa != isa; });
  return families;
}

std::vector<Stage> draw_stages(Choices& choices, ValueType start, std::int64_t most) {
  std::vector<Stage> stages;
  const std::int64_t count = choices.within(0, most);
  for (int tries = 0; tries < 12 && std::ssize(stages) < count; ++tries) {
    std::vector<Stage> longer = stages;
    longer.push_back(any_stage(choices));
    if (are_small(stages)) longer.back().specialization.unit_scale = false;
    try {
      type_pipeline(longer, start);
      stages = std::move(longer);
    } catch (const std::invalid_argument&) {  // another one may fit
    }
  }
  // What means nothing to a stage is not kept.
  const TypedPipeline typed = type_pipeline(stages, start);
  for (std::size_t s = 0; s < stages.size(); ++s)
    stages[s].specialization = typed.codes[s].specialization;
  return stages;
}

void vary_parameters(Choices& choices, std::vector<Stage>& stages) {
  static constexpr float kScales[] = {0.37f, 1.0f, 2.5f, 0.011f, 31.0f};
  // With 2 and 0.4, bounds of what is rounded lie in the middle of two integers; with 2e-7, what
  // is off by the last bit of a bound is an integer.
  static constexpr float kSmallScales[] = {0.0041f, 0.011f, 0.0007f, 2.0f, 0.4f, 2e-7f};
  static constexpr float kDivisors[] = {0.37f, 1.0f, 2.5f, 0.011f, 31.0f, 2.0f, 0.4f, 1e-5f};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    Stage& stage = stages[s];
    const float scale = choices.one_of(kScales), small_scale = choices.one_of(kSmallScales);
    const auto point = static_cast<std::int32_t>(choices.within(1, 120));
    if (stage.kind == StageKind::requantize) {
      const bool small = are_small({stages.data(), s});
      const float divisor = choices.one_of(kDivisors);
      const std::int64_t lowest = stage.wanted == ValueType::int8 ? -128 : 0;
      const auto zero = static_cast<std::int32_t>(choices.within(lowest, lowest + 255));
      stage = Requantize{small ? small_scale : divisor, zero, stage.wanted, stage.specialization}
                  .stage();
    } else if (stage.kind == StageKind::scale) {
      stage = Scale(choices.flag() ? scale : -scale).stage();
    } else if (stage.kind == StageKind::clip) {
      const float high = 0.1f * static_cast<float>(point);
      stage = Clip(choices.byte() % 4 == 0 ? 0.5f * high : -scale, high).stage();
    } else if (stage.kind == StageKind::add && value_size(stage.wanted) == 1) {
      stage.args.f0 = scale;
      if (!stage.specialization.centered) stage.args.f1 = static_cast<float>(point);
    } else if (compares(stage.binary.operation) && point % 2 == 0) {
      stage.args.f0 = 0;  // which more values have than any other number
    }
  }
}

}  // namespace fbg::test
