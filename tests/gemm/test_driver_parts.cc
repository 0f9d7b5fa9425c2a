// The parts of the GEMM driver that are used on their own: products of operands that are already in
// panels, the outliers of a tile, and what packers are told.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"
#include "gemm/driver.h"
#include "gemm/interleave.h"
#include "gemm/packers.h"
#include "gemm/panel_product.h"

namespace fbg {
namespace {

std::vector<Isa> all_supported() { return supported_isas(); }

// Rows and columns of odd numbers of k-groups and of bytes: what is missing is zero, and nothing is
// written beyond the last pair.
TEST(Pairs, HaveEightBytesOfTwoRowsOrColumns) {
  constexpr std::int64_t rows = 3, bytes = 13, lda = 17, groups = 4, ld = 24;
  std::vector<std::byte> a(rows * lda + 8), out(4 * ld, std::byte{99});
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::byte>(i + 1);
  interleave_rows(a.data(), lda, rows, bytes, groups, out.data(), ld);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < ld; ++k) {
      const std::int64_t at = i / 2 * 2 * ld + k / 8 * 16 + i % 2 * 8 + k % 8;
      const std::byte element = i < rows && k < bytes ? a[static_cast<std::size_t>(i * lda + k)]
                                : k < 16              ? std::byte{0}
                                                      : std::byte{99};
      EXPECT_EQ(out[static_cast<std::size_t>(at)], element) << i << ", " << k;
    }

  constexpr std::int64_t columns = 4, group_bytes = 12;
  for (const std::int64_t depth : {0, 1, 3, 4}) {
    std::vector<std::byte> b(static_cast<std::size_t>(columns * interleaved_bytes(depth)));
    interleave_columns(a.data(), group_bytes, columns, depth, b.data());
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t k = 0; k < 8 * ceil_div(depth, 2); ++k) {
        const std::int64_t from = k / 4 * group_bytes + j * 4 + k % 4;
        const std::int64_t at = k / 8 * columns * 8 + j * 8 + k % 8;
        EXPECT_EQ(b[static_cast<std::size_t>(at)],
                  k / 4 < depth ? a[static_cast<std::size_t>(from)] : std::byte{0});
      }
  }
}

// What lies beyond the last column is computed, too, and would be slow if it were denormal.
TEST(FoldedRequantization, IsZeroBeyondTheLastColumn) {
  const std::vector<Stage> stages{CorrectZeroPoints{}.stage(), Dequantize{}.stage()};
  std::vector<StageArgs> args;
  for (const Stage& stage : stages) args.push_back(stage.args);
  const Geometry geometry = choose_geometry(GemmType::int32, active_features());
  KernelKey key = make_kernel_key(geometry, GemmType::int32, stages, true, true, false);
  key.corrections = Corrections::folded;
  const std::vector<float> b_scale(24, 0.5f);
  const std::vector<std::int32_t> sums(24, 3);
  std::vector<float> scale(32, 1e-40f);
  std::vector<std::int32_t> offset(32, 77);
  fold_requantization(key, args.data(), 2.0f, 5, b_scale.data(), sums.data(), {0, 24}, 32,
                      {scale.data(), offset.data()});
  for (std::size_t j = 0; j < 32; ++j) {
    EXPECT_EQ(scale[j], j < 24 ? 1.0f : 0.0f) << j;
    EXPECT_EQ(offset[j], j < 24 ? 15 : 0) << j;
  }
}

// A caller with column groups of its own learns while it prepares what a run could not tell it.
TEST(KernelTable, NamesATileThatItHasNoKernelFor) {
  const Geometry geometry = choose_geometry(GemmType::int32, active_features());
  const KernelKey key = make_kernel_key(geometry, GemmType::int32, {}, false, false, false);
  const KernelTable table(geometry, key, kPanelColumns + 1, 1, geometry.max_rows);
  for (int rows = 1; rows <= geometry.max_rows; ++rows) {
    const int vectors = std::min(kPanelColumns / geometry.lanes, geometry.max_vectors[rows - 1]);
    EXPECT_TRUE(table.find(rows, vectors, false).run) << rows;
  }
  EXPECT_NO_THROW(table.require(geometry.max_rows, 1, true));
  EXPECT_THROW(table.require(1, 7, true), std::logic_error);
}

class PanelProductOf : public testing::TestWithParam<Isa> {};

// Small integers: every order of summation gives the same float.
TEST_P(PanelProductOf, FloatsInPlaceIsTheirMatrixProduct) {
  const Geometry geometry = choose_geometry(GemmType::float32, isa_features(GetParam()));
  const std::int64_t depth = 21, lda = 30;
  for (const std::int64_t columns : {1, 17, 32, 40, 75})
    for (const std::int64_t k : {depth, std::int64_t{5}})
      for (const std::int64_t m : {1, 2, 13, 25}) {
        const KernelTable kernels = panel_kernels(GemmType::float32, geometry, columns);
        const std::int64_t ldc = columns + 3;
        std::vector<float> a(static_cast<std::size_t>(m * lda)),
            c(static_cast<std::size_t>(m * ldc));
        AlignedBuffer panels(static_cast<std::size_t>(round_up(columns, 32) * depth * 4));
        auto* const b = reinterpret_cast<float*>(panels.data());
        const auto at = [&](std::int64_t i, std::int64_t j) {
          return b[j / 32 * depth * 32 + i * 32 + j % 32];
        };
        for (std::int64_t i = 0; i < std::ssize(a); ++i) a[i] = static_cast<float>(i * 7 % 11 - 5);
        for (std::int64_t i = 0; i < round_up(columns, 32) * depth; ++i)
          b[i] = static_cast<float>(i * 5 % 13 - 6);
        multiply_panels(kernels, {a.data(), m, k, lda, 1}, b, depth,
                        {c.data(), m, columns, ldc, 1});
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < ldc; ++j) {
            float sum = 0;
            for (std::int64_t p = 0; p < k && j < columns; ++p) sum += a[i * lda + p] * at(p, j);
            ASSERT_EQ(c[i * ldc + j], sum) << i << ", " << j;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Isas, PanelProductOf, testing::ValuesIn(all_supported()),
                         [](const auto& param) { return std::string(isa_name(param.param)); });

// An implicit GEMM has a block pair for each row of the kernel.
TEST(Outliers, AreFoundInAnyNumberOfBlockPairs) {
  const std::vector<std::int64_t> indptr{0, 3, 3, 5};
  const std::vector<std::int32_t> rows{0, 9, 23, 7, 8};
  const std::vector<std::int8_t> values{-128, 127, 3, 100, -90};
  const Outliers outliers{indptr, rows, values};
  const std::int64_t groups[] = {2, 1, 3}, height = 2;
  std::vector<std::vector<std::uint8_t>> blocks;
  std::vector<BlockPair> pairs;
  std::vector<std::uint8_t> flat[2];
  for (const std::int64_t n : groups) {
    const std::int64_t lda = 4 * n + 5;
    std::vector<std::uint8_t>& block = blocks.emplace_back(static_cast<std::size_t>(height * lda));
    for (std::int64_t i = 0; i < std::ssize(block); ++i)
      block[i] = static_cast<std::uint8_t>(251 - 31 * i - n);
    for (std::int64_t r = 0; r < height; ++r)
      flat[r].insert(flat[r].end(), block.begin() + r * lda, block.begin() + r * lda + 4 * n);
    pairs.push_back({block.data(), lda, nullptr, 0, n});
  }
  for (std::size_t p = 0; p < pairs.size(); ++p) pairs[p].a = blocks[p].data();
  std::vector<Value> sums(static_cast<std::size_t>(height * 4), Value{.i = 77});
  multiply_outliers(outliers, {0, 3}, pairs, height, 4, sums.data());
  for (std::int64_t r = 0; r < height; ++r)
    for (std::int64_t j = 0; j < 4; ++j) {
      std::int32_t expected = 0;
      for (std::int64_t p = j < 3 ? indptr[j] : 0; j < 3 && p < indptr[j + 1]; ++p)
        expected += values[p] * flat[r][static_cast<std::size_t>(rows[p])];
      EXPECT_EQ(sums[r * 4 + j].i, expected) << r << ", " << j;
    }
}

// Notes the features that it is told of.
struct ObservingPacker {
  using Element = std::uint8_t;
  static constexpr bool kHasScale = false;
  PackA<std::uint8_t> a;
  Features* seen;

  std::int64_t rows() const { return a.rows(); }
  std::int64_t depth() const { return a.depth(); }
  const std::uint8_t* in_place() const { return nullptr; }
  std::int64_t in_place_ld() const { return 0; }
  void prepare(Range rows, ABlock& block) const noexcept {
    *seen = block.features;
    a.prepare(rows, block);
  }
  void pack(Range rows, ABlock& block) const noexcept { a.pack(rows, block); }
};

// A limit that changes between the preparation and the run must not mix instruction sets.
TEST(Gemm, PacksForTheFeaturesItWasPreparedFor) {
  const std::vector<std::int8_t> w(40 * 33, 3);
  const std::vector<std::uint8_t> x(5 * 40, 7);
  const auto b = PackedB<Int32>::pack({w.data(), 40, 33, 33, 1});
  for (const Isa isa : supported_isas()) {
    Features seen = ~Features{0};
    const ObservingPacker a{PackA<std::uint8_t>({x.data(), 5, 40, 40, 1}), &seen};
    const Gemm<ObservingPacker, Int32, Pipeline<>> gemm(b, Pipeline(), 5, isa_features(isa));
    EXPECT_EQ(gemm.features(), isa_features(isa));
    AlignedBuffer workspace(gemm.workspace_bytes(1));
    std::vector<std::int32_t> c(5 * 33);
    set_isa_limit(isa == Isa::generic ? std::nullopt : std::optional(Isa::generic));
    gemm.run(a, b, Pipeline(), {c.data(), 33 * 4}, workspace.data(), 0, 1);
    set_isa_limit(std::nullopt);
    EXPECT_EQ(seen, isa_features(isa));
    EXPECT_EQ(c, std::vector<std::int32_t>(5 * 33, 40 * 21));
  }
}

// What types rule out of a Gemm, and the bits of one.
TEST(GemmDriver, MultipliesAsGemmAndRefusesElementsThatItsWeightsDoNotTake) {
  const std::vector<std::int8_t> w(40 * 33, 3);
  const std::vector<std::uint8_t> x(5 * 40, 7);
  const auto b = PackedB<Int32>::pack({w.data(), 40, 33, 33, 1});
  const PackA<std::uint8_t> a({x.data(), 5, 40, 40, 1});
  const PipelineView none;
  const GemmDriver gemm(product_types(PackerKind::bytes, GemmType::int32), b, none, 5,
                        b.with_weights(active_features()));
  AlignedBuffer workspace(gemm.workspace_bytes(1));
  std::vector<std::int32_t> c(5 * 33);
  gemm.run(row_source(a), b, none, {c.data(), 33 * 4}, workspace.data(), 0, 1);
  EXPECT_EQ(c, std::vector<std::int32_t>(5 * 33, 40 * 21));

  for (const PackerKind packer :
       {PackerKind::floats, PackerKind::bfloat16s, PackerKind::to_bfloat16, PackerKind::to_float16})
    EXPECT_THROW(product_types(packer, GemmType::int32), std::invalid_argument);
  for (const PackerKind packer : {PackerKind::bytes, PackerKind::quantized, PackerKind::bfloat16s})
    EXPECT_THROW(product_types(packer, GemmType::float32), std::invalid_argument);
}

}  // namespace
}  // namespace fbg
