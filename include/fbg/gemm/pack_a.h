// A-packing: how the rows of the left operand reach the microkernel.
//
// A packer is a small value that refers to a matrix and knows what the kernel needs of it: bytes
// (or floats) with unit stride in k, and per row a scale, a zero point and a row offset. The driver
// asks for a block of rows at a time:
//
//   prepare(rows, block)  per-row parameters, which may need a pass over whole rows (min, max)
//   pack(rows, block)     the elements, into block.packed; skipped where they are read in place,
//                         which is the choice of the driver: it may pack what could be read
//
// Row offsets, where block.row_offsets is not null, may come from either; where rows can be read in
// place, from prepare().
//
// To add a packer (im2col, another format), write a struct that models PackAModel; the driver needs
// nothing else. examples/cpp has a packer of a program outside fbg.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"

namespace fbg {

// Room for one block of rows, in the caller's workspace.
struct ABlock {
  // The CPU features that the product was prepared for. A packer chooses its code by these: the
  // features that are active may change between the preparation and the run.
  Features features = 0;
  void* packed = nullptr;  // block rows x K elements
  // Bytes between packed rows: K rounded up to whole k-groups. What follows K is multiplied by
  // zero: floats there must be zero, and bytes may be anything.
  std::int64_t ld = 0;
  float* scale = nullptr;  // one per row
  std::int32_t* zero_point = nullptr;
  std::int32_t* row_offsets = nullptr;  // null: nobody needs them
};

template <class P>
concept PackAModel = requires(const P p, Range rows, ABlock& block) {
  typename P::Element;                            // what the kernel reads
  { P::kHasScale } -> std::convertible_to<bool>;  // fills scale and zero_point
  { p.rows() } -> std::convertible_to<std::int64_t>;
  { p.depth() } -> std::convertible_to<std::int64_t>;
  // Null, or the matrix when its rows can be read in place (unit stride in k).
  { p.in_place() } -> std::convertible_to<const typename P::Element*>;
  { p.in_place_ld() } -> std::convertible_to<std::int64_t>;  // elements
  { p.prepare(rows, block) }
  noexcept;
  { p.pack(rows, block) }
  noexcept;
};

// What a packer adds to every element of its source. Zero points take care of it, and the driver
// takes it out of results that leave as raw sums.
template <PackAModel A>
constexpr std::int32_t a_shift() {
  if constexpr (requires { A::kShift; })
    return A::kShift;
  else
    return 0;
}

// Widens rows to the format that kernels without a dot product of their type read
// (PackedFormat::wide_a). K is padded with zeros to a whole k-group.
void widen_rows(const std::uint8_t* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::byte* out, std::int64_t ld_bytes, Features features) noexcept;
void widen_rows(const bfloat16* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::byte* out, std::int64_t ld_bytes, Features features) noexcept;

// sums[g * ld_sums + i] = the sum of row i of A over group g of `group` k, the last one shorter.
void sum_groups(const std::uint8_t* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::int64_t group, float* sums, std::int64_t ld_sums, Features features) noexcept;

// Whether kernels may read a matrix in place. Rows a multiple of 4 KiB apart fall into the
// same cache sets, so such a matrix is copied.
template <class T>
bool readable_in_place(const MatrixView<const T>& a) {
  const std::int64_t ld_bytes = a.row_stride * static_cast<std::int64_t>(sizeof(T));
  return a.col_stride == 1 && (a.rows <= 4 || (ld_bytes >= 0 && ld_bytes % 4096 != 0));
}

// Elements as they are: uint8 for the integer kernels, float or bfloat16 for the float kernels.
template <class T>
class PackA {
 public:
  using Element = T;
  static constexpr bool kHasScale = false;

  explicit PackA(MatrixView<const T> a) : a_(a) {}
  std::int64_t rows() const { return a_.rows; }
  std::int64_t depth() const { return a_.cols; }
  const T* in_place() const { return readable_in_place(a_) ? a_.data : nullptr; }
  std::int64_t in_place_ld() const { return a_.row_stride; }
  void prepare(Range rows, ABlock& block) const noexcept;
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  MatrixView<const T> a_;
};

// float rounded to bfloat16 (half to even) while it is packed.
class PackAToBFloat16 {
 public:
  using Element = bfloat16;
  static constexpr bool kHasScale = false;

  explicit PackAToBFloat16(MatrixView<const float> a) : a_(a) {}
  std::int64_t rows() const { return a_.rows; }
  std::int64_t depth() const { return a_.cols; }
  const bfloat16* in_place() const { return nullptr; }
  std::int64_t in_place_ld() const { return 0; }
  void prepare(Range, ABlock&) const noexcept {}
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  MatrixView<const float> a_;
};

// float rounded to float16 (half to even) while it is packed. Each row is divided by a power of
// two, its scale, so that its largest magnitude is from 1 to 2. Zeros have the scale 1, and so has
// a row that holds NaN or infinity.
class PackAToFloat16 {
 public:
  using Element = float16;
  static constexpr bool kHasScale = true;

  explicit PackAToFloat16(MatrixView<const float> a) : a_(a) {}
  std::int64_t rows() const { return a_.rows; }
  std::int64_t depth() const { return a_.cols; }
  const float16* in_place() const { return nullptr; }
  std::int64_t in_place_ld() const { return 0; }
  void prepare(Range rows, ABlock& block) const noexcept;
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  MatrixView<const float> a_;
};

// Quantized already: uint8, or int8 that is shifted by 128 while it is packed. Scale and zero point
// are those of the source type; there is one of each, or one for each row.
template <class T>
class PackAWithRowOffset {
 public:
  using Element = std::uint8_t;
  static constexpr bool kHasScale = true;
  static constexpr std::int32_t kShift = std::is_same_v<T, std::int8_t> ? 128 : 0;

  PackAWithRowOffset(MatrixView<const T> a, float scale, std::int32_t zero_point = 0)
      : a_(a), scale_(scale), zero_point_(zero_point) {}
  std::int64_t rows() const { return a_.rows; }
  std::int64_t depth() const { return a_.cols; }
  const std::uint8_t* in_place() const {
    if constexpr (kShift != 0)
      return nullptr;
    else
      return readable_in_place(a_) ? a_.data : nullptr;
  }
  std::int64_t in_place_ld() const { return a_.row_stride; }
  void prepare(Range rows, ABlock& block) const noexcept;
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  MatrixView<const T> a_;
  float scale_;
  std::int32_t zero_point_;
};

// float32 quantized while packing, as ONNX DynamicQuantizeLinear chooses scale and zero point, per
// row (default) or once for the whole matrix; q = saturate(rint(x * (1 / scale)) + zero_point).
// Where the extents of the rows are known, as from RowRange, a row is not searched for them. With a
// channel scale, one factor for each of the K columns, what is quantized is x * channel_scale: with
// the rows of B divided by it, the product is the same and the quantization may be better.
class PackAWithQuantRowOffset {
 public:
  using Element = std::uint8_t;
  static constexpr bool kHasScale = true;

  // Per tensor, the constructor passes over the whole matrix, with code chosen by `features`.
  explicit PackAWithQuantRowOffset(MatrixView<const float> a, bool per_row = true,
                                   const float* channel_scale = nullptr,
                                   Features features = active_features());
  PackAWithQuantRowOffset(MatrixView<const float> a, const RowExtent* extents)
      : a_(a), extents_(extents), per_row_(true) {}
  std::int64_t rows() const { return a_.rows; }
  std::int64_t depth() const { return a_.cols; }
  const std::uint8_t* in_place() const { return nullptr; }
  std::int64_t in_place_ld() const { return 0; }
  void prepare(Range rows, ABlock& block) const noexcept;
  void pack(Range rows, ABlock& block) const noexcept;

 private:
  MatrixView<const float> a_;
  const RowExtent* extents_ = nullptr;    // of every row; null: not known
  const float* channel_scale_ = nullptr;  // null: none
  bool per_row_;
  float scale_ = 1;
  std::int32_t zero_point_ = 0;
};

extern template class PackA<std::uint8_t>;
extern template class PackA<float>;
extern template class PackA<bfloat16>;
extern template class PackAWithRowOffset<std::uint8_t>;
extern template class PackAWithRowOffset<std::int8_t>;

}  // namespace fbg
