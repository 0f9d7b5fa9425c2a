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

// x (outer, input, inner) float32 to y (outer, output, inner):
//   y[o][j][i] = sum over t of weights[j * taps + t] * x[o][sources[j * taps + t]][i]
class ResampleOp final : public Op {
 public:
  explicit ResampleOp(Fields& f) : Op("resample", f) {
    require(output_ >= 1, "resample: the output must not be empty");
    const std::int64_t bytes = checked_product({outer_, input_, inner_, 4}, "resample");
    require_bytes(f.graph(), x_, bytes, "resample: x");
    shape = tensor_of_floats(checked_product({outer_, output_, inner_, 4}, "resample") / 4);
    taps_ = weights_.cols / output_;
    const auto count = static_cast<std::size_t>(output_ * taps_);
    require(taps_ >= 1 && sources_.size() == count && weights_.cols == output_ * taps_,
            "resample: there must be a source and a weight for each tap of each output");
    for (const std::int32_t source : sources_)
      require(source >= 0 && source < input_, "resample: a source lies outside of the input");
    if (inner_ > 1) return;
    for (std::int64_t t = 0; t < taps_; ++t)
      for (std::int64_t j = 0; j < output_; ++j) {
        sources_by_tap_.push_back(sources_[static_cast<std::size_t>(j * taps_ + t)]);
        weights_by_tap_.push_back(weights_.data.get()[j * taps_ + t]);
      }
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    const std::int64_t pieces = ceil_div(inner_, kPiece);
    const bool narrow_x = context.type(x_) == ValueType::bfloat16;
    const bool narrow_y = context.type(output) == ValueType::bfloat16;
    if (inner_ == 1 && !narrow_x && !narrow_y) return whole_lines(kernels);
    return make_unit_step(
        outer_ * output_ * pieces, 0,
        [this, &kernels, pieces, narrow_x, narrow_y](const Frame& frame, std::byte*, int,
                                                     Range units) {
          const std::byte* const x = frame[x_].data;
          std::byte* const y = frame[output].data;
          float wide[kPiece], sum[kPiece];  // where x or y are bfloat16
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            const std::int64_t line = unit / pieces, first = unit % pieces * kPiece;
            const auto n = static_cast<std::size_t>(std::min(kPiece, inner_ - first));
            const std::int64_t place = line * inner_ + first;
            float* const to = narrow_y ? sum : reinterpret_cast<float*>(y) + place;
            const std::int64_t o = line / output_, j = line % output_;
            std::fill_n(to, n, 0.0f);
            for (std::int64_t t = j * taps_; t < (j + 1) * taps_; ++t) {
              if (weights_.data.get()[t] == 0) continue;
              const std::int64_t begin =
                  (o * input_ + sources_[static_cast<std::size_t>(t)]) * inner_ + first;
              const float* from = reinterpret_cast<const float*>(x) + begin;
              if (narrow_x) {
                const auto* halves = reinterpret_cast<const std::uint16_t*>(x) + begin;
                kernels.bfloat16_to_float(halves, n, wide);
                from = wide;
              }
              kernels.accumulate(from, weights_.data.get()[t], n, to);
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
        outer_, 0, [this, &kernels](const Frame& frame, std::byte*, int, Range units) {
          const float* const x = reinterpret_cast<const float*>(frame[x_].data);
          float* const y = reinterpret_cast<float*>(frame[output].data);
          for (std::int64_t o = units.begin; o < units.end; ++o)
            kernels.interpolate(x + o * input_, sources_by_tap_.data(), weights_by_tap_.data(),
                                static_cast<std::size_t>(taps_), static_cast<std::size_t>(output_),
                                y + o * output_);
        });
  }

  const Buffer x_ = input("x");
  const std::int64_t outer_ = field("outer"), input_ = field("input"), output_ = field("output"),
                     inner_ = field("inner");
  const std::vector<std::int32_t> sources_ = fields().indices("sources");
  const SharedMatrix weights_ = fields().vector("weights");
  std::int64_t taps_ = 1;
  // Where inner is 1: those of one tap after the other.
  std::vector<std::int32_t> sources_by_tap_;
  std::vector<float> weights_by_tap_;
};

}  // namespace

Buffer kinds::resample(Graph& graph, Fields& f) { return append_as<ResampleOp>(graph, f); }

}  // namespace fbg
