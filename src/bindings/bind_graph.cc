// Graphs: a method for each op. Tables stay where Python has them; vectors are copied.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "core/memory.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {
namespace {

// An embedding table, read where it lies: it keeps the array alive.
SharedMatrix table(const Floats& array, const char* what) {
  require(array.ndim() == 2, std::string(what) + " must be 2-D");
  const auto release = [owner = new py::object(array)](const float*) {
    const GilAcquire gil;
    delete owner;
  };
  return {{array.data(), release}, array.shape(0), array.shape(1)};
}

// A vector, copied to where kernels like it: 64-byte aligned, zeros up to whole panels of columns.
SharedMatrix vector(const Floats& array, const char* what) {
  require(array.ndim() == 1, std::string(what) + " must be 1-D");
  const auto n = static_cast<std::size_t>(array.shape(0));
  const std::size_t padded = (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
  auto buffer = std::make_shared<AlignedBuffer>(checked_bytes(std::max<std::size_t>(padded, 1), 4),
                                                Fill::zero);
  std::copy_n(array.data(), n, buffer->as<float>());
  return {{buffer, buffer->as<float>()}, 1, array.shape(0)};
}

Activation activation(const std::string& name) {
  if (name == "none") return Activation::none;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  require(name == "relu", "linear: activation must be none, gelu, gelu_tanh or relu, got " + name);
  return Activation::relu;
}

Pooling pooling(const std::string& name) {
  if (name == "cls") return Pooling::first;
  if (name == "lasttoken") return Pooling::last;
  if (name == "mean") return Pooling::mean;
  if (name == "mean_sqrt_len_tokens") return Pooling::mean_sqrt_length;
  if (name == "weightedmean") return Pooling::weighted_mean;
  require(name == "max", "pool: no such pooling: " + name);
  return Pooling::max;
}

template <class Acc>
Buffer linear(Graph& graph, Buffer x, const PackedB<Acc>& w, const std::optional<Floats>& bias,
              const std::string& activation_name, std::optional<Buffer> residual,
              const std::optional<Floats>& channel_scale) {
  Epilogue epilogue;
  if (bias) epilogue.bias = vector(*bias, "linear: bias");
  epilogue.activation = activation(activation_name);
  epilogue.residual = residual;
  if (channel_scale) epilogue.channel_scale = vector(*channel_scale, "linear: channel_scale");
  return graph.linear(x, w, std::move(epilogue));
}

}  // namespace

void bind_graph(py::module_& m) {
  py::class_<Graph> graph = bound_class<Graph>(m, "Graph");
  graph.def(py::init<>());
  graph.def(
      "embedding",
      [](Graph& g, const Floats& word, const std::optional<Floats>& position,
         const std::optional<Floats>& type) {
        return g.embedding(table(word, "embedding: word"),
                           position ? table(*position, "embedding: position") : SharedMatrix{},
                           type ? table(*type, "embedding: type") : SharedMatrix{});
      },
      py::arg("word").noconvert(), py::arg("position").noconvert() = py::none(),
      py::arg("type").noconvert() = py::none());
  graph.def(
      "layer_norm",
      [](Graph& g, Buffer x, const Floats& gamma, const std::optional<Floats>& beta, float eps) {
        return g.layer_norm(x, vector(gamma, "layer_norm: gamma"),
                            beta ? vector(*beta, "layer_norm: beta") : SharedMatrix{}, eps);
      },
      py::arg("x"), py::arg("gamma").noconvert(), py::arg("beta").noconvert(), py::arg("eps"));
  const auto define_linear = [&](auto function) {
    graph.def("linear", function, py::arg("x"), py::arg("w"),
              py::arg("bias").noconvert() = py::none(), py::arg("activation") = "none",
              py::arg("residual") = py::none(), py::arg("channel_scale").noconvert() = py::none());
  };
  define_linear(&linear<Int32>);
  define_linear(&linear<Float32>);
  define_linear(&linear<BFloat16>);
  define_linear(&linear<Float32F16>);
  graph.def(
      "rotate",
      [](Graph& g, Buffer qkv, std::int64_t num_heads, const Floats& cos_sin) {
        return g.rotate(qkv, num_heads, table(cos_sin, "rotate: cos_sin"));
      },
      py::arg("qkv"), py::arg("num_heads"), py::arg("cos_sin").noconvert());
  graph.def(
      "attention",
      [](Graph& g, Buffer qkv, std::int64_t num_heads, bool allow_bfloat16,
         const std::optional<Floats>& distance_bias, std::optional<std::int64_t> window) {
        AttentionOptions options{allow_bfloat16, {}, window};
        if (distance_bias)
          options.distance_bias = table(*distance_bias, "attention: distance_bias");
        return g.attention(qkv, num_heads, std::move(options));
      },
      py::arg("qkv"), py::arg("num_heads"), py::arg("allow_bfloat16") = false,
      py::arg("distance_bias").noconvert() = py::none(), py::arg("window") = py::none());
  graph.def("geglu", &Graph::geglu, py::arg("x"));
  graph.def(
      "first_token", [](Graph& g, Buffer x) { return g.pool(x, Pooling::first); }, py::arg("x"));
  graph.def(
      "pool", [](Graph& g, Buffer x, const std::string& name) { return g.pool(x, pooling(name)); },
      py::arg("x"), py::arg("pooling"));
  graph.def("tanh", &Graph::tanh, py::arg("x"));
  graph.def("normalize", &Graph::normalize, py::arg("x"));
  graph.def("output", &Graph::output, py::arg("x"));
  graph.def_property_readonly("products", [](const Graph& g) {
    std::vector<PyKind> kinds;
    for (const ProductKind& kind : g.products()) kinds.push_back(to_python(kind));
    return kinds;
  });
}

}  // namespace fbg::bindings
