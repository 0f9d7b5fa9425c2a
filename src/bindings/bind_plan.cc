// Plans of whole models. Arrays are checked here, against the plan's capacity and tables, so that
// no Python caller can make the native code read or write out of bounds.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
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

void run(PlanPool& pool, const Indices& ids, const Indices& position_ids, const Indices& types,
         const Indices& sequence_positions, const Indices& offsets,
         const std::vector<py::array>& outputs, int num_threads,
         std::optional<py::array_t<double, py::array::c_style>> seconds,
         std::optional<py::array_t<double, py::array::c_style>> phases) {
  const Plan& plan = pool.plan();
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

  pool.run([&](Plan& own) noexcept { own.run(args, num_threads, times, phase_times); });
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
  bound_class<PlanPool>(m, "Plan")
      .def(py::init([](const Graph& graph, std::int64_t tokens, std::int64_t sequences,
                       std::int64_t length, int threads, const std::vector<PyTuned>& tuned) {
             const Capacity capacity{tokens, sequences, length, threads, tuned_products(tuned)};
             const GilRelease release;
             return std::make_unique<PlanPool>(graph, capacity);
           }),
           py::arg("graph"), py::arg("tokens"), py::arg("sequences"), py::arg("length"),
           py::arg("threads"), py::arg("tuned") = std::vector<PyTuned>())
      .def("run", &run, py::arg("ids").noconvert(), py::arg("position_ids").noconvert(),
           py::arg("types").noconvert(), py::arg("sequence_positions").noconvert(),
           py::arg("offsets").noconvert(), py::arg("outputs"), py::arg("num_threads"),
           py::arg("seconds").noconvert() = py::none(), py::arg("phases").noconvert() = py::none())
      .def_property_readonly(
          "ops",
          [](const PlanPool& p) {
            py::list ops;
            for (const OpPlan& op : p.plan().ops())
              ops.append(py::make_tuple(op.name, op.kernel, op.offset, op.bytes, op.scratch_offset,
                                        op.scratch_bytes, op.blocking));
            return ops;
          })
      .def_property_readonly("arena_bytes",
                             [](const PlanPool& p) { return p.plan().arena_bytes(); })
      .def_property_readonly("num_arenas", &PlanPool::num_arenas)
      .def_property_readonly("nbytes", [](PlanPool& p) {
        return p.plan().shared_bytes() + p.num_arenas() * p.plan().arena_bytes();
      });
}

}  // namespace fbg::bindings
