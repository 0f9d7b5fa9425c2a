// Tiles in software against the formulas of the instructions, and what the processor refuses.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "emulation/tiles.h"

namespace fbg::emulation {
namespace {

struct Config {
  std::array<std::uint8_t, kConfigBytes> bytes{1};
  Config& tile(std::size_t tile, int rows, int row_bytes) {
    bytes[16 + 2 * tile] = static_cast<std::uint8_t>(row_bytes);
    bytes[48 + tile] = static_cast<std::uint8_t>(rows);
    return *this;
  }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(bytes.data()); }
};

constexpr int kRows = 5, kColumns = 7, kDepth = 3;  // of sums, and groups of k
Config small() {
  return Config().tile(0, kRows, 4 * kColumns).tile(1, kRows, 4 * kDepth).tile(2, kDepth, 28);
}

template <class T>
const std::byte* bytes_of(const std::vector<T>& v) {
  return reinterpret_cast<const std::byte*>(v.data());
}

template <class A, class B>
void expect_products(Product product) {
  std::mt19937 random(3);
  std::vector<A> a(kRows * kDepth * 4);
  std::vector<B> b(kDepth * kColumns * 4);
  std::vector<std::int32_t> c(kRows * kColumns), found(kRows * kColumns);
  for (A& x : a) x = static_cast<A>(random());
  for (B& x : b) x = static_cast<B>(random());
  for (std::int32_t& x : c) x = static_cast<std::int32_t>(random());
  Tiles tiles;
  ASSERT_EQ(tiles.configure(small().data()), nullptr);
  ASSERT_EQ(tiles.load(0, bytes_of(c), 4 * kColumns), nullptr);
  ASSERT_EQ(tiles.load(1, bytes_of(a), 4 * kDepth), nullptr);
  ASSERT_EQ(tiles.load(2, bytes_of(b), 4 * kColumns), nullptr);
  ASSERT_EQ(tiles.multiply(product, 0, 1, 2), nullptr);
  ASSERT_EQ(tiles.store(0, reinterpret_cast<std::byte*>(found.data()), 4 * kColumns), nullptr);
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      std::int64_t sum = c[static_cast<std::size_t>(m * kColumns + n)];
      for (int k = 0; k < 4 * kDepth; ++k)
        sum += std::int64_t{a[static_cast<std::size_t>(m * 4 * kDepth + k)]} *
               b[static_cast<std::size_t>((k / 4 * kColumns + n) * 4 + k % 4)];
      EXPECT_EQ(found[static_cast<std::size_t>(m * kColumns + n)], static_cast<std::int32_t>(sum));
    }
}

TEST(Tiles, ProductsOfBytesFollowTheFormula) {
  expect_products<std::int8_t, std::int8_t>(Product::s8_s8);
  expect_products<std::int8_t, std::uint8_t>(Product::s8_u8);
  expect_products<std::uint8_t, std::int8_t>(Product::u8_s8);
  expect_products<std::uint8_t, std::uint8_t>(Product::u8_u8);
}

TEST(Tiles, ProductsOfBfloat16AddEvenAndOddApartAndFlushDenormals) {
  const auto bf16 = [](float x) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  };
  const float tiny = std::numeric_limits<float>::min() / 4;
  Tiles tiles;
  ASSERT_EQ(tiles.configure(Config().tile(0, 1, 4).tile(1, 1, 8).tile(2, 2, 4).data()), nullptr);
  const auto product = [&](float c, std::array<float, 4> x, std::array<float, 4> y) {
    std::vector<std::uint16_t> a, b;
    for (const float v : x) a.push_back(bf16(v));
    for (const float v : y) b.push_back(bf16(v));
    tiles.load(0, reinterpret_cast<const std::byte*>(&c), 4);
    tiles.load(1, bytes_of(a), 8);
    tiles.load(2, bytes_of(b), 4);
    EXPECT_EQ(tiles.multiply(Product::bf16, 0, 1, 2), nullptr);
    tiles.store(0, reinterpret_cast<std::byte*>(&c), 4);
    return c;
  };
  EXPECT_EQ(product(1, {1, 2, 3, 4}, {5, 6, 7, 8}), 1 + (5 + 21) + (12 + 32));
  // Even products cancel before the odd one is added, whatever their size.
  EXPECT_EQ(product(0, {1e30f, 1, -1e30f, 1}, {1, 1, 1, 1}), 2);
  EXPECT_EQ(product(0, {tiny, 0, 0, 0}, {1e30f, 0, 0, 0}), 0);
  EXPECT_EQ(product(tiny, {0, 0, 0, 0}, {0, 0, 0, 0}), 0);
}

TEST(Tiles, LoadsFillTheRestWithZerosAndTouchNothingElse) {
  Tiles tiles;
  ASSERT_EQ(tiles.configure(Config().tile(0, 2, 8).data()), nullptr);
  const std::vector<std::uint8_t> from(8 + 40, 9);  // two rows, 40 bytes apart
  ASSERT_EQ(tiles.load(0, bytes_of(from), 40), nullptr);
  std::vector<std::uint8_t> to(8 + 20, 1);
  ASSERT_EQ(tiles.store(0, reinterpret_cast<std::byte*>(to.data()), 20), nullptr);
  for (std::size_t i = 0; i < to.size(); ++i) EXPECT_EQ(to[i], i < 8 || i >= 20 ? 9 : 1) << i;
}

TEST(Tiles, WhatTheProcessorRefusesIsRefused) {
  Tiles tiles;
  EXPECT_NE(tiles.zero(0), nullptr);  // no configuration
  Config palette;
  palette.bytes[0] = 2;
  EXPECT_NE(tiles.configure(palette.data()), nullptr);
  Config reserved;
  reserved.bytes[9] = 1;
  EXPECT_NE(tiles.configure(reserved.data()), nullptr);
  EXPECT_NE(tiles.configure(Config().tile(0, 17, 64).data()), nullptr);
  EXPECT_NE(tiles.configure(Config().tile(0, 16, 68).data()), nullptr);
  EXPECT_NE(tiles.configure(Config().tile(0, 16, 62).data()), nullptr);
  EXPECT_NE(tiles.configure(Config().tile(0, 16, 0).data()), nullptr);
  EXPECT_NE(tiles.configure(Config().tile(9, 16, 64).data()), nullptr);
  ASSERT_EQ(tiles.configure(small().tile(3, 4, 64).data()), nullptr);
  EXPECT_NE(tiles.zero(7), nullptr);  // not configured
  EXPECT_NE(tiles.multiply(Product::u8_s8, 0, 1, 1), nullptr);
  EXPECT_NE(tiles.multiply(Product::u8_s8, 0, 3, 2), nullptr);
  EXPECT_NE(tiles.multiply(Product::u8_s8, 0, 1, 3), nullptr);
  EXPECT_EQ(tiles.multiply(Product::u8_s8, 0, 1, 2), nullptr);
  tiles.release();
  EXPECT_NE(tiles.multiply(Product::u8_s8, 0, 1, 2), nullptr);
}

}  // namespace
}  // namespace fbg::emulation
