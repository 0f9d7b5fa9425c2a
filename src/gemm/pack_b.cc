// Packs whole matrices B into panels. for_each_place knows the layout that fbg/gemm/pack_b.h draws;
// outliers.cc splits matrices that were packed here.
#include "fbg/gemm/pack_b.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/int4.h"
#include "gemm/pack_codes.h"
#include "gemm/packed_block.h"
#include "kernels/weight_codec.h"

namespace fbg {
namespace {

// Calls f(size, at, i) for every weight of a k x n matrix whose elements have places of their own,
// panel by panel: `size` is an element's size, a constant, `at` the element's byte in the panels,
// and `i` its index in a matrix with those strides.
template <class F>
void for_each_place(const PackedFormat& format, std::int64_t k, std::int64_t n,
                    std::int64_t row_stride, std::int64_t col_stride, F f) {
  with_constant(format.b_bytes, [&](auto size) {
    with_constant(format.kr, [&](auto kr) {
      constexpr std::int64_t kGroup = kPanelColumns * kr;
      const std::int64_t groups = ceil_div(k, std::int64_t{kr});
      std::int64_t panel = 0;
      for (std::int64_t first = 0; first < n; first += kPanelColumns, panel += groups * kGroup) {
        const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, n - first);
        for (std::int64_t g = 0; g < groups; ++g) {
          const std::int64_t depth = std::min<std::int64_t>(kr, k - g * kr);
          for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t r = 0; r < depth; ++r)
              f(size, (panel + g * kGroup + j * kr + r) * size,
                (g * kr + r) * row_stride + (first + j) * col_stride);
        }
      }
    });
  });
}

void fill_col_offsets(PackedBlock& s) {
  const PackedHeader& h = s.header;
  const PackedFormat format = packed_format(h.gemm_type);
  const std::int64_t groups = ceil_div(h.k, format.kr);
  const auto* panel = s.at<std::int8_t>(h.panels_offset);
  auto* sums = s.at<std::int32_t>(h.col_offsets_offset);
  for (std::int64_t first = 0; first < h.n; first += kPanelColumns, sums += kPanelColumns)
    for (std::int64_t g = 0; g < groups; ++g, panel += format.b_group())
      for (std::int64_t j = 0; j < kPanelColumns; ++j)
        sums[j] += panel[4 * j] + panel[4 * j + 1] + panel[4 * j + 2] + panel[4 * j + 3];
}

}  // namespace

PackedMatrix PackedMatrix::pack(GemmType family, const ElementView& w, const WeightQuant& quant) {
  const bool zero_points = std::ranges::any_of(
      quant.zero_point, [&](std::int32_t z) { return quant.stores_zeros || z != 0; });
  PackedBlock s(lay_out({family, w.rows, w.cols, !quant.scale.empty(), zero_points}));
  s.header.per_column = quant.scale.size() > 1 || quant.granularity == Granularity::column;
  std::byte* const panels = s.at<std::byte>(s.header.panels_offset);
  const auto* const elements = static_cast<const std::byte*>(w.data);
  for_each_place(packed_format(family), w.rows, w.cols, w.row_stride, w.col_stride,
                 [=](auto size, std::int64_t at, std::int64_t i) {
                   std::memcpy(panels + at, elements + i * size, size);
                 });
  const auto spread = [&](auto* out, auto values) {
    for (std::int64_t j = 0; j < std::max<std::int64_t>(w.cols, 1); ++j)
      out[j] = values[values.size() == 1 ? 0 : j];
  };
  if (!quant.scale.empty()) spread(s.at<float>(s.header.scale_offset), quant.scale);
  if (zero_points) spread(s.at<std::int32_t>(s.header.zero_point_offset), quant.zero_point);
  if (is_integer(family)) fill_col_offsets(s);
  return PackedMatrix(s.finish());
}

PackedMatrix PackedMatrix::convert(GemmType family, MatrixView<const float> w) {
  if (is_integer(family)) return quantize(w, Granularity::column, true);
  const std::int64_t bytes = packed_format(family).b_bytes;
  if (bytes == sizeof(float)) return pack(family, ElementView::of(w));
  const auto round = kernels::weight_codec(family).round;
  // Copies lines of contiguous elements.
  const std::int64_t length = w.is_by_columns() ? w.rows : w.cols;
  std::vector<std::byte> elements(static_cast<std::size_t>(w.rows * w.cols * bytes));
  std::vector<float> line(static_cast<std::size_t>(length));
  for (std::int64_t l = 0; l < (w.is_by_columns() ? w.cols : w.rows); ++l) {
    for (std::int64_t i = 0; i < length; ++i) line[i] = w.is_by_columns() ? w(i, l) : w(l, i);
    round(line.data(), line.size(), elements.data() + l * length * bytes);
  }
  return pack(family, {elements.data(), w.rows, w.cols, w.is_by_columns() ? 1 : length,
                       w.is_by_columns() ? length : 1});
}

PackedMatrix PackedMatrix::pack_groups(GemmType family, MatrixView<const std::int8_t> w,
                                       MatrixView<const float16> scales,
                                       std::optional<MatrixView<const float16>> offsets) {
  const CodeMatrix codes{CodeForm::bytes, reinterpret_cast<const std::byte*>(w.data), w.cols,
                         w.col_stride, w.row_stride};
  CodePacker packer(family, {codes}, w.rows, {}, scales, offsets);
  packer.run(0, 1);
  return packer.finish();
}

float16 PackedMatrix::group_scale(std::int64_t g, std::int64_t j) const {
  const std::int64_t kr = format().packed.kr;
  return int4_scale(group_of(g * kr, j), j % kPanelColumns, kr);
}

float16 PackedMatrix::group_offset(std::int64_t g, std::int64_t j) const {
  if (!has_group_offsets()) return {};
  const std::int64_t kr = format().packed.kr;
  return int4_offset(group_of(g * kr, j), j % kPanelColumns, kr);
}

void PackedMatrix::read(std::int64_t k, std::int64_t n, void* element) const {
  if (family() == GemmType::int16) {
    const Outliers sparse = outliers();
    const auto* const first = sparse.rows.data() + sparse.indptr[n];
    const auto* const last = sparse.rows.data() + sparse.indptr[n + 1];
    const auto* const found = std::lower_bound(first, last, k);
    if (found != last && *found == k) {
      std::memcpy(element, &sparse.values[found - sparse.rows.data()], 1);
      return;
    }
  }
  const PackedFormat& packed = format().packed;
  kernels::weight_codec(family()).read(packed, group_of(k, n), n % kPanelColumns, k % packed.kr,
                                       element);
}

void PackedMatrix::unpack(void* elements, std::int64_t row_stride, std::int64_t col_stride) const {
  auto* const out = static_cast<std::byte*>(elements);
  const PackedFormat& packed = format().packed;
  if (packed.nibbles) {
    const auto read_one = kernels::weight_codec(family()).read;
    for (std::int64_t j = 0; j < cols(); ++j)
      for (std::int64_t k = 0; k < rows(); ++k)
        read_one(packed, group_of(k, j), j % kPanelColumns, k % packed.kr,
                 out + k * row_stride + j * col_stride);
    return;
  }
  const std::byte* const in = panels();
  for_each_place(packed, rows(), cols(), row_stride, col_stride,
                 [=](auto size, std::int64_t at, std::int64_t i) {
                   std::memcpy(out + i * size, in + at, size);
                 });
  if (family() != GemmType::int16) return;
  const Outliers sparse = outliers();
  for (std::int64_t j = 0; j < cols(); ++j)
    for (std::int64_t p = sparse.indptr[j]; p < sparse.indptr[j + 1]; ++p)
      std::memcpy(out + sparse.rows[p] * row_stride + j * col_stride, &sparse.values[p], 1);
}

}  // namespace fbg
