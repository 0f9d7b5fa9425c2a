// Graphs and plans of whole models. Arrays are checked here, against the plan's capacity and
// tables, so that no Python caller can make the native code read or write out of bounds.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "core/memory.h"
#include "fbg/core/phase.h"
#include "fbg/plan/plan.h"
#include "fbg/plan/tuning.h"

namespace py = pybind11;

namespace fbg::bindings {
namespace {

using Floats = py::array_t<float, py::array::c_style>;
using Indices = py::array_t<std::int32_t, py::array::c_style>;

void require(bool condition, const std::string& message) {
  if (!condition) throw py::value_error(message);
}

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

// A plan and the lock that lets several Python threads share it. A fork may catch the lock in the
// hands of a thread that the child does not have: there it is replaced.
struct BoundPlan {
  Plan plan;
  BoundPlan(const Graph& graph, const Capacity& capacity) : plan(graph, capacity) {}

  // Call it with the GIL held.
  std::mutex& mutex() {
    if (process_ != getpid()) {
      static_cast<void>(mutex_.release());  // still locked: it cannot be destroyed
      mutex_ = std::make_unique<std::mutex>();
      process_ = getpid();
    }
    return *mutex_;
  }

 private:
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  pid_t process_ = getpid();
};

// Indices are checked in a copy: while the GIL is released, other threads may write to the array.
using IndexVector = std::vector<std::int32_t>;

IndexVector indices(const Indices& array, std::int64_t count, std::int64_t limit,
                    const char* what) {
  require(array.ndim() == 1 && array.shape(0) == count,
          std::string("run: ") + what + " must have shape (" + std::to_string(count) + ",)");
  IndexVector data(array.data(), array.data() + count);
  const auto bounds = std::minmax_element(data.begin(), data.end());
  require(count == 0 || (*bounds.first >= 0 && *bounds.second < limit),
          std::string("run: ") + what + " must be in [0, " + std::to_string(limit) + ")");
  return data;
}

// Sequence positions ascend within each sequence.
void require_ascending(const IndexVector& sequence_positions, const IndexVector& offsets) {
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    require(std::is_sorted(sequence_positions.begin() + offsets[s],
                           sequence_positions.begin() + offsets[s + 1], std::less_equal<>()),
            "run: sequence_positions must ascend in sequence " + std::to_string(s));
}

// Sequences are never empty, fill the tokens exactly and fit the capacity.
IndexVector sequence_offsets(const Indices& array, std::int64_t tokens, const Capacity& capacity) {
  require(
      array.ndim() == 1 && array.shape(0) >= 1 && array.shape(0) - 1 <= capacity.sequences,
      "run: offsets must be 1-D, for at most " + std::to_string(capacity.sequences) + " sequences");
  const std::int64_t sequences = array.shape(0) - 1;
  IndexVector data(array.data(), array.data() + array.shape(0));
  require(data[0] == 0 && data[sequences] == tokens, "run: offsets must go from 0 to the tokens");
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::int64_t length = static_cast<std::int64_t>(data[s + 1]) - data[s];
    require(length >= 1 && length <= capacity.length,
            "run: sequence " + std::to_string(s) + " has " + std::to_string(length) +
                " tokens, wanted 1 to " + std::to_string(capacity.length));
  }
  return data;
}

void run(BoundPlan& bound, const Indices& ids, const Indices& position_ids, const Indices& types,
         const Indices& sequence_positions, const Indices& offsets,
         const std::vector<py::array>& outputs, int num_threads,
         std::optional<py::array_t<double, py::array::c_style>> seconds,
         std::optional<py::array_t<double, py::array::c_style>> phases) {
  Plan& plan = bound.plan;
  const Graph& graph = plan.graph();
  RunArgs args;
  args.tokens = ids.size();
  require(args.tokens <= plan.capacity().tokens, "run: " + std::to_string(args.tokens) +
                                                     " tokens exceed the capacity of " +
                                                     std::to_string(plan.capacity().tokens));
  const IndexVector words = indices(ids, args.tokens, graph.limits().word, "ids");
  const Graph::Limits& limits = graph.limits();
  IndexVector entries, distances;  // left empty where no op reads them
  if (limits.position_id != Graph::kUnread)
    entries = indices(position_ids, args.tokens, limits.position_id, "position_ids");
  const IndexVector segments = indices(types, args.tokens, limits.type, "types");
  const IndexVector bounds = sequence_offsets(offsets, args.tokens, plan.capacity());
  if (limits.sequence_position != Graph::kUnread) {
    distances =
        indices(sequence_positions, args.tokens, limits.sequence_position, "sequence_positions");
    require_ascending(distances, bounds);
  }
  args.ids = words.data();
  args.position_ids = entries.data();
  args.types = segments.data();
  args.sequence_positions = distances.data();
  args.offsets = bounds.data();
  args.sequences = static_cast<std::int64_t>(bounds.size()) - 1;

  require(outputs.size() == graph.outputs().size(),
          "run: wanted " + std::to_string(graph.outputs().size()) + " outputs");
  std::vector<float*> data;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const BufferShape shape = graph.shape(graph.outputs()[i]);
    const std::int64_t rows = shape.rows == RowKind::token ? args.tokens : args.sequences;
    // Written to, so never a converted copy: dtype and layout must be right as they are.
    py::array output = outputs[i];
    require(py::isinstance<Floats>(output) && output.ndim() == 2 && output.shape(0) == rows &&
                output.shape(1) == shape.cols,
            "run: output " + std::to_string(i) + " must be contiguous float32 of shape (" +
                std::to_string(rows) + ", " + std::to_string(shape.cols) + ")");
    data.push_back(static_cast<float*>(output.mutable_data()));
  }
  args.outputs = data;
  double* times = nullptr;
  if (seconds) {
    require(seconds->size() == static_cast<py::ssize_t>(plan.num_ops()),
            "run: seconds must have one element per op");
    times = seconds->mutable_data();
  }
  double* phase_times = nullptr;
  if (phases) {
    require(phases->ndim() == 2 && phases->shape(0) == static_cast<py::ssize_t>(plan.num_ops()) &&
                phases->shape(1) == static_cast<py::ssize_t>(kPhases),
            "run: phases must have one row per op and " + std::to_string(kPhases) + " columns");
    phase_times = phases->mutable_data();
  }
  if (args.sequences == 0) return;

  std::mutex& mutex = bound.mutex();
  const GilRelease release;
  const std::lock_guard lock(mutex);
  plan.run(args, num_threads, times, phase_times);
}

// Kinds of products by the names that fbg.load has for their weights.
constexpr std::pair<const char*, Accumulator> kWeights[] = {{"int8", Accumulator::int32},
                                                            {"float32", Accumulator::float32},
                                                            {"bfloat16", Accumulator::bfloat16},
                                                            {"float16", Accumulator::float32_f16}};
using PyKind = std::tuple<std::string, std::int64_t, std::int64_t>;
using PyBlocking = std::array<int, 4>;  // as the members of Blocking

PyKind to_python(const ProductKind& kind) {
  const auto* found =
      std::ranges::find(kWeights, kind.accumulator, [](auto& w) { return w.second; });
  return {found->first, kind.k, kind.n};
}
PyBlocking to_python(const Blocking& b) { return {b.rows, b.panels, b.a_kib, b.row_parts}; }

ProductKind product_kind(const PyKind& kind) {
  const auto& [name, k, n] = kind;
  const auto* found = std::ranges::find(kWeights, name, [](auto& w) { return w.first; });
  require(found != std::end(kWeights), "no such weights: " + name);
  return {found->second, k, n};
}
Blocking blocking(const PyBlocking& b) { return {b[0], b[1], b[2], b[3]}; }

using PyTuned = std::tuple<PyKind, std::int64_t, std::int64_t, PyBlocking>;

std::vector<TunedProduct> tuned_products(const std::vector<PyTuned>& tuned) {
  std::vector<TunedProduct> products;
  for (const auto& [kind, first, last, blocks] : tuned)
    products.push_back({product_kind(kind), first, last, blocking(blocks)});
  return products;
}

void bind_tuner(py::module_& m) {
  m.def("tuner_count", &tuner_count);
  bound_class<Tuner>(m, "Tuner")
      .def(py::init([](const Graph& graph, const PyKind& kind, int threads) {
             const ProductKind product = product_kind(kind);
             const GilRelease release;
             return std::make_unique<Tuner>(graph, product, threads);
           }),
           py::arg("graph"), py::arg("kind"), py::arg("threads"))
      .def(
          "candidates",
          [](const Tuner& tuner, std::int64_t rows) {
            require(rows >= 1, "candidates: rows must be at least 1");
            std::vector<PyBlocking> candidates;
            for (const Blocking& b : tuner.candidates(rows)) candidates.push_back(to_python(b));
            return candidates;
          },
          py::arg("rows"))
      .def(
          "seconds",
          [](const Tuner& tuner, std::int64_t rows, const std::vector<PyBlocking>& blockings,
             double budget) {
            require(rows >= 1, "seconds: rows must be at least 1");
            std::vector<Blocking> native;
            for (const PyBlocking& b : blockings) native.push_back(blocking(b));
            const GilRelease release;
            return tuner.seconds(rows, native, budget);
          },
          py::arg("rows"), py::arg("blockings"), py::arg("budget"));
}

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

}  // namespace

void bind_plan(py::module_& m) {
  bind_graph(m);
  bind_tuner(m);
  bound_class<BoundPlan>(m, "Plan")
      .def(py::init([](const Graph& graph, std::int64_t tokens, std::int64_t sequences,
                       std::int64_t length, int threads, const std::vector<PyTuned>& tuned) {
             const Capacity capacity{tokens, sequences, length, threads, tuned_products(tuned)};
             const GilRelease release;
             return std::make_unique<BoundPlan>(graph, capacity);
           }),
           py::arg("graph"), py::arg("tokens"), py::arg("sequences"), py::arg("length"),
           py::arg("threads"), py::arg("tuned") = std::vector<PyTuned>())
      .def("run", &run, py::arg("ids").noconvert(), py::arg("position_ids").noconvert(),
           py::arg("types").noconvert(), py::arg("sequence_positions").noconvert(),
           py::arg("offsets").noconvert(), py::arg("outputs"), py::arg("num_threads"),
           py::arg("seconds").noconvert() = py::none(), py::arg("phases").noconvert() = py::none())
      .def_property_readonly(
          "ops",
          [](const BoundPlan& p) {
            py::list ops;
            for (const OpPlan& op : p.plan.ops())
              ops.append(py::make_tuple(op.name, op.kernel, op.offset, op.bytes, op.scratch_offset,
                                        op.scratch_bytes, op.blocking));
            return ops;
          })
      .def_property_readonly("arena_bytes",
                             [](const BoundPlan& p) { return p.plan.arena_bytes(); });
}

}  // namespace fbg::bindings
