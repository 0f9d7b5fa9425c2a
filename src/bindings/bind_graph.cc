// Graphs: a method for each op. Tables are read in place, vectors are copied.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "core/memory.h"
#include "fbg/plan/graph.h"

namespace fbg::bindings {
namespace {

// An embedding table, read in place: it keeps the array alive.
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

Gate gate(const std::string& name) {
  if (name == "gelu") return Gate::gelu;
  if (name == "gelu_tanh") return Gate::gelu_tanh;
  if (name == "silu") return Gate::silu;
  require(name == "relu", "gate must be gelu, gelu_tanh, silu or relu, got " + name);
  return Gate::relu;
}

RowKind row_kind(const std::string& name) {
  if (name == "token") return RowKind::token;
  require(name == "sequence", "input: rows must be token or sequence, got " + name);
  return RowKind::sequence;
}

ValueType element_type(const std::string& name) {
  if (name == "float32") return ValueType::float32;
  if (name == "bfloat16") return ValueType::bfloat16;
  if (name == "uint8") return ValueType::uint8;
  require(name == "int8", "input: dtype must be float32, bfloat16, uint8 or int8, got " + name);
  return ValueType::int8;
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

Buffer linear(Graph& graph, Buffer x, const PackedMatrix& w, const std::optional<Floats>& bias,
              const std::string& activation_name, std::optional<Buffer> residual,
              const std::optional<Floats>& channel_scale,
              const std::optional<std::string>& gate_name) {
  Epilogue epilogue;
  if (bias) epilogue.bias = vector(*bias, "linear: bias");
  epilogue.activation = activation(activation_name);
  epilogue.residual = residual;
  if (channel_scale) epilogue.channel_scale = vector(*channel_scale, "linear: channel_scale");
  if (gate_name) epilogue.gate = gate(*gate_name);
  return graph.linear(x, w, std::move(epilogue));
}

using Int32s = py::array_t<std::int32_t, py::array::c_style>;

RelativePositions relative_positions(const std::optional<Floats>& keys,
                                     const std::optional<Floats>& queries,
                                     const std::optional<Int32s>& rows) {
  RelativePositions relative;
  if (keys) relative.keys = table(*keys, "attention: relative_keys");
  if (queries) relative.queries = table(*queries, "attention: relative_queries");
  if (rows) {
    require(rows->ndim() == 1, "attention: relative_rows must be 1-D");
    relative.rows.assign(rows->data(), rows->data() + rows->size());
  }
  return relative;
}

void bind_attention_shape(py::module_& m) {
  bound_class<AttentionShape>(m, "AttentionShape")
      .def(py::init([](std::int64_t q_heads, std::int64_t kv_heads, std::int64_t head_dim,
                       bool causal, std::optional<std::int64_t> window) {
             return AttentionShape{q_heads, kv_heads, head_dim, causal, window};
           }),
           py::arg("q_heads"), py::arg("kv_heads"), py::arg("head_dim"), py::arg("causal") = false,
           py::arg("window") = py::none());
}

}  // namespace

void bind_graph(py::module_& m) {
  bind_attention_shape(m);
  py::class_<Graph> graph = bound_class<Graph>(m, "Graph");
  graph.def(py::init<>());
  graph.def(
      "input",
      [](Graph& g, std::int64_t cols, const std::string& rows, const std::string& dtype) {
        return g.input({row_kind(rows), cols, element_type(dtype)});
      },
      py::arg("cols"), py::arg("rows") = "token", py::arg("dtype") = "float32");
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
  graph.def(
      "rms_norm",
      [](Graph& g, Buffer x, const Floats& gamma, float eps) {
        return g.rms_norm(x, vector(gamma, "rms_norm: gamma"), eps);
      },
      py::arg("x"), py::arg("gamma").noconvert(), py::arg("eps"));
  graph.def(
      "norm_heads",
      [](Graph& g, Buffer qkv, const AttentionShape& shape, const Floats& q_gamma,
         const Floats& k_gamma, float eps) {
        return g.norm_heads(qkv, shape, vector(q_gamma, "norm_heads: q_gamma"),
                            vector(k_gamma, "norm_heads: k_gamma"), eps);
      },
      py::arg("qkv"), py::arg("shape"), py::arg("q_gamma").noconvert(),
      py::arg("k_gamma").noconvert(), py::arg("eps"));
  graph.def("add", &Graph::add, py::arg("a"), py::arg("b"));
  graph.def("linear", &linear, py::arg("x"), py::arg("w"), py::arg("bias").noconvert() = py::none(),
            py::arg("activation") = "none", py::arg("residual") = py::none(),
            py::arg("channel_scale").noconvert() = py::none(), py::arg("gate") = py::none());
  graph.def(
      "rotate",
      [](Graph& g, Buffer qkv, const AttentionShape& shape, const Floats& cos_sin) {
        return g.rotate(qkv, shape, table(cos_sin, "rotate: cos_sin"));
      },
      py::arg("qkv"), py::arg("shape"), py::arg("cos_sin").noconvert());
  graph.def(
      "attention",
      [](Graph& g, Buffer qkv, const AttentionShape& shape, bool allow_bfloat16,
         const std::optional<Floats>& distance_bias, std::optional<float> scale,
         std::optional<float> softcap, const std::optional<Floats>& relative_keys,
         const std::optional<Floats>& relative_queries,
         const std::optional<Int32s>& relative_rows) {
        AttentionOptions options{
            allow_bfloat16,
            {},
            scale,
            softcap,
            relative_positions(relative_keys, relative_queries, relative_rows)};
        if (distance_bias)
          options.distance_bias = table(*distance_bias, "attention: distance_bias");
        return g.attention(qkv, shape, std::move(options));
      },
      py::arg("qkv"), py::arg("shape"), py::arg("allow_bfloat16") = false,
      py::arg("distance_bias").noconvert() = py::none(), py::arg("scale") = py::none(),
      py::arg("softcap") = py::none(), py::arg("relative_keys").noconvert() = py::none(),
      py::arg("relative_queries").noconvert() = py::none(),
      py::arg("relative_rows").noconvert() = py::none());
  graph.def(
      "gated", [](Graph& g, Buffer x, const std::string& name) { return g.gated(x, gate(name)); },
      py::arg("x"), py::arg("gate"));
  graph.def("unfold", &Graph::unfold, py::arg("x"), py::arg("width"));
  graph.def(
      "first_token", [](Graph& g, Buffer x) { return g.pool(x, Pooling::first); }, py::arg("x"));
  graph.def(
      "pool",
      [](Graph& g, Buffer x, const std::string& name, std::int64_t skipped) {
        return g.pool(x, pooling(name), skipped);
      },
      py::arg("x"), py::arg("pooling"), py::arg("skipped") = 0);
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
