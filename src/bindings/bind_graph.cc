// Graphs: ops are appended by their kind (src/plan/kinds.cc), as data.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gemm_call.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "fbg/plan/graph.h"

namespace fbg::bindings {
namespace {

FieldValue value_of(const py::handle& object);

// The elements where they are: they keep the array alive.
Array array_of(const py::array& array) {
  require((array.flags() & py::array::c_style) != 0, "graph: arrays must be contiguous");
  const auto release = [owner = new py::object(array)](const std::byte*) {
    const GilAcquire gil;
    delete owner;
  };
  return {{static_cast<const std::byte*>(array.data()), release},
          py::str(array.dtype().attr("name")),
          {array.shape(), array.shape() + array.ndim()},
          array.nbytes()};
}

Array array_of(const std::string& bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  const auto size = static_cast<std::int64_t>(bytes.size());
  return {{owner, reinterpret_cast<const std::byte*>(owner->data())}, "uint8", {size}, size};
}

// As src/plan/ops/stage_field.h reads it.
FieldValue::List list_of(const PyStage& s) {
  const Stage& stage = s.stage;
  const StageArgs& args = stage.args;
  const auto flag = [](bool value) { return FieldValue{std::int64_t{value}}; };
  return {{stage_name(stage.kind)},
          {value_type_name(stage.wanted)},
          {double{args.f0}},
          {double{args.f1}},
          {double{args.f2}},
          {std::int64_t{args.i0}},
          flag(stage.specialization.unit_scale),
          flag(stage.specialization.centered),
          flag(stage.specialization.bounded),
          s.has_array() ? FieldValue{array_of(s.array())} : FieldValue{},
          {operation_name(stage.binary.operation)},
          {operand_name(stage.binary.operand)},
          {std::int64_t{stage.binary.slot}},
          flag(stage.binary.reversed)};
}

// Integers stay together: a table of indices may be as long as a tensor.
FieldValue list_of(const py::sequence& items) {
  const auto is_integer = [](const py::handle item) {
    return PyIndex_Check(item.ptr()) && !py::isinstance<py::array>(item);
  };
  if (std::all_of(items.begin(), items.end(), is_integer))
    return {items.cast<std::vector<std::int64_t>>()};
  FieldValue::List values;
  for (const py::handle item : items) values.push_back(value_of(item));
  return {std::move(values)};
}

FieldValue value_of(const py::handle& object) {
  if (object.is_none()) return {};
  if (PyLong_Check(object.ptr())) return {object.cast<std::int64_t>()};
  if (PyFloat_Check(object.ptr())) return {object.cast<double>()};
  if (py::isinstance<py::str>(object)) return {object.cast<std::string>()};
  if (py::isinstance<py::array>(object))
    return {array_of(py::reinterpret_borrow<py::array>(object))};
  if (py::isinstance<py::bytes>(object)) return {array_of(object.cast<std::string>())};
  if (py::isinstance<py::tuple>(object) || py::isinstance<py::list>(object))
    return list_of(py::reinterpret_borrow<py::sequence>(object));
  if (py::isinstance<PyStage>(object)) return {list_of(object.cast<const PyStage&>())};
  if (py::isinstance<PackedMatrix>(object)) return {object.cast<const PackedMatrix&>()};
  if (py::isinstance<PackedConv>(object)) return {object.cast<const PackedConv&>()};
  if (PyIndex_Check(object.ptr())) return {object.cast<std::int64_t>()};
  if (PyNumber_Check(object.ptr())) return {object.cast<double>()};
  throw py::type_error("graph: no field of an op can be " + py::repr(object).cast<std::string>());
}

Buffer append(Graph& graph, const std::string& kind, const py::args& fields,
              const py::kwargs& named) {
  FieldValue::List given;
  for (const py::handle field : fields) given.push_back(value_of(field));
  Graph::Named others;
  for (const auto& [name, field] : named)
    others.emplace_back(name.cast<std::string>(), value_of(field));
  return graph.append(kind, std::move(given), std::move(others));
}

}  // namespace

void bind_graph(py::module_& m) {
  bound_class<Graph>(m, "Graph")
      .def(py::init<>())
      .def("append", &append, py::arg("kind"), py::pos_only())
      .def("output", &Graph::output, py::arg("x"))
      .def("allow_bfloat16", &Graph::allow_bfloat16)
      // Columns of a buffer; of a tensor, its bytes.
      .def(
          "columns",
          [](const Graph& g, Buffer x) {
            const BufferShape shape = g.shape(x);
            return shape.rows == RowKind::tensor ? shape.cols * value_size(shape.type) : shape.cols;
          },
          py::arg("x"))
      .def_property_readonly("products", [](const Graph& g) {
        std::vector<PyKind> kinds;
        for (const ProductKind& kind : g.products()) kinds.push_back(to_python(kind));
        return kinds;
      });
}

}  // namespace fbg::bindings
