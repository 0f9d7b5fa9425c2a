// The table of stages, and stages that are made of its rows.
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "bindings/bindings.h"
#include "bindings/gemm_call.h"
#include "kernels/function_code.h"
#include "kernels/table.h"

namespace fbg::bindings {
namespace {

// Calls use<T>() with the first of the types T that the elements of an array have.
template <class... T, class Use>
void with_elements(const py::array& a, const std::string& name, Use use) {
  const bool known = ((has_dtype<T>(a) && (use(std::type_identity<T>()), true)) || ...);
  if (!known) throw py::type_error(name + " cannot be " + py::str(a.dtype()).cast<std::string>());
}

// The array that a stage reads or writes.
void set_operand(PyStage& made, const StageRow& row, py::array array) {
  const std::string name = std::string(row.name) + ": " + row.operand.name;
  StageArgs& args = made.stage.args;
  if (row.operand.kind == OperandKind::row_extents) {
    require_extents(array, name.c_str());
    if (!array.writeable()) throw py::value_error(name + " is read-only");
    made = {RowRange(static_cast<RowExtent*>(array.mutable_data())).stage(), array, array.shape(0)};
  } else if (row.operand.kind == OperandKind::columns) {
    array = py::array::ensure(array, py::array::c_style);
    if (!array || array.ndim() != 1) throw py::value_error(name + " must be 1-D (N,)");
    with_elements<float, std::int32_t>(
        array, name, [&]<class T>(std::type_identity<T>) { made.stage.wanted = value_type<T>; });
    args.data = array.data();
    made.cols = array.size();
  } else {
    with_elements<float, float16, bfloat16, std::uint8_t, std::int8_t>(
        array, name, [&]<class T>(std::type_identity<T>) {
          const MatrixView<const T> view = matrix<T>(array, name.c_str());
          if (view.col_stride != 1) throw py::value_error(name + " must have contiguous rows");
          made.stage.wanted = value_type<T>;
          args.data = view.data;
          args.ld = view.row_stride * static_cast<std::int64_t>(sizeof(T));
          made.rows = view.rows;
          made.cols = view.cols;
        });
  }
  made.owner = array;
}

// An operation with a number, a vector over columns, a buffer of a graph or what a slot holds.
PyStage binary(const std::string& operation, const std::string& operand, int slot, bool reversed,
               const std::string& type, float constant, std::int32_t zero_point,
               const std::optional<py::array>& values) {
  PyStage made{{StageKind::binary,
                type_named(type),
                {nullptr, 0, constant, static_cast<float>(zero_point)},
                {.centered = zero_point == 0},
                {operation_named(operation), operand_named(operand),
                 static_cast<std::uint8_t>(slot), reversed}},
               py::none()};
  const Binary& own = made.stage.binary;
  for (const StageRow& row : kStages)  // a stage that does just that, if there is one
    if (row.operation == own.operation && row.operand.kind == own.operand && !reversed)
      made.stage.kind = row.kind;
  if (!values) return made;
  made.owner = py::array_t<float, py::array::c_style | py::array::forcecast>(*values);
  made.cols = made.array().size();
  made.stage.args.data = made.array().data();
  return made;
}

PyStage save(int slot) {
  return {{StageKind::save, ValueType::float32, {}, {}, {.slot = static_cast<std::uint8_t>(slot)}},
          py::none()};
}

// The row whose name, or whose function, is called so.
const StageRow& row_called(const char* StageRow::*name, std::string_view wanted) {
  const auto found = std::ranges::find_if(
      kStages, [&](const StageRow& row) { return row.*name && wanted == row.*name; });
  if (found == kStages.end()) throw py::value_error("no stage is called " + std::string(wanted));
  return *found;
}

// The result type of a stage for each type that it takes.
py::dict types_of(const Stage& stage) {
  py::dict types;
  for (const ValueType in : {ValueType::acc, ValueType::int32, ValueType::float32})
    if (const auto out = stage_row(stage.kind).result(in, stage.wanted))
      types[value_type_name(in)] = value_type_name(*out);
  return types;
}

// What else tells stages of a kind apart.
std::string form_of(const Stage& stage) {
  const Binary& binary = stage.binary;
  if (stage.specialization.looked_up) return "looked_up";
  if (stage.kind != StageKind::binary && stage.kind != StageKind::save) return {};
  return std::string(operation_name(binary.operation)) + "_" + operand_name(binary.operand) +
         std::to_string(binary.slot) + (binary.reversed ? "_reversed" : "");
}

// The names of the operations that have an operand, or have none.
py::frozenset operations(bool binary) {
  py::set names;
  for (int i = 1; i < kOperations; ++i)
    if (const auto operation = static_cast<Operation>(i); is_binary(operation) == binary)
      names.add(operation_name(operation));
  return py::frozenset(names);
}

// What each operation costs, and each stage that is a function.
py::dict costs() {
  py::dict found;
  for (int i = 1; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    found[operation_name(operation)] = kernels::function_cost(operation);
  }
  for (const StageRow& row : kStages)
    if (row.function && row.operation == Operation::none) found[row.function] = row.cost;
  return found;
}

void bind_rows(py::module_& m) {
  static constexpr const char* kBounds[] = {"open", "low", "both"};
  bound_class<StageRow>(m, "StageRow")
      .def_readonly("name", &StageRow::name)
      .def_readonly("function", &StageRow::function)
      .def_readonly("scales", &StageRow::scales)
      .def_property_readonly("ends", &StageRow::ends)
      .def_property_readonly("operand",
                             [](const StageRow& row) { return operand_name(row.operand.kind); })
      .def_property_readonly(
          "bounds", [](const StageRow& row) { return kBounds[static_cast<int>(row.bounds)]; })
      .def_property_readonly("constants", [](const StageRow& row) {
        py::list names;
        for (const char* name : row.constants)
          if (name) names.append(name);
        return names;
      });
  m.def("stage_rows", [] {
    py::list rows;
    for (const StageRow& row : kStages)
      rows.append(py::cast(row, py::return_value_policy::reference));
    return rows;
  });
  m.attr("MAX_STAGES") = kMaxStages;
  m.attr("MAX_SLOTS") = kMaxSlots;
  m.attr("OPERATIONS") = operations(true);
  m.attr("FUNCTIONS") = operations(false);
  m.attr("COSTS") = costs();
}

}  // namespace

PyStage make_stage(const StageRow& row, std::span<const double> constants,
                   const std::optional<py::array>& operand, ValueType type) {
  const auto named = std::ranges::find(row.constants, nullptr) - row.constants.begin();
  if (std::ssize(constants) != named || operand.has_value() != (row.operand.name != nullptr))
    throw py::value_error(std::string(row.name) + " does not have these parameters");
  PyStage made{{row.kind, type, {}}, py::none()};
  float* const fields[] = {&made.stage.args.f0, &made.stage.args.f1, &made.stage.args.f2};
  for (std::size_t i = 0; i < constants.size(); ++i) *fields[i] = static_cast<float>(constants[i]);
  if (row.bounds == StageBounds::both && !(constants[0] <= constants[1]))
    throw py::value_error(
        py::str("{}: {} must not exceed {}, got {} and {}")
            .format(row.name, row.constants[0], row.constants[1], constants[0], constants[1])
            .cast<std::string>());
  if (operand) set_operand(made, row, *operand);
  return made;
}

PyStage function_stage(std::string_view function) {
  return make_stage(row_called(&StageRow::function, function));
}

void bind_pipeline(py::module_& m) {
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const PipelineTypeError& e) {
      py::set_error(PyExc_TypeError, e.what());
    }
  });
  bind_rows(m);
  bound_class<PyStage>(m, "Stage")
      .def_property_readonly("key",  // the parameters for which a kernel is compiled
                             [](const PyStage& s) {
                               const Specialization& specialization = s.stage.specialization;
                               return std::tuple(
                                   static_cast<int>(s.stage.kind), static_cast<int>(s.stage.wanted),
                                   std::tuple(specialization.unit_scale, specialization.centered,
                                              specialization.bounded),
                                   form_of(s.stage));
                             })
      .def_property_readonly(
          "row", [](const PyStage& s) -> const StageRow& { return stage_row(s.stage.kind); },
          py::return_value_policy::reference)
      .def_property_readonly("types", [](const PyStage& s) { return types_of(s.stage); });
  // An array of uint16 has the bits of bfloat16.
  m.def(
      "stage",
      [](const std::string& name, const std::vector<double>& constants,
         const std::optional<py::array>& operand, const std::string& type) {
        return make_stage(row_called(&StageRow::name, name), constants, operand, type_named(type));
      },
      py::arg("name"), py::arg("constants") = py::tuple(), py::arg("operand") = py::none(),
      py::arg("type") = "float32");
  m.def("stage_binary", &binary, py::arg("operation"), py::arg("operand"), py::arg("slot") = 0,
        py::arg("reversed") = false, py::arg("type") = "float32", py::arg("constant") = 1.0f,
        py::arg("zero_point") = 0, py::arg("values") = py::none());
  m.def("stage_save", &save, py::arg("slot"));
  // Requantize. `constant`: its scale and zero point are part of the kernel, as far as they are 1
  // and 0. bounded: the rounded value is known to be within int32. table: 256 bytes, of which the
  // result is that at the place of the rounded value, where looks_up().
  m.def(
      "stage_requantize",
      [](float scale, std::int32_t zero_point, const std::string& type, bool constant, bool bounded,
         const std::optional<py::array_t<std::uint8_t, py::array::c_style>>& table) {
        const Specialization specialization{constant && scale == 1, constant && zero_point == 0,
                                            bounded};
        PyStage made{Requantize{scale, zero_point, type_named(type), specialization}.stage(),
                     py::none()};
        if (!table) return made;
        made.stage.specialization.looked_up = true;
        made.stage.args.data = table->data();
        made.owner = *table;
        return made;
      },
      py::arg("scale"), py::arg("zero_point"), py::arg("type"), py::arg("constant") = false,
      py::arg("bounded") = false, py::arg("table") = py::none());
  m.def("looks_up", &kernels::looks_up_bytes, py::arg("features"));
}

}  // namespace fbg::bindings
