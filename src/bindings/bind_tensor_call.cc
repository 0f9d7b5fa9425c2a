// A run of a plan of tensors as one call, from arrays by name to the outputs by name. In Python,
// the checks and the new arrays take longer than what a small network computes.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/plan_pool.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {
namespace {

constexpr std::size_t kLine = 64;  // bytes of a line of the cache
constexpr std::size_t kLarge = std::size_t{1} << 16;

// A tensor of a run: its name, type and shape.
struct Tensor {
  py::str name;
  py::dtype dtype;
  std::vector<py::ssize_t> shape;
  std::size_t bytes = 0;
};
using PyTensor = std::tuple<py::str, py::dtype, std::vector<py::ssize_t>>;

std::vector<Tensor> described(const std::vector<PyTensor>& given, const Graph& graph,
                              std::span<const Buffer> buffers, const char* what) {
  require(given.size() == buffers.size(), "TensorCall: each input and output must be described");
  std::vector<Tensor> found;
  for (const auto& [name, dtype, shape] : given) {
    const BufferShape& buffer = graph.shape(buffers[found.size()]);
    std::size_t bytes = static_cast<std::size_t>(dtype.itemsize());
    for (const py::ssize_t size : shape) bytes *= static_cast<std::size_t>(size);
    require(bytes == static_cast<std::size_t>(buffer.cols * value_size(buffer.type)), [&] {
      return std::string("TensorCall: ") + what + " " + std::string(name) + " must have " +
             std::to_string(buffer.cols * value_size(buffer.type)) + " bytes, got " +
             std::to_string(bytes);
    });
    found.push_back({name, dtype, shape, bytes});
  }
  return found;
}

// A new array. Large ones of NumPy begin 16 bytes after a line, so that vectors of 64 bytes are in
// two of them; these begin with a line.
py::array new_array(const Tensor& t) {
  if (t.bytes < kLarge) return py::array(t.dtype, t.shape);
  const py::array_t<std::uint8_t> room(static_cast<py::ssize_t>(t.bytes + kLine - 1));
  const auto begin = reinterpret_cast<std::uintptr_t>(room.data());
  const std::size_t rest = (kLine - begin % kLine) % kLine;
  return py::array(t.dtype, t.shape, {}, room.data() + rest, room);
}

bool is_ready(py::handle array, const Tensor& wanted) {
  if (!py::isinstance<py::array>(array)) return false;
  const auto x = py::reinterpret_borrow<py::array>(array);
  constexpr int kDense =
      py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  return (x.dtype().is(wanted.dtype) || x.dtype().equal(wanted.dtype)) &&
         (x.flags() & kDense) == kDense &&
         std::ranges::equal(std::span(x.shape(), static_cast<std::size_t>(x.ndim())), wanted.shape);
}

class TensorCall {
 public:
  TensorCall(py::object plan, const std::vector<PyTensor>& inputs,
             const std::vector<PyTensor>& outputs, const py::dict& named, int num_threads)
      : owner_(std::move(plan)),
        pool_(py::cast<PlanPool&>(owner_)),
        named_(named),
        num_threads_(num_threads) {
    const Graph& graph = pool_.plan().graph();
    inputs_ = described(inputs, graph, graph.inputs(), "input");
    outputs_ = described(outputs, graph, graph.outputs(), "output");
  }

  // Returns the outputs; None for inputs that are not dense arrays of exactly these names, types
  // and shapes, and for indices out of range among them.
  py::object operator()(py::handle feeds) const {
    if (!PyDict_CheckExact(feeds.ptr()) || py::len(feeds) != inputs_.size()) return py::none();
    // Held, for another thread may change the dictionary while this one has released the GIL.
    std::vector<py::object> held;
    std::vector<const void*> given;
    held.reserve(inputs_.size() + outputs_.size());
    for (const Tensor& wanted : inputs_) {
      PyObject* const array = PyDict_GetItemWithError(feeds.ptr(), wanted.name.ptr());
      if (array == nullptr && PyErr_Occurred()) throw py::error_already_set();
      if (array == nullptr || !is_ready(array, wanted)) return py::none();
      held.push_back(py::reinterpret_borrow<py::object>(array));
      given.push_back(py::reinterpret_borrow<py::array>(array).data());
    }
    auto results = py::reinterpret_steal<py::dict>(PyDict_Copy(named_.ptr()));
    if (!results) throw py::error_already_set();
    std::vector<void*> written;
    for (const Tensor& wanted : outputs_) {
      py::array y = new_array(wanted);
      written.push_back(y.mutable_data());
      results[wanted.name] = std::move(y);
    }
    RunArgs args;
    args.inputs = given;
    args.outputs = written;
    Buffer failed = Plan::kNone;
    pool_.run([&](Plan& own) noexcept { failed = own.run(args, num_threads_, nullptr); });
    if (failed != Plan::kNone) return py::none();
    return results;
  }

 private:
  const py::object owner_;  // of the plan
  PlanPool& pool_;
  const py::dict named_;  // has the names of the outputs in the order of results
  const int num_threads_;
  std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

void bind_tensor_call(py::module_& m) {
  bound_class<TensorCall>(m, "TensorCall")
      .def(py::init<py::object, const std::vector<PyTensor>&, const std::vector<PyTensor>&,
                    py::dict, int>(),
           py::arg("plan"), py::arg("inputs"), py::arg("outputs"), py::arg("named"),
           py::arg("num_threads"))
      .def("__call__", &TensorCall::operator(), py::arg("feeds"));
}

}  // namespace fbg::bindings
