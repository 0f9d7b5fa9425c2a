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
  ResampleOp(Buffer x, Resampling r) : Op("resample", {x}), r_(std::move(r)) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    const std::int64_t pieces = ceil_div(r_.inner, kPiece);
    return make_unit_step(
        r_.outer * r_.output * pieces, 0,
        [this, &kernels, pieces](const Frame& frame, std::byte*, int, Range units) {
          const auto* x = reinterpret_cast<const float*>(frame[inputs[0]].data);
          auto* y = reinterpret_cast<float*>(frame[output].data);
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            const std::int64_t line = unit / pieces, first = unit % pieces * kPiece;
            const auto n = static_cast<std::size_t>(std::min(kPiece, r_.inner - first));
            float* const to = y + line * r_.inner + first;
            const std::int64_t o = line / r_.output, j = line % r_.output;
            std::fill_n(to, n, 0.0f);
            for (std::int64_t t = j * r_.taps; t < (j + 1) * r_.taps; ++t) {
              const auto at = static_cast<std::size_t>(t);
              const float* from = x + (o * r_.input + r_.sources[at]) * r_.inner + first;
              if (r_.weights[at] != 0) kernels.accumulate(from, r_.weights[at], n, to);
            }
          }
        });
  }

 private:
  const Resampling r_;
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
  return append_op(graph, std::make_shared<ResampleOp>(x, std::move(r)), tensor_shape(bytes));
}

}  // namespace fbg
