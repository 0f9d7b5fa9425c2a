// The search for the scale of a group of 4-bit weights, or for its scale and offset.
#include "gemm/int4_groups.h"

#include <algorithm>
#include <cmath>

#include "core/float16.h"

namespace fbg {
namespace {

// The weight of the largest magnitude becomes one of these, from -kFirst on: a scale of its sign
// turned round uses the value -8, which has no counterpart among the positive ones.
constexpr int kCandidates = 21;
constexpr float kFirst = 6.8f, kStep = 0.1f;
constexpr float kLargestScale = 65504.0f;

// With an offset: half the range of the 16 values, relative to half the range of the weights.
constexpr int kReaches = 12;
constexpr float kFirstReach = 0.72f, kReachStep = 0.03f;
constexpr int kFits = 2;  // fits of scale and offset to the values, each followed by a new rounding

// Half to even, by the addition that leaves no bits behind the point: |x| stays below 2^22.
float rounded(float x) {
  constexpr float kMagic = 12582912.0f;
  return (std::clamp(x, -8.0f, 7.0f) + kMagic) - kMagic;
}

}  // namespace

Int4Column quantize_int4(std::span<const float> weights) noexcept {
  Int4Column column{};
  float extreme = 0.0f;
  for (const float w : weights)
    if (std::fabs(w) > std::fabs(extreme)) extreme = w;
  // Smaller weights have no scale in float16; their reciprocals may not even be finite.
  if (std::fabs(extreme) < 0x1p-24f) return column;

  // With the values q, the error is least for scale = Σ w q / Σ q², and is then less than that of
  // zeros by (Σ w q)² / Σ q². Weights are taken relative to the largest one, so that nothing
  // overflows.
  std::array<float, kMaxInt4Group> relative;
  for (std::size_t k = 0; k < weights.size(); ++k) relative[k] = weights[k] / extreme;
  float best = 0.0f, scale = 0.0f;
  for (int candidate = 0; candidate < kCandidates; ++candidate) {
    const float inverse = -(kFirst + kStep * static_cast<float>(candidate));
    float products = 0.0f, squares = 0.0f;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const float q = rounded(relative[k] * inverse);
      products += relative[k] * q;
      squares += q * q;
    }
    const float gain = products * products / squares;
    if (gain > best) {
      best = gain;
      scale = products / squares;
    }
  }
  column.scale = from_float<float16>(std::clamp(scale * extreme, -kLargestScale, kLargestScale));
  const float stored = to_float(column.scale);
  if (stored == 0.0f) return column;
  for (std::size_t k = 0; k < weights.size(); ++k)
    column.q[k] = static_cast<std::int8_t>(rounded(weights[k] / stored));
  return column;
}

Int4Column quantize_int4_with_offset(std::span<const float> weights) noexcept {
  Int4Column column{};
  if (weights.empty()) return column;
  const auto [least, greatest] = std::ranges::minmax(weights);
  const float middle = 0.5f * least + 0.5f * greatest, half = 0.5f * greatest - 0.5f * least;
  const auto count = static_cast<float>(weights.size());
  float best = 0.0f, scale = 0.0f, offset = 0.0f;  // for weights relative to their range
  std::array<float, kMaxInt4Group> relative;
  // Weights that differ by less have no scale in float16: only an offset.
  const bool differ = half >= 0x1p-22f;
  for (std::size_t k = 0; differ && k < weights.size(); ++k)
    relative[k] = (weights[k] - middle) / half;
  // With the values q, the error is least for scale = cov(w, q) / var(q), and is then less than
  // that of the mean of the weights by cov(w, q)² / var(q).
  for (int reach = 0; differ && reach < kReaches; ++reach) {
    float step = (kFirstReach + kReachStep * static_cast<float>(reach)) * (2.0f / 15.0f);
    float start = 0.5f * step;
    for (int fit = 0; fit < kFits; ++fit) {
      const float inverse = 1.0f / step;
      float sum = 0.0f, sum_q = 0.0f, products = 0.0f, squares = 0.0f;
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const float q = rounded((relative[k] - start) * inverse);
        sum += relative[k];
        sum_q += q;
        products += relative[k] * q;
        squares += q * q;
      }
      const float covariance = products - sum * sum_q / count;
      const float variance = squares - sum_q * sum_q / count;
      if (!(variance > 0.0f && covariance > 0.0f)) break;
      step = covariance / variance;
      start = (sum - step * sum_q) / count;
      if (const float gain = covariance * step; gain > best) {
        best = gain;
        scale = step;
        offset = start;
      }
    }
  }
  const auto stored = [](float x) {
    return from_float<float16>(std::clamp(x, -kLargestScale, kLargestScale));
  };
  column.scale = stored(scale * half);
  column.offset = stored(offset * half + middle);
  const float step = to_float(column.scale), start = to_float(column.offset);
  if (step == 0.0f) return column;
  for (std::size_t k = 0; k < weights.size(); ++k)
    column.q[k] = static_cast<std::int8_t>(rounded((weights[k] - start) / step));
  return column;
}

}  // namespace fbg
