// Quantizes whole matrices B, which pack_b.cc then packs.
#include <algorithm>
#include <vector>

#include "fbg/core/float_environment.h"
#include "fbg/gemm/pack_b.h"

namespace fbg {
namespace {

// Adding and taking away 1.5 * 2^23 leaves a float rounded half to even; |x| stays below 2^22 here.
float round_half_even(float x) {
  constexpr float kMagic = 12582912.0f;
  return (x + kMagic) - kMagic;
}

struct ColumnRange {
  std::vector<float> lo, hi;
};

// Calls f(k, j) for every element in storage order.
template <class F>
void for_each_element(const MatrixView<const float>& w, F f) {
  if (w.is_by_columns()) {
    for (std::int64_t j = 0; j < w.cols; ++j)
      for (std::int64_t k = 0; k < w.rows; ++k) f(k, j);
  } else {
    for (std::int64_t k = 0; k < w.rows; ++k)
      for (std::int64_t j = 0; j < w.cols; ++j) f(k, j);
  }
}

ColumnRange column_ranges(const MatrixView<const float>& w, Granularity granularity) {
  ColumnRange r{std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f),
                std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f)};
  for_each_element(w, [&](std::int64_t k, std::int64_t j) {
    const float x = w(k, j);
    r.lo[j] = std::min(r.lo[j], x);
    r.hi[j] = std::max(r.hi[j], x);
  });
  if (granularity == Granularity::tensor && w.cols > 0) {
    std::fill(r.lo.begin(), r.lo.end(), *std::min_element(r.lo.begin(), r.lo.end()));
    std::fill(r.hi.begin(), r.hi.end(), *std::max_element(r.hi.begin(), r.hi.end()));
  }
  return r;
}

}  // namespace

PackedMatrix PackedMatrix::quantize(MatrixView<const float> w, Granularity granularity,
                                    bool symmetric) {
  const FloatEnvironment environment;
  const ColumnRange range = column_ranges(w, granularity);
  const auto columns = static_cast<std::size_t>(std::max<std::int64_t>(w.cols, 1));
  std::vector<float> scale(columns, 1.0f), zero(columns, 0.0f);
  for (std::int64_t j = 0; j < w.cols; ++j) {
    const float lo = range.lo[j], hi = range.hi[j];
    // Halved before they are subtracted: hi - lo may not fit in a float.
    const float span = symmetric ? std::max(-lo, hi) / 127.0f : hi / 255.0f - lo / 255.0f;
    const bool usable = span >= 1.17549435e-38f;  // smallest normal: w / span stays finite
    scale[j] = usable ? span : 1.0f;
    if (!symmetric) zero[j] = round_half_even(std::clamp(-128.0f - lo / scale[j], -128.0f, 127.0f));
  }
  const float lowest = symmetric ? -127.0f : -128.0f;
  const std::int64_t row_stride = w.is_by_columns() ? 1 : w.cols;
  const std::int64_t col_stride = w.is_by_columns() ? w.rows : 1;
  std::vector<std::int8_t> q(static_cast<std::size_t>(w.rows * w.cols));
  for_each_element(w, [&](std::int64_t k, std::int64_t j) {
    const float x = round_half_even(w(k, j) / scale[j]) + zero[j];
    q[k * row_stride + j * col_stride] = static_cast<std::int8_t>(std::clamp(x, lowest, 127.0f));
  });
  const std::vector<std::int32_t> points(zero.begin(), zero.end());
  WeightQuant quant{scale, {}, granularity, true};
  if (!symmetric) quant.zero_point = points;
  if (granularity == Granularity::tensor) {
    quant.scale = quant.scale.first(1);
    if (!symmetric) quant.zero_point = quant.zero_point.first(1);
  }
  return pack(GemmType::int32, {q.data(), w.rows, w.cols, row_stride, col_stride}, quant);
}

}  // namespace fbg
