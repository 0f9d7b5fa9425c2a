// Stages of expressions, for pipelines that are known at run time.
#pragma once

#include <cstdint>

#include "fbg/kernels/output.h"

namespace fbg::test {

inline Stage save(std::uint8_t slot) {
  return {StageKind::save, ValueType::float32, {}, {}, {.slot = slot}};
}

// x op y, or y op x; `number` is y if that is a constant, and the scale of bytes.
inline Stage binary(Operation operation, OperandKind operand, bool reversed = false,
                    std::uint8_t slot = 0, float number = 0.37f,
                    ValueType type = ValueType::float32) {
  return {StageKind::binary,
          type,
          {nullptr, 0, number, 5.0f},
          {},
          {operation, operand, slot, reversed}};
}

inline Stage function(Operation operation) { return binary(operation, OperandKind::none); }

}  // namespace fbg::test
