// Reads the outputs of linear layers as columns of panels.
#include "gemm/pack_linear.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "gemm/int4_groups.h"
#include "kernels/weight_codec.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

// The larger of two magnitudes; NaN counts as larger than all numbers.
float larger(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) < std::bit_cast<std::uint32_t>(b) ? b : a;
}

// What the block of such weights is; throws where they do not fit together.
BlockShape checked_shape(GemmType family, const LinearWeights& weights, bool symmetric) {
  weights.check();
  if (!is_int4(family) && !symmetric)
    throw std::invalid_argument("pack_linear: offsets go with int4 weights");
  if (!reads_bytes(family) && !weights.factor.empty())
    throw std::invalid_argument("pack_linear: factors go with int8 and int4 weights");
  return {family, weights.inputs(), weights.outputs(), is_integer(family), !symmetric};
}

}  // namespace

std::int64_t LinearWeights::outputs() const {
  std::int64_t n = 0;
  for (const auto& part : parts) n += part.rows;
  return n;
}

const float* LinearWeights::output(std::int64_t j) const {
  for (const auto& part : parts) {
    if (j < part.rows) return &part(j, 0);
    j -= part.rows;
  }
  return nullptr;
}

void LinearWeights::check() const {
  if (parts.empty()) throw std::invalid_argument("pack_linear: there must be a part");
  for (const auto& part : parts)
    if (part.cols != inputs() || part.col_stride != 1)
      throw std::invalid_argument("pack_linear: parts must be (N, K) of one K, rows contiguous");
  const auto fits = [](const std::vector<float>& values, std::int64_t n) {
    return values.empty() || std::ssize(values) == n;
  };
  if (!fits(divisor, outputs()) || !fits(factor, inputs()))
    throw std::invalid_argument("pack_linear: divisor must have shape (N,), factor (K,)");
}

void widen_magnitudes(const LinearWeights& weights, Range outputs, float* largest) noexcept {
  const FloatEnvironment environment;
  const auto& kernels = simd::kernels(active_features()).weights;
  const auto k = static_cast<std::size_t>(weights.inputs());
  for (std::int64_t j = outputs.begin; j < outputs.end; ++j)
    kernels.widen_magnitudes(weights.output(j), weights.divisor_of(j), k, largest);
}

LinearPacker::LinearPacker(GemmType family, LinearWeights weights, float limit, bool symmetric)
    : PanelWriter(checked_shape(family, weights, symmetric)),
      family_(family),
      weights_(std::move(weights)),
      limit_(limit) {
  block_.header.per_column = is_integer(family);
}

void LinearPacker::read(Chunk& chunk) noexcept {
  const auto& kernels = simd::kernels(active_features()).weights;
  const float* const factor = weights_.factor.empty() ? nullptr : &weights_.factor[chunk.begin];
  float largest = is_integer(family_) && chunk.begin == 0 ? choose_scales(chunk) : 0.0f;
  const float* const scale = block_.at<float>(block_.header.scale_offset) + chunk.first;
  for (std::int64_t j = 0; j < chunk.columns; ++j) {
    if (is_integer(family_))
      kernels.quantize(weights_.output(chunk.first + j) + chunk.begin,
                       weights_.divisor_of(chunk.first + j), factor, scale[j],
                       static_cast<std::size_t>(chunk.size),
                       reinterpret_cast<std::int8_t*>(chunk.room[j]));
    else
      largest = larger(largest, format_.nibbles ? quantize_groups(j, chunk) : convert(j, chunk));
  }
  float before = largest_.load();
  while (!largest_.compare_exchange_weak(before, larger(before, largest))) {
  }
}

// The scales of the columns of a panel, which their largest magnitudes decide.
float LinearPacker::choose_scales(const Chunk& chunk) noexcept {
  const auto& kernels = simd::kernels(active_features()).weights;
  const float* const factor = weights_.factor.empty() ? nullptr : weights_.factor.data();
  auto* const scale = block_.at<float>(block_.header.scale_offset);
  float largest = 0.0f;
  for (std::int64_t j = chunk.first; j < chunk.first + chunk.columns; ++j) {
    const float magnitude =
        kernels.largest_magnitude(weights_.output(j), weights_.divisor_of(j), factor,
                                  static_cast<std::size_t>(weights_.inputs()));
    const float step = magnitude / 127.0f;
    scale[j] = step >= 1.17549435e-38f ? step : 1.0f;  // smallest normal: w / step stays finite
    largest = larger(largest, magnitude);
  }
  return largest;
}

// Quantizes each group of column j by itself.
float LinearPacker::quantize_groups(std::int64_t j, Chunk& chunk) const noexcept {
  const float* const w = weights_.output(chunk.first + j) + chunk.begin;
  const float divisor = weights_.divisor_of(chunk.first + j);
  float largest = 0.0f;
  std::array<float, kMaxInt4Group> weights;
  for (std::int64_t begin = 0, g = 0; begin < chunk.size; begin += format_.kr, ++g) {
    const std::int64_t size = std::min<std::int64_t>(format_.kr, chunk.size - begin);
    float extreme = 0.0f;
    for (std::int64_t k = 0; k < size; ++k) {
      weights[k] = w[begin + k] / divisor;
      if (!weights_.factor.empty()) weights[k] *= weights_.factor[chunk.begin + begin + k];
      extreme = larger(extreme, std::fabs(weights[k]));
    }
    largest = larger(largest, extreme);
    Int4Column column{};
    const auto used = std::span<const float>(weights).first(size);
    if (std::isfinite(extreme))  // finish() refuses others
      column = block_.header.has_zero_point ? quantize_int4_with_offset(used) : quantize_int4(used);
    std::memcpy(chunk.room[j] + begin, column.q.data(), static_cast<std::size_t>(format_.kr));
    chunk.scale[g][j] = column.scale;
    chunk.offset[g][j] = column.offset;
  }
  return largest;
}

// Rounds the weights of column j, or leaves them where they are.
float LinearPacker::convert(std::int64_t j, Chunk& chunk) const noexcept {
  const simd::Kernels& vectors = simd::kernels(active_features());
  const auto n = static_cast<std::size_t>(chunk.size);
  const float divisor = weights_.divisor_of(chunk.first + j);
  const float* x = weights_.output(chunk.first + j) + chunk.begin;
  std::byte* const room = chunk.room[j];
  const float largest = vectors.weights.largest_magnitude(x, 1.0f, nullptr, n);
  const bool wide = format_.b_bytes == sizeof(float);
  alignas(64) float divided[Chunk::kDepth];
  if (divisor != 1.0f) {
    vectors.weights.divide(x, divisor, n, wide ? reinterpret_cast<float*>(room) : divided);
    x = divided;
  } else if (wide) {
    chunk.column[j] = reinterpret_cast<const std::byte*>(x);
  }
  if (family_ == GemmType::bfloat16)  // the same bits by vectors
    vectors.rows.float_to_bfloat16(x, n, reinterpret_cast<std::uint16_t*>(room));
  else if (!wide)
    kernels::weight_codec(family_).round(x, n, room);
  return largest;
}

PackedMatrix LinearPacker::finish(bool checksum) {
  const float largest = largest_.load();
  if (!std::isfinite(largest) || largest > limit_)
    throw std::invalid_argument("pack_linear: weights must be finite and within the limit");
  return PanelWriter::finish(checksum);
}

}  // namespace fbg
