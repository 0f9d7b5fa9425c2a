// Images between their pixels. Along each axis, a point has a few pixels with weights; what it gets
// is the sum over all their combinations.
#include <algorithm>
#include <array>
#include <cmath>

#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::size_t kMostTaps = 4;
constexpr double kFarthest = 1e9;  // from the image: farther places count as this far

// The pixels along an axis that a point reads, as offsets; those that do not exist have no weight.
struct Taps {
  std::array<std::int64_t, kMostTaps> at{};
  std::array<float, kMostTaps> weight{};
  std::size_t count = 0;
};

// Places beyond the outermost pixels fold back; `low` and `high` are where they turn.
double reflected(double place, double low, double high) {
  const double span = high - low;
  if (span <= 0) return low;
  const double distance = std::fmod(std::abs(place - low), 2 * span);
  return low + (distance > span ? 2 * span - distance : distance);
}

// Keys, 1981, with a = -0.75, as in PyTorch.
float cubic_weight(float distance) {
  constexpr float a = -0.75f;
  const float d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

enum class Interpolation : std::uint8_t { nearest, linear, cubic };
std::span<const Choice<Interpolation>> choices(Interpolation) {
  static constexpr Choice<Interpolation> kAll[] = {{"nearest", Interpolation::nearest},
                                                   {"linear", Interpolation::linear},
                                                   {"cubic", Interpolation::cubic}};
  return kAll;
}
enum class Beyond : std::uint8_t { zeros, border, reflection };  // pixels outside of the image
std::span<const Choice<Beyond>> choices(Beyond) {
  static constexpr Choice<Beyond> kAll[] = {
      {"zeros", Beyond::zeros}, {"border", Beyond::border}, {"reflection", Beyond::reflection}};
  return kAll;
}

// x (batch, *input, channels) between its pixels: y (batch, points, channels), at the places that
// grid (batch, points, axes) names: -1 and 1 are the ends of an axis, the last axis first, namely
// the centers of its first and last pixels (align_corners) or their outer edges.
class GridSampleOp final : public Op {
 public:
  explicit GridSampleOp(Fields& f) : Op("grid_sample", f) {
    require(axes_ >= 1 && axes_ <= static_cast<std::int64_t>(kSpatialAxes),
            "grid_sample: there may be up to 3 axes");
    const std::int64_t image =
        checked_product({batch_, input_[0], input_[1], input_[2], channels_, 4}, "grid_sample: x");
    require_bytes(f.graph(), x_, image, "grid_sample: x");
    require_bytes(f.graph(), grid_,
                  checked_product({batch_, points_, axes_, 4}, "grid_sample: grid"),
                  "grid_sample: grid");
    shape = tensor_shape(checked_product({batch_, points_, channels_, 4}, "grid_sample"));
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    return make_unit_step(batch_ * points_, 0,
                          [this, &kernels](const Frame& frame, std::byte*, int, Range units) {
                            for (std::int64_t unit = units.begin; unit < units.end; ++unit)
                              sample(frame, kernels, unit);
                          });
  }

 private:
  void sample(const Frame& frame, const simd::RowKernels& kernels, std::int64_t unit) const {
    const std::int64_t pixels = volume(input_);
    const auto* const x =
        reinterpret_cast<const float*>(frame[x_].data) + unit / points_ * pixels * channels_;
    const auto* const point = reinterpret_cast<const float*>(frame[grid_].data) + unit * axes_;
    auto* const y = reinterpret_cast<float*>(frame[output].data) + unit * channels_;
    const auto n = static_cast<std::size_t>(channels_);
    std::array<Taps, kSpatialAxes> taps;
    std::int64_t distance = channels_;
    for (std::size_t a = kSpatialAxes; a-- > 0; distance *= input_[a]) {
      const std::size_t named = kSpatialAxes - 1 - a;  // the grid names the last axis first
      const bool given = static_cast<std::int64_t>(named) < axes_;
      taps[a] = given ? taps_of(point[named], input_[a], distance) : Taps{{0}, {1}, 1};
    }
    std::fill_n(y, n, 0.0f);
    for (std::size_t i = 0; i < taps[0].count; ++i)
      for (std::size_t j = 0; j < taps[1].count; ++j)
        for (std::size_t k = 0; k < taps[2].count; ++k)
          kernels.accumulate(x + taps[0].at[i] + taps[1].at[j] + taps[2].at[k],
                             taps[0].weight[i] * taps[1].weight[j] * taps[2].weight[k], n, y);
  }

  Taps taps_of(float given, std::int64_t size, std::int64_t distance) const {
    const auto extent = static_cast<float>(size);
    float place = align_corners_ ? (given + 1) / 2 * (extent - 1) : ((given + 1) * extent - 1) / 2;
    Taps taps;
    if (std::isnan(place)) return taps;
    place = static_cast<float>(std::clamp<double>(place, -kFarthest, kFarthest));
    if (interpolation_ == Interpolation::nearest) {
      add(taps, std::nearbyint(place), 1, size, distance);
      return taps;
    }
    const float first = std::floor(place), rest = place - first;
    if (interpolation_ == Interpolation::linear) {
      add(taps, first, 1 - rest, size, distance);
      add(taps, first + 1, rest, size, distance);
      return taps;
    }
    for (int i = -1; i <= 2; ++i)
      add(taps, first + static_cast<float>(i), cubic_weight(rest - static_cast<float>(i)), size,
          distance);
    return taps;
  }

  void add(Taps& taps, float pixel, float weight, std::int64_t size, std::int64_t distance) const {
    auto at = static_cast<std::int64_t>(pixel);
    if (at < 0 || at >= size) {
      if (beyond_ == Beyond::zeros) return;
      const auto last = static_cast<double>(size - 1);
      if (beyond_ == Beyond::reflection) {
        const double edge = align_corners_ ? 0 : 0.5;
        at = static_cast<std::int64_t>(reflected(static_cast<double>(pixel), -edge, last + edge));
      }
      at = std::clamp<std::int64_t>(at, 0, size - 1);
    }
    taps.at[taps.count] = at * distance;
    taps.weight[taps.count++] = weight;
  }

  const Buffer x_ = input("x"), grid_ = input("grid");
  const std::int64_t batch_ = field("batch"), channels_ = field("channels"), axes_ = field("axes");
  const Extent3 input_ = field("input");  // the last `axes` of them; 1 before
  const std::int64_t points_ = field("points");
  const Interpolation interpolation_ = field("interpolation");
  const Beyond beyond_ = field("beyond");
  const bool align_corners_ = field("align_corners");
};

}  // namespace

Buffer kinds::grid_sample(Graph& graph, Fields& f) { return append_as<GridSampleOp>(graph, f); }

}  // namespace fbg
