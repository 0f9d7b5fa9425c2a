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
template <class Acc>
std::int64_t merged_groups(const ConvProblem<Acc>& p) {
  const ConvGeometry& g = p.geometry;
  constexpr std::int64_t kManyGroups = 1 << 20;
  const Geometry unit = choose_geometry(Acc::kind, p.features, {}, kManyGroups);
  const std::int64_t block = unit.block_groups * Acc::format.kr;
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
template <class Acc>
const PackedConv<Acc>& merged_weights(const ConvProblem<Acc>& p) {
  const std::int64_t count = merged_groups(p);
  const void* const form = p.weights.form("merged " + std::to_string(count), [&] {
    const ConvGeometry &g = p.weights.geometry(), wide = merge(g, count);
    const auto w = p.weights.weights();
    const std::int64_t inputs = g.group_inputs(), taps = g.taps();
    std::vector<typename Acc::B> spaced(static_cast<std::size_t>(g.out_channels * wide.depth()));
    for (std::int64_t o = 0; o < g.out_channels; ++o) {
      const std::int64_t place = o / g.group_outputs() % count * inputs;
      for (std::int64_t tap = 0; tap < taps; ++tap)
        std::copy_n(w.data() + (o * taps + tap) * inputs, inputs,
                    spaced.data() + (o * taps + tap) * wide.group_inputs() + place);
    }
    WeightQuant quant;
    if (p.weights.scale()) {
      quant.scale = {p.weights.scale(), static_cast<std::size_t>(g.out_channels)};
      quant.granularity = Granularity::column;
    }
    auto made =
        std::make_shared<const PackedConv<Acc>>(PackedConv<Acc>::pack(spaced.data(), wide, quant));
    return typename PackedConv<Acc>::Form{made, made->nbytes()};
  });
  return *static_cast<const PackedConv<Acc>*>(form);
}

// The problem with other weights, or with another geometry for what does not read them.
template <class Acc>
ConvProblem<Acc> with(const ConvProblem<Acc>& p, const PackedConv<Acc>& weights,
                      const ConvGeometry& geometry) {
  return {weights, geometry, p.shape, p.stages, p.has_scale, p.features, p.threads};
}

template <class Acc>
bool applies(const ConvProblem<Acc>& p) {
  const std::int64_t count = merged_groups(p);
  if (count == 1 || p.geometry.is_depthwise()) return false;
  const ConvGeometry wide = merge(p.geometry, count);
  return taps_method<Acc>().applies(with(p, p.weights, wide));
}

// All of a run is whole blocks here, which are computed faster than those of a run with a rest.
template <class Acc>
double cost(const ConvProblem<Acc>& p) {
  constexpr double kWholeBlocks = 0.55;  // measured
  const ConvGeometry wide = merge(p.geometry, merged_groups(p));
  return kWholeBlocks * taps_method<Acc>().cost(with(p, p.weights, wide));
}

template <class Acc>
std::unique_ptr<ConvStep<Acc>> prepare(const ConvProblem<Acc>& p) {
  const ConvGeometry wide = merge(p.geometry, merged_groups(p));
  return taps_method<Acc>().prepare(with(p, merged_weights(p), wide));
}

}  // namespace

ConvMethod<Int32> merged_method() {
  return {"merged", true, applies<Int32>, cost<Int32>, prepare<Int32>, true};
}

}  // namespace fbg
