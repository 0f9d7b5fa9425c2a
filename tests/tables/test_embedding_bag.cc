// Look-ups on every instruction set: the bits of the portable kernel, no byte touched outside of a
// table, of indices or of a result, and the promises of run().
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "fbg/tables/embedding_bag.h"
#include "helpers/allocations.h"
#include "helpers/guarded.h"
#include "kernels/lookup.h"

namespace fbg {
namespace {

using test::Guard;
using test::Guarded;

constexpr std::int64_t kRows = 5;
constexpr RowFormat kFormats[] = {RowFormat::float32,      RowFormat::float16, RowFormat::bfloat16,
                                  RowFormat::int8,         RowFormat::int4,    RowFormat::int2,
                                  RowFormat::float8_e4m3fn};

constexpr ValueType kOutputs[] = {ValueType::float32, ValueType::float16, ValueType::bfloat16};

std::vector<std::int32_t> widths() {
  std::vector<std::int32_t> all;
  for (std::int32_t n = 1; n <= 50; ++n) all.push_back(n);
  for (const std::int32_t n : {63, 64, 65, 88, 100, 104, 128, 200, 256, 385, 512, 1027})
    all.push_back(n);
  return all;
}

// Rows of random bytes, whose floats, scales and biases are small numbers.
std::vector<std::byte> random_rows(const RowLayout& layout, std::mt19937& random) {
  const std::int64_t bytes = layout.row_bytes(), values = layout.value_bytes();
  std::vector<std::byte> rows(static_cast<std::size_t>(kRows * bytes));
  for (std::byte& b : rows) {
    b = static_cast<std::byte>(random());
    if (b == std::byte{0xff}) b = std::byte{0x7f};  // which of two NaNs a sum keeps is left open
  }
  const auto put = [&](std::int64_t at, int size, bool is_bfloat16) {
    const float x = static_cast<float>(random() % 4001) / 1000.0f - 2.0f;
    const auto half = static_cast<std::uint16_t>(random() % 0x4000 | (random() % 2) << 15);
    const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
    if (size == 4) std::memcpy(&rows[static_cast<std::size_t>(at)], &x, 4);
    if (size == 2) std::memcpy(&rows[static_cast<std::size_t>(at)], is_bfloat16 ? &bits : &half, 2);
  };
  for (std::int64_t row = 0; row < kRows; ++row) {
    const std::int64_t begin = row * bytes;
    if (const int parameters = row_parameters(layout.format)) {
      for (int i = 0; i < parameters; ++i)
        put(begin + values + i * layout.scale_bytes(), layout.scale_bytes(), false);
    } else {
      const int size = row_bits(layout.format) / 8;
      for (std::int64_t at = begin; at < begin + values; at += size)
        put(at, size, layout.format == RowFormat::bfloat16);
    }
  }
  return rows;
}

class Lookup : public testing::TestWithParam<Isa> {
 protected:
  template <class T>
  void check(const RowLayout& layout, BagMode mode, bool weighted, Guard side, ValueType output) {
    const std::vector<T> offsets{0, 0, 4, 5}, indices{4, 0, 2, 4, 1, 0, 3, 2};
    const auto bags = static_cast<std::int64_t>(offsets.size());
    const Guarded<std::byte> rows(random_rows(layout, random_), side);
    const Guarded<T> guarded_offsets(offsets, side), guarded_indices(indices, side);
    const Guarded<float> weights(std::vector<float>{1, -0.3f, 2, 0.7f, 1.1f, 0, 3, 0.1f}, side);
    Guarded<std::byte> out(static_cast<std::size_t>(bags * layout.columns * value_size(output)),
                           side);
    const Bags arguments{.indices = guarded_indices.data(),
                         .num_indices = static_cast<std::int64_t>(indices.size()),
                         .offsets = guarded_offsets.data(),
                         .num_bags = bags,
                         .weights = weighted ? weights.data() : nullptr};
    EmbeddingBag::Options options{.mode = mode,
                                  .index = sizeof(T) == 8 ? IndexType::int64 : IndexType::int32,
                                  .weighted = weighted,
                                  .padding_index = 2,
                                  .prefetch = 3,
                                  .output = output,
                                  .features = isa_features(GetParam())};
    const EmbeddingRows table{rows.data(), kRows, layout.row_bytes()};
    const auto run = [&](std::byte* to) {
      const EmbeddingBag bag(layout, options);
      return bag.run(table, arguments, to, layout.columns, {0, bags});
    };
    EXPECT_EQ(run(out.data()), -1);
    options.features = 0;
    std::vector<std::byte> expected(out.size());
    EXPECT_EQ(run(expected.data()), -1);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size()), 0)
        << kernels::lookup_name({layout.columns, layout.format, layout.scale, mode, options.index,
                                 weighted, GetParam(), 3, output});
  }
  std::mt19937 random_{1};
};

TEST_P(Lookup, HasTheBitsOfThePortableKernelWithinItsArrays) {
  for (const RowFormat format : kFormats)
    for (const RowScale scale : {RowScale::float32, RowScale::float16}) {
      if (row_parameters(format) == 0 && scale == RowScale::float16) continue;
      for (const std::int32_t columns : widths())
        for (const BagMode mode : {BagMode::sum, BagMode::mean, BagMode::max}) {
          const Guard side = columns % 2 ? Guard::after : Guard::before;
          check<std::int64_t>({format, scale, columns}, mode, false, side, ValueType::float32);
          for (const ValueType output : kOutputs)
            check<std::int32_t>({format, scale, columns}, mode, mode != BagMode::max, Guard::after,
                                output);
        }
    }
}

TEST_P(Lookup, AWrongIndexEndsTheRunBeforeItsBagIsWritten) {
  for (const std::int32_t columns : {4, 400}) {
    const std::vector<float> table(static_cast<std::size_t>(columns) * 3, 1.0f);
    const EmbeddingRows rows{reinterpret_cast<const std::byte*>(table.data()), 3, columns * 4};
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 62}) {
      const std::vector<std::int64_t> indices{0, 1, 2, wrong, 0, 0};
      std::vector<float> out(static_cast<std::size_t>(columns) * 3, 7.0f);
      const EmbeddingBag bag({RowFormat::float32, RowScale::float32, columns},
                             {.features = isa_features(GetParam())});
      const Bags bags{.indices = indices.data(), .num_indices = 6, .num_bags = 3, .length = 2};
      EXPECT_EQ(bag.find_bad_index(bags, 3, {0, 3}), 3);
      EXPECT_EQ(bag.find_bad_index(bags, 3, {2, 3}), -1);
      EXPECT_EQ(bag.run(rows, bags, out.data(), columns, {0, 3}), 3);
      for (std::size_t i = static_cast<std::size_t>(columns); i < out.size(); ++i)
        ASSERT_EQ(out[i], 7.0f);
    }
  }
}

TEST_P(Lookup, SharesGiveTheBitsOfOneRunAndAllocateNothing) {
  const RowLayout layout{RowFormat::int4, RowScale::float16, 30};
  const std::vector<std::byte> rows = random_rows(layout, random_);
  const EmbeddingRows table{rows.data(), kRows, layout.row_bytes()};
  std::vector<std::int64_t> indices(3000), offsets{0};
  for (std::int64_t& index : indices) index = random_() % kRows;
  while (offsets.back() < 2900) offsets.push_back(offsets.back() + random_() % 40);
  const EmbeddingBag bag(layout, {.features = isa_features(GetParam())});
  static_assert(noexcept(bag.run(table, Bags{}, nullptr, 0, Range{})));
  for (const bool cut : {false, true}) {
    Bags bags{.indices = indices.data(), .num_indices = 3000, .offsets = offsets.data()};
    bags.num_bags = std::ssize(offsets);
    if (cut) bags.offsets = nullptr, bags.num_bags = 1000, bags.length = 3;
    std::vector<float> one(static_cast<std::size_t>(bags.num_bags * 30)), many(one.size());
    EXPECT_EQ(bag.run(table, bags, one.data(), 30, {0, bags.num_bags}), -1);
    for (const int threads : {1, 2, 7, 64}) {
      std::fill(many.begin(), many.end(), 7.0f);
      std::int64_t end = 0;
      const std::int64_t before = allocations();
      for (int t = 0; t < threads; ++t) {
        const Range share = bag.share(bags, t, threads);
        EXPECT_EQ(share.begin, end);
        end = share.end;
        EXPECT_EQ(bag.run(table, bags, many.data(), 30, share), -1);
      }
      EXPECT_EQ(allocations(), before);
      EXPECT_EQ(end, bags.num_bags);
      EXPECT_EQ(many, one);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, Lookup, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(isa_name(isa.param)); });

// Also for instruction sets that this machine lacks: an assembler refuses what cannot be encoded.
TEST(LookupKernels, AreGeneratedForEveryKey) {
  for (const Isa isa : kAllIsas) {
    if (!kernels::has_lookup(isa)) continue;
    for (const RowFormat format : kFormats)
      for (const RowScale scale : {RowScale::float32, RowScale::float16})
        for (const BagMode mode : {BagMode::sum, BagMode::mean, BagMode::max})
          for (const std::int32_t columns : widths())
            for (const bool weighted : {false, true}) {
              const bool has_none = weighted && mode == BagMode::max;
              for (const ValueType output : kOutputs) {
                const kernels::LookupKey key{columns,  format, scale, mode,  IndexType::int32,
                                             weighted, isa,    4,     output};
                EXPECT_EQ(kernels::generate_lookup(key).empty(), has_none)
                    << kernels::lookup_name(key);
              }
            }
  }
}

TEST(EmbeddingBag, OffsetsBeginWithZeroAndDoNotFallOrExceed) {
  const EmbeddingBag bag({RowFormat::float32, RowScale::float32, 4}, {});
  const auto bad = [&](std::vector<std::int64_t> offsets, bool ends = false) {
    return bag.find_bad_offset({.num_indices = 5,
                                .offsets = offsets.data(),
                                .ends = ends,
                                .num_bags = std::ssize(offsets) - ends});
  };
  EXPECT_EQ(bad({0, 0, 3, 5}), -1);
  EXPECT_EQ(bad({0, 5}, true), -1);
  EXPECT_EQ(bad({1, 5}), 0);
  EXPECT_EQ(bad({-1, 5}), 0);
  EXPECT_EQ(bad({0, 3, 2}), 2);
  EXPECT_EQ(bad({0, 3, 6}, true), 2);
}

TEST(EmbeddingBag, RefusesWhatHasNoKernel) {
  const auto make = [](std::int32_t columns, const EmbeddingBag::Options& options) {
    return EmbeddingBag({RowFormat::int8, RowScale::float32, columns}, options);
  };
  EXPECT_THROW(make(0, {}), std::invalid_argument);
  EXPECT_THROW(make(1 << 25, {}), std::invalid_argument);
  EXPECT_THROW(make(4, {.mode = BagMode::max, .weighted = true}), std::invalid_argument);
  EXPECT_THROW(make(4, {.prefetch = -1}), std::invalid_argument);
  EXPECT_THROW(make(4, {.prefetch = 1 << 16}), std::invalid_argument);
  EXPECT_THROW(make(4, {.output = ValueType::int8}), std::invalid_argument);
}

}  // namespace
}  // namespace fbg
