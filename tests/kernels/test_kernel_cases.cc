// Random kernels, as kernel_tester draws them, on every architecture that generates some: look-ups,
// and tiles of products and of depthwise and groupwise convolutions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cache.h"
#include "kernels/lanewise.h"
#include "kernels/lookup.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

constexpr int kKernels = 400, kCases = 8;

struct Kind {
  const char* name;
  bool (*exists)(Isa);
  std::unique_ptr<Subject> (*draw)(Isa, Choices&);
};
bool has_family(Isa isa) { return !families_of(isa).empty(); }
constexpr Kind kKinds[] = {{"gemm", has_family, draw_gemm},
                           {"lookup", kernels::has_lookup, draw_lookup},
                           {"lanewise", kernels::has_lanewise, draw_lanewise}};

struct Case {
  Kind kind;
  Isa isa;
  std::string name() const { return std::string(kind.name) + "_" + isa_name(isa); }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Kind& kind : kKinds)
    for (const Isa isa : supported_isas())
      if (kind.exists(isa)) all.push_back({kind, isa});
  return all;
}

class KernelCases : public testing::TestWithParam<Case> {};

TEST_P(KernelCases, HaveTheBitsOfTheReference) {
  const auto& [kind, isa] = GetParam();
  QuickRandom random;
  random.seed(1);
  std::array<std::uint8_t, 1280> bytes;
  const auto draw = [&] {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return Choices(bytes.data(), bytes.size());
  };
  int drawn = 0;
  for (int kernel = 0; kernel < kKernels; ++kernel) {
    Choices key = draw();
    const std::unique_ptr<Subject> subject = kind.draw(isa, key);
    if (!subject) continue;  // the ISA has no family of its own for these operands
    ++drawn;
    for (int i = 0; i < kCases; ++i) {
      Choices choices = draw();
      ASSERT_EQ(subject->run(choices, random()), "") << "kernel " << kernel << ", case " << i;
    }
  }
  // Sets without kernels of their own, such as avx512_bf16, run those of another one.
  const auto generated = kernels::generated_kernels();
  EXPECT_EQ(drawn > 0, std::ranges::any_of(generated, [&](const kernels::KernelInfo& kernel) {
              return kernel.isa == isa && kernel.name.starts_with(kind.name);
            }));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelCases);
INSTANTIATE_TEST_SUITE_P(Kinds, KernelCases, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name(); });

}  // namespace
}  // namespace fbg::test
