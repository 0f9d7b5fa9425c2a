// Packs whole matrices B into panels, and reads them back; outliers.cc splits matrices that were
// packed here.
#include "fbg/gemm/pack_b.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/int4.h"
#include "gemm/pack_codes.h"
#include "kernels/weight_codec.h"

namespace fbg {
namespace {

class ElementPacker final : public PanelWriter {
 public:
  ElementPacker(GemmType family, const ElementView& w, const WeightQuant& quant, bool zero_points)
      : PanelWriter({family, w.rows, w.cols, !quant.scale.empty(), zero_points}), w_(w) {
    PackedHeader& h = block_.header;
    h.per_column = quant.scale.size() > 1 || quant.granularity == Granularity::column;
    const auto spread = [&](auto* out, auto values) {
      for (std::int64_t j = 0; j < std::max<std::int64_t>(w.cols, 1); ++j)
        out[j] = values[values.size() == 1 ? 0 : j];
    };
    if (!quant.scale.empty()) spread(block_.at<float>(h.scale_offset), quant.scale);
    if (zero_points) spread(block_.at<std::int32_t>(h.zero_point_offset), quant.zero_point);
  }

 private:
  void read(Chunk& chunk) noexcept override {
    const std::int64_t down = w_.row_stride * format_.b_bytes;
    const std::int64_t along = w_.col_stride * format_.b_bytes;
    read_elements(chunk, 0, chunk.columns,
                  static_cast<const std::byte*>(w_.data) + chunk.begin * down + chunk.first * along,
                  down, along);
  }

  const ElementView w_;
};

}  // namespace

PackedMatrix PackedMatrix::pack(GemmType family, const ElementView& w, const WeightQuant& quant) {
  const bool zero_points = std::ranges::any_of(
      quant.zero_point, [&](std::int32_t z) { return quant.stores_zeros || z != 0; });
  ElementPacker packer(family, w, quant, zero_points);
  packer.run(0, 1);
  return packer.finish();
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
  const std::int64_t kr = packed.kr, bytes = packed.b_bytes;
  const auto read_one = kernels::weight_codec(family()).read;
  for (std::int64_t j = 0; j < cols(); ++j) {
    const std::byte* group = group_of(0, j);
    for (std::int64_t k = 0; k < rows(); k += kr, group += group_bytes())
      for (std::int64_t r = 0; r < std::min(kr, rows() - k); ++r)
        read_one(packed, group, j % kPanelColumns, r,
                 out + ((k + r) * row_stride + j * col_stride) * bytes);
  }
  if (family() != GemmType::int16) return;
  const Outliers sparse = outliers();
  for (std::int64_t j = 0; j < cols(); ++j)
    for (std::int64_t p = sparse.indptr[j]; p < sparse.indptr[j + 1]; ++p)
      std::memcpy(out + sparse.rows[p] * row_stride + j * col_stride, &sparse.values[p], 1);
}

}  // namespace fbg
