#include "emulation/tiles.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace fbg::emulation {
namespace {

// Denormal numbers count as zeros, before and after each operation.
float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}

float from_bf16(std::uint16_t bits) {
  return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

}  // namespace

// Bytes: palette, first row, 14 reserved; 16 words of bytes in a row; 16 bytes of rows.
const char* Tiles::configure(const std::byte* config) noexcept {
  std::array<std::uint8_t, kConfigBytes> bytes;
  std::memcpy(bytes.data(), config, kConfigBytes);
  if (bytes[0] == 0) {
    release();
    return nullptr;
  }
  if (bytes[0] != 1) return "ldtilecfg: the palette must be 0 or 1";
  for (std::size_t i = 1; i < 16; ++i)
    if (bytes[i] != 0) return "ldtilecfg: the first row and the reserved bytes must be 0";
  std::array<Shape, kTiles> shapes;
  for (std::size_t tile = 0; tile < 16; ++tile) {
    std::uint16_t row_bytes;
    std::memcpy(&row_bytes, bytes.data() + 16 + 2 * tile, 2);
    const int rows = bytes[48 + tile];
    if (tile >= kTiles) {
      if (row_bytes != 0 || rows != 0) return "ldtilecfg: there are only 8 tiles";
      continue;
    }
    if (rows > kMaxRows || row_bytes > kMaxRowBytes || row_bytes % 4 != 0)
      return "ldtilecfg: a tile has at most 16 rows of at most 64 bytes, a multiple of 4";
    if ((rows == 0) != (row_bytes == 0)) return "ldtilecfg: rows without bytes, or the reverse";
    shapes[tile] = {rows, row_bytes};
  }
  release();
  shapes_ = shapes;
  configured_ = true;
  return nullptr;
}

void Tiles::store_config(std::byte* config) const noexcept {
  std::memset(config, 0, kConfigBytes);
  if (!configured_) return;
  config[0] = std::byte{1};
  for (std::size_t tile = 0; tile < kTiles; ++tile) {
    const auto row_bytes = static_cast<std::uint16_t>(shapes_[tile].row_bytes);
    std::memcpy(config + 16 + 2 * tile, &row_bytes, 2);
    config[48 + tile] = static_cast<std::byte>(shapes_[tile].rows);
  }
}

void Tiles::release() noexcept {
  configured_ = false;
  shapes_ = {};
  std::memset(data_.data(), 0, sizeof data_);
}

const char* Tiles::check(int tile) const noexcept {
  if (!configured_) return "a tile instruction without a configuration";
  if (shapes_[static_cast<std::size_t>(tile)].rows == 0) return "a tile that is not configured";
  return nullptr;
}

const char* Tiles::zero(int tile) noexcept {
  if (const char* error = check(tile)) return error;
  std::memset(row<std::byte>(tile, 0), 0, sizeof data_[0]);
  return nullptr;
}

const char* Tiles::load(int tile, const std::byte* from, std::int64_t stride) noexcept {
  if (const char* error = zero(tile)) return error;  // beyond the shape is zero
  const Shape shape = shapes_[static_cast<std::size_t>(tile)];
  for (int r = 0; r < shape.rows; ++r)
    std::memcpy(row<std::byte>(tile, r), from + r * stride,
                static_cast<std::size_t>(shape.row_bytes));
  return nullptr;
}

const char* Tiles::store(int tile, std::byte* to, std::int64_t stride) const noexcept {
  if (const char* error = check(tile)) return error;
  const Shape shape = shapes_[static_cast<std::size_t>(tile)];
  for (int r = 0; r < shape.rows; ++r)
    std::memcpy(to + r * stride, data_[static_cast<std::size_t>(tile)][r],
                static_cast<std::size_t>(shape.row_bytes));
  return nullptr;
}

const char* Tiles::multiply(Product product, int sums, int a, int b) noexcept {
  if (sums == a || sums == b || a == b) return "a product whose tiles are not three different ones";
  for (const int tile : {sums, a, b})
    if (const char* error = check(tile)) return error;
  const Shape c = shapes_[static_cast<std::size_t>(sums)];
  const Shape left = shapes_[static_cast<std::size_t>(a)];
  const Shape right = shapes_[static_cast<std::size_t>(b)];
  if (c.rows != left.rows) return "a product whose sums and A differ in rows";
  if (c.row_bytes != right.row_bytes) return "a product whose sums and B differ in columns";
  if (left.row_bytes != 4 * right.rows) return "a product whose A and B differ in depth";
  switch (product) {
    case Product::s8_s8:
      multiply_bytes<std::int8_t, std::int8_t>(sums, a, b);
      break;
    case Product::s8_u8:
      multiply_bytes<std::int8_t, std::uint8_t>(sums, a, b);
      break;
    case Product::u8_s8:
      multiply_bytes<std::uint8_t, std::int8_t>(sums, a, b);
      break;
    case Product::u8_u8:
      multiply_bytes<std::uint8_t, std::uint8_t>(sums, a, b);
      break;
    case Product::bf16:
      multiply_bf16(sums, a, b);
      break;
  }
  return nullptr;
}

// Sums of int32 wrap around.
template <class A, class B>
void Tiles::multiply_bytes(int sums, int a, int b) noexcept {
  const Shape shape = shapes_[static_cast<std::size_t>(sums)];
  const int columns = shape.row_bytes / 4;
  const int depth = shapes_[static_cast<std::size_t>(b)].rows;
  for (int m = 0; m < shape.rows; ++m) {
    auto* const sum = row<std::uint32_t>(sums, m);
    const auto* const x = row<A>(a, m);
    for (int k = 0; k < depth; ++k) {
      const auto* const y = row<B>(b, k);
      for (int n = 0; n < columns; ++n)
        for (int i = 0; i < 4; ++i)
          sum[n] += static_cast<std::uint32_t>(int{x[4 * k + i]} * int{y[4 * n + i]});
    }
  }
}

// Even and odd elements of k are summed apart, each product added with one rounding; then the two
// are added, and their sum to C.
void Tiles::multiply_bf16(int sums, int a, int b) noexcept {
  const Shape shape = shapes_[static_cast<std::size_t>(sums)];
  const int columns = shape.row_bytes / 4;
  const int depth = shapes_[static_cast<std::size_t>(b)].rows;
  for (int m = 0; m < shape.rows; ++m) {
    float even[kMaxRows] = {}, odd[kMaxRows] = {};
    const auto* const x = row<std::uint16_t>(a, m);
    for (int k = 0; k < depth; ++k) {
      const float x0 = from_bf16(x[2 * k]), x1 = from_bf16(x[2 * k + 1]);
      const auto* const y = row<std::uint16_t>(b, k);
      for (int n = 0; n < columns; ++n) {
        even[n] = flushed(std::fma(x0, from_bf16(y[2 * n]), even[n]));
        odd[n] = flushed(std::fma(x1, from_bf16(y[2 * n + 1]), odd[n]));
      }
    }
    auto* const sum = row<float>(sums, m);
    for (int n = 0; n < columns; ++n) sum[n] = flushed(flushed(sum[n]) + flushed(even[n] + odd[n]));
  }
}

}  // namespace fbg::emulation
