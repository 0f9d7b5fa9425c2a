// The C++ types of elements, and how to choose among them at run time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/float16.h"
#include "plan/ops/tensor_step.h"

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
inline std::span<const Choice<ElementType>> choices(ElementType) {
  static constexpr Choice<ElementType> kTypes[] = {
      {"bool", ElementType::boolean},      {"uint8", ElementType::uint8},
      {"int8", ElementType::int8},         {"uint16", ElementType::uint16},
      {"int16", ElementType::int16},       {"uint32", ElementType::uint32},
      {"int32", ElementType::int32},       {"uint64", ElementType::uint64},
      {"int64", ElementType::int64},       {"float16", ElementType::float16},
      {"bfloat16", ElementType::bfloat16}, {"float32", ElementType::float32},
      {"float64", ElementType::float64}};
  return kTypes;
}
inline int element_bytes(ElementType type) {
  constexpr int kBytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
  return kBytes[static_cast<std::size_t>(type)];
}

// The type in which numbers of a type are computed, so that functions are compiled for few: narrow
// integers have 32 bits, and wrap around when results are converted back.
inline ElementType computed_in(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::uint16:
    case ElementType::int16:
      return ElementType::int32;
    case ElementType::uint32:
      return ElementType::int64;
    default:
      return type;
  }
}

// Calls use.template operator()<T>() for a type that computed_in returns; throws for narrow floats.
template <class Use>
auto with_wide_number(ElementType type, const char* op, Use use) {
  switch (type) {
    case ElementType::boolean:
    case ElementType::uint8:
      return use.template operator()<std::uint8_t>();
    case ElementType::int32:
      return use.template operator()<std::int32_t>();
    case ElementType::uint64:
      return use.template operator()<std::uint64_t>();
    case ElementType::int64:
      return use.template operator()<std::int64_t>();
    case ElementType::float32:
      return use.template operator()<float>();
    case ElementType::float64:
      return use.template operator()<double>();
    default:
      throw std::invalid_argument(std::string(op) + ": no arithmetic of 16-bit floats");
  }
}

// The same for any type that arithmetic works on.
template <class Use>
auto with_number(ElementType type, const char* op, Use use) {
  switch (type) {
    case ElementType::int8:
      return use.template operator()<std::int8_t>();
    case ElementType::uint16:
      return use.template operator()<std::uint16_t>();
    case ElementType::int16:
      return use.template operator()<std::int16_t>();
    case ElementType::uint32:
      return use.template operator()<std::uint32_t>();
    default:
      return with_wide_number(type, op, use);
  }
}

// a + b and the like; integers wrap around.
template <class T, class Function>
T wrapped(T a, T b, Function function) {
  if constexpr (std::is_floating_point_v<T>)
    return function(a, b);
  else
    return static_cast<T>(function(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}
template <class T>
T sum_of(T a, T b) {
  return wrapped(a, b, [](auto u, auto v) { return u + v; });
}
template <class T>
T product_of(T a, T b) {
  return wrapped(a, b, [](auto u, auto v) { return u * v; });
}

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}
// The greater and the lesser of two numbers; NaN if one is.
template <class T>
T max_of(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <class T>
T min_of(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

// Elements as another type. Floats are truncated to integers: a NaN becomes the lowest, numbers
// beyond 32 or 64 bits the nearest integer, and integers that a narrower type lacks wrap around.
Buffer convert(Graph& graph, Buffer x, ElementType from, ElementType to);

}  // namespace fbg
