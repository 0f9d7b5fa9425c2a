// Packs B into panels. Of the ways to make a PackedB, those that start from a matrix are here, and
// write_panels writes the layout that fbg/gemm/pack_b.h draws; outliers.cc splits what was packed
// here.
#include "fbg/gemm/pack_b.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/float16.h"
#include "core/int4.h"
#include "fbg/core/float_environment.h"
#include "fbg/gemm/gemm.h"
#include "gemm/int4_groups.h"
#include "gemm/packed_block.h"

namespace fbg {
namespace {

// Adding and taking away 1.5 * 2^23 leaves a float rounded half to even; |x| stays below 2^22 here.
float round_half_even(float x) {
  constexpr float kMagic = 12582912.0f;
  return (x + kMagic) - kMagic;
}

// Writes every panel. element(k, column) is called once per element, panel by panel and within a
// panel by ascending k-groups.
template <class Acc, class F>
void write_panels(std::byte* panels, std::int64_t k, std::int64_t n, F element) {
  using B = typename Acc::B;
  constexpr std::int64_t kr = Acc::format.kr, width = Acc::format.panel_columns;
  constexpr std::int64_t kGroup = width * kr;
  const std::int64_t groups = ceil_div(k, kr);
  auto* out = reinterpret_cast<B*>(panels);
  for (std::int64_t first = 0; first < n; first += width, out += groups * kGroup) {
    const std::int64_t columns = std::min(width, n - first);
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t depth = std::min(kr, k - g * kr);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t r = 0; r < depth; ++r)
          out[g * kGroup + j * kr + r] = element(g * kr + r, first + j);
    }
  }
}

template <class Acc>
void fill_col_offsets(PackedBlock& s) {
  if constexpr (is_integer(Acc::kind)) {
    const PackedHeader& h = s.header;
    static_assert(Acc::format.kr == 4);
    constexpr std::int64_t width = Acc::format.panel_columns;
    const std::int64_t groups = ceil_div(h.k, Acc::format.kr);
    const auto* panel = s.at<std::int8_t>(h.panels_offset);
    auto* sums = s.at<std::int32_t>(h.col_offsets_offset);
    for (std::int64_t first = 0; first < h.n; first += width, sums += width)
      for (std::int64_t g = 0; g < groups; ++g, panel += Acc::format.b_group())
        for (std::int64_t j = 0; j < width; ++j)
          sums[j] += panel[4 * j] + panel[4 * j + 1] + panel[4 * j + 2] + panel[4 * j + 3];
  }
}

struct ColumnRange {
  std::vector<float> lo, hi;
};

ColumnRange column_ranges(const MatrixView<const float>& w, Granularity granularity) {
  ColumnRange r{std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f),
                std::vector<float>(static_cast<std::size_t>(w.cols), 0.0f)};
  const auto widen = [&](std::int64_t j, float x) {
    r.lo[j] = std::min(r.lo[j], x);
    r.hi[j] = std::max(r.hi[j], x);
  };
  if (w.row_stride == 1) {  // stored by columns, as torch keeps (N, K)
    for (std::int64_t j = 0; j < w.cols; ++j)
      for (std::int64_t k = 0; k < w.rows; ++k) widen(j, w(k, j));
  } else {
    for (std::int64_t k = 0; k < w.rows; ++k)
      for (std::int64_t j = 0; j < w.cols; ++j) widen(j, w(k, j));
  }
  if (granularity == Granularity::tensor && w.cols > 0) {
    std::fill(r.lo.begin(), r.lo.end(), *std::min_element(r.lo.begin(), r.lo.end()));
    std::fill(r.hi.begin(), r.hi.end(), *std::max_element(r.hi.begin(), r.hi.end()));
  }
  return r;
}

}  // namespace

template <class Acc>
PackedB<Acc> PackedB<Acc>::pack(MatrixView<const Element> w,
                                WeightQuant quant) requires(Acc::kind != Accumulator::int16 &&
                                                            !is_int4(Acc::kind)) {
  constexpr bool integer = is_integer(Acc::kind);
  const bool zero_points = std::ranges::any_of(
      quant.zero_point, [&](std::int32_t z) { return quant.stores_zeros || z != 0; });
  PackedBlock s(lay_out(BlockShape::of<Acc>(w.rows, w.cols, !quant.scale.empty(), zero_points)));
  s.header.per_column = quant.scale.size() > 1 || quant.granularity == Granularity::column;
  write_panels<Acc>(s.at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                    [&](std::int64_t k, std::int64_t j) { return w(k, j); });
  const auto spread = [&](auto* out, auto values) {
    for (std::int64_t j = 0; j < std::max<std::int64_t>(w.cols, 1); ++j)
      out[j] = values[values.size() == 1 ? 0 : j];
  };
  if (!quant.scale.empty()) spread(s.at<float>(s.header.scale_offset), quant.scale);
  if (zero_points) spread(s.at<std::int32_t>(s.header.zero_point_offset), quant.zero_point);
  if (integer) fill_col_offsets<Acc>(s);
  PackedB b;
  b.data_ = s.finish();
  return b;
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::convert(MatrixView<const float> w) requires(Acc::kind !=
                                                                           Accumulator::int16 &&
                                                                       !is_int4(Acc::kind)) {
  if constexpr (is_integer(Acc::kind)) {
    return quantize(w, Granularity::column, true);
  } else {
    PackedBlock s(lay_out(BlockShape::of<Acc>(w.rows, w.cols, false, false)));
    write_panels<Acc>(s.template at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                      [&](std::int64_t k, std::int64_t j) { return from_float<Element>(w(k, j)); });
    PackedB b;
    b.data_ = s.finish();
    return b;
  }
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::quantize(MatrixView<const float> w, Granularity granularity,
                                    bool symmetric) requires(Acc::kind != Accumulator::int16 &&
                                                             !is_int4(Acc::kind)) {
  if constexpr (!is_integer(Acc::kind)) {
    return convert(w);
  } else {
    const FloatEnvironment environment;
    const ColumnRange range = column_ranges(w, granularity);
    PackedBlock s(lay_out(BlockShape::of<Acc>(w.rows, w.cols, true, !symmetric)));
    s.header.per_column = granularity == Granularity::column;
    auto* scale = s.template at<float>(s.header.scale_offset);
    scale[0] = 1.0f;
    std::vector<float> zero(static_cast<std::size_t>(w.cols), 0.0f);
    const float lowest = symmetric ? -127.0f : -128.0f;
    for (std::int64_t j = 0; j < w.cols; ++j) {
      const float lo = range.lo[j], hi = range.hi[j];
      // Halved before they are subtracted: hi - lo may not fit in a float.
      const float span = symmetric ? std::max(-lo, hi) / 127.0f : hi / 255.0f - lo / 255.0f;
      const bool usable = span >= 1.17549435e-38f;  // smallest normal: w / span stays finite
      scale[j] = usable ? span : 1.0f;
      if (!symmetric) {
        zero[j] = round_half_even(std::clamp(-128.0f - lo / scale[j], -128.0f, 127.0f));
        s.template at<std::int32_t>(s.header.zero_point_offset)[j] =
            static_cast<std::int32_t>(zero[j]);
      }
    }
    write_panels<Acc>(s.template at<std::byte>(s.header.panels_offset), w.rows, w.cols,
                      [&](std::int64_t k, std::int64_t j) {
                        const float q = round_half_even(w(k, j) / scale[j]) + zero[j];
                        return static_cast<std::int8_t>(std::clamp(q, lowest, 127.0f));
                      });
    fill_col_offsets<Acc>(s);
    PackedB b;
    b.data_ = s.finish();
    return b;
  }
}

template <class Acc>
PackedB<Acc> PackedB<Acc>::pack(
    MatrixView<const Element> w, MatrixView<const float16> scales,
    std::optional<MatrixView<const float16>> offsets) requires(is_int4(Acc::kind)) {
  PackedBlock s(lay_out(BlockShape::of<Acc>(w.rows, w.cols, false, offsets.has_value())));
  const std::int64_t group_bytes = Acc::format.b_group(offsets.has_value());
  Int4Column column;
  for (std::int64_t j = 0; j < w.cols; ++j) {
    auto* panel = s.at<std::byte>(s.header.panels_offset) +
                  j / kPanelColumns * ceil_div(w.rows, Acc::format.kr) * group_bytes;
    float weighted = 0.0f;
    for (std::int64_t g = 0; g < scales.rows; ++g, panel += group_bytes) {
      const std::int64_t used = std::min<std::int64_t>(Acc::format.kr, w.rows - g * Acc::format.kr);
      column.scale = scales(g, j);
      if (offsets) column.offset = (*offsets)(g, j);
      for (std::int64_t i = 0; i < Acc::format.kr; ++i)
        column.q[i] = i < used ? w(g * Acc::format.kr + i, j) : Element{};
      weighted = put_int4_column(panel, j % kPanelColumns, Acc::format.kr, used,
                                 offsets.has_value(), column, weighted);
    }
    s.at<float>(s.header.col_offsets_offset)[j] = weighted;
  }
  PackedB b;
  b.data_ = s.finish();
  return b;
}

template <class Acc>
float16 PackedB<Acc>::group_scale(std::int64_t g, std::int64_t j) const
    requires(is_int4(Acc::kind)) {
  return int4_scale(panels() + j / kPanelColumns * panel_bytes() + g * group_bytes(),
                    j % kPanelColumns, Acc::format.kr);
}

template <class Acc>
float16 PackedB<Acc>::group_offset(std::int64_t g, std::int64_t j) const
    requires(is_int4(Acc::kind)) {
  if (!has_group_offsets()) return {};
  return int4_offset(panels() + j / kPanelColumns * panel_bytes() + g * group_bytes(),
                     j % kPanelColumns, Acc::format.kr);
}

template <class Acc>
typename PackedB<Acc>::Element PackedB<Acc>::at(std::int64_t k, std::int64_t n) const {
  if constexpr (Acc::kind == Accumulator::int16) {
    const Outliers sparse = outliers();
    const auto* const first = sparse.rows.data() + sparse.indptr[n];
    const auto* const last = sparse.rows.data() + sparse.indptr[n + 1];
    const auto* const found = std::lower_bound(first, last, k);
    if (found != last && *found == k) return sparse.values[found - sparse.rows.data()];
  }
  constexpr std::int64_t kr = Acc::format.kr, width = Acc::format.panel_columns;
  if constexpr (is_int4(Acc::kind))
    return static_cast<Element>(int4_value(
        panels() + n / width * panel_bytes() + k / kr * group_bytes(), n % width, k % kr));
  const auto* panel = reinterpret_cast<const Element*>(panels() + n / width * panel_bytes());
  return panel[(k / kr * width + n % width) * kr + k % kr];
}

template <class Acc>
void PackedB<Acc>::unpack(MatrixView<Element> w) const {
  for (std::int64_t k = 0; k < rows(); ++k)
    for (std::int64_t j = 0; j < cols(); ++j) w(k, j) = at(k, j);
}

template class PackedB<Int32>;
template class PackedB<Int16>;
template class PackedB<Float32>;
template class PackedB<BFloat16>;
template class PackedB<Float32BF16>;
template class PackedB<Float32F16>;
template class PackedB<Int4<32>>;
template class PackedB<Int4<64>>;
template class PackedB<Int4<128>>;

}  // namespace fbg
