// Plans of whole models. Arrays are checked here, against the plan's capacity and
// tables, so that no Python caller can make the native code read or write out of bounds.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/plan_pool.h"
#include "bindings/products.h"
#include "fbg/core/phase.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {
namespace {

using Indices = py::array_t<std::int32_t, py::array::c_style>;

// Indices are checked in a copy: while the GIL is released, other threads may write to the array.
using IndexVector = std::vector<std::int32_t>;
using OptionalIndices = std::optional<Indices>;

// Empty where no op reads the indices.
IndexVector indices(const OptionalIndices& array, std::int64_t count, std::int64_t limit,
                    const char* what) {
  if (limit == Graph::kUnread) return {};
  require(array && array->ndim() == 1 && array->shape(0) == count,
          std::string("run: ") + what + " must have shape (" + std::to_string(count) + ",)");
  IndexVector data(array->data(), array->data() + count);
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

// Sequences are never empty and fit the capacity.
IndexVector sequence_offsets(const Indices& array, const Capacity& capacity) {
  require(
      array.ndim() == 1 && array.shape(0) >= 1 && array.shape(0) - 1 <= capacity.sequences,
      "run: offsets must be 1-D, for at most " + std::to_string(capacity.sequences) + " sequences");
  const std::int64_t sequences = array.shape(0) - 1;
  IndexVector data(array.data(), array.data() + array.shape(0));
  require(data[0] == 0, "run: offsets must begin with 0, got " + std::to_string(data[0]));
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::int64_t length = static_cast<std::int64_t>(data[s + 1]) - data[s];
    require(length >= 1 && length <= capacity.length,
            "run: sequence " + std::to_string(s) + " has " + std::to_string(length) +
                " tokens, wanted 1 to " + std::to_string(capacity.length));
  }
  require(data[sequences] <= capacity.tokens, "run: " + std::to_string(data[sequences]) +
                                                  " tokens exceed the capacity of " +
                                                  std::to_string(capacity.tokens));
  return data;
}

template <class T>
bool is_dense(const py::array& array) {
  return py::isinstance<py::array_t<T, py::array::c_style>>(array);
}

// An array that a run reads or writes in place, so its dtype and layout must be right;
// bfloat16 comes as the 16 bits of each element.
void check_matrix(const py::array& array, const BufferShape& shape, std::int64_t rows,
                  const std::string& what) {
  const bool fits = shape.type == ValueType::float32    ? is_dense<float>(array)
                    : shape.type == ValueType::bfloat16 ? is_dense<std::uint16_t>(array)
                    : shape.type == ValueType::uint8    ? is_dense<std::uint8_t>(array)
                                                        : is_dense<std::int8_t>(array);
  const char* const dtype =
      shape.type == ValueType::bfloat16 ? "uint16" : value_type_name(shape.type);
  require(fits && array.ndim() == 2 && array.shape(0) == rows && array.shape(1) == shape.cols,
          "run: " + what + " must be contiguous " + dtype + " of shape (" + std::to_string(rows) +
              ", " + std::to_string(shape.cols) + ")");
}

void run_plan(PlanPool& pool, const OptionalIndices& ids, const OptionalIndices& position_ids,
              const OptionalIndices& types, const OptionalIndices& sequence_positions,
              const Indices& offsets, std::vector<py::array> outputs, int num_threads,
              std::optional<py::array_t<double, py::array::c_style>> seconds,
              std::optional<py::array_t<double, py::array::c_style>> phases,
              const std::vector<py::array>& inputs) {
  const Plan& plan = pool.plan();
  const Graph& graph = plan.graph();
  const Graph::Limits& limits = graph.limits();
  const IndexVector bounds = sequence_offsets(offsets, plan.capacity());
  RunArgs args;
  args.tokens = bounds.back();
  args.sequences = static_cast<std::int64_t>(bounds.size()) - 1;
  const IndexVector words = indices(ids, args.tokens, limits.word, "ids");
  const IndexVector rows = indices(position_ids, args.tokens, limits.position_id, "position_ids");
  const IndexVector segments = indices(types, args.tokens, limits.type, "types");
  const IndexVector positions =
      indices(sequence_positions, args.tokens, limits.sequence_position, "sequence_positions");
  if (!positions.empty()) require_ascending(positions, bounds);
  args.ids = words.data();
  args.position_ids = rows.data();
  args.types = segments.data();
  args.sequence_positions = positions.data();
  args.offsets = bounds.data();

  const auto check = [&](const py::array& array, Buffer buffer, const std::string& what) {
    check_matrix(array, graph.shape(buffer), plan.rows(buffer, args), what);
  };
  require(outputs.size() == graph.outputs().size(), "run: wanted " +
                                                        counted(graph.outputs().size(), "output") +
                                                        ", got " + std::to_string(outputs.size()));
  std::vector<void*> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check(outputs[i], graph.outputs()[i], "output " + std::to_string(i));
    results.push_back(outputs[i].mutable_data());
  }
  args.outputs = results;
  require(inputs.size() == graph.inputs().size(), "run: wanted " +
                                                      counted(graph.inputs().size(), "input") +
                                                      ", got " + std::to_string(inputs.size()));
  std::vector<const void*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check(inputs[i], graph.inputs()[i], "input " + std::to_string(i));
    given.push_back(inputs[i].data());
  }
  args.inputs = given;
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
  pool.run([&](Plan& own) noexcept { own.run(args, num_threads, times, phase_times); });
}

// The same of graphs whose inputs and outputs are tensors.
void check_tensor(const py::array& array, const BufferShape& shape, const char* what,
                  std::size_t number) {
  const std::int64_t bytes = shape.cols * value_size(shape.type);
  require((array.flags() & py::array::c_style) != 0 && array.nbytes() == bytes, [&] {
    return std::string("run: ") + what + " " + std::to_string(number) +
           " must be contiguous and have " + std::to_string(bytes) + " bytes, got " +
           std::to_string(array.nbytes());
  });
}

// Returns -1, or the number of the op that met indices out of range.
Buffer run_tensors(PlanPool& pool, const std::vector<py::array>& inputs,
                   std::vector<py::array> outputs, int num_threads,
                   std::optional<py::array_t<double, py::array::c_style>> seconds) {
  const Plan& plan = pool.plan();
  const Graph& graph = plan.graph();
  require(inputs.size() == graph.inputs().size() && outputs.size() == graph.outputs().size(), [&] {
    return "run: wanted " + counted(graph.inputs().size(), "input") + " and " +
           counted(graph.outputs().size(), "output") + ", got " + std::to_string(inputs.size()) +
           " and " + std::to_string(outputs.size());
  });
  std::vector<const void*> given(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_tensor(inputs[i], graph.shape(graph.inputs()[i]), "input", i);
    given[i] = inputs[i].data();
  }
  std::vector<void*> results(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_tensor(outputs[i], graph.shape(graph.outputs()[i]), "output", i);
    results[i] = outputs[i].mutable_data();
  }
  require(!seconds || seconds->size() == static_cast<py::ssize_t>(plan.num_ops()),
          "run: seconds must have one element per op");
  double* const times = seconds ? seconds->mutable_data() : nullptr;
  RunArgs args;
  args.inputs = given;
  args.outputs = results;
  Buffer failed = Plan::kNone;
  pool.run([&](Plan& own) noexcept { failed = own.run(args, num_threads, times); });
  return failed;
}

using PyTuned = std::tuple<PyKind, std::int64_t, std::int64_t, PyBlocking>;

std::vector<TunedProduct> tuned_products(const std::vector<PyTuned>& tuned) {
  std::vector<TunedProduct> products;
  for (const auto& [kind, first, last, blocks] : tuned)
    products.push_back({product_kind(kind), first, last, blocking(blocks)});
  return products;
}

}  // namespace

void bind_plan(py::module_& m) {
  m.def("run_tensors", &run_tensors, py::arg("plan"), py::arg("inputs"), py::arg("outputs"),
        py::arg("num_threads"), py::arg("seconds").noconvert() = py::none());
  m.def("set_poison", &Plan::set_poison, py::arg("byte"));
  bound_class<PlanPool>(m, "Plan")
      .def(py::init([](const Graph& graph, std::int64_t tokens, std::int64_t sequences,
                       std::int64_t length, int threads, const std::vector<PyTuned>& tuned,
                       std::optional<Features> features) {
             const Capacity capacity{tokens, sequences, length, threads, tuned_products(tuned)};
             const Features chosen = checked_features(features, "Plan");
             const GilRelease release;
             return std::make_unique<PlanPool>(graph, capacity, chosen);
           }),
           py::arg("graph"), py::arg("tokens"), py::arg("sequences"), py::arg("length"),
           py::arg("threads"), py::arg("tuned") = std::vector<PyTuned>(),
           py::arg("features") = py::none())
      .def("run", &run_plan, py::arg("ids").noconvert(), py::arg("position_ids").noconvert(),
           py::arg("types").noconvert(), py::arg("sequence_positions").noconvert(),
           py::arg("offsets").noconvert(), py::arg("outputs"), py::arg("num_threads"),
           py::arg("seconds").noconvert() = py::none(), py::arg("phases").noconvert() = py::none(),
           py::arg("inputs") = std::vector<py::array>())
      .def_property_readonly(
          "isa", [](const PlanPool& p) { return isa_name(best_isa(p.plan().features())); })
      .def_property_readonly(
          "ops",
          [](const PlanPool& p) {
            py::list ops;
            for (const OpPlan& op : p.plan().ops())
              ops.append(py::make_tuple(op.name, op.kernel, op.offset, op.bytes, op.scratch_offset,
                                        op.scratch_bytes, op.blocking));
            return ops;
          })
      .def(
          "kernels",
          [](const PlanPool& p, std::int64_t tokens, int num_threads) {
            return p.plan().kernels(tokens, num_threads);
          },
          py::arg("tokens"), py::arg("num_threads"))
      .def_property_readonly("arena_bytes",
                             [](const PlanPool& p) { return p.plan().arena_bytes(); })
      .def_property_readonly("num_arenas", &PlanPool::num_arenas)
      .def_property_readonly("tokens", [](const PlanPool& p) { return p.plan().capacity().tokens; })
      .def("free_idle", &PlanPool::free_idle)
      .def_property_readonly(
          "nbytes", [](PlanPool& p) { return p.plan().shared_bytes() + p.plan().arena_bytes(); });
}

}  // namespace fbg::bindings
