// Tiles that a kernel is given together have the same results as those that it is given one by one:
// a matrix unit finishes each while it multiplies the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "gemm/tile_loop.h"
#include "helpers/microkernel_fixture.h"

namespace fbg::test {
namespace {

// Runs tiles of one kernel as drivers do, and returns whether it was given them together.
bool run_tiles(const Geometry& geometry, const KernelTable& kernels, const ColumnGroup& group,
               std::int64_t rows, std::span<TileArgs> tiles) {
  constexpr std::int64_t kPairs = 2;
  std::vector<std::byte> memory(fbg::PipelinedTiles::bytes(kPairs));
  fbg::PipelinedTiles pipelined(memory.data(), kPairs);
  for (TileArgs& tile : tiles)
    if (fbg::PipelinedTiles::gains(geometry, rows))
      pipelined.add(kernels.find(rows, group.vectors, group.masked), tile);
    else
      run_tile(kernels, group, rows, tile);
  pipelined.run();
  return reinterpret_cast<const TileArgs*>(memory.data())->next != nullptr;
}

class PipelinedTiles : public testing::TestWithParam<std::tuple<GemmType, bool>> {};

TEST_P(PipelinedTiles, EqualsTilesOneByOne) {
  constexpr std::int64_t kTiles = 4, kBytes = 1 << 10;
  const auto [gemm_type, raw] = GetParam();
  const std::int64_t kColumns = raw ? 32 : 27;
  const Geometry geometry = choose_geometry(gemm_type, active_features(), {}, kMaxDepthRaw);
  const bool integer = is_integer(gemm_type);
  std::vector<std::byte> a(32 * kBytes + 256), b(16 << 10);
  // Small values, which are numbers in every type.
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::byte>(i * 7 % 11);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::byte>(i * 5 % 13);
  const std::vector<float> scale(32, 0.5f);
  const std::vector<std::int32_t> offsets(32, 3), zero_points(32, 1);
  const std::vector<float> bias(32, 0.25f);
  std::vector<Stage> stages{Bias{bias.data()}.stage(), Relu{}.stage()};
  if (integer) stages.insert(stages.begin(), Dequantize{}.stage());
  if (raw) stages.clear();
  std::vector<StageArgs> stage_args;
  for (const Stage& stage : stages) stage_args.push_back(stage.args);
  for (std::int64_t rows = 1; rows <= geometry.max_rows; ++rows) {
    const std::int64_t columns = std::min(kColumns, tile_columns(geometry, rows));
    const ColumnGroup group{0, columns, ceil_div(columns, geometry.lanes),
                            columns % geometry.lanes != 0};
    const KernelTable kernels(
        geometry,
        make_kernel_key(geometry, gemm_type, stages, integer && !raw, integer && !raw, false),
        kColumns, rows, rows);
    // One and several blocks of a matrix unit, none, and k-groups that are left over.
    constexpr std::array<std::int64_t, kTiles> kDepths[]{
        {16, 16, 16, 16}, {80, 80, 80, 80}, {5, 5, 5, 5},   {37, 37, 37, 37},
        {0, 0, 0, 0},     {16, 37, 80, 16}, {5, 32, 0, 37},
    };
    for (const auto& depths : kDepths) {
      std::vector<BlockPair> pairs;
      for (std::int64_t i = 0; i < kTiles; ++i)
        pairs.push_back(
            {a.data() + i * 8, kBytes, b.data(), 0, depths[static_cast<std::size_t>(i)]});
      std::vector<float> expected(static_cast<std::size_t>(kTiles * rows * kColumns), -1.0f);
      std::vector<float> got = expected;
      const auto tiles = [&](std::vector<float>& c) {
        std::vector<TileArgs> args(kTiles);
        for (std::int64_t i = 0; i < kTiles; ++i) {
          TileArgs& tile = args[static_cast<std::size_t>(i)];
          tile.set_blocks({&pairs[static_cast<std::size_t>(i)], 1});
          tile.c = c.data() + i * rows * kColumns;
          tile.ldc = kColumns * 4;
          tile.columns = columns;
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
      std::vector<TileArgs> pipelined = tiles(got);
      const bool unit = geometry.block_groups > 1 && rows > geometry.vector_rows;
      EXPECT_EQ(run_tiles(geometry, kernels, group, rows, pipelined), unit);
      ASSERT_EQ(got, expected) << rows << " rows, " << depths[0] << ", " << depths[1]
                               << " k-groups";
    }
  }
}

// Rows that are picked have the results of the whole tile, one below the other, and nothing else is
// written.
TEST(PickedRows, EqualThoseOfTheWholeTile) {
  constexpr GemmType kInt32 = GemmType::int32;
  constexpr std::int64_t kTiles = 3, kBytes = 1 << 10;
  const Geometry geometry = choose_geometry(kInt32, active_features(), {}, kMaxDepthRaw);
  if (geometry.block_groups == 1) GTEST_SKIP() << "only a matrix unit picks rows";
  std::vector<std::byte> a(32 * kBytes + 256), b(16 << 10);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::byte>(i * 7 % 251);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::byte>(i * 5 % 253);
  const std::vector<float> scale(64, 0.01f);
  const std::vector<std::int32_t> offsets(64, 3);
  const std::vector<std::vector<std::uint8_t>> lists{
      {}, {0}, {5, 6, 8}, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 3, 5, 7, 8}};
  for (const bool requantizes : {false, true}) {
    std::vector<Stage> stages;
    if (requantizes) stages = {CorrectZeroPoints{}.stage(), Requantize{2.0f, 9}.stage()};
    std::vector<StageArgs> stage_args;
    for (const Stage& stage : stages) stage_args.push_back(stage.args);
    const std::int64_t size = requantizes ? 1 : 4;
    for (const std::int64_t columns : {16, 27, 32, 64})
      for (const std::int64_t rows : {9, 16, 23, 32}) {
        const std::int64_t vectors = ceil_div(columns, geometry.lanes);
        if (vectors > geometry.max_vectors[static_cast<std::size_t>(rows - 1)]) continue;
        const ColumnGroup group{0, columns, vectors, columns % geometry.lanes != 0};
        KernelKey key = make_kernel_key(geometry, kInt32, stages, requantizes, requantizes, false);
        if (requantizes) key.corrections = Corrections::folded;
        const KernelTable whole(geometry, key, columns, rows, rows);
        key.row_mask = true;
        const KernelTable picking(geometry, key, columns, rows, rows);
        const KernelScope scope(geometry, rows);
        const std::int64_t tile_bytes = rows * columns * size;
        std::vector<std::byte> all(static_cast<std::size_t>(kTiles * tile_bytes));
        std::vector<std::byte> got(all.size(), std::byte{77}), expected = got;
        const BlockPair pairs[]{{a.data(), kBytes, b.data(), 8 << 10, 16},
                                {a.data() + 64, kBytes, b.data() + 2048, 8 << 10, 32}};
        std::vector<TileArgs> pipelined(kTiles);
        for (std::size_t list = 0; list + kTiles <= lists.size(); ++list) {
          for (std::int64_t t = 0; t < kTiles; ++t) {
            TileArgs& tile = pipelined[static_cast<std::size_t>(t)];
            const std::vector<std::uint8_t>& picked = lists[list + static_cast<std::size_t>(t)];
            tile.set_blocks(pairs);
            tile.ldc = columns * size;
            tile.columns = columns;
            tile.b_scale = scale.data();
            tile.col_offsets = offsets.data();
            tile.stages = stage_args.data();
            tile.prefetch = b.data();
            tile.picked = picked.data();
            tile.num_picked = std::ssize(picked);
            tile.next = nullptr;
            tile.c = all.data() + t * tile_bytes;
            run_tile(whole, group, rows, tile);
            for (std::size_t i = 0; i < picked.size(); ++i)
              std::copy_n(
                  all.data() + t * tile_bytes + picked[i] * columns * size, columns * size,
                  expected.data() + t * tile_bytes + static_cast<std::int64_t>(i) * columns * size);
            tile.c = got.data() + t * tile_bytes;
          }
          run_tiles(geometry, picking, group, rows, pipelined);
          ASSERT_EQ(got, expected) << rows << " rows, " << columns << " columns, list " << list;
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Accumulators, PipelinedTiles,
                         testing::Combine(testing::Values(GemmType::int32, GemmType::float32,
                                                          GemmType::bfloat16),
                                          testing::Bool()));

}  // namespace
}  // namespace fbg::test
