// The tuner of blockings, and the names that products and blockings have in Python.
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/products.h"
#include "fbg/plan/tuning.h"

namespace fbg::bindings {
namespace {

constexpr std::string_view kOffsetSuffix = "_offset";  // for int4 weights

}  // namespace

std::string weights_name(GemmType family, bool has_offsets) {
  std::string name = weight_format(family).name;
  if (has_offsets) name += kOffsetSuffix;
  return name;
}

std::optional<NamedWeights> named_weights(std::string_view name) {
  const bool has_offsets = name.ends_with(kOffsetSuffix);
  if (has_offsets) name.remove_suffix(kOffsetSuffix.size());
  const auto found = std::ranges::find(kWeightFormats, name, &WeightFormat::name);
  if (found == kWeightFormats.end()) return std::nullopt;
  return NamedWeights{static_cast<GemmType>(found - kWeightFormats.begin()), has_offsets};
}

PyKind to_python(const ProductKind& kind) { return {weights_name(kind.gemm_type), kind.k, kind.n}; }
PyBlocking to_python(const Blocking& b) { return {b.rows, b.panels, b.a_kib, b.row_parts}; }

ProductKind product_kind(const PyKind& kind) {
  const auto& [name, k, n] = kind;
  const std::optional<NamedWeights> weights = named_weights(name);
  require(weights && !weights->has_offsets, "no such weights: " + name);
  return {weights->family, k, n};
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
