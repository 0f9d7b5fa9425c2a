// Shared by the bindings of graphs, plans and the tuner: checks, and how Python names a kind of
// product.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "bindings/bindings.h"
#include "fbg/core/isa.h"
#include "fbg/gemm/blocking.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {

namespace py = pybind11;

using Floats = py::array_t<float, py::array::c_style>;

// The name in Python of the type of weights: "int8", "int4_g64", or "int4_g64_offset" where groups
// have offsets.
std::string weights_name(GemmType family, bool has_offsets = false);
struct NamedWeights {
  GemmType family;
  bool has_offsets;
};
// The family of that name among those with ordinary sums; none if no family has it.
std::optional<NamedWeights> named_weights(std::string_view name);

using PyKind = std::tuple<std::string, std::int64_t, std::int64_t>;  // dtype of the weights, K, N
using PyBlocking = std::array<int, 4>;                               // the members of Blocking

PyKind to_python(const ProductKind& kind);
PyBlocking to_python(const Blocking& blocking);
// Throws ValueError where no weights have that name.
ProductKind product_kind(const PyKind& kind);
Blocking blocking(const PyBlocking& blocking);
// The features for which kernels are chosen: those named, or the active ones. Throws ValueError
// where some are named that this CPU lacks.
Features checked_features(std::optional<Features> features, const char* where);

}  // namespace fbg::bindings
