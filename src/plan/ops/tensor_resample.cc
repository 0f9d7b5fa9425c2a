// resample: along one axis, every element of the output is a weighted sum of elements of the input.
// Interpolation of images is one such op for each axis. Threads take lines of the output.
#include <algorithm>
#include <utility>

#include "core/policy.h"
#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

// The inner extent is cut, so that the piece that is summed up stays in the L1.
constexpr std::int64_t kPiece = policy::tensors::kFloats;

class ResampleOp final : public Op {
 public:
  ResampleOp(Buffer x, Resampling r) : Op("resample", {x}), r_(std::move(r)) {
    if (r_.inner > 1) return;
    for (std::int64_t t = 0; t < r_.taps; ++t)
      for (std::int64_t j = 0; j < r_.output; ++j) {
        by_tap_.sources.push_back(r_.sources[static_cast<std::size_t>(j * r_.taps + t)]);
        by_tap_.weights.push_back(r_.weights[static_cast<std::size_t>(j * r_.taps + t)]);
      }
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    const std::int64_t pieces = ceil_div(r_.inner, kPiece);
    const bool narrow_x = context.type(inputs[0]) == ValueType::bfloat16;
    const bool narrow_y = context.type(output) == ValueType::bfloat16;
    if (r_.inner == 1 && !narrow_x && !narrow_y) return whole_lines(kernels);
    return make_unit_step(
        r_.outer * r_.output * pieces, 0,
        [this, &kernels, pieces, narrow_x, narrow_y](const Frame& frame, std::byte*, int,
                                                     Range units) {
          const std::byte* const x = frame[inputs[0]].data;
          std::byte* const y = frame[output].data;
          float wide[kPiece], sum[kPiece];  // where x or y are bfloat16
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            const std::int64_t line = unit / pieces, first = unit % pieces * kPiece;
            const auto n = static_cast<std::size_t>(std::min(kPiece, r_.inner - first));
            const std::int64_t place = line * r_.inner + first;
            float* const to = narrow_y ? sum : reinterpret_cast<float*>(y) + place;
            const std::int64_t o = line / r_.output, j = line % r_.output;
            std::fill_n(to, n, 0.0f);
            for (std::int64_t t = j * r_.taps; t < (j + 1) * r_.taps; ++t) {
              const auto at = static_cast<std::size_t>(t);
              if (r_.weights[at] == 0) continue;
              const std::int64_t begin = (o * r_.input + r_.sources[at]) * r_.inner + first;
              const float* from = reinterpret_cast<const float*>(x) + begin;
              if (narrow_x) {
                const auto* halves = reinterpret_cast<const std::uint16_t*>(x) + begin;
                kernels.bfloat16_to_float(halves, n, wide);
                from = wide;
              }
              kernels.accumulate(from, r_.weights[at], n, to);
            }
            if (narrow_y)
              kernels.float_to_bfloat16(sum, n, reinterpret_cast<std::uint16_t*>(y) + place);
          }
        });
  }
  Halves reads_bfloat16(std::size_t, Features) const override { return Halves::widened; }
  bool can_write_bfloat16() const override { return true; }

 private:
  // The last axis: neighbours in the output read places of one line, which are gathered.
  std::unique_ptr<Step> whole_lines(const simd::RowKernels& kernels) const {
    return make_unit_step(
        r_.outer, 0, [this, &kernels](const Frame& frame, std::byte*, int, Range units) {
          const float* const x = reinterpret_cast<const float*>(frame[inputs[0]].data);
          float* const y = reinterpret_cast<float*>(frame[output].data);
          for (std::int64_t o = units.begin; o < units.end; ++o)
            kernels.interpolate(x + o * r_.input, by_tap_.sources.data(), by_tap_.weights.data(),
                                static_cast<std::size_t>(r_.taps),
                                static_cast<std::size_t>(r_.output), y + o * r_.output);
        });
  }

  const Resampling r_;
  Resampling by_tap_;  // where inner is 1: sources and weights of one tap after the other
};

}  // namespace

Buffer resample(Graph& graph, Buffer x, Resampling r) {
  const std::int64_t input[] = {r.outer, r.input, r.inner, 4};
  const std::int64_t output[] = {r.outer, r.output, r.inner, 4};
  require_bytes(graph, x, checked_product(input, "resample"), "resample: x");
  const std::int64_t bytes = checked_product(output, "resample");
  const auto count = static_cast<std::size_t>(r.output * r.taps);
  require(r.taps >= 1 && r.sources.size() == count && r.weights.size() == count,
          "resample: there must be a source and a weight for each tap of each output");
  for (const std::int32_t source : r.sources)
    require(source >= 0 && source < r.input, "resample: a source lies outside of the input");
  return append_op(graph, std::make_shared<ResampleOp>(x, std::move(r)),
                   tensor_of_floats(bytes / 4));
}

}  // namespace fbg
