// What the bindings of graphs, plans and the tuner share: checks, and how Python names a kind of
// product.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include "fbg/kernels/blocking.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {

namespace py = pybind11;

using Floats = py::array_t<float, py::array::c_style>;

inline void require(bool condition, const std::string& message) {
  if (!condition) throw py::value_error(message);
}

using PyKind = std::tuple<std::string, std::int64_t, std::int64_t>;  // dtype of the weights, K, N
using PyBlocking = std::array<int, 4>;                               // the members of Blocking

PyKind to_python(const ProductKind& kind);
PyBlocking to_python(const Blocking& blocking);
// Throws ValueError where no weights have that name.
ProductKind product_kind(const PyKind& kind);
Blocking blocking(const PyBlocking& blocking);

}  // namespace fbg::bindings
