// The portable kernel of embedding tables, and the reference of the others: a few columns at a
// time, the rows of a bag one after the other.
#include "kernels/lookup.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/float8.h"

namespace fbg::kernels {
namespace {

constexpr int kChunk = 64;  // columns whose sums are kept

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::int64_t index_at(IndexType type, const void* indices, std::int64_t i) {
  return type == IndexType::int64 ? static_cast<const std::int64_t*>(indices)[i]
                                  : static_cast<const std::int32_t*>(indices)[i];
}

template <class T>
void widen(const std::byte* values, int n, float* x) {
  for (int j = 0; j < n; ++j) x[j] = to_float(load<T>(values + j * sizeof(T)));
}

// Values of a chunk as float: without their scale. A chunk begins with a whole byte.
void read_values(const LookupKey& key, const std::byte* row, int first, int n, float* x) {
  const int bits = row_bits(key.format);
  const std::byte* values = row + std::int64_t{first} * bits / 8;
  if (key.format == RowFormat::float32) return widen<float>(values, n, x);
  if (key.format == RowFormat::float16) return widen<float16>(values, n, x);
  if (key.format == RowFormat::bfloat16) return widen<bfloat16>(values, n, x);
  if (key.format == RowFormat::float8_e4m3fn) return widen<float8_e4m3fn>(values, n, x);
  const int mask = (1 << bits) - 1;
  for (int j = 0; j < n; ++j)
    x[j] = static_cast<float>(std::to_integer<int>(values[j * bits / 8]) >> (j * bits % 8) & mask);
}

float read_scale(const LookupKey& key, const std::byte* row, int which) {
  const RowLayout layout = key.layout();
  const std::byte* at = row + layout.value_bytes() + which * layout.scale_bytes();
  return key.scale == RowScale::float16 ? to_float(load<float16>(at)) : load<float>(at);
}

void add_row(const LookupKey& key, const std::byte* row, float weight, int first, int n,
             float* sums) {
  float x[kChunk];
  read_values(key, row, first, n, x);
  if (is_integer(key.format)) {
    float scale = read_scale(key, row, 0), bias = read_scale(key, row, 1);
    if (key.weighted) scale *= weight, bias *= weight;
    if (key.mode == BagMode::max)
      for (int j = 0; j < n; ++j) x[j] = std::fma(x[j], scale, bias);
    else
      for (int j = 0; j < n; ++j) sums[j] = std::fma(x[j], scale, sums[j] + bias);
  } else if (key.format == RowFormat::float8_e4m3fn) {
    const float scale = read_scale(key, row, 0) * weight;
    if (key.mode == BagMode::max)
      for (int j = 0; j < n; ++j) x[j] *= scale;
    else
      for (int j = 0; j < n; ++j) sums[j] = std::fma(x[j], scale, sums[j]);
  } else if (key.weighted) {
    for (int j = 0; j < n; ++j) sums[j] = std::fma(x[j], weight, sums[j]);
  } else if (key.mode != BagMode::max) {
    for (int j = 0; j < n; ++j) sums[j] += x[j];
  }
  if (key.mode == BagMode::max)
    for (int j = 0; j < n; ++j) sums[j] = x[j] > sums[j] ? x[j] : sums[j];
}

template <class T>
void store(const float* sums, int n, std::byte* to) {
  for (int j = 0; j < n; ++j) {
    const T y = from_float<T>(sums[j]);
    std::memcpy(to + static_cast<std::size_t>(j) * sizeof y, &y, sizeof y);
  }
}

void store_sums(const LookupKey& key, const float* sums, int n, std::byte* to) {
  if (key.output == ValueType::float16) return store<float16>(sums, n, to);
  if (key.output == ValueType::bfloat16) return store<bfloat16>(sums, n, to);
  store<float>(sums, n, to);
}

}  // namespace

std::int64_t look_up(const LookupKey& key, const LookupArgs& args) noexcept {
  for (std::int64_t b = 0; b < args.bags; ++b) {
    const std::int64_t begin = index_at(key.index, args.offsets, b);
    const std::int64_t end = index_at(key.index, args.offsets, b + 1);
    std::byte* const out = args.out + b * args.out_stride;
    for (int first = 0; first < key.columns; first += kChunk) {
      const int n = std::min(kChunk, key.columns - first);
      float sums[kChunk];
      const bool is_max = key.mode == BagMode::max;
      std::fill_n(sums, n, is_max ? -std::numeric_limits<float>::infinity() : 0.0f);
      std::int64_t count = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t index = index_at(key.index, args.indices, i);
        if (index < 0 || index >= args.num_rows) return i;
        if (index == args.padding) continue;
        ++count;
        add_row(key, args.rows + index * args.stride, key.weighted ? args.weights[i] : 1.0f, first,
                n, sums);
      }
      if (key.mode == BagMode::mean && count > 0)
        for (int j = 0; j < n; ++j) sums[j] /= static_cast<float>(count);
      if (count == 0) std::fill_n(sums, n, 0.0f);
      store_sums(key, sums, n, out + first * value_size(key.output));
    }
  }
  return -1;
}

}  // namespace fbg::kernels
