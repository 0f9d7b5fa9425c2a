// The A packers: they compute the parameters of each row, then write its elements with unit stride
// in k, padded with zeros to a whole k-group.
#include "fbg/gemm/pack_a.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "fbg/core/float_environment.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

// Calls use(first element, piece, length) for a row with unit stride: once for the row itself, or
// for pieces of its elements that are gathered into a buffer.
template <class T, class F>
void for_each_piece(const MatrixView<const T>& a, std::int64_t row, F use) {
  const T* source = a.data + row * a.row_stride;
  if (a.col_stride == 1 || a.cols <= 1) {
    use(std::int64_t{0}, source, a.cols);
    return;
  }
  std::array<T, 1024> piece;
  for (std::int64_t begin = 0; begin < a.cols; begin += std::ssize(piece)) {
    const std::int64_t n = std::min<std::int64_t>(std::ssize(piece), a.cols - begin);
    for (std::int64_t k = 0; k < n; ++k) piece[k] = source[(begin + k) * a.col_stride];
    use(begin, piece.data(), n);
  }
}

template <class T>
T* packed_row(const ABlock& block, std::int64_t i) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(block.packed) + i * block.ld);
}

// Rows end with a whole k-group of any family: at most 4 elements.
template <class T>
void zero_tail(T* row, std::int64_t cols) {
  std::fill(row + cols, row + round_up(cols, std::int64_t{4}), T{});
}

// The scale and the zero point of all of `a`, whose columns are multiplied by `factors` if there
// are any: those of a row that has the least and the greatest element of the matrix.
simd::RowQuant choose_tensor_quant(const MatrixView<const float>& a, const float* factors,
                                   const simd::RowKernels& kernels) {
  float extremes[2] = {0, 0};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for_each_piece(a, i, [&](std::int64_t begin, const float* x, std::int64_t n) {
      for (std::int64_t k = 0; k < n; ++k) {
        const float value = factors ? x[k] * factors[begin + k] : x[k];
        if (!std::isfinite(value)) extremes[0] = std::nanf("");
        if (value < extremes[0]) extremes[0] = value;
        if (value > extremes[1]) extremes[1] = value;
      }
    });
  return kernels.choose_row_quant(extremes, nullptr, 2);
}

}  // namespace

void widen_rows(const std::uint8_t* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::byte* out, std::int64_t ld_bytes, Features features) noexcept {
  const auto& kernels = simd::kernels(features).rows;
  for (std::int64_t i = 0; i < rows; ++i)
    kernels.widen_groups(a + i * lda, static_cast<std::size_t>(k),
                         reinterpret_cast<std::uint16_t*>(out + i * ld_bytes));
}

void sum_groups(const std::uint8_t* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::int64_t group, float* sums, std::int64_t ld_sums, Features features) noexcept {
  const auto& kernels = simd::kernels(features).rows;
  for (std::int64_t i = 0; i < rows; ++i)
    kernels.sum_groups(a + i * lda, static_cast<std::size_t>(k), static_cast<std::size_t>(group),
                       sums + i, static_cast<std::size_t>(ld_sums));
}

void widen_rows(const bfloat16* a, std::int64_t lda, std::int64_t rows, std::int64_t k,
                std::byte* out, std::int64_t ld_bytes, Features features) noexcept {
  const auto& kernels = simd::kernels(features).rows;
  for (std::int64_t i = 0; i < rows; ++i) {
    auto* const row = reinterpret_cast<float*>(out + i * ld_bytes);
    kernels.bfloat16_to_float(reinterpret_cast<const std::uint16_t*>(a + i * lda),
                              static_cast<std::size_t>(k), row);
    std::fill(row + k, row + round_up(k, std::int64_t{BFloat16::format.kr}), 0.0f);
  }
}

template <class T>
void PackA<T>::prepare(Range, ABlock&) const noexcept {}

template <class T>
void PackA<T>::pack(Range rows, ABlock& block) const noexcept {
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    T* out = packed_row<T>(block, i);
    for_each_piece(a_, rows.begin + i, [&](std::int64_t begin, const T* x, std::int64_t n) {
      std::copy_n(x, n, out + begin);
    });
    zero_tail(out, a_.cols);
  }
}

void PackAToBFloat16::pack(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    auto* out = packed_row<bfloat16>(block, i);
    for_each_piece(a_, rows.begin + i, [&](std::int64_t begin, const float* x, std::int64_t n) {
      kernels.float_to_bfloat16(x, static_cast<std::size_t>(n),
                                reinterpret_cast<std::uint16_t*>(out + begin));
    });
    zero_tail(out, a_.cols);
  }
}

void PackAToFloat16::prepare(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).weights;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    std::uint32_t largest = 0;  // bits, whose order is that of magnitudes, with NaN at the end
    for_each_piece(a_, rows.begin + i, [&](std::int64_t, const float* x, std::int64_t n) {
      const float piece = kernels.largest_magnitude(x, 1.0f, nullptr, static_cast<std::size_t>(n));
      largest = std::max(largest, std::bit_cast<std::uint32_t>(piece));
    });
    constexpr std::uint32_t kExponent = 0x7f800000u, kOne = 0x3f800000u;
    // Both the scale and what it is divided by are normal numbers.
    std::uint32_t scale = std::clamp(largest & kExponent, 1u << 23, 253u << 23);
    if (largest == 0 || largest >= kExponent) scale = kOne;
    block.scale[i] = std::bit_cast<float>(scale);
  }
}

void PackAToFloat16::pack(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    auto* out = packed_row<float16>(block, i);
    const float factor = 1 / block.scale[i];
    for_each_piece(a_, rows.begin + i, [&](std::int64_t begin, const float* x, std::int64_t n) {
      kernels.float_to_half(x, factor, static_cast<std::size_t>(n),
                            reinterpret_cast<std::uint16_t*>(out + begin));
    });
    zero_tail(out, a_.cols);
  }
}

template <class T>
void PackAWithRowOffset<T>::prepare(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  std::fill_n(block.scale, rows.size(), scale_);
  std::fill_n(block.zero_point, rows.size(), zero_point_ + kShift);
  if (kShift != 0 || !block.row_offsets) return;  // a shifted row is summed while it is packed
  if constexpr (kShift == 0) {
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      std::int32_t sum = 0;
      for_each_piece(a_, rows.begin + i, [&](std::int64_t, const T* x, std::int64_t n) {
        sum += kernels.sum_row(x, static_cast<std::size_t>(n));
      });
      block.row_offsets[i] = sum;
    }
  }
}

template <class T>
void PackAWithRowOffset<T>::pack(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    auto* out = packed_row<std::uint8_t>(block, i);
    std::int32_t sum = 0;
    for_each_piece(a_, rows.begin + i, [&](std::int64_t begin, const T* x, std::int64_t n) {
      if constexpr (kShift != 0)
        sum += kernels.shift_row(x, static_cast<std::size_t>(n), out + begin);
      else
        std::copy_n(x, n, out + begin);
    });
    zero_tail(out, a_.cols);
    if (kShift != 0 && block.row_offsets) block.row_offsets[i] = sum;
  }
}

PackAWithQuantRowOffset::PackAWithQuantRowOffset(MatrixView<const float> a, bool per_row,
                                                 const float* channel_scale, Features features)
    : a_(a), channel_scale_(channel_scale), per_row_(per_row) {
  if (per_row_) return;
  const FloatEnvironment environment;
  const simd::RowQuant quant =
      choose_tensor_quant(a_, channel_scale_, simd::kernels(features).rows);
  scale_ = quant.scale;
  zero_point_ = quant.zero_point;
}

void PackAWithQuantRowOffset::prepare(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    simd::RowQuant quant{scale_, zero_point_};
    if (extents_ && a_.cols > 0) {
      const RowExtent& extent = extents_[rows.begin + i];
      const float both[] = {extent.lo, extent.hi};
      quant = kernels.choose_row_quant(both, nullptr, 2);
    } else if (per_row_) {
      const float* row = a_.data + (rows.begin + i) * a_.row_stride;
      if (a_.col_stride == 1 || a_.cols <= 1) {
        quant = kernels.choose_row_quant(row, channel_scale_, static_cast<std::size_t>(a_.cols));
      } else {
        MatrixView<const float> view = a_;
        view.data = row;
        view.rows = 1;
        quant = choose_tensor_quant(view, channel_scale_, kernels);
      }
    }
    block.scale[i] = quant.scale;
    block.zero_point[i] = quant.zero_point;
  }
}

void PackAWithQuantRowOffset::pack(Range rows, ABlock& block) const noexcept {
  const auto& kernels = simd::kernels(block.features).rows;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    auto* out = packed_row<std::uint8_t>(block, i);
    const simd::RowQuant quant{block.scale[i], block.zero_point[i]};
    std::int32_t sum = 0;
    for_each_piece(a_, rows.begin + i, [&](std::int64_t begin, const float* x, std::int64_t n) {
      const float* factors = channel_scale_ ? channel_scale_ + begin : nullptr;
      sum += kernels.quantize_row(x, factors, static_cast<std::size_t>(n), quant, out + begin);
    });
    zero_tail(out, a_.cols);
    if (block.row_offsets) block.row_offsets[i] = sum;
  }
}

template class PackA<std::uint8_t>;
template class PackA<float>;
template class PackA<bfloat16>;
template class PackAWithRowOffset<std::uint8_t>;
template class PackAWithRowOffset<std::int8_t>;

}  // namespace fbg
