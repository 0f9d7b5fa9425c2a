// Floats as rows of integers, by FBGEMM's definition, or of 8-bit floats.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/float8.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "fbg/tables/embedding_rows.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::size_t kChunk = 512;  // values that are quantized before they are packed

struct Parameters {
  float scale, bias, inverse;
  std::byte ends[8];  // scale and bias as a row has them
  bool valid() const { return std::isfinite(scale) && std::isfinite(bias); }
};

// x as a row has it, whose bytes go to `to`.
float store(const simd::WeightKernels& kernels, RowScale type, float x, std::byte* to) {
  if (type == RowScale::float32) {
    std::memcpy(to, &x, sizeof x);
    return x;
  }
  std::uint16_t half;
  const float near = kernels.round_to_half(x, &half);
  std::memcpy(to, &half, sizeof half);
  return near;
}

Parameters parameters(const simd::WeightKernels& kernels, const RowLayout& layout, float lo,
                      float hi) {
  constexpr float kEpsilon = 1e-8f;
  Parameters row;
  const auto store_scale = [&](float x) {
    row.scale = store(kernels, layout.scale, x, row.ends);
    row.inverse = 1.0f / row.scale;
  };
  row.bias = store(kernels, layout.scale, lo, row.ends + layout.scale_bytes());
  const auto top = static_cast<float>((1 << row_bits(layout.format)) - 1);
  const float range = hi - row.bias;
  if (layout.format == RowFormat::int8 && layout.scale == RowScale::float32) {
    store_scale(range / top);
    row.inverse = top / (range + kEpsilon);
  } else {
    store_scale(range == 0.0f ? 1.0f : range / top);
    if (row.scale == 0.0f || std::isinf(row.inverse)) store_scale(1.0f);
  }
  return row;
}

// False where there is no row: see quantize_rows().
bool quantize_to_integers(const simd::WeightKernels& kernels, const RowLayout& layout,
                          const float* x, std::byte* to) {
  const auto n = static_cast<std::size_t>(layout.columns);
  float lo, hi;
  const bool finite = kernels.find_extent(x, n, &lo, &hi);
  const Parameters row = parameters(kernels, layout, lo + 0.0f, hi + 0.0f);  // -0 counts as 0
  if (!finite || !row.valid()) return false;
  const int bits = row_bits(layout.format);
  const auto top = static_cast<float>((1 << bits) - 1);
  auto* const data = reinterpret_cast<std::uint8_t*>(to);
  if (bits == 8) {
    kernels.quantize_from(x, row.bias, row.inverse, top, n, data);
  } else {
    const auto per_byte = static_cast<std::size_t>(8 / bits);
    alignas(8) std::uint8_t q[kChunk + 8];
    for (std::size_t i = 0; i < n; i += kChunk) {
      const std::size_t count = std::min(kChunk, n - i);
      kernels.quantize_from(x + i, row.bias, row.inverse, top, count, q);
      std::memset(q + count, 0, 8);
      kernels.pack_fields(q, bits, (count + per_byte - 1) / per_byte, data + i / per_byte);
    }
  }
  std::memcpy(to + layout.value_bytes(), row.ends,
              static_cast<std::size_t>(2 * layout.scale_bytes()));
  return true;
}

bool quantize_to_float8(const simd::WeightKernels& kernels, const RowLayout& layout, const float* x,
                        std::byte* to) {
  const auto n = static_cast<std::size_t>(layout.columns);
  const float largest = kernels.largest_magnitude(x, 1.0f, nullptr, n);
  std::byte end[4];
  float scale = store(kernels, layout.scale, largest / kLargestE4m3, end);
  if (scale == 0.0f) scale = store(kernels, layout.scale, 1.0f, end);
  if (!std::isfinite(scale)) return false;
  kernels.quantize_to_e4m3(x, scale, n, reinterpret_cast<std::uint8_t*>(to));
  std::memcpy(to + layout.value_bytes(), end, static_cast<std::size_t>(layout.scale_bytes()));
  return true;
}

}  // namespace

std::int64_t quantize_rows(const RowLayout& layout, MatrixView<const float> x, std::byte* rows,
                           std::int64_t stride) noexcept {
  const FloatEnvironment environment;
  const simd::WeightKernels& kernels = simd::kernels(active_features()).weights;
  const auto quantize = is_integer(layout.format) ? quantize_to_integers : quantize_to_float8;
  for (std::int64_t i = 0; i < x.rows; ++i)
    if (!quantize(kernels, layout, x.data + i * x.row_stride, rows + i * stride)) return i;
  return -1;
}

}  // namespace fbg
