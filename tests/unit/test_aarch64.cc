// Which kernels run on an AArch64 CPU. Where an emulator runs this test, FBG_EXPECTED_ISA says
// which instruction set the emulated CPU has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fbg/gemm/gemm.h"
#include "helpers/guarded.h"
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

}  // namespace
}  // namespace fbg::test
