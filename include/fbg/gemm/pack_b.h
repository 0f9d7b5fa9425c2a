// Prepacked B: made once per weight matrix, read by every multiplication.
//
// Layout of a panel (32 columns, zero padded in k and in columns), the same on every ISA:
//
//   int8   [K/4][32][4]   k-group g, column j, k = 4g..4g+3: the four bytes of one dot product lane
//   bf16   [K/2][32][2]
//   float, float16   [K][32]
//   int4   [K/group]{[group/8][32][4], 32 scales [, 32 offsets]}: see Int4 (fbg/core/types.h)
//
// Panels follow each other. One allocation holds header and sections, each 64-byte aligned, so that
// what is saved is what is run:
//
//   header | panels | scale | zero point | column offsets [| spill depths | outliers]
//
// The column offsets of int4 are the floats that weighted_offsets() returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"

namespace fbg {

inline constexpr std::uint32_t kPackedVersion = 1;

// Fixed-size, little-endian, and the same on every ISA.
struct PackedHeader {
  char magic[8] = {'F', 'B', 'G', 'P', 'A', 'C', 'K', 'B'};
  std::uint32_t version = kPackedVersion;
  GemmType gemm_type{};
  std::uint8_t kr = 0;
  std::uint8_t panel_columns = kPanelColumns;
  std::uint8_t has_scale = 0;       // quantization parameters are known
  std::uint8_t has_zero_point = 0;  // zero points are stored; of int4: groups have offsets
  std::uint8_t per_column = 0;      // scale was given or chosen per column, not per tensor
  std::uint8_t unused[2] = {};
  std::uint32_t group_size = 0;  // k per scale; 0: one scale for the whole K
  std::int64_t k = 0, n = 0;
  std::int64_t panels_offset = 0, scale_offset = 0, zero_point_offset = 0, col_offsets_offset = 0;
  std::int64_t total_bytes = 0;
  std::uint64_t checksum = 0;  // of the whole block, this field taken as 0
  std::int64_t spill_offset = 0, outliers_offset = 0, num_outliers = 0;  // int16 only
  std::uint8_t reserved[16] = {};
};
static_assert(sizeof(PackedHeader) == 128);

enum class Granularity : std::uint8_t { column, tensor };

// Scales and zero points of a weight matrix that is already quantized: 1 or N of each. The
// granularity is that of the scale; it matters where N = 1 and may be left out elsewhere. Zero
// points that are all 0 are not stored, unless the matrix is one of several that must be alike.
struct WeightQuant {
  std::span<const float> scale;
  std::span<const std::int32_t> zero_point;
  Granularity granularity = Granularity::tensor;
  bool stores_zeros = false;
};

// Compressed sparse columns: column j holds values[p] in row rows[p], indptr[j] <= p < indptr[j+1],
// rows ascending.
struct Outliers {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> rows;
  std::span<const std::int8_t> values;
};

// A matrix of elements whose type a family names; strides count elements.
struct ElementView {
  const void* data;
  std::int64_t rows, cols, row_stride, col_stride;

  template <class T>
  static ElementView of(const MatrixView<T>& w) {
    return {w.data, w.rows, w.cols, w.row_stride, w.col_stride};
  }
};

// A packed matrix of any family: its header says which. A view of one block, which copies share.
class PackedMatrix {
 public:
  PackedMatrix() = default;

  // Packs w (K x N, any strides) as it is; quantization parameters are optional for int8, and there
  // are none for others. Int16 comes from `split`, int4 from `pack_groups`.
  static PackedMatrix pack(GemmType family, const ElementView& w, const WeightQuant& quant = {});

  // Packs 4-bit values, K x N within [-8, 7], with the scales (K / group, rounded up) x N and, if
  // groups are to have them, as many offsets.
  static PackedMatrix pack_groups(GemmType family, MatrixView<const std::int8_t> w,
                                  MatrixView<const float16> scales,
                                  std::optional<MatrixView<const float16>> offsets);

  // Packs a float matrix in the element type of the family, rounded half to even; as int8, with a
  // symmetric scale for each column.
  static PackedMatrix convert(GemmType family, MatrixView<const float> w);

  // Quantizes a float matrix to int8 while packing, for Int32. Symmetric: scale = max|w| / 127,
  // zero point 0. Asymmetric: scale = (max - min) / 255 over [min(w, 0), max(w, 0)].
  static PackedMatrix quantize(MatrixView<const float> w,
                               Granularity granularity = Granularity::column,
                               bool symmetric = true);

  // B = panels + outliers, such that int16 sums over spill_groups() k-groups cannot overflow
  // (src/gemm/outliers.cc). The panels keep what fits in `outlier_bits` bits; 0 chooses for each
  // panel what costs least, and gives nothing where int16 would then cost more than int32.
  static std::optional<PackedMatrix> split(const PackedMatrix& int32, int outlier_bits = 0);

  // Uses a stored block in place: 64-byte aligned and never changed again. Throws
  // std::invalid_argument that says what is wrong with it, which may be that it is of another
  // family than `wanted`. Whatever the bytes are, no later call reads outside of them; `verify`
  // compares the checksum as well, which reads them all.
  static PackedMatrix from_bytes(std::shared_ptr<const std::byte> data, std::int64_t size,
                                 bool verify = true, std::optional<GemmType> wanted = std::nullopt);

  std::int64_t rows() const { return header().k; }
  std::int64_t cols() const { return header().n; }
  const PackedHeader& header() const { return *reinterpret_cast<const PackedHeader*>(data_.get()); }
  GemmType family() const { return header().gemm_type; }
  const WeightFormat& format() const { return weight_format(family()); }
  const std::byte* panels() const { return section<std::byte>(header().panels_offset); }
  std::int64_t groups() const { return ceil_div(rows(), header().kr); }
  std::int64_t num_panels() const { return ceil_div(cols(), kPanelColumns); }
  // Bytes from one panel to the next, and between the k-groups of a panel.
  std::int64_t panel_bytes() const { return groups() * group_bytes(); }
  std::int64_t group_bytes() const { return format().packed.b_group(header().has_zero_point); }
  // Padded to whole panels; null where they are not stored, and all zero points are 0.
  const float* scale() const { return section<float>(header().scale_offset); }
  const std::int32_t* zero_point() const {
    return section<std::int32_t>(header().zero_point_offset);
  }
  const std::int32_t* col_offsets() const {
    return section<std::int32_t>(header().col_offsets_offset);
  }
  // Int4: for each column, the sum of its weights in the order in which kernels add up groups.
  const float* weighted_offsets() const { return section<float>(header().col_offsets_offset); }
  // Int4: whether groups have offsets; the scale of group g in column j, and its offset, or 0.
  bool has_group_offsets() const { return is_int4(family()) && header().has_zero_point; }
  float16 group_scale(std::int64_t g, std::int64_t j) const;
  float16 group_offset(std::int64_t g, std::int64_t j) const;
  // Int16: k-groups of a panel whose sum fits in an int16 lane, one number per panel; null else.
  const std::int32_t* spill_groups() const { return section<std::int32_t>(header().spill_offset); }
  // Int16: what was taken out of the panels.
  Outliers outliers() const noexcept;
  std::int64_t nbytes() const { return header().total_bytes; }

  // The matrix that was packed, outliers included: element (k, n), or all, where strides count
  // elements.
  void read(std::int64_t k, std::int64_t n, void* element) const;
  void unpack(void* elements, std::int64_t row_stride, std::int64_t col_stride) const;

  // Whether int8 weights are narrow, so that their products with any bytes of A are exact in int16
  // over two k-groups: in each column, the positive weights that one int16 lane multiplies in two
  // k-groups that follow each other add up to at most 128, and so do the magnitudes of the negative
  // ones. Lane i of a k-group has its weights 2 i and 2 i + 1. False where no kernel that may be
  // used when a matrix is packed, or its bytes are taken, would gain from it.
  bool is_narrow() const { return narrow_; }
  // `features`, and what the weights add to the features by which kernels are chosen.
  Features with_weights(Features features) const {
    return features | (narrow_ ? feature::narrow_weights : 0);
  }

  // The same in memory of its own.
  PackedMatrix clone() const;

  // Header and sections, as they can be stored; from_bytes takes them back.
  std::span<const std::byte> bytes() const {
    return {data_.get(), static_cast<std::size_t>(nbytes())};
  }

 protected:
  explicit PackedMatrix(std::shared_ptr<const std::byte> data);

 private:
  // The k-group of a panel that holds weight (k, n).
  const std::byte* group_of(std::int64_t k, std::int64_t n) const {
    return panels() + n / kPanelColumns * panel_bytes() + k / header().kr * group_bytes();
  }
  template <class T>
  const T* section(std::int64_t offset) const {
    return offset ? reinterpret_cast<const T*>(data_.get() + offset) : nullptr;
  }
  std::shared_ptr<const std::byte> data_;
  bool narrow_ = false;
};

// A packed matrix whose family is known when a program is compiled.
template <class Acc>
class PackedB : public PackedMatrix {
 public:
  using Element = typename Acc::B;
  static constexpr bool kIsPlain = Acc::kind != GemmType::int16 && !is_int4(Acc::kind);

  PackedB() = default;

  static PackedB pack(MatrixView<const Element> w, WeightQuant quant = {}) requires kIsPlain {
    return PackedMatrix::pack(Acc::kind, ElementView::of(w), quant);
  }
  static PackedB pack(MatrixView<const Element> w, MatrixView<const float16> scales,
                      std::optional<MatrixView<const float16>> offsets =
                          std::nullopt) requires(is_int4(Acc::kind)) {
    return pack_groups(Acc::kind, w, scales, offsets);
  }
  static PackedB convert(MatrixView<const float> w) requires kIsPlain {
    return PackedMatrix::convert(Acc::kind, w);
  }
  static PackedB quantize(MatrixView<const float> w, Granularity granularity = Granularity::column,
                          bool symmetric = true) requires(Acc::kind == GemmType::int32) {
    return PackedMatrix::quantize(w, granularity, symmetric);
  }
  static std::optional<PackedB> split(const PackedB<Int32>& b,
                                      int outlier_bits = 0) requires(Acc::kind == GemmType::int16) {
    const auto packed = PackedMatrix::split(b, outlier_bits);
    return packed ? std::optional(PackedB(*packed)) : std::nullopt;
  }
  static PackedB from_bytes(std::shared_ptr<const std::byte> data, std::int64_t size,
                            bool verify = true) {
    return PackedMatrix::from_bytes(std::move(data), size, verify, Acc::kind);
  }
  // bfloat16 weights serve both families that read them.
  static PackedB share(const PackedB<BFloat16>& b) requires std::is_same_v<Acc, Float32BF16> {
    return PackedMatrix(b);
  }

  // As those of any matrix, without a division: convolutions ask for every tile.
  std::int64_t groups() const { return ceil_div(rows(), std::int64_t{Acc::format.kr}); }
  std::int64_t panel_bytes() const { return groups() * group_bytes(); }
  std::int64_t group_bytes() const { return Acc::format.b_group(header().has_zero_point); }

  Element at(std::int64_t k, std::int64_t n) const {
    Element element;
    read(k, n, &element);
    return element;
  }
  void unpack(MatrixView<Element> w) const {
    PackedMatrix::unpack(w.data, w.row_stride, w.col_stride);
  }

 private:
  PackedB(PackedMatrix b) : PackedMatrix(std::move(b)) {}
};

// The header of a stored block, checked as far as it is the same for every family: size, magic,
// version, GEMM type. Throws std::invalid_argument.
PackedHeader packed_header(const std::byte* data, std::int64_t size);

// Number of matrices packed since the start of the process: inference must not add to it.
std::int64_t pack_b_count() noexcept;

}  // namespace fbg
