// A function of elements (kernels/functions.h) as instructions, with a register for every value:
// what the assemblers emit one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "fbg/kernels/stage.h"

namespace fbg::kernels {

enum class FunctionOp : std::uint8_t {
  // values that no instruction computes
  x,
  y,
  constant,
  // of floats: a op b, a * b + c, a < b ? a : b, a > b ? a : b
  add,
  subtract,
  multiply,
  divide,
  fma,
  least,
  greatest,
  square_root,
  round,  // bits: to the nearest, down, up, toward zero
  // masks
  less,
  less_equal,
  equal,
  greater_int,
  equal_int,
  select,  // a ? b : c, bit by bit
  bit_and,
  bit_or,
  // of integers; bits: by how many a shift is
  shift_left,
  shift_right,
  add_int,
  subtract_int,
  multiply_int,
  to_float,
  to_int,
  // of the allocator
  load,   // to = a
  spill,  // slot b = a
};

struct FunctionOperand {
  enum Place : std::uint8_t { none, in_register, in_slot, constant, operand };
  Place place = none;        // operand: y, where it is in memory
  std::uint32_t number = 0;  // of the register or slot; the bits of a constant
};

struct FunctionStep {
  FunctionOp op;
  int to = 0;  // a register
  FunctionOperand a{}, b{}, c{};
  // least and greatest: whether a is a number that is neither 0 nor NaN; less and less_equal:
  // whether b stands on the left.
  std::uint32_t bits = 0;
};

// What an assembler offers. The value is in register 0, where the result will be, too, and y in
// register 1 if it is not in memory.
struct FunctionTarget {
  int registers;
  bool memory_operands;  // the last operand of an instruction may be in memory
};

struct FunctionCode {
  std::vector<FunctionStep> steps;
  int slots = 0;  // of vectors on the stack
};

// The code of x op y, or of y op x if reversed.
FunctionCode function_code(Operation operation, bool reversed, bool y_in_memory,
                           const FunctionTarget& target);

// How many instructions a function takes for a vector; a division or a root counts as several.
int function_cost(Operation operation);

}  // namespace fbg::kernels
