// Packing K and V. K is transposed on the way: in blocks of 4 x 4 in vector registers, so that
// memory is read and written 16 bytes at a time.
#include "plan/ops/attention_panels.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace fbg {
namespace {

// Four floats of any alignment, of any ISA: the compiler's vector extension.
typedef float Vec4 __attribute__((vector_size(16)));

Vec4 load(const float* p) {
  Vec4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void store(float* p, Vec4 v) { std::memcpy(p, &v, sizeof v); }

// The elements of (u, v), eight in all, that are named. GCC 12 and Clang both have this built-in.
template <int I0, int I1, int I2, int I3>
Vec4 shuffle(Vec4 u, Vec4 v) {
  return __builtin_shufflevector(u, v, I0, I1, I2, I3);
}

// to[k * 32 + j] = from[j * stride + k] for j, k in 0..3.
void transpose_4x4(const float* from, std::int64_t stride, float* to) {
  const Vec4 r0 = load(from), r1 = load(from + stride);
  const Vec4 r2 = load(from + 2 * stride), r3 = load(from + 3 * stride);
  const Vec4 a = shuffle<0, 4, 1, 5>(r0, r1), b = shuffle<0, 4, 1, 5>(r2, r3);
  const Vec4 c = shuffle<2, 6, 3, 7>(r0, r1), d = shuffle<2, 6, 3, 7>(r2, r3);
  store(to, shuffle<0, 1, 4, 5>(a, b));
  store(to + kPanelColumns, shuffle<2, 3, 6, 7>(a, b));
  store(to + 2 * kPanelColumns, shuffle<0, 1, 4, 5>(c, d));
  store(to + 3 * kPanelColumns, shuffle<2, 3, 6, 7>(c, d));
}

}  // namespace

void pack_keys(const MatrixView<const float>& x, float* panels) noexcept {
  const std::int64_t depth = x.cols;
  for (std::int64_t first = 0; first < x.rows; first += kPanelColumns) {
    float* panel = panels + first * depth;
    const std::int64_t rows = std::min<std::int64_t>(x.rows - first, kPanelColumns);
    const std::int64_t padding = round_up(rows, kKeyPadding) - rows;
    for (std::int64_t k = 0; padding && k < depth; ++k)
      std::fill_n(panel + k * kPanelColumns + rows, padding, 0.0f);
    const float* source = x.data + first * x.row_stride;
    const std::int64_t whole_rows = rows / 4 * 4, whole_depth = depth / 4 * 4;
    for (std::int64_t j = 0; j < whole_rows; j += 4) {
      const float* from = source + j * x.row_stride;
      for (std::int64_t k = 0; k < whole_depth; k += 4)
        transpose_4x4(from + k, x.row_stride, panel + k * kPanelColumns + j);
    }
    for (std::int64_t j = 0; j < rows; ++j)
      for (std::int64_t k = j < whole_rows ? whole_depth : 0; k < depth; ++k)
        panel[k * kPanelColumns + j] = source[j * x.row_stride + k];
  }
}

void pack_values(const MatrixView<const float>& x, float* panels) noexcept {
  for (std::int64_t first = 0; first < x.cols; first += kPanelColumns) {
    float* panel = panels + first * x.rows;
    const std::int64_t cols = std::min<std::int64_t>(x.cols - first, kPanelColumns);
    for (std::int64_t k = 0; k < x.rows; ++k) {
      const float* from = x.data + k * x.row_stride + first;
      float* to = panel + k * kPanelColumns;
      if (cols == kPanelColumns) {
        std::memcpy(to, from, kPanelColumns * sizeof(float));
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(cols) * sizeof(float));
        std::fill(to + cols, to + kPanelColumns, 0.0f);
      }
    }
  }
}

namespace {

// Zeros for the rest of a panel, after so many rows of V; returns where the next panel begins.
float* end_panel(float* to, std::int64_t rows, std::int64_t depth) {
  return std::fill_n(to, (depth - ceil_div(rows, 2)) * kPanelColumns, 0.0f);
}

}  // namespace

void pack_values_rounded(const MatrixView<const float>& x, std::int64_t depth,
                         const simd::RowKernels& kernels, float* panels) noexcept {
  static constexpr std::array<float, kPanelColumns> kZeros{};
  float* to = panels;
  for (std::int64_t first = 0; first < x.cols; first += kPanelColumns) {
    const std::int64_t cols = std::min<std::int64_t>(x.cols - first, kPanelColumns);
    for (std::int64_t k = 0; k < x.rows; k += 2, to += kPanelColumns) {
      const float* even = x.data + k * x.row_stride + first;
      const float* odd = k + 1 < x.rows ? even + x.row_stride : kZeros.data();
      kernels.pair_bfloat16(even, odd, static_cast<std::size_t>(cols),
                            reinterpret_cast<std::uint32_t*>(to));
      std::fill(to + cols, to + kPanelColumns, 0.0f);
    }
    to = end_panel(to, x.rows, depth);
  }
}

void pack_values_bfloat16(const MatrixView<const float>& x, std::int64_t depth,
                          const simd::RowKernels& kernels, float* panels) noexcept {
  constexpr std::int64_t kWords = kPanelColumns / 2;
  static constexpr std::array<std::uint16_t, kPanelColumns> kZeros{};
  float* to = panels;
  for (std::int64_t first = 0; first < x.cols; first += kWords) {
    const std::int64_t cols = 2 * std::min(x.cols - first, kWords);
    for (std::int64_t k = 0; k < x.rows; k += 2, to += kPanelColumns) {
      const auto row = [&](std::int64_t i) {
        return reinterpret_cast<const std::uint16_t*>(x.data + i * x.row_stride + first);
      };
      kernels.pair_words(row(k), k + 1 < x.rows ? row(k + 1) : kZeros.data(),
                         static_cast<std::size_t>(cols), reinterpret_cast<std::uint32_t*>(to));
      std::fill(to + cols, to + kPanelColumns, 0.0f);
    }
    to = end_panel(to, x.rows, depth);
  }
}

}  // namespace fbg
