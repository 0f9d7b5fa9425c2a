// Every generated microkernel against the portable one, bit for bit: each tile height, width, mask,
// load of C and depth.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers/microkernel_fixture.h"
#include "kernels/cache.h"
#include "kernels/table.h"

namespace fbg::test {
namespace {

const std::vector<std::vector<Block>> kBlockLists = {
    {{9, 0}},
    {{6, 5 * 4}, {1, 0}},
    {{1, 8}, {0, 0}, {7, 64}},
    {{16, 4}, {35, 8}, {15, 0}},
    {{0, 0}},
    {},
};

TEST_P(Microkernel, RawResultEqualsTheReference) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= geometry.widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const bool goes_on : {false, true}) {
          if (goes_on && !loads_c) continue;
          for (const std::int64_t columns : column_counts(vectors, masked))
            for (const auto& blocks : kBlockLists)
              for (const Guard side : {Guard::after, Guard::before}) {
                TileCase tile{make_key(rows, vectors, masked, goes_on, {}, false), blocks, columns};
                tile.side = side;
                tile.seed = static_cast<unsigned>(rows * 100 + vectors);
                tile.spill_groups = 1 + (rows + vectors) % 5;
                expect_same(tile, {});
                if (HasFatalFailure()) return;
              }
        }
}

// Operands that were paired before, with an odd number of rows, of k-groups, or of both.
TEST_P(Microkernel, OperandsInPairsEqualTheReference) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= geometry.interleaved_vectors; ++vectors)
      for (const bool masked : {false, true})
        for (const bool goes_on : {false, true})
          for (const auto& blocks : kBlockLists)
            for (const Guard side : {Guard::after, Guard::before}) {
              TileCase tile{make_key(rows, vectors, masked, goes_on, {}, false), blocks,
                            column_counts(vectors, masked).front()};
              tile.key.a = ARows::interleaved;
              tile.side = side;
              tile.seed = static_cast<unsigned>(rows * 100 + vectors);
              expect_same(tile, {});
              if (HasFatalFailure()) return;
            }
}

// Depths on both sides of the unrolled loop's multiples and of 16 k-groups, the depth of a matrix
// tile, in one block and with the last group apart.
TEST_P(Microkernel, EveryDepthEqualsTheReference) {
  for (const std::int64_t depth : {15, 16, 17, 33, 64, 208})
    for (int rows = 1; rows <= geometry.max_rows; ++rows)
      for (const bool masked : {false, true})
        for (const bool split : {false, true}) {
          const std::vector<Block> blocks =
              split ? std::vector<Block>{{depth - 1, 8}, {1, 0}} : std::vector<Block>{{depth, 0}};
          const bool goes_on = loads_c && rows % 2 == 0;
          TileCase tile{make_key(rows, geometry.widest(rows), masked, goes_on, {}, false), blocks,
                        column_counts(geometry.widest(rows), masked).front()};
          tile.seed = static_cast<unsigned>(depth * 100 + rows);
          tile.spill_groups = 1 + rows % 5;
          expect_same(tile, {});
          if (HasFatalFailure()) return;
        }
}

TEST_P(Microkernel, TileMayStartInsideItsPanel) {
  const int lanes = geometry.lanes;
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int first = lanes; first < kPanelColumns; first += lanes)
      for (int vectors = 1;
           vectors <= std::min(geometry.widest(rows), (kPanelColumns - first) / lanes); ++vectors)
        for (const bool masked : {false, true})
          for (const std::int64_t columns : column_counts(vectors, masked)) {
            std::vector<Stage> stages{Bias{nullptr}.stage(), Gelu{}.stage(),
                                      Add{nullptr, 0}.stage(), Relu{}.stage()};
            if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
            TileCase tile{
                make_key(rows, vectors, masked, false, stages, integer), {{4, 0}, {1, 4}}, columns};
            tile.first_column = first;
            tile.col = first;
            expect_same(tile, stages);
            if (HasFatalFailure()) return;
          }
}

TEST_P(Microkernel, RowsBehindPointersEqualTheReference) {
  if (!has_indirect()) {
    KernelKey key = make_key(1, 1, false, false, {}, false);
    key.a = ARows::pointers;
    EXPECT_THROW(find_kernel(key), std::runtime_error);
    return;
  }
  std::vector<std::vector<Block>> lists = kBlockLists;
  lists.push_back({{33, 8}});
  for (int rows = 1; rows <= max_indirect_rows(); ++rows)
    for (int vectors = 1; vectors <= geometry.widest(rows); ++vectors)
      for (const bool masked : {false, true})
        for (const auto& blocks : lists) {
          const Guard side = (rows + vectors) % 2 ? Guard::after : Guard::before;
          TileCase tile{make_key(rows, vectors, masked, loads_c && rows % 2, {}, false), blocks,
                        column_counts(vectors, masked).front()};
          tile.key.a = ARows::pointers;
          tile.side = side;
          tile.seed = static_cast<unsigned>(rows * 100 + vectors);
          tile.spill_groups = 1 + (rows + vectors) % 5;
          expect_same(tile, {});
          if (HasFatalFailure()) return;
        }
}

// One row of zero points may stand for many: pointers may repeat, and point anywhere.
TEST(PortableMicrokernel, ReadsRowsThroughPointers) {
  constexpr std::int64_t groups = 3;
  const std::vector<std::uint8_t> a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  std::vector<std::int8_t> b(static_cast<std::size_t>(groups * Int32::format.b_group()), 1);
  const std::uint8_t* const rows[] = {a.data(), a.data() + 4, a.data()};
  const BlockPair pair{rows, 4, b.data(), groups * Int32::format.b_group(), 2};
  KernelKey key{};
  key.gemm_type = GemmType::int32;
  key.isa = Isa::generic;
  key.rows = 3;
  key.vectors = 1;
  key.a = ARows::pointers;
  std::int32_t c[3] = {};
  TileArgs args;
  args.set_blocks({&pair, 1});
  args.c = c;
  args.ldc = sizeof c[0];
  args.columns = 1;
  args.key = &key;
  find_kernel(key)(&args);
  EXPECT_EQ(c[0], 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12);
  EXPECT_EQ(c[1], 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16);
  EXPECT_EQ(c[2], c[0]);
}

// Distances between rows of A are signed: 0 repeats a row, negative ones walk upwards.
TEST_P(Microkernel, RowsOfAMayRepeatOrWalkUpwards) {
  const std::int64_t groups = in_groups(17);
  const std::int64_t tallest = geometry.max_rows, last = (tallest - 1) * 64;
  std::vector<std::byte> a(static_cast<std::size_t>(last + 256)),
      b(static_cast<std::size_t>(groups * panel_group));
  fill_a(a.data(), std::ssize(a));
  fill_b(b.data(), std::ssize(b), static_cast<int>(groups));
  // Where the kernel reads a wider type, the reference reads the same values before that.
  const std::vector<std::byte> narrow(a.begin(), a.begin() + std::ssize(a) / 2);
  const std::int64_t narrowing = geometry.format.wide_a ? 2 : 1;
  if (geometry.format.wide_a) widen(narrow, 1, a.data(), 0);
  const BlockPair whole{nullptr, 0, b.data(), groups * panel_group, groups};
  std::vector<std::int32_t> b_sums;
  if (integer) b_sums = column_sums({&whole, 1}, kPanelColumns, 0);
  const std::vector<float> scales(static_cast<std::size_t>(tallest), 0.5f);
  for (const std::int64_t lda : {std::int64_t{0}, std::int64_t{-64}, std::int64_t{-32}})
    for (int rows = 1; rows <= geometry.max_rows; ++rows) {
      const KernelKey key = make_key(rows, 1, false, false, {}, false);
      const BlockPair pair{a.data() + last, lda, b.data(), groups * panel_group, groups};
      BlockPair reference_pair = pair;
      reference_pair.a = (geometry.format.wide_a ? narrow : a).data() + last / narrowing;
      reference_pair.lda /= narrowing;
      std::vector<std::int32_t> c(static_cast<std::size_t>(tallest * 16)), expected(c);
      TileArgs args;
      args.pairs = &pair;
      args.num_pairs = 1;
      args.spill_groups = groups;
      args.b_sums = integer ? b_sums.data() : nullptr;
      args.ldc = 64;
      args.columns = geometry.lanes;
      args.c = c.data();
      args.key = &key;
      args.a_scale = scales.data();
      {
        const KernelScope scope(geometry, rows);
        find_kernel(key)(&args);
      }
      KernelKey generic = key;
      generic.isa = Isa::generic;
      generic.narrow = false;
      args.c = expected.data();
      args.pairs = &reference_pair;
      find_kernel(generic)(&args);
      ASSERT_EQ(c, expected) << "lda " << lda << ", rows " << rows;
    }
}

// Equal to the mathematical integer: the worst pairs of 255 with -128 and 127, and K at
// its limit.
TEST_P(Microkernel, ExtremeProductsAreExactUpToTheDepthLimit) {
  if (!integer) {  // the float families have one chain of fused multiply-adds instead
    TileCase tile{make_key(geometry.max_rows, 2, false, false, {}, false),
                  {{31, 0}, {32, 0}, {31, 0}},
                  2 * geometry.lanes};
    expect_same(tile, {});
    return;
  }
  constexpr std::int64_t groups = kMaxDepthRaw / 4;
  std::vector<std::uint8_t> a(groups * 4, 255);
  std::vector<std::int8_t> b(groups * panel_group);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto column = i / 4 % 32;  // all -128, all 127, alternating by k, by pairs of k
    const auto k = i / panel_group * 4 + i % 4;
    const bool low = column % 4 == 0   ? true
                     : column % 4 == 1 ? false
                     : column % 4 == 2 ? k % 2 == 0
                                       : k % 4 < 2;
    b[i] = low ? -128 : 127;
    if (geometry.spills) b[i] = low ? -64 : 64;  // all that a pair in int16 may be
    if (geometry.narrow) b[i] = low ? -32 : 32;  // and two pairs
  }
  const std::vector<std::uint16_t> wide(a.begin(), a.end());
  const BlockPair pair{geometry.format.wide_a ? static_cast<const void*>(wide.data()) : a.data(), 0,
                       b.data(), groups * panel_group, groups};
  const KernelKey key = make_key(geometry.max_rows, 1, false, false, {}, false);
  std::vector<std::int32_t> c(static_cast<std::size_t>(geometry.max_rows * geometry.lanes));
  std::vector<std::int32_t> sums(c.size());
  const std::vector<std::int32_t> b_sums = column_sums({&pair, 1}, kPanelColumns, 0);
  TileArgs args;
  args.b_sums = b_sums.data();
  args.partial = sums.data();
  args.spill_groups = 1;
  args.pairs = &pair;
  args.num_pairs = 1;
  args.c = c.data();
  args.ldc = geometry.lanes * 4;
  args.columns = geometry.lanes;
  args.key = &key;
  {
    const KernelScope scope(geometry, geometry.max_rows);
    find_kernel(key)(&args);
  }
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % geometry.lanes;
    std::int64_t exact = 0;
    for (std::int64_t k = 0; k < groups * 4; ++k)
      exact += 255 * b[static_cast<std::size_t>(k / 4 * panel_group + column * 4 + k % 4)];
    ASSERT_EQ(c[i], exact);
  }
}

TEST_P(Microkernel, GeometryFitsTheRegisterFile) {
  for (int rows = 1; rows <= geometry.max_rows; ++rows)
    for (int vectors = 1; vectors <= geometry.widest(rows); ++vectors)
      EXPECT_NE(find_kernel(make_key(rows, vectors, true, loads_c, {}, false)), nullptr);
  for (int rows = 1; rows <= max_indirect_rows(); ++rows) {
    KernelKey key = make_key(rows, geometry.widest(rows), true, false, {}, false);
    key.a = ARows::pointers;
    if (has_indirect()) {
      EXPECT_NE(find_kernel(key), nullptr);
    }
  }
  EXPECT_THROW(find_kernel(make_key(geometry.max_rows + 1, 8, false, false, {}, false)),
               std::runtime_error);
}

TEST_P(Microkernel, EachIsGeneratedOnceUnderItsName) {
  KernelKey key = make_key(2, 2, true, false, {}, false);
  key.sums = Sums::whole;
  const TileFunction kernel = find_kernel(key);
  EXPECT_EQ(find_kernel(key), kernel);
  const std::string name = std::string("gemm_") + weight_format(gemm_type).operands + "_2x" +
                           std::to_string(2 * geometry.lanes) + "_" + isa_name(isa) +
                           (geometry.narrow ? "_narrow" : "") + "_masked";
  EXPECT_EQ(kernel_name(key), name);
  int found = 0;
  for (const kernels::KernelInfo& info : kernels::generated_kernels())
    found += info.kind == kernels::KernelKind::gemm && info.key == kernels::key_bytes(key);
  EXPECT_EQ(found, 1);
}

INSTANTIATE_TEST_SUITE_P(Generated, Microkernel, testing::ValuesIn(generated_families()),
                         family_name);
// A machine without AVX2 generates nothing.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Microkernel);

}  // namespace
}  // namespace fbg::test
