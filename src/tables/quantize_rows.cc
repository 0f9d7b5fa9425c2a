// Floats as rows of integers, by FBGEMM's definition.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/float16.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "fbg/tables/embedding_rows.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::size_t kChunk = 512;  // values that are quantized before they are packed

float rounded(RowScale type, float x) {
  return type == RowScale::float16 ? to_float(from_float<float16>(x)) : x;
}

void store(RowScale type, float x, std::byte* to) {
  const float16 half = from_float<float16>(x);
  type == RowScale::float16 ? std::memcpy(to, &half, sizeof half) : std::memcpy(to, &x, sizeof x);
}

struct Parameters {
  float scale, bias, inverse;
  bool valid() const { return std::isfinite(scale) && std::isfinite(bias); }
};

Parameters parameters(const RowLayout& layout, float lo, float hi) {
  constexpr float kEpsilon = 1e-8f;
  if (layout.format == RowFormat::int8 && layout.scale == RowScale::float32)
    return {(hi - lo) / 255.0f, lo, 255.0f / (hi - lo + kEpsilon)};
  const float bias = rounded(layout.scale, lo), range = hi - bias;
  const auto top = static_cast<float>((1 << row_bits(layout.format)) - 1);
  float scale = rounded(layout.scale, range == 0.0f ? 1.0f : range / top);
  if (scale == 0.0f || std::isinf(1.0f / scale)) scale = 1.0f;
  return {scale, bias, 1.0f / scale};
}

// Values of `bits` bits in bytes of their own, as 8 / bits of them to a byte. q has room for whole
// eights, of which the values beyond n are 0: in an eight, neighbours move together, then pairs.
template <int bits>
void pack_values(const std::uint8_t* q, std::size_t n, std::byte* to) {
  const std::size_t end = (n * bits + 7) / 8;
  for (std::size_t at = 0; at < end; at += bits) {
    std::uint64_t v;
    std::memcpy(&v, q + at / bits * 8, sizeof v);
    v = (v | v >> (8 - bits)) & 0x00ff00ff00ff00ffu;
    if (bits == 2) v = (v | v >> 12) & 0x000000ff000000ffu;
    v = (v | v >> (bits == 2 ? 24 : 8)) & 0x0000ffff0000ffffu;
    v |= v >> 16;
    std::memcpy(to + at, &v, std::min<std::size_t>(bits, end - at));
  }
}

void quantize_row(const simd::WeightKernels& kernels, const RowLayout& layout, const float* x,
                  const Parameters& row, std::byte* to) {
  const int bits = row_bits(layout.format);
  const auto n = static_cast<std::size_t>(layout.columns);
  const auto top = static_cast<float>((1 << bits) - 1);
  std::uint8_t q[kChunk + 8];
  for (std::size_t i = 0; i < n; i += kChunk) {
    const std::size_t count = std::min(kChunk, n - i);
    kernels.quantize_from(x + i, row.bias, row.inverse, top, count, q);
    std::memset(q + count, 0, 8);
    std::byte* const packed = to + i * static_cast<std::size_t>(bits) / 8;
    if (bits == 8) std::memcpy(packed, q, count);
    if (bits == 4) pack_values<4>(q, count, packed);
    if (bits == 2) pack_values<2>(q, count, packed);
  }
  std::byte* const ends = to + layout.value_bytes();
  store(layout.scale, row.scale, ends);
  store(layout.scale, row.bias, ends + layout.scale_bytes());
}

}  // namespace

std::int64_t quantize_rows(const RowLayout& layout, MatrixView<const float> x, std::byte* rows,
                           std::int64_t stride) noexcept {
  const FloatEnvironment environment;
  const simd::WeightKernels& kernels = simd::kernels(active_features()).weights;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const float* const row = x.data + i * x.row_stride;
    float lo, hi;
    const bool finite =
        kernels.find_extent(row, static_cast<std::size_t>(layout.columns), &lo, &hi);
    const Parameters chosen = parameters(layout, lo + 0.0f, hi + 0.0f);  // -0 counts as 0
    if (!finite || !chosen.valid()) return i;
    quantize_row(kernels, layout, row, chosen, rows + i * stride);
  }
  return -1;
}

}  // namespace fbg
