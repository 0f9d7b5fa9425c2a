// What kernels know of a stage of an output pipeline: the types of values, its parameters, and how
// a row of the table of stages (kStages in fbg/kernels/output.h) describes it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "fbg/core/types.h"

namespace fbg {

// Types a value takes on its way: acc is the raw sum of products of quantized operands, int32 the
// same corrected for zero points (units of sA * sB), float32 a real number.
enum class ValueType : std::uint8_t { acc, int32, float32, uint8, int8, float16, bfloat16 };
const char* value_type_name(ValueType type) noexcept;
constexpr std::int64_t value_size(ValueType type) {
  switch (type) {
    case ValueType::uint8:
    case ValueType::int8:
      return 1;
    case ValueType::float16:
    case ValueType::bfloat16:
      return 2;
    default:
      return 4;
  }
}

// The type of elements in memory.
template <class T>
inline constexpr ValueType value_type = ValueType::float32;
template <>
inline constexpr ValueType value_type<float16> = ValueType::float16;
template <>
inline constexpr ValueType value_type<bfloat16> = ValueType::bfloat16;
template <>
inline constexpr ValueType value_type<std::int32_t> = ValueType::int32;
template <>
inline constexpr ValueType value_type<std::uint8_t> = ValueType::uint8;
template <>
inline constexpr ValueType value_type<std::int8_t> = ValueType::int8;

// What a kernel may assume of the parameters and values of a stage in all of its runs. It leaves
// out the instructions that this makes superfluous; results are the same with and without them.
struct Specialization {
  bool unit_scale = false;  // requantize of float32: the scale is 1
  bool centered = false;    // requantize, add of integers: the zero point is 0
  bool bounded = false;     // requantize: what is rounded is a number within int32
  // requantize: results are bytes of a table of 256, StageArgs::data, at the places q modulo 256.
  // Only where kernels look bytes up fast (looks_up_bytes() in kernels/table.h).
  bool looked_up = false;
  friend auto operator<=>(const Specialization&, const Specialization&) = default;
};

// Which stage: the index of its row in the table. fbg/kernels/output.h lists them.
enum class StageKind : std::uint8_t;

// What a stage reads besides the value and the quantization parameters of its element, or writes:
// f0 of its parameters, an element of a vector for each column of C, one of a matrix of the shape
// of C, a value that an earlier stage saved, the extent of each row. given: the stage says which.
enum class OperandKind : std::uint8_t { none, constant, columns, matrix, slot, row_extents, given };

// Functions of the value x of a stage, and of its operand y: src/kernels/functions.h defines them.
// Comparisons give 1 or 0. A NaN in x gives x as the minimum and maximum, otherwise a NaN in y
// gives y; prelu is x < 0 ? x * y : x, and replace is y. keep_where and keep_unless give y or 0 by
// the truth of x, merge the bits of either. Those that end with int32 take and give the bits of
// int32.
enum class Operation : std::uint8_t {
  none,
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  prelu,
  less,
  greater,
  equal,
  less_equal,
  greater_equal,
  keep_where,
  keep_unless,
  merge,
  add_int32,
  subtract_int32,
  multiply_int32,
  less_int32,
  greater_int32,
  equal_int32,
  replace,
  absolute,  // functions of x alone, from here on
  square_root,
  round,
  floor,
  ceil,
  truncate,
  to_int32,
  exp,
  expm1_below_zero,  // e^min(x, 0) - 1
  log,
  softplus,
  erf,
  silu,
  tanh,  // the stages of these names, whose errors are absolute
  sigmoid,
  gelu_tanh,
  tanh_relative,  // the same with relative accuracy
  sigmoid_relative,
  gelu_tanh_relative,
};
inline constexpr int kOperations = static_cast<int>(Operation::gelu_tanh_relative) + 1;
constexpr bool is_binary(Operation operation) {
  return operation > Operation::none && operation < Operation::absolute;
}

const char* operation_name(Operation operation) noexcept;
const char* operand_name(OperandKind kind) noexcept;
// Throw std::invalid_argument where nothing is called so.
Operation operation_named(std::string_view name);
OperandKind operand_named(std::string_view name);

// What a stage does to its value, and with which operand, or the slot in which it saves the value.
struct Binary {
  Operation operation = Operation::none;
  OperandKind operand = OperandKind::none;
  std::uint8_t slot = 0;
  bool reversed = false;  // x is the operand, and y the value
  friend bool operator==(const Binary&, const Binary&) = default;
};

// What a kernel is compiled for: the kind of a stage and the types around it. Its parameters are
// arguments of the kernel, but for those that it is specialized for.
struct StageCode {
  StageKind kind;
  ValueType in, out;
  ValueType operand = ValueType::float32;  // type of a matrix
  Specialization specialization{};
  Binary binary{};
  friend bool operator==(const StageCode&, const StageCode&) = default;
};

// Parameters of one stage as the kernel reads them.
struct StageArgs {
  const void* data = nullptr;    // element (0, 0) of a vector (bias), a matrix (add) or of what the
                                 // stage writes (row_range)
  std::int64_t ld = 0;           // bytes between rows of a matrix
  float f0 = 0, f1 = 0, f2 = 0;  // scalars
  std::int32_t i0 = 0;
};

struct Stage {
  StageKind kind;
  // requantize, cast: the output type; bias, add: the type of their array; others: ignored.
  ValueType wanted;
  StageArgs args;
  Specialization specialization{};
  Binary binary{};  // of Binary and Save
};

union Value {
  std::int32_t i;
  float f;
};

// Quantization parameters around one element of C.
struct Element {
  std::int64_t row, col;
  float a_scale, b_scale;
  std::int32_t a_zero_point, b_zero_point;
  std::int32_t row_term;    // K * zA_i - sum of the row of Aq, modulo 2^32
  std::int32_t col_offset;  // sum of the column of Bq
  // Requantization was folded: b_scale and col_offset are what it needs for the whole column
  // (kernels/microkernel.h).
  bool folded = false;
  Value* slots = nullptr;  // what stages have saved of the element
};

struct StageOperand {
  OperandKind kind = OperandKind::none;
  const char* name = nullptr;
};

// What a stage does that only bounds its values: max(x, f0), or min(max(x, f0), f1).
enum class StageBounds : std::uint8_t { open, low, both };

// A set of value types.
class ValueTypes {
 public:
  constexpr ValueTypes(std::initializer_list<ValueType> types) {
    for (const ValueType type : types) bits_ |= 1u << static_cast<int>(type);
  }
  constexpr bool contains(ValueType type) const { return bits_ >> static_cast<int>(type) & 1; }

 private:
  unsigned bits_ = 0;
};

// A row of the table of stages.
struct StageRow {
  StageKind kind;
  const char* name;
  ValueTypes takes;
  std::optional<ValueType> gives{};  // nullopt: what it takes
  bool as_wanted = false;            // or rather what it is asked for, after which nothing follows
  Operation operation = Operation::none;  // what a stage does that does just that
  StageOperand operand{};
  std::array<const char*, 3> constants{};  // what f0, f1 and f2 of StageArgs are
  StageBounds bounds = StageBounds::open;
  bool scales = false;    // integers are multiplied by the scales of both operands
  bool foldable = false;  // adds one number to a column if rows have no zero points of their own
  const char* function = nullptr;  // of floats: its name in graphs
  int cost = 0;                    // of such a function that is no operation, in instructions

  // The type of results; nullopt where the stage does not take values of type `in`. `wanted`: see
  // Stage. Values that a vector is added to are of its type; sums are int32.
  constexpr std::optional<ValueType> result(ValueType in, ValueType wanted) const {
    const ValueType number = in == ValueType::acc ? ValueType::int32 : in;
    const bool fits = operand.kind != OperandKind::columns || wanted == number;
    if (!fits || !takes.contains(in)) return std::nullopt;
    return as_wanted ? wanted : gives.value_or(in);
  }
  constexpr bool ends() const { return as_wanted || operand.kind == OperandKind::row_extents; }
};

}  // namespace fbg
