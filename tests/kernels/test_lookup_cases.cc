// Random look-ups, as kernel_tester draws them, on every architecture that generates kernels.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/lookup.h"
#include "kernels/subject.h"

namespace fbg::test {
namespace {

constexpr int kKernels = 400, kCases = 8;

class LookupCases : public testing::TestWithParam<Isa> {};

TEST_P(LookupCases, HaveTheBitsOfThePortableKernel) {
  QuickRandom random;
  random.seed(1);
  std::array<std::uint8_t, 256> bytes;
  const auto draw = [&] {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return Choices(bytes.data(), bytes.size());
  };
  for (int kernel = 0; kernel < kKernels; ++kernel) {
    Choices key = draw();
    const std::unique_ptr<Subject> subject = draw_lookup(GetParam(), key);
    for (int i = 0; i < kCases; ++i) {
      Choices choices = draw();
      ASSERT_EQ(subject->run(choices, random()), "") << "kernel " << kernel << ", case " << i;
    }
  }
}

std::vector<Isa> isas_with_kernels() {
  std::vector<Isa> isas = supported_isas();
  std::erase_if(isas, [](Isa isa) { return !kernels::has_lookup(isa); });
  return isas;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LookupCases);
INSTANTIATE_TEST_SUITE_P(Isas, LookupCases, testing::ValuesIn(isas_with_kernels()),
                         [](const auto& isa) { return std::string(isa_name(isa.param)); });

}  // namespace
}  // namespace fbg::test
