// merged: groups of few channels side by side as one wider group, for a matrix unit.
//
//   groups  [w0]      merged  [w0  0 ]
//           [w1]              [ 0 w1 ]
//
// A matrix unit multiplies 64 bytes of k at a time however many of them are zeros, so that four
// groups of 16 channels cost it no more than one of 64. The weights are those of a convolution with
// fewer groups, which `taps` computes.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "conv/algorithm.h"

namespace fbg {
namespace {

// Groups that become one: as many as fill a block of the matrix unit, or 1 where there is none.
std::int64_t merged_groups(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  constexpr std::int64_t kManyGroups = 1 << 20;
  const Geometry unit = choose_geometry(p.family(), p.features, {}, kManyGroups);
  const std::int64_t block = unit.block_groups * p.format().kr;
  if (unit.block_groups == 1 || block % g.group_inputs() != 0) return 1;
  const std::int64_t count = block / g.group_inputs();
  return g.groups % count == 0 ? count : 1;
}

ConvGeometry merge(ConvGeometry g, std::int64_t count) {
  g.groups /= count;
  return g;
}

// The weights with zeros between the groups that were merged. Their geometry is that of the
// weights: a part of a transposed convolution may have less than no padding.
const PackedConv& merged_weights(const ConvProblem& p) {
  const std::int64_t count = merged_groups(p);
  return p.weights.form_of("merged " + std::to_string(count), [&] {
    const ConvGeometry &g = p.weights.geometry(), wide = merge(g, count);
    const auto* const w = p.weights.weights<std::int8_t>();
    const std::int64_t inputs = g.group_inputs(), taps = g.taps();
    std::vector<std::int8_t> spaced(static_cast<std::size_t>(g.out_channels * wide.depth()));
    for (std::int64_t o = 0; o < g.out_channels; ++o) {
      const std::int64_t place = o / g.group_outputs() % count * inputs;
      for (std::int64_t tap = 0; tap < taps; ++tap)
        std::copy_n(w + (o * taps + tap) * inputs, inputs,
                    spaced.data() + (o * taps + tap) * wide.group_inputs() + place);
    }
    return PackedConv::pack(p.family(), spaced.data(), wide, p.weights.quant());
  });
}

// The problem with other weights, or with another geometry for what does not read them.
ConvProblem with(const ConvProblem& p, const PackedConv& weights, const ConvGeometry& geometry) {
  return {weights, geometry, p.shape, p.stages, p.has_scale, p.features, p.threads};
}

bool applies(const ConvProblem& p) {
  const std::int64_t count = merged_groups(p);
  if (count == 1 || p.geometry.is_depthwise()) return false;
  const ConvGeometry wide = merge(p.geometry, count);
  return implicit_gemm_method().applies(with(p, p.weights, wide));
}

// All of a run is whole blocks here, which are computed faster than those of a run with a rest.
double cost(const ConvProblem& p) {
  constexpr double kWholeBlocks = 0.55;  // measured
  const ConvGeometry wide = merge(p.geometry, merged_groups(p));
  return kWholeBlocks * implicit_gemm_method().cost(with(p, p.weights, wide));
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) {
  const ConvGeometry wide = merge(p.geometry, merged_groups(p));
  return implicit_gemm_method().prepare(with(p, merged_weights(p), wide));
}

}  // namespace

ConvMethod merged_method() {
  return {"merged", true, applies, cost, prepare, true, true, only<Accumulator::int32>};
}

}  // namespace fbg
