// Products of tensors that vary, attention, and rows of tables (fbg/plan/tensor.h).
#include <pybind11/stl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "fbg/plan/tensor.h"

namespace py = pybind11;

namespace fbg::bindings {
namespace {

using Extents = std::vector<std::int64_t>;
// buffer, strides along the stack, row stride, column stride
using PyMatrices = std::tuple<Buffer, Extents, std::int64_t, std::int64_t>;

StackedMatrices matrices(const PyMatrices& m) {
  return {std::get<0>(m), std::get<1>(m), std::get<2>(m), std::get<3>(m)};
}

// sizes: rows, depth, columns.
Buffer py_multiply(Graph& graph, Extents stack, const std::array<std::int64_t, 3>& sizes,
                   const PyMatrices& a, const PyMatrices& b, const PyMatrices& c) {
  return multiply(graph, {std::move(stack), sizes[0], sizes[1], sizes[2], matrices(a), matrices(b),
                          matrices(c)});
}

// sizes: queries, keys, depth, columns.
Buffer py_attend(Graph& graph, Extents stack, const std::array<std::int64_t, 4>& sizes,
                 const PyMatrices& q, const PyMatrices& k, const PyMatrices& v,
                 const PyMatrices& output, const std::optional<PyMatrices>& bias, float scale) {
  StackedAttention a{std::move(stack), sizes[0],    sizes[1],    sizes[2],        sizes[3],
                     matrices(q),      matrices(k), matrices(v), matrices(output)};
  if (bias) a.bias = matrices(*bias);
  a.scale = scale;
  return attend(graph, std::move(a));
}

}  // namespace

void bind_tensor_product(py::module_& m) {
  m.def("tensor_multiply", &py_multiply, py::arg("graph"), py::arg("stack"), py::arg("sizes"),
        py::arg("a"), py::arg("b"), py::arg("c"));
  m.def("tensor_attend", &py_attend, py::arg("graph"), py::arg("stack"), py::arg("sizes"),
        py::arg("q"), py::arg("k"), py::arg("v"), py::arg("output"), py::arg("bias") = py::none(),
        py::arg("scale") = 1.0f);
  m.def(
      "tensor_gather",
      [](Graph& graph, Buffer table, Buffer indices, std::int64_t outer, std::int64_t extent,
         std::int64_t count, std::int64_t row_bytes, int index_bytes) {
        return gather(graph, table, indices, {outer, extent, count, row_bytes, index_bytes});
      },
      py::arg("graph"), py::arg("table"), py::arg("indices"), py::arg("outer"), py::arg("extent"),
      py::arg("count"), py::arg("row_bytes"), py::arg("index_bytes"));
  m.def("tensor_int64_to_float", &int64_to_float, py::arg("graph"), py::arg("x"));
}

}  // namespace fbg::bindings
