// Ops of tensors (fbg/plan/tensor.h), and runs of plans whose inputs and outputs are tensors.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gemm_call.h"
#include "bindings/gil.h"
#include "bindings/plan_pool.h"
#include "bindings/products.h"
#include "fbg/conv/packed_conv.h"
#include "fbg/plan/tensor.h"

namespace fbg::bindings {
namespace {

bool is_dense(const py::array& array) { return (array.flags() & py::array::c_style) != 0; }

// The memory of Python objects lives as long as the result.
template <class T>
std::shared_ptr<const T> keep(T objects) {
  return {new T(std::move(objects)), [](const T* owned) {
            const GilAcquire gil;
            delete owned;
          }};
}

WindowFunction window_function(const std::string& name) {
  if (name == "max") return WindowFunction::max;
  if (name == "min") return WindowFunction::min;
  if (name == "sum") return WindowFunction::sum;
  require(name == "mean", "function must be max, min, sum or mean, got " + name);
  return WindowFunction::mean;
}

// A vector of parameters.
SharedMatrix vector(const Floats& array) {
  auto owner = keep(py::array(array));
  return {{owner, array.data()}, 1, array.size()};
}

using PyAxis = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::vector<std::int64_t>>;
using PyPart = std::tuple<std::size_t, std::int64_t, std::int64_t, std::vector<PyAxis>>;

Buffer py_arrange(Graph& graph, std::vector<Buffer> inputs, std::int64_t elements,
                  int element_bytes, const std::vector<PyPart>& py_parts, const py::bytes& fill) {
  Arrangement arrangement{elements, element_bytes};
  for (const auto& [input, to, from, axes] : py_parts) {
    ArrangePart part{input, to, from};
    for (const auto& [extent, to_stride, from_stride, table] : axes)
      part.axes.push_back({extent, to_stride, from_stride, table});
    arrangement.parts.push_back(std::move(part));
  }
  const std::string bytes = fill;
  for (const char c : bytes) arrangement.fill.push_back(static_cast<std::byte>(c));
  return arrange(graph, std::move(inputs), std::move(arrangement));
}

using PyOperand = std::tuple<Buffer, std::string, std::vector<std::int64_t>>;
using PyStep = std::tuple<std::string, int, int, float, float>;

Buffer py_elementwise(Graph& graph, std::vector<std::int64_t> extents,
                      const std::vector<PyOperand>& operands, const std::vector<PyStep>& steps,
                      const std::string& output) {
  ElementwiseProgram program;
  program.extents = std::move(extents);
  for (const auto& [buffer, type, strides] : operands)
    program.operands.push_back({buffer, type_named(type), strides});
  for (const auto& [function, a, b, c0, c1] : steps)
    program.steps.push_back({function, a, b, c0, c1});
  program.output = type_named(output);
  return elementwise(graph, std::move(program));
}

Buffer py_window(Graph& graph, Buffer x, const std::string& function, std::int64_t batch,
                 std::int64_t channels, const std::array<Extent3, 7>& sizes, bool count_padding,
                 const std::string& type, float factor, std::int32_t zero_point,
                 std::int32_t output_zero_point, bool float_output) {
  Window w{batch, channels};
  w.input = sizes[0];
  w.output = sizes[1];
  w.kernel = sizes[2];
  w.stride = sizes[3];
  w.dilation = sizes[4];
  w.pad_before = sizes[5];
  w.pad_after = sizes[6];
  w.count_padding = count_padding;
  w.type = type_named(type);
  w.factor = factor;
  w.zero_point = zero_point;
  w.output_zero_point = output_zero_point;
  w.float_output = float_output;
  return window(graph, x, window_function(function), w);
}

Buffer py_convolve(Graph& graph, Buffer x, const PackedConv& weights, std::int64_t batch,
                   const Extent3& spatial, const std::vector<PyStage>& py_stages,
                   const std::string& source, bool has_scale, float scale, std::int32_t zero_point,
                   const std::string& algorithm, const std::string& measured, bool exact,
                   std::optional<Buffer> residual, std::int64_t channels, std::int64_t first,
                   std::optional<Buffer> before) {
  ConvOptions options;
  options.source = source == "int8"       ? ConvSource::int8
                   : source == "quantize" ? ConvSource::quantize
                                          : ConvSource::native;
  options.has_scale = has_scale;
  options.algorithm = algorithm;
  options.measured = measured;
  options.exact = exact;
  const ConvGeometry& geometry = weights.geometry();
  ConvEpilogue epilogue;
  for (const PyStage& s : py_stages) {
    require(s.cols < 0 || s.cols == geometry.out_channels,
            "conv: a stage has an array of " + std::to_string(s.cols) + " columns, wanted " +
                std::to_string(geometry.out_channels));
    require(!s.writes(), "conv: RowRange does not go with graphs");
    epilogue.stages.push_back(s.stage);
  }
  epilogue.owner = keep(py_stages);
  epilogue.residual = residual;
  if (channels > 0) epilogue.place = ConvPlace{channels, first, before};
  const ConvShape shape = ConvShape::of(geometry, batch, spatial);
  return convolve(graph, x, weights, shape, options, std::move(epilogue), scale, zero_point);
}

// An Add whose matrix is a buffer of the graph.
PyStage buffer_add(const std::string& type, float scale, std::int32_t zero_point) {
  const Stage stage{StageKind::add,
                    type_named(type),
                    {nullptr, 0, scale, static_cast<float>(zero_point)},
                    {.centered = zero_point == 0}};
  return {stage, py::none()};
}

void check_tensor(const py::array& array, const BufferShape& shape, const std::string& what) {
  require(is_dense(array) && array.nbytes() == shape.cols,
          "run: " + what + " must be contiguous and have " + std::to_string(shape.cols) +
              " bytes, got " + std::to_string(array.nbytes()));
}

void run_tensors(PlanPool& pool, const std::vector<py::array>& inputs,
                 std::vector<py::array> outputs, int num_threads,
                 std::optional<py::array_t<double, py::array::c_style>> seconds) {
  const Plan& plan = pool.plan();
  const Graph& graph = plan.graph();
  require(inputs.size() == graph.inputs().size() && outputs.size() == graph.outputs().size(),
          "run: wanted " + counted(graph.inputs().size(), "input") + " and " +
              counted(graph.outputs().size(), "output") + ", got " + std::to_string(inputs.size()) +
              " and " + std::to_string(outputs.size()));
  std::vector<const void*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_tensor(inputs[i], graph.shape(graph.inputs()[i]), "input " + std::to_string(i));
    given.push_back(inputs[i].data());
  }
  std::vector<void*> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_tensor(outputs[i], graph.shape(graph.outputs()[i]), "output " + std::to_string(i));
    results.push_back(outputs[i].mutable_data());
  }
  require(!seconds || seconds->size() == static_cast<py::ssize_t>(plan.num_ops()),
          "run: seconds must have one element per op");
  double* const times = seconds ? seconds->mutable_data() : nullptr;
  RunArgs args;
  args.inputs = given;
  args.outputs = results;
  pool.run([&](Plan& own) noexcept { own.run(args, num_threads, times); });
}

}  // namespace

void bind_tensor(py::module_& m) {
  m.def("tensor_input", &tensor_input, py::arg("graph"), py::arg("bytes"));
  m.def("tensor_bytes", [](const Graph& graph, Buffer x) { return graph.shape(x).cols; });
  m.def("tensor_constant", [](Graph& graph, const py::array& values) {
    require(is_dense(values), "constant: must be contiguous");
    const auto* data = static_cast<const std::byte*>(values.data());
    return tensor_constant(graph, {keep(py::array(values)), data}, values.nbytes());
  });
  m.def("tensor_arrange", &py_arrange, py::arg("graph"), py::arg("inputs"), py::arg("elements"),
        py::arg("element_bytes"), py::arg("parts"), py::arg("fill") = py::bytes());
  m.def("tensor_elementwise", &py_elementwise, py::arg("graph"), py::arg("extents"),
        py::arg("operands"), py::arg("steps"), py::arg("output") = "float32");
  m.def("tensor_conv", &py_convolve, py::arg("graph"), py::arg("x"), py::arg("weights"),
        py::arg("batch"), py::arg("spatial"), py::arg("stages"), py::arg("source") = "native",
        py::arg("has_scale") = false, py::arg("scale") = 1.0f, py::arg("zero_point") = 0,
        py::arg("algorithm") = "", py::arg("measured") = "", py::arg("exact") = false,
        py::arg("residual") = py::none(), py::arg("channels") = 0, py::arg("first") = 0,
        py::arg("before") = py::none());
  m.def("tensor_look_up", [](Graph& graph, Buffer x, const py::array_t<std::uint8_t>& table) {
    require(table.ndim() == 1 && table.size() == 256, "look_up: table must have 256 elements");
    std::array<std::uint8_t, 256> values{};
    for (py::ssize_t i = 0; i < 256; ++i) values[static_cast<std::size_t>(i)] = table.at(i);
    return look_up(graph, x, values);
  });
  m.def("tensor_window", &py_window, py::arg("graph"), py::arg("x"), py::arg("function"),
        py::arg("batch"), py::arg("channels"), py::arg("sizes"), py::arg("count_padding") = false,
        py::arg("type") = "float32", py::arg("factor") = 1.0f, py::arg("zero_point") = 0,
        py::arg("output_zero_point") = 0, py::arg("float_output") = false);
  m.def("tensor_reduce_rows", [](Graph& graph, Buffer x, const std::string& function,
                                 std::int64_t rows, std::int64_t cols) {
    return reduce_rows(graph, x, window_function(function), rows, cols);
  });
  m.def("tensor_resample", [](Graph& graph, Buffer x, std::int64_t outer, std::int64_t input,
                              std::int64_t output, std::int64_t inner,
                              std::vector<std::int64_t> sources, std::vector<float> weights) {
    require(output >= 1, "resample: the output must not be empty");
    const auto taps = static_cast<std::int64_t>(weights.size()) / output;
    return resample(graph, x,
                    {outer, input, output, inner, taps, std::move(sources), std::move(weights)});
  });
  m.def("tensor_softmax", &softmax_rows);
  m.def("tensor_layer_norm", [](Graph& graph, Buffer x, std::int64_t rows, const Floats& gamma,
                                const std::optional<Floats>& beta, float eps) {
    return layer_norm_rows(graph, x, rows, vector(gamma), beta ? vector(*beta) : SharedMatrix{},
                           eps);
  });
  m.def("stage_add_buffer", &buffer_add, py::arg("type") = "float32", py::arg("scale") = 1.0f,
        py::arg("zero_point") = 0);
  m.def("run_tensors", &run_tensors, py::arg("plan"), py::arg("inputs"), py::arg("outputs"),
        py::arg("num_threads"), py::arg("seconds").noconvert() = py::none());
}

}  // namespace fbg::bindings
