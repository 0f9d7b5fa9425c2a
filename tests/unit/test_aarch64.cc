// Which kernels run on an AArch64 CPU. Where an emulator runs this test, FBG_EXPECTED_ISA says
// which instruction set the emulated CPU has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fbg/conv/conv.h"
#include "fbg/gemm/gemm.h"
#include "helpers/guarded.h"
#include "helpers/plain_conv.h"
#include "kernels/cache.h"
#include "kernels/lookup.h"
#include "kernels/microkernel.h"

namespace fbg::test {
namespace {

// The best kernels of each accumulator, for the named set of features.
struct Best {
  Isa isa, int32, float32, bfloat16;
};
constexpr Best kBest[] = {
    {Isa::generic, Isa::generic, Isa::generic, Isa::generic},
    {Isa::neon, Isa::neon, Isa::neon, Isa::neon},
    {Isa::neon_dot, Isa::neon_dot, Isa::neon, Isa::neon},
    {Isa::neon_i8mm, Isa::neon_i8mm, Isa::neon, Isa::neon},
    {Isa::neon_bf16, Isa::neon_i8mm, Isa::neon, Isa::neon_bf16},
};

TEST(AArch64, TheCpuHasTheExpectedInstructionSet) {
  const char* const expected = std::getenv("FBG_EXPECTED_ISA");
  if (expected) {
    EXPECT_STREQ(isa_name(active_isa()), expected);
  }
  EXPECT_NE(active_isa(), Isa::generic);
  EXPECT_TRUE(isa_supported(Isa::neon));
  for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::avx512_amx}) EXPECT_FALSE(isa_supported(isa));
}

TEST(AArch64, EveryInstructionSetUsesItsBestKernels) {
  for (const Best& best : kBest) {
    const Features features = isa_features(best.isa);
    EXPECT_EQ(choose_geometry(GemmType::int32, features).isa, best.int32);
    for (const GemmType int4 : {GemmType::int4_g32, GemmType::int4_g64, GemmType::int4_g128})
      EXPECT_EQ(choose_geometry(int4, features).isa, best.int32);
    EXPECT_EQ(choose_geometry(GemmType::float32, features).isa, best.float32);
    EXPECT_EQ(choose_geometry(GemmType::bfloat16, features).isa, best.bfloat16);
    EXPECT_EQ(kernels::lookup_isa(features), best.float32);
  }
}

// The generated kernels run, and their sums are those of integers: for every number of rows, which
// are split into tiles of different heights and widths.
TEST(AArch64, ProductsRunOnKernelsOfTheirInstructionSet) {
  constexpr std::int64_t most = 19, n = 45, k = 67;
  std::vector<std::uint8_t> a(most * k);
  std::vector<std::int8_t> w(k * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(i % 3 ? 255 : i * 7);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int8_t>(i % 5 ? -128 : i * 11);
  std::vector<std::int32_t> exact(most * n);
  for (std::int64_t i = 0; i < most; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t p = 0; p < k; ++p)
        exact[static_cast<std::size_t>(i * n + j)] +=
            a[static_cast<std::size_t>(i * k + p)] * w[static_cast<std::size_t>(p * n + j)];

  const auto b = PackedB<Int32>::pack({w.data(), k, n, n, 1});
  for (const Best& best : kBest) {
    if (!isa_supported(best.isa)) continue;
    for (std::int64_t m = 1; m <= most; ++m) {
      const PackA<std::uint8_t> packer({a.data(), m, k, k, 1});
      const Gemm<PackA<std::uint8_t>, Int32> gemm(b, {}, m, isa_features(best.isa));
      EXPECT_NE(gemm.kernel_name().find(isa_name(best.int32)), std::string::npos);
      Guarded<std::byte> workspace(gemm.workspace_bytes(1));
      std::vector<std::int32_t> c(static_cast<std::size_t>(m * n));
      gemm.run(packer, b, {}, {c.data(), n * 4}, workspace.data(), 0, 1);
      ASSERT_TRUE(std::equal(c.begin(), c.end(), exact.begin()))
          << isa_name(best.isa) << ", " << m << " rows";
    }
    if (best.int32 == Isa::generic) continue;
    const auto generated = kernels::generated_kernels();
    EXPECT_TRUE(std::ranges::any_of(generated, [&](const kernels::KernelInfo& kernel) {
      return kernel.isa == best.int32;
    })) << isa_name(best.isa);
  }
}

template <class Accumulator, class X, class W, class Sum>
void expect_lanewise(const ConvGeometry& g, const ConvShape& shape, Isa of, Isa kernels_of) {
  std::vector<X> x(static_cast<std::size_t>(shape.in_pixels() * g.in_channels));
  std::vector<W> w(static_cast<std::size_t>(g.out_channels * g.depth()));
  // Integers as floats, whose sums are exact in every order.
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<X>(i % 3 ? 255 : i * 7 % 256);
  for (std::size_t i = 0; i < w.size(); ++i)
    w[i] = static_cast<W>(i % 5 ? -128 : static_cast<int>(i * 11 % 128));
  const auto weights = PackedConv::pack<Accumulator>(w.data(), g);
  const Conv conv(weights, {}, shape, {}, isa_features(of));
  EXPECT_TRUE(conv.kernel_name().starts_with("lanewise")) << conv.kernel_name();
  EXPECT_NE(conv.kernel_name().find(std::string("_") + isa_name(kernels_of) + "_"),
            std::string::npos)
      << conv.kernel_name() << ", " << isa_name(of);
  Guarded<std::byte> workspace(
      static_cast<std::size_t>(round_up(static_cast<std::int64_t>(conv.workspace_bytes()), 64)));
  std::vector<Sum> y(static_cast<std::size_t>(shape.out_pixels() * g.out_channels));
  const OutputView c{y.data(), g.out_channels * static_cast<std::int64_t>(sizeof(Sum))};
  for (int phase = 0; phase < conv.phases(); ++phase)
    conv.run(ConvInput::dense(x.data(), g, shape), {}, c, workspace.data(), phase, 0, 1);
  EXPECT_EQ(y, (plain_conv<X, W, Sum>(g, shape, x.data(), w.data(), Sum{0})));
}

// Groups of `channels` inputs and outputs under a square kernel.
ConvGeometry groupwise(std::int64_t groups, std::int64_t channels, std::int64_t kernel,
                       std::int64_t stride) {
  ConvGeometry g;
  g.groups = groups;
  g.in_channels = g.out_channels = groups * channels;
  g.kernel = {1, kernel, kernel};
  g.stride = {1, stride, stride};
  g.pad_before = g.pad_after = {0, kernel / 2, kernel / 2};
  return g;
}

// Channels do not fill vectors, and rows do not fill tiles.
TEST(AArch64, DepthwiseConvolutionsRunOnLanewiseKernels) {
  for (const Best& best : kBest) {
    if (best.isa == Isa::generic || !isa_supported(best.isa)) continue;
    for (const std::int64_t channels : {3, 32, 61})
      for (const std::int64_t kernel : {3, 5})
        for (const std::int64_t stride : {1, 2}) {
          const ConvGeometry g = groupwise(channels, 1, kernel, stride);
          const ConvShape shape = ConvShape::of(g, 1, {1, 9, 37});
          expect_lanewise<Int32, std::uint8_t, std::int8_t, std::int32_t>(g, shape, best.isa,
                                                                          best.int32);
          expect_lanewise<Float32, float, float, float>(g, shape, best.isa, best.float32);
        }
  }
}

TEST(AArch64, GroupwiseConvolutionsRunOnLanewiseKernels) {
  for (const Best& best : kBest) {
    if (best.isa == Isa::generic || !isa_supported(best.isa)) continue;
    const ConvGeometry g = groupwise(5, 4, 3, 1);
    const ConvShape shape = ConvShape::of(g, 1, {1, 9, 37});
    expect_lanewise<Float32, float, float, float>(g, shape, best.isa, best.float32);
    if (best.int32 != Isa::neon)  // where bytes are widened, products are faster
      expect_lanewise<Int32, std::uint8_t, std::int8_t, std::int32_t>(g, shape, best.isa,
                                                                      best.int32);
  }
}

}  // namespace
}  // namespace fbg::test
