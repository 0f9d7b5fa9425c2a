// block_diagonal: groups of few channels side by side as one wider group, for a matrix unit. The
// weights of the wider group are a block-diagonal matrix.
//
//   groups  [w0]      one group  [w0  0 ]
//           [w1]                 [ 0 w1 ]
//
// A matrix unit multiplies 64 bytes of k at a time, however many of them are zeros, so that four
// groups of 16 channels cost it no more than one of 64. What remains is a convolution with fewer
// groups, which implicit_gemm.cc computes.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "conv/algorithm.h"
#include "core/policy.h"

namespace fbg {
namespace {

// The number of groups that become one: as many as fill a block of the matrix unit, or 1 if there
// is no such unit.
std::int64_t groups_of_block(const ConvProblem& p) {
  const ConvGeometry& g = p.geometry;
  const Geometry unit = unit_geometry(p);
  const std::int64_t block = unit.block_groups * p.format().kr;
  if (unit.block_groups == 1 || block % g.group_inputs() != 0) return 1;
  const std::int64_t count = block / g.group_inputs();
  return g.groups % count == 0 ? count : 1;
}

ConvGeometry with_wide_groups(ConvGeometry g, std::int64_t count) {
  g.groups /= count;
  return g;
}

// The weights, with zeros between the groups of a block, or what stands for zero if the pipeline
// subtracts zero points of weights: that of the channel. They are packed for the geometry of the
// weights, since a phase of a transposed convolution may have negative padding.
const PackedConv& block_diagonal_weights(const ConvProblem& p) {
  const std::int64_t count = groups_of_block(p);
  const std::int32_t* const zero_point =
      conv_kernel_key(p, unit_geometry(p)).corrections == Corrections::both ? p.weights.zero_point()
                                                                            : nullptr;
  const std::string name = "block diagonal " + std::to_string(count);
  return p.weights.form_of(name + (zero_point ? " of zero points" : ""), [&] {
    const ConvGeometry &g = p.weights.geometry(), wide = with_wide_groups(g, count);
    const std::int64_t element = p.format().b_bytes;
    const std::byte* const w = p.weights.weights();
    const std::int64_t inputs = g.group_inputs() * element, taps = g.taps();
    std::vector<std::byte> spaced(
        static_cast<std::size_t>(g.out_channels * wide.depth() * element));
    for (std::int64_t o = 0; o < g.out_channels; ++o) {
      if (zero_point)
        std::fill_n(spaced.begin() + o * wide.depth() * element, wide.depth() * element,
                    static_cast<std::byte>(zero_point[o]));
      const std::int64_t place = o / g.group_outputs() % count * inputs;
      for (std::int64_t tap = 0; tap < taps; ++tap)
        std::copy_n(w + (o * taps + tap) * inputs, inputs,
                    spaced.data() + (o * taps + tap) * wide.group_inputs() * element + place);
    }
    return PackedConv::pack(p.family(), spaced.data(), wide, p.weights.quant());
  });
}

// The problem with other weights, or with another geometry for what does not read them.
ConvProblem with(const ConvProblem& p, const PackedConv& weights, const ConvGeometry& geometry) {
  return {weights, geometry, p.shape, p.stages, p.has_scale, p.features, p.threads};
}

bool applies(const ConvProblem& p) {
  const std::int64_t count = groups_of_block(p);
  if (count == 1 || p.geometry.is_depthwise()) return false;
  const ConvGeometry wide = with_wide_groups(p.geometry, count);
  return implicit_gemm_method().applies(with(p, p.weights, wide));
}

double cost(const ConvProblem& p) {
  const ConvGeometry wide = with_wide_groups(p.geometry, groups_of_block(p));
  return policy::costs::kWholeBlocks * implicit_gemm_method().cost(with(p, p.weights, wide));
}

std::unique_ptr<ConvStep> prepare(const ConvProblem& p) {
  const ConvGeometry wide = with_wide_groups(p.geometry, groups_of_block(p));
  return implicit_gemm_method().prepare(with(p, block_diagonal_weights(p), wide));
}

}  // namespace

std::array<ConvMethod, 2> block_diagonal_methods() {
  const ConvMethod bytes{"block_diagonal", true, applies, cost,
                         prepare,          true, true,    only<GemmType::int32>};
  ConvMethod halves = bytes;
  halves.exact = halves.in_kernel_order = false;
  halves.serves = only<GemmType::bfloat16>;
  return {bytes, halves};
}

}  // namespace fbg
