// The tuner of blockings, and the names that products and blockings have in Python.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "fbg/plan/tuning.h"

namespace fbg::bindings {
namespace {

// Kinds of products by the names that fbg.load has for their weights.
constexpr std::pair<const char*, Accumulator> kWeights[] = {
    {"int8", Accumulator::int32},         {"float32", Accumulator::float32},
    {"bfloat16", Accumulator::bfloat16},  {"float16", Accumulator::float32_f16},
    {"int4", Accumulator::int4_g32},      {"int4_g64", Accumulator::int4_g64},
    {"int4_g128", Accumulator::int4_g128}};

}  // namespace

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

Features checked_features(std::optional<Features> features, const char* where) {
  if (!features) return active_features();
  require((*features & ~cpu_features()) == 0,
          std::string(where) + ": features has some that this CPU lacks");
  return *features;
}

void bind_tuner(py::module_& m) {
  m.def("tuner_count", &tuner_count);
  bound_class<Tuner>(m, "Tuner")
      .def(py::init([](const Graph& graph, const PyKind& kind, int threads,
                       std::optional<Features> features) {
             const ProductKind product = product_kind(kind);
             const Features chosen = checked_features(features, "Tuner");
             const GilRelease release;
             return std::make_unique<Tuner>(graph, product, threads, chosen);
           }),
           py::arg("graph"), py::arg("kind"), py::arg("threads"), py::arg("features") = py::none())
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

}  // namespace fbg::bindings
