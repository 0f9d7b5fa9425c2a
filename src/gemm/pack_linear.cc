// Packing linear layers panel by panel; fbg/gemm/pack_b.h draws the layout of a panel.
#include "gemm/pack_linear.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "gemm/int4_groups.h"
#include "gemm/packed_block.h"
#include "kernels/weight_codec.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

constexpr std::int64_t kChunk = policy::gemm::kPackedInputs;

// The larger of two magnitudes; NaN counts as larger than all numbers.
float larger(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) < std::bit_cast<std::uint32_t>(b) ? b : a;
}

// The converted weights of 32 outputs. Rows are padded so that they do not compete for the same
// lines of the L1 cache.
struct Chunk {
  static constexpr std::int64_t kLargest = sizeof(float);  // size of an element
  alignas(64) std::byte rows[kPanelColumns][kChunk * kLargest + 64];
};

// Writes groups k-groups of kPanelColumns rows where a panel has them: [groups][32][kr].
template <std::int64_t kBytes>
void interleave(const std::array<const std::byte*, kPanelColumns>& rows, std::int64_t groups,
                std::byte* out) {
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kStride = kPanelColumns * kBytes;
  for (std::int64_t g = 0; g < groups; g += kBlock) {
    const std::int64_t count = std::min(kBlock, groups - g);
    for (std::size_t j = 0; j < kPanelColumns; ++j) {
      const std::byte* const from = rows[j] + g * kBytes;
      std::byte* const to = out + g * kStride + static_cast<std::int64_t>(j) * kBytes;
      if (count == kBlock)
        for (std::int64_t i = 0; i < kBlock; ++i)
          std::memcpy(to + i * kStride, from + i * kBytes, kBytes);
      else
        for (std::int64_t i = 0; i < count; ++i)
          std::memcpy(to + i * kStride, from + i * kBytes, kBytes);
    }
  }
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
    : family_(family),
      format_(packed_format(family)),
      weights_((weights.check(), std::move(weights))),
      limit_(limit),
      block_(std::make_unique<PackedBlock>(
          lay_out({family, weights_.inputs(), weights_.outputs(), is_integer(family),
                   is_int4(family) && !symmetric}),
          Fill::none)) {
  if (!is_int4(family) && !symmetric)
    throw std::invalid_argument("pack_linear: offsets go with int4 weights");
  if (!reads_bytes(family) && !weights_.factor.empty())
    throw std::invalid_argument("pack_linear: factors go with int8 and int4 weights");
  block_->header.per_column = is_integer(family);
}

LinearPacker::~LinearPacker() = default;

void LinearPacker::run(int thread_id, int num_threads) noexcept {
  const FloatEnvironment environment;
  const std::int64_t panels = ceil_div(weights_.outputs(), kPanelColumns);
  float largest = 0.0f;
  for (std::int64_t p = panels * thread_id / num_threads;
       p < panels * (thread_id + 1) / num_threads; ++p)
    largest = larger(largest, format_.nibbles ? pack_int4_panel(p) : pack_panel(p));
  float before = largest_.load();
  while (!largest_.compare_exchange_weak(before, larger(before, largest))) {
  }
}

// The scales of some columns, which their largest magnitudes decide. Returns the largest.
float LinearPacker::choose_scales(std::int64_t first, std::int64_t columns) noexcept {
  const auto& kernels = simd::kernels(active_features()).weights;
  const float* const factor = weights_.factor.empty() ? nullptr : weights_.factor.data();
  auto* const scale = block_->at<float>(block_->header.scale_offset) + first;
  float largest = 0.0f;
  std::fill_n(scale, kPanelColumns, 0.0f);
  for (std::int64_t j = 0; j < columns; ++j) {
    const float magnitude =
        kernels.largest_magnitude(weights_.output(first + j), weights_.divisor_of(first + j),
                                  factor, static_cast<std::size_t>(weights_.inputs()));
    const float step = magnitude / 127.0f;
    scale[j] = step >= 1.17549435e-38f ? step : 1.0f;  // smallest normal: w / step stays finite
    largest = larger(largest, magnitude);
  }
  return largest;
}

float LinearPacker::pack_panel(std::int64_t panel) noexcept {
  const std::int64_t kr = format_.kr, bytes = format_.b_bytes;
  const bool quantizes = is_integer(family_);
  const PackedHeader& h = block_->header;
  const std::int64_t first = panel * kPanelColumns;
  const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, h.n - first);
  auto* out =
      block_->at<std::byte>(h.panels_offset) + panel * ceil_div(h.k, kr) * format_.b_group();
  float largest = quantizes ? choose_scales(first, columns) : 0.0f;
  std::int32_t sums[kPanelColumns] = {};

  Chunk chunk;
  std::array<const std::byte*, kPanelColumns> rows{};
  for (std::int64_t j = 0; j < kPanelColumns; ++j) {
    std::byte* const row = chunk.rows[j];
    if (j >= columns) std::fill_n(row, kChunk * bytes, std::byte{});
    rows[static_cast<std::size_t>(j)] = row;
  }
  for (std::int64_t begin = 0; begin < h.k; begin += kChunk) {
    const std::int64_t size = std::min(kChunk, h.k - begin), groups = ceil_div(size, kr);
    for (std::int64_t j = 0; j < columns; ++j) {
      std::byte* const row = chunk.rows[j];
      std::fill(row + size * bytes, row + groups * kr * bytes, std::byte{});
      if (quantizes)
        sums[j] += quantize(first + j, begin, size, row);
      else
        rows[static_cast<std::size_t>(j)] = convert(first + j, begin, size, row, largest);
    }
    with_constant(format_.b_column_group(),
                  [&](auto group_bytes) { interleave<group_bytes>(rows, groups, out); });
    out += groups * format_.b_group();
  }
  if (quantizes)
    std::copy_n(sums, kPanelColumns, block_->at<std::int32_t>(h.col_offsets_offset) + first);
  return largest;
}

// Quantizes each group of each output by itself, and writes the data of the columns.
float LinearPacker::pack_int4_panel(std::int64_t panel) noexcept {
  const PackedHeader& h = block_->header;
  const std::int64_t first = panel * kPanelColumns;
  const std::int64_t columns = std::min<std::int64_t>(kPanelColumns, h.n - first);
  const bool has_offsets = h.has_zero_point;
  const std::int64_t kr = format_.kr, group_bytes = format_.b_group(has_offsets);
  const std::int64_t groups = ceil_div(h.k, kr);
  auto* const out = block_->at<std::byte>(h.panels_offset) + panel * groups * group_bytes;
  auto* const offsets = block_->at<float>(h.col_offsets_offset) + first;
  std::fill_n(out, groups * group_bytes, std::byte{});
  std::fill_n(offsets, kPanelColumns, 0.0f);
  float largest = 0.0f;
  std::array<float, kMaxInt4Group> weights;
  for (std::int64_t j = 0; j < columns; ++j) {
    const float* const w = weights_.output(first + j);
    const float divisor = weights_.divisor_of(first + j);
    for (std::int64_t g = 0; g < groups; ++g) {
      const std::int64_t begin = g * kr, size = std::min(kr, h.k - begin);
      float extreme = 0.0f;
      for (std::int64_t k = 0; k < size; ++k) {
        weights[k] = w[begin + k] / divisor;
        if (!weights_.factor.empty()) weights[k] *= weights_.factor[begin + k];
        extreme = larger(extreme, std::fabs(weights[k]));
      }
      largest = larger(largest, extreme);
      if (!std::isfinite(extreme)) continue;  // finish() refuses it
      const auto used = std::span<const float>(weights).first(size);
      const Int4Column column = has_offsets ? quantize_int4_with_offset(used) : quantize_int4(used);
      offsets[j] =
          put_int4_column(out + g * group_bytes, j, kr, size, has_offsets, column, offsets[j]);
    }
  }
  return largest;
}

// Quantizes weights [begin, begin + size) of output j into `row`; returns their sum.
std::int32_t LinearPacker::quantize(std::int64_t j, std::int64_t begin, std::int64_t size,
                                    std::byte* row) noexcept {
  const float* const factor = weights_.factor.empty() ? nullptr : &weights_.factor[begin];
  const float scale = block_->at<float>(block_->header.scale_offset)[j];
  auto* const q = reinterpret_cast<std::int8_t*>(row);
  simd::kernels(active_features())
      .weights.quantize(weights_.output(j) + begin, weights_.divisor_of(j), factor, scale,
                        static_cast<std::size_t>(size), q);
  return std::accumulate(q, q + size, std::int32_t{0});
}

// Returns weights [begin, begin + size) of output j as elements: in `row`, or in place.
const std::byte* LinearPacker::convert(std::int64_t j, std::int64_t begin, std::int64_t size,
                                       std::byte* row, float& largest) noexcept {
  const simd::Kernels& vectors = simd::kernels(active_features());
  const auto n = static_cast<std::size_t>(size);
  const float* x = weights_.output(j) + begin;
  largest = larger(largest, vectors.weights.largest_magnitude(x, 1.0f, nullptr, n));
  const bool divides = weights_.divisor_of(j) != 1.0f;
  if (format_.b_bytes == sizeof(float)) {
    if (!divides) return reinterpret_cast<const std::byte*>(x);
    vectors.weights.divide(x, weights_.divisor_of(j), n, reinterpret_cast<float*>(row));
    return row;
  }
  alignas(64) float divided[kChunk];
  if (divides) {
    vectors.weights.divide(x, weights_.divisor_of(j), n, divided);
    x = divided;
  }
  if (family_ == GemmType::bfloat16)  // the same bits by vectors
    vectors.rows.float_to_bfloat16(x, n, reinterpret_cast<std::uint16_t*>(row));
  else
    kernels::weight_codec(family_).round(x, n, row);
  return row;
}

PackedMatrix LinearPacker::finish(bool checksum) {
  const float largest = largest_.load();
  if (!std::isfinite(largest) || largest > limit_)
    throw std::invalid_argument("pack_linear: weights must be finite and within the limit");
  const std::int64_t bytes = block_->header.total_bytes;
  return PackedMatrix::from_bytes(block_->finish(checksum), bytes, false);
}

}  // namespace fbg
