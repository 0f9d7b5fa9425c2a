// Functions of elements as instructions, which a machine of few registers executes here, against
// their scalar implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "helpers/binary_stages.h"
#include "kernels/function_code.h"

namespace fbg::test {
namespace {

using kernels::FunctionCode;
using kernels::FunctionOp;
using kernels::FunctionOperand;
using kernels::FunctionStep;
using kernels::FunctionTarget;

float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint32_t mask(bool holds) { return holds ? ~0u : 0u; }

class Machine {
 public:
  Machine(const FunctionTarget& target, bool y_in_memory)
      : target_(target),
        y_in_memory_(y_in_memory),
        registers_(static_cast<std::size_t>(target.registers)),
        slots_(8) {}

  std::uint32_t run(const FunctionCode& code, std::uint32_t x, std::uint32_t y) {
    y_ = y;
    std::ranges::fill(registers_, 0x7fc0dead);
    registers_[0] = x;
    if (!y_in_memory_) registers_[1] = y;
    for (const FunctionStep& step : code.steps) {
      if (step.op == FunctionOp::spill) {
        slots_[step.b.number] = value(step.a);
      } else {
        expect_encodable(step);
        registers_[static_cast<std::size_t>(step.to)] = computed(step);
      }
    }
    return registers_[0];
  }

 private:
  std::uint32_t value(const FunctionOperand& from) const {
    switch (from.place) {
      case FunctionOperand::in_register:
        return registers_[from.number];
      case FunctionOperand::in_slot:
        return slots_[from.number];
      case FunctionOperand::constant:
        return from.number;
      case FunctionOperand::operand:
        EXPECT_TRUE(y_in_memory_);
        return y_;
      default:
        return 0;
    }
  }

  static bool is_register(const FunctionOperand& from, int number = -1) {
    return from.place == FunctionOperand::in_register &&
           (number < 0 || static_cast<int>(from.number) == number);
  }
  // Only the last operand may be in memory, and a sum is written before its factors are read.
  void expect_encodable(const FunctionStep& step) const {
    if (step.op == FunctionOp::load) return;
    const bool b = is_register(step.b), c = is_register(step.c);
    EXPECT_TRUE(is_register(step.a));
    if (!target_.memory_operands) {
      EXPECT_TRUE(b || step.b.place == FunctionOperand::none);
      EXPECT_TRUE(c || step.c.place == FunctionOperand::none);
    }
    EXPECT_TRUE(c || step.op != FunctionOp::select);
    if (step.op != FunctionOp::fma || is_register(step.c, step.to)) return;
    EXPECT_TRUE(b || c);
    const bool loads = target_.memory_operands;
    EXPECT_TRUE((b && loads) || !is_register(step.a, step.to));
    EXPECT_TRUE(loads || !is_register(step.b, step.to));
  }

  std::uint32_t computed(const FunctionStep& step) const {
    const std::uint32_t a = value(step.a), b = value(step.b), c = value(step.c);
    const float u = as_float(a), v = as_float(b);
    const auto i = std::bit_cast<std::int32_t>(a), j = std::bit_cast<std::int32_t>(b);
    switch (step.op) {
      case FunctionOp::load:
        return a;
      case FunctionOp::add:
        return bits_of(u + v);
      case FunctionOp::subtract:
        return bits_of(u - v);
      case FunctionOp::multiply:
        return bits_of(u * v);
      case FunctionOp::divide:
        return bits_of(u / v);
      case FunctionOp::fma:
        return bits_of(std::fma(u, v, as_float(c)));
      case FunctionOp::least:
        return u < v ? a : b;
      case FunctionOp::greatest:
        return u > v ? a : b;
      case FunctionOp::square_root:
        return bits_of(std::sqrt(u));
      case FunctionOp::round:
        return bits_of(step.bits == 0   ? std::nearbyint(u)
                       : step.bits == 1 ? std::floor(u)
                       : step.bits == 2 ? std::ceil(u)
                                        : std::trunc(u));
      case FunctionOp::less:
        return mask(step.bits ? v < u : u < v);
      case FunctionOp::less_equal:
        return mask(step.bits ? v <= u : u <= v);
      case FunctionOp::equal:
        return mask(u == v);
      case FunctionOp::greater_int:
        return mask(i > j);
      case FunctionOp::equal_int:
        return mask(a == b);
      case FunctionOp::select:
        return (a & b) | (~a & c);
      case FunctionOp::bit_and:
        return a & b;
      case FunctionOp::bit_or:
        return a | b;
      case FunctionOp::shift_left:
        return a << step.bits;
      case FunctionOp::shift_right:
        return a >> step.bits;
      case FunctionOp::add_int:
        return a + b;
      case FunctionOp::subtract_int:
        return a - b;
      case FunctionOp::multiply_int:
        return a * b;
      case FunctionOp::to_float:
        return bits_of(static_cast<float>(i));
      case FunctionOp::to_int:  // of numbers that fit
        return u >= -0x1p31f && u < 0x1p31f
                   ? static_cast<std::uint32_t>(static_cast<std::int32_t>(u))
                   : 0;
      default:
        ADD_FAILURE() << "an instruction that machines do not have";
        return 0;
    }
  }

  const FunctionTarget target_;
  const bool y_in_memory_;
  std::uint32_t y_ = 0;
  std::vector<std::uint32_t> registers_, slots_;
};

std::uint32_t reference(Operation operation, bool reversed, float x, float y) {
  const Stage stage = binary(operation, OperandKind::constant, reversed, 0, y);
  const StageCode code = type_stage(stage, ValueType::float32, ValueType::float32);
  return bits_of(apply_stage(code, stage.args, {.f = x}, Element{}).f);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kValues[] = {0.0f,  -0.0f, 1.0f,  -1.0f,     0.3f,      -0.93f, 2.5f,
                             -7.5f, 19.7f, 88.4f, -88.4f,    3e-30f,    -2e30f, 1e-41f,
                             1e9f,  -5e9f, kNan,  kInfinity, -kInfinity};

TEST(FunctionCode, EqualsTheScalarImplementation) {
  for (const FunctionTarget& target : {FunctionTarget{4, true}, FunctionTarget{8, false}})
    for (int i = 0; i < kOperations; ++i)
      for (const bool reversed : {false, true})
        for (const bool y_in_memory : {false, true}) {
          const auto operation = static_cast<Operation>(i);
          if ((reversed && !is_binary(operation)) || (y_in_memory && !target.memory_operands))
            continue;
          const FunctionCode code = function_code(operation, reversed, y_in_memory, target);
          EXPECT_TRUE(target.memory_operands || code.slots == 0) << operation_name(operation);
          Machine machine(target, y_in_memory);
          for (const float x : kValues)
            for (const float y : kValues) {
              const std::uint32_t wanted = reference(operation, reversed, x, y);
              const std::uint32_t got = machine.run(code, bits_of(x), bits_of(y));
              const bool no_numbers = std::isnan(as_float(wanted)) && std::isnan(as_float(got));
              ASSERT_TRUE(wanted == got || no_numbers)
                  << operation_name(operation) << " of " << x << " and " << y;
            }
        }
}

}  // namespace
}  // namespace fbg::test
