// Kinds of products as Python names them, for graphs and for plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/bindings.h"
#include "fbg/plan/graph.h"

namespace fbg::bindings {

// Kinds of products by the names that fbg.load has for their weights.
inline constexpr std::pair<const char*, Accumulator> kWeights[] = {
    {"int8", Accumulator::int32},
    {"float32", Accumulator::float32},
    {"bfloat16", Accumulator::bfloat16},
    {"float16", Accumulator::float32_f16}};
using PyKind = std::tuple<std::string, std::int64_t, std::int64_t>;

inline PyKind to_python(const ProductKind& kind) {
  const auto* found =
      std::ranges::find(kWeights, kind.accumulator, [](auto& w) { return w.second; });
  return {found->first, kind.k, kind.n};
}
inline ProductKind product_kind(const PyKind& kind) {
  const auto& [name, k, n] = kind;
  const auto* found = std::ranges::find(kWeights, name, [](auto& w) { return w.first; });
  require(found != std::end(kWeights), "no such weights: " + name);
  return {found->second, k, n};
}

}  // namespace fbg::bindings
