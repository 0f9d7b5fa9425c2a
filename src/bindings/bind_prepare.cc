// fbg.prepare: a product whose weights, pipeline and number of rows are settled once, called with
// arrays only. The object is a Python type of its own rather than one of pybind11, because a call
// of it then is one C function (PEP 590, vectorcall): no arguments to convert, nothing to look up.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>

#include "bindings/bindings.h"
#include "bindings/prepared_call.h"

namespace fbg::bindings {
namespace {

struct CallObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PreparedCall* call;
};

PreparedCall& call_of(PyObject* self) { return *reinterpret_cast<CallObject*>(self)->call; }

// Runs a function that may throw; then sets a Python error and returns `failed`.
template <class Result, class Function>
Result guarded(Result failed, Function function) noexcept {
  try {
    return function();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

// Sorts x and out by keyword into `arguments`; an error as Python words it.
void place_keywords(PyObject* const* values, Py_ssize_t positional, PyObject* keywords,
                    PyObject** arguments) {
  constexpr const char* kNames[] = {"x", "out"};
  if (positional > 2)
    throw py::type_error("PreparedCall: takes x and out, got " + std::to_string(positional) +
                         " arguments");
  std::copy_n(values, positional, arguments);
  for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
    const auto name = std::ranges::find_if(
        kNames, [&](const char* n) { return PyUnicode_CompareWithASCIIString(keyword, n) == 0; });
    if (name == std::end(kNames))
      throw py::type_error("PreparedCall: unknown argument " +
                           py::repr(keyword).cast<std::string>() + "; it takes x and out");
    PyObject*& argument = arguments[name - kNames];
    if (argument) throw py::type_error(std::string("PreparedCall: got two values for ") + *name);
    argument = values[positional + i];
  }
  if (!arguments[0]) throw py::type_error("PreparedCall: needs the argument x");
  if (!arguments[1]) arguments[1] = Py_None;
}

PyObject* vectorcall(PyObject* self, PyObject* const* values, std::size_t count,
                     PyObject* keywords) {
  return guarded<PyObject*>(nullptr, [&] {
    PyObject* arguments[2] = {};
    const Py_ssize_t positional = PyVectorcall_NARGS(count);
    if (positional == 2 && !keywords)
      std::copy_n(values, 2, arguments);
    else
      place_keywords(values, positional, keywords, arguments);
    return call_of(self)(arguments[0], arguments[1]).release().ptr();
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  delete reinterpret_cast<CallObject*>(self)->call;
  type->tp_free(self);
  Py_DECREF(type);
}

// A read-only property: the object that `get` makes of a call.
template <auto get>
PyObject* property(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] { return get(call_of(self)).release().ptr(); });
}

py::object make_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallObject, vectorcall), READONLY, nullptr},
      {}};
  static PyGetSetDef properties[] = {
      {"rows", property<[](const PreparedCall& c) { return py::int_(c.rows()); }>, nullptr,
       "The most rows that x may have.", nullptr},
      {"shape", property<[](const PreparedCall& c) { return py::make_tuple(c.k(), c.n()); }>,
       nullptr, "(K, N) of the weights.", nullptr},
      {"dtype", property<[](const PreparedCall& c) { return c.dtype(); }>, nullptr,
       "Type of the elements of out.", nullptr},
      {"num_threads", property<[](const PreparedCall& c) { return py::int_(c.num_threads()); }>,
       nullptr, "The most threads that a call uses.", nullptr},
      {"kernel", property<[](const PreparedCall& c) { return py::str(c.kernel()); }>, nullptr,
       "Name of the kernel that does most of the work where x has all rows.", nullptr},
      {}};
  // Pickle and copy prepare the call again.
  static PyMethodDef methods[] = {
      {"__reduce__",
       +[](PyObject* self, PyObject*) { return py::tuple(call_of(self).origin()).release().ptr(); },
       METH_NOARGS, nullptr},
      {}};
  static PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>("What fbg.prepare returns: call(x, out=None) writes the product "
                         "to out, or to a new array, and returns it.\n\n"
                         "Any number of threads may call it at once, unless the pipeline "
                         "ends in RowRange: its array is shared.")},
      {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
      {Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)},
      {Py_tp_repr, reinterpret_cast<void*>(+[](PyObject* self) {
         return guarded<PyObject*>(nullptr,
                                   [&] { return py::str(call_of(self).repr()).release().ptr(); });
       })},
      {Py_tp_members, members},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {}};
  static PyType_Spec spec = {
      "fbg.PreparedCall", sizeof(CallObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  return type;
}

py::object prepare(const py::object& type, const AOperand& sample, const PackedMatrix& packed_b,
                   const std::vector<PyStage>& stages, std::int64_t rows, int num_threads,
                   bool flush_subnormals, const py::dtype& x_dtype,
                   const std::optional<py::dtype>& out_dtype, std::string text, py::tuple origin) {
  const char* const name =
      name_by_weights(packed_b, "prepare: x for int4 weights", "prepare: x for int8 weights",
                      "prepare: x for float weights");
  const PackedAs as = packed_as(sample, packed_b.family(), "prepare");
  const Matrix x = source(as.packer, sample.array, name);
  if (x.rows != rows || x.cols != packed_b.rows())
    throw py::value_error("prepare: packer must pack the (" + std::to_string(rows) + ", " +
                          std::to_string(packed_b.rows()) + ") array it is given, not " +
                          shape_text(sample.array));
  require_channel_scale(sample, packed_b.rows(), "prepare");
  require_scale(sample, stages, "prepare");
  require_apart(stages, sample, "prepare");
  auto call = std::make_unique<PreparedCall>(sample, as, packed_b, stages, rows, x_dtype, out_dtype,
                                             num_threads, subnormals_of(flush_subnormals),
                                             std::move(text), std::move(origin));
  auto* const self = PyObject_New(CallObject, reinterpret_cast<PyTypeObject*>(type.ptr()));
  if (!self) throw py::error_already_set();
  self->vectorcall = &vectorcall;
  self->call = call.release();
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(self));
}

}  // namespace

void bind_prepare(py::module_& m) {
  const py::object type = make_type();
  m.attr("PreparedCall") = type;
  // For measurements: how long the product of a call takes without the call.
  m.def(
      "product_seconds",
      [type](const py::object& call, const py::object& x, const py::object& out, int repeats) {
        if (!py::isinstance(call, type))
          throw py::type_error("product_seconds: not a PreparedCall");
        return call_of(call.ptr()).seconds(x, out, repeats);
      },
      py::arg("call"), py::arg("x"), py::arg("out"), py::arg("repeats"));
  m.def(
      "prepare",
      [type](const AOperand& sample, const PackedMatrix& b, const std::vector<PyStage>& stages,
             std::int64_t rows, int num_threads, bool flush_subnormals, const py::dtype& x_dtype,
             const std::optional<py::dtype>& out_dtype, std::string text, py::tuple origin) {
        return prepare(type, sample, b, stages, rows, num_threads, flush_subnormals, x_dtype,
                       out_dtype, std::move(text), std::move(origin));
      },
      py::arg("sample"), py::arg("b"), py::arg("stages"), py::arg("rows"), py::arg("num_threads"),
      py::arg("flush_subnormals"), py::arg("x_dtype"), py::arg("out_dtype"), py::arg("text"),
      py::arg("origin"));
}

}  // namespace fbg::bindings
