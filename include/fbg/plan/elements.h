// Ops of tensors whose elements have any type of numbers: functions of elements, conversions, and
// what is computed along an axis. Integers are exact and wrap around, as in NumPy.
//
// Functions of float32 that networks spend their time in are in tensor.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fbg/plan/graph.h"

namespace fbg {

// Types as NumPy names them. A boolean is a byte that holds 0 or 1.
enum class ElementType : std::uint8_t {
  boolean,
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  bfloat16,
  float32,
  float64
};

int element_bytes(ElementType type);

// strides: between elements of an operand along the extents of a function; 0 repeats one.
struct StridedOperand {
  Buffer buffer = 0;
  std::vector<std::int64_t> strides = {};
};

// y = f(a) or f(a, b), where a and b have the type, y has it or is boolean; "select" is
// a ? b : c, where a is boolean. There are no functions of float16 and bfloat16 but "select".
struct TypedFunction {
  std::string function;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> extents = {};  // of the output, which is dense
  std::vector<StridedOperand> operands = {};
};
Buffer apply_function(Graph& graph, TypedFunction function);

// Elements as another type. Floats are truncated to integers: a NaN becomes the lowest, numbers
// beyond 32 or 64 bits the nearest integer, and integers that a narrower type lacks wrap around.
Buffer convert(Graph& graph, Buffer x, ElementType from, ElementType to);

// The elements along an axis: x[outer][count][inner].
struct Axis {
  std::int64_t outer = 1, count = 1, inner = 1;
};

// One element for each line along the axis. The type is int64 for positions: those of the first
// extreme, or of the last one; a NaN is both the greatest and the least element.
enum class Reduction : std::uint8_t {
  sum,
  product,
  max,
  min,
  first_max,
  first_min,
  last_max,
  last_min
};
Buffer reduce_axis(Graph& graph, Buffer x, Reduction reduction, const Axis& axis, ElementType type);

// y[j] = x[0] + … + x[j], or the product. exclusive: without x[j]. reverse: from the end.
struct Accumulation {
  bool multiplies = false, exclusive = false, reverse = false;
};
Buffer accumulate_axis(Graph& graph, Buffer x, const Accumulation& accumulation, const Axis& axis,
                       ElementType type);

// int64 positions of the `k` greatest or least elements of each line, those first; equal elements
// stay in order, and a NaN is greater than all numbers.
Buffer top_positions(Graph& graph, Buffer x, std::int64_t k, bool greatest, const Axis& axis,
                     ElementType type);

// Moves by indices that a run computes ------------------------------------------------------------

// An index moves by `stride` bytes, and is at least -extent and less than extent; negative ones
// count from the end.
struct IndexedAxis {
  std::int64_t extent = 1, stride = 0;
};

// Rows of a table, one for each step of a nest of loops. At the step (i, j, …), the indices begin
// at element i * index_strides[0] + …, one for each of `axes`; they and i * strides[0] + … lead to
// the row.
struct Indexing {
  std::vector<std::int64_t> extents = {}, strides = {}, index_strides = {};
  std::vector<IndexedAxis> axes = {};
  std::int64_t row_bytes = 1;
  int index_bytes = 8;  // of integers: 4 or 8
};

// The rows of x, one after the other. A run fails if an index is out of range (Plan::run).
Buffer gather(Graph& graph, Buffer x, Buffer indices, Indexing indexing);

// x, in which rows of updates take the place of those rows of x, or are combined with them, in
// order of the loops.
enum class Scatter : std::uint8_t { replace, add, multiply, max, min };
Buffer scatter(Graph& graph, Buffer x, Buffer indices, Buffer updates, Indexing indexing,
               Scatter how, ElementType type);

}  // namespace fbg
