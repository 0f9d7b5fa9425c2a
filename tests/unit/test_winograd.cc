// Winograd's transforms: the identity behind them in exact rationals, and their kernels against the
// matrices, on every target of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "helpers/rows_fixture.h"
#include "simd/kernels.h"

namespace fbg::test {
namespace {

using winograd::kMaxTile;
using winograd::Rational;

// A^T [(G g) * (B^T d)] is the sum of g_a d_(i + a), for all d and g: so is each coefficient.
TEST(Winograd, IsTheConvolutionExactly) {
  for (int t = 3; t <= kMaxTile; ++t)
    for (int n = 2; n < t; ++n) {
      const int k = t + 1 - n;
      for (int i = 0; i < n; ++i)
        for (int a = 0; a < k; ++a)
          for (int b = 0; b < t; ++b) {
            Rational sum;
            for (int p = 0; p < t; ++p)
              sum = sum + winograd::output(t, n, i, p) * winograd::weights(t, k, p, a) *
                              winograd::source(t, p, b);
            ASSERT_EQ(sum, Rational(b == i + a)) << "F(" << n << ", " << k << ")";
          }
    }
}

// No rounding of the coefficients adds to the error.
TEST(Winograd, CoefficientsOfTransformsAreFloats) {
  for (int t = 3; t <= kMaxTile; ++t)
    for (int i = 0; i < t; ++i)
      for (int j = 0; j < t; ++j)
        for (const Rational c : {winograd::source(t, i, j), winograd::output(t, t - 1, i, j)})
          EXPECT_EQ(static_cast<double>(static_cast<float>(c.value())), c.value());
}

class WinogradKernels : public testing::TestWithParam<Isa> {
 protected:
  const simd::WinogradKernels& kernels = simd::kernels(isa_features(GetParam())).winograd;

  // Transforms `items` groups of t lines, and compares with the matrix's `lines` rows.
  template <class Element>
  void check(simd::LineKernel kernel, int t, int lines, std::size_t channels, Element element) {
    constexpr std::size_t kItems = 3;
    ASSERT_NE(kernel, nullptr);
    const auto size = static_cast<std::size_t>(t) * kItems * channels;
    const Guarded<float> x(normal(size, static_cast<unsigned>(size)), Guard::after);
    Guarded<float> y(static_cast<std::size_t>(lines) * kItems * channels, Guard::after);
    simd::LineTransform a{};
    for (int p = 0; p < t; ++p) {
      a.x[p] = x.data() + static_cast<std::size_t>(p) * kItems * channels;
      a.step_x[p] = static_cast<std::ptrdiff_t>(channels);
    }
    a.y = y.data();
    a.line_y = static_cast<std::ptrdiff_t>(kItems * channels);
    a.step_y = static_cast<std::ptrdiff_t>(channels);
    a.items = kItems;
    a.channels = channels;
    kernel(a);
    const std::size_t line = kItems * channels;
    for (int l = 0; l < lines; ++l)
      for (std::size_t c = 0; c < line; ++c) {
        double sum = 0, size_of_terms = 0;
        for (int p = 0; p < t; ++p) {
          const double term = element(l, p).value() * x[static_cast<std::size_t>(p) * line + c];
          sum += term;
          size_of_terms += std::abs(term);
        }
        ASSERT_NEAR(y[static_cast<std::size_t>(l) * line + c], sum, 1e-6 * size_of_terms)
            << "t = " << t << ", line " << l;
      }
  }
};

TEST_P(WinogradKernels, MultiplyByTheirMatrix) {
  for (const std::size_t channels : {1, 7, 16, 33, 64})
    for (int t = 3; t <= kMaxTile; ++t) {
      check(kernels.source[t], t, t, channels,
            [&](int l, int p) { return winograd::source(t, l, p); });
      for (int n = 2; n < t; ++n)
        check(kernels.output[t][n], t, n, channels,
              [&](int l, int p) { return winograd::output(t, n, l, p); });
    }
}

TEST_P(WinogradKernels, CopyAlongAnAxisWithoutKernel) {
  const auto one = [](int, int) { return Rational(1); };
  check(kernels.source[1], 1, 1, 19, one);
  check(kernels.output[1][1], 1, 1, 19, one);
}

INSTANTIATE_TEST_SUITE_P(Isas, WinogradKernels, testing::ValuesIn(supported_isas()), isa_test_name);

}  // namespace
}  // namespace fbg::test
