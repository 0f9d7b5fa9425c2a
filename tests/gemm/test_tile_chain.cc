// Tiles that a kernel is given together have the same results as those that it is given one by one:
// a matrix unit finishes each while it multiplies the next.
#include <gtest/gtest.h>

#include <vector>

#include "fbg/gemm/tile_loop.h"
#include "helpers/microkernel_fixture.h"

namespace fbg::test {
namespace {

class TileChain : public testing::TestWithParam<Accumulator> {};

TEST_P(TileChain, EqualsTilesOneByOne) {
  constexpr std::int64_t kTiles = 4, kColumns = 27, kBytes = 1 << 10;
  const Accumulator accumulator = GetParam();
  const Geometry geometry = choose_geometry(accumulator, active_features(), {}, kMaxDepthRaw);
  const bool integer = is_integer(accumulator);
  std::vector<std::byte> a(32 * kBytes + 256), b(16 << 10);
  // Small values, which are numbers in every type.
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::byte>(i * 7 % 11);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::byte>(i * 5 % 13);
  const std::vector<float> scale(32, 0.5f);
  const std::vector<std::int32_t> offsets(32, 3), zero_points(32, 1);
  const std::vector<float> bias(32, 0.25f);
  std::vector<Stage> stages{Bias{bias.data()}.stage(), Relu{}.stage()};
  if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
  std::vector<StageArgs> stage_args;
  for (const Stage& stage : stages) stage_args.push_back(stage.args);
  const ColumnGroup group{0, kColumns, ceil_div(kColumns, geometry.lanes),
                          kColumns % geometry.lanes != 0};
  for (std::int64_t rows = 1; rows <= geometry.max_rows; ++rows) {
    const KernelTable kernels(
        geometry, make_kernel_key(geometry, accumulator, stages, integer, integer, false), kColumns,
        rows, rows);
    // One and several blocks of a matrix unit, none, and k-groups that are left over.
    for (const std::int64_t groups : {16, 80, 5, 37, 0}) {
      std::vector<BlockPair> pairs;
      for (std::int64_t i = 0; i < kTiles; ++i)
        pairs.push_back({a.data() + i * 8, kBytes, b.data(), 0, groups});
      std::vector<float> expected(static_cast<std::size_t>(kTiles * rows * kColumns), -1.0f);
      std::vector<float> got = expected;
      const auto tiles = [&](std::vector<float>& c) {
        std::vector<TileArgs> args(kTiles);
        for (std::int64_t i = 0; i < kTiles; ++i) {
          TileArgs& tile = args[static_cast<std::size_t>(i)];
          tile.set_blocks({&pairs[static_cast<std::size_t>(i)], 1});
          tile.c = c.data() + i * rows * kColumns;
          tile.ldc = kColumns * 4;
          tile.columns = kColumns;
          tile.row = i * rows;
          tile.a_scale = tile.b_scale = scale.data();
          tile.a_zero_point = zero_points.data();
          tile.col_offsets = offsets.data();
          tile.stages = stage_args.data();
          tile.prefetch = b.data();
        }
        return args;
      };
      const KernelScope scope(geometry, rows);
      for (TileArgs& tile : tiles(expected)) run_tile(kernels, group, rows, tile);
      std::vector<TileArgs> chain = tiles(got);
      run_tiles(geometry, kernels, group, rows, chain);
      ASSERT_EQ(got, expected) << rows << " rows, " << groups << " k-groups";
      const bool unit = geometry.block_groups > 1 && rows > geometry.vector_rows;
      EXPECT_EQ(chain.front().next, unit ? &chain[1] : nullptr);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Accumulators, TileChain,
                         testing::Values(Accumulator::int32, Accumulator::float32,
                                         Accumulator::bfloat16));

}  // namespace
}  // namespace fbg::test
