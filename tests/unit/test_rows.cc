// Row kernels on floats against double-precision references: every target of this machine, every
// length up to 130, buffers that end at an inaccessible page.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/float16.h"
#include "core/gelu_coefficients.h"
#include "helpers/rows_fixture.h"

namespace fbg::test {
namespace {

double gelu_exact(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

// The documented operation sequence.
float gelu_sequence(float x) {
  const float t = std::abs(x) > kGeluClamp ? kGeluClamp : std::abs(x);
  const float k = std::fma(t, kGeluScale, kGeluRounder) - kGeluRounder;
  const float u = std::fma(t, kGeluScale, -k);
  const auto i = static_cast<std::size_t>(k);
  constexpr std::size_t degree = std::size(kGeluTable) - 1;
  float g = kGeluTable[degree][i];
  for (std::size_t j = degree; j-- > 0;) g = std::fma(g, u, kGeluTable[j][i]);
  return (x < 0.0f ? 0.0f : x) - g;
}

TEST_P(Rows, TableIsTheOneOfTheIsa) {
  const Isa isa = GetParam();
#if defined(__aarch64__)  // Advanced SIMD is part of what the compiler targets
  const std::string expected = "neon";
#else
  const std::string expected = isa == Isa::generic                         ? "generic"
                               : isa == Isa::avx2 || isa == Isa::avx2_vnni ? "avx2"
                                                                           : "avx512";
#endif
  EXPECT_EQ(of_isa.target, expected);
}

TEST_P(Rows, LayerNormMatchesDouble) {
  for (std::size_t n : lengths(1)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<float> x(normal(n, n, 0.5f), side), gamma(normal(n, n + 1, 1.0f, 0.1f), side);
      Guarded<float> beta(normal(n, n + 2, 0.0f, 0.1f), side), y(n, side);
      const float eps = 1e-5f;
      double mean = 0.0, variance = 0.0;
      for (float v : x) mean += v;
      mean /= n;
      for (float v : x) variance += (v - mean) * (v - mean);
      variance /= n;
      kernels.layer_norm(x.data(), gamma.data(), beta.data(), eps, n, y.data());
      const std::vector<float> separate(y.begin(), y.end());
      kernels.layer_norm(x.data(), gamma.data(), beta.data(), eps, n, x.data());
      EXPECT_TRUE(std::equal(x.begin(), x.end(), separate.begin())) << "in place, n = " << n;
      // One and two elements may sit so close that x - mean itself is rounding noise.
      if (n < 3) continue;
      Guarded<float> original(normal(n, n, 0.5f));
      for (std::size_t i = 0; i < n; ++i) {
        const double exact = (original[i] - mean) / std::sqrt(variance + eps) * gamma[i] + beta[i];
        ASSERT_NEAR(separate[i], exact, 1.5e-6) << "n = " << n << ", i = " << i;
      }
    }
  }
}

TEST_P(Rows, LayerNormSurvivesALargeMean) {
  const std::size_t n = 768;
  const std::vector<float> x = normal(n, 1, 1000.0f), ones(n, 1.0f), zeros(n, 0.0f);
  double mean = 0.0, variance = 0.0;
  for (float v : x) mean += v;
  mean /= n;
  for (float v : x) variance += (v - mean) * (v - mean);
  variance /= n;
  std::vector<float> y(n);
  kernels.layer_norm(x.data(), ones.data(), zeros.data(), 1e-12f, n, y.data());
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(y[i], (x[i] - mean) / std::sqrt(variance), 3e-4);
  }
}

TEST_P(Rows, SoftmaxMatchesDouble) {
  // With few lanes or none the sum has few accumulators, each with many roundings.
  const std::string target = of_isa.target;
  const double tolerance = target == "generic" ? 2e-6 : target == "neon" ? 1e-6 : 4e-7;
  for (std::size_t n : lengths(1)) {
    for (float scale : {0.125f, 4.0f, -1.0f}) {
      Guarded<float> x(normal(n, n, 3.0f, 3.0f));
      std::vector<double> exact(n);
      double most = -HUGE_VAL, sum = 0.0, total = 0.0;
      // The exponent is a float32 number: its rounding is the input's, not the kernel's.
      for (std::size_t i = 0; i < n; ++i) exact[i] = x[i] * scale;
      for (double v : exact) most = std::max(most, v);
      for (double& v : exact) v = static_cast<float>(v) - static_cast<float>(most);
      for (double& v : exact) sum += v = std::exp(static_cast<float>(v));
      kernels.softmax(x.data(), n, scale);
      for (std::size_t i = 0; i < n; ++i) {
        total += x[i];
        if (exact[i] < 1e-37) {
          ASSERT_NEAR(x[i], exact[i] / sum, 1e-37);
        } else {
          ASSERT_NEAR(x[i] * sum / exact[i], 1.0, tolerance) << "n = " << n << ", i = " << i;
        }
      }
      ASSERT_NEAR(total, 1.0, 2e-6);
    }
  }
}

TEST_P(Rows, SoftmaxMasksAndPropagates) {
  for (std::size_t n : {2, 7, 16, 33, 100}) {
    std::vector<float> x = normal(n, n);
    x[n / 2] = -kInf;
    x[0] = -1e30f;
    x[n - 1] = 2.0f;
    kernels.softmax(x.data(), n, 1.0f);
    if (n > 2) {
      EXPECT_EQ(x[n / 2], 0.0f);
    }
    EXPECT_EQ(x[0], 0.0f);
    for (std::size_t bad = 0; bad < n; ++bad) {
      std::vector<float> z = normal(n, n);
      z[bad] = kNaN;
      kernels.softmax(z.data(), n, 1.0f);
      for (float v : z) EXPECT_TRUE(std::isnan(v));
    }
    std::vector<float> equal(n, 300.0f);
    kernels.softmax(equal.data(), n, 1e30f);
    for (float v : equal) EXPECT_NEAR(v, 1.0f / n, 1e-7f);
  }
  kernels.softmax(nullptr, 0, 1.0f);
}

TEST_P(Rows, ExpToBfloat16IsSoftmaxBeforeTheDivision) {
  for (std::size_t n : lengths(1)) {
    for (Guard side : {Guard::after, Guard::before}) {
      const std::vector<float> source = normal(n, n, 0.0f, 30.0f);
      const double most = *std::max_element(source.begin(), source.end());
      Guarded<float> x(source, side);
      Guarded<std::uint16_t> y(n, side);
      const float sum = kernels.exp_bfloat16(x.data(), n, 0.3f, y.data()).sum;
      double exact_sum = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const double exact = std::exp(0.3f * (source[i] - most));
        exact_sum += exact;
        // Half a unit of bfloat16, and a little for the exponent that is a float32 number.
        ASSERT_NEAR(to_float(bfloat16{y[i]}), exact, exact * (1.0 / 256 + 1e-4) + 1e-37)
            << "n = " << n << ", i = " << i;
      }
      ASSERT_NEAR(sum, exact_sum, exact_sum * 1e-5);
    }
  }
}

TEST_P(Rows, ExpToBfloat16MasksAndPropagates) {
  for (std::size_t n : {2, 7, 16, 33, 100}) {
    std::vector<float> x = normal(n, n);
    std::vector<std::uint16_t> y(n);
    x[0] = -kInf;
    EXPECT_TRUE(std::isfinite(kernels.exp_bfloat16(x.data(), n, 1.0f, y.data()).sum));
    EXPECT_EQ(y[0], 0);
    for (std::size_t bad = 0; bad < n; ++bad) {
      std::vector<float> z = normal(n, n);
      z[bad] = kNaN;
      EXPECT_TRUE(std::isnan(kernels.exp_bfloat16(z.data(), n, 1.0f, y.data()).sum));
    }
    const std::vector<float> equal(n, 1e30f);
    EXPECT_EQ(kernels.exp_bfloat16(equal.data(), n, 1.0f, y.data()).sum, static_cast<float>(n));
    for (std::uint16_t bits : y) EXPECT_EQ(to_float(bfloat16{bits}), 1.0f);
  }
  EXPECT_EQ(kernels.exp_bfloat16(nullptr, 0, 1.0f, nullptr).sum, 0.0f);
}

TEST_P(Rows, ExpIsAccurateOverItsRange) {
  // softmax of {0, x} tells e^x = second / first.
  for (float x = -87.0f; x < 0.0f; x += 0.0137f) {
    float row[2] = {0.0f, x};
    kernels.softmax(row, 2, 1.0f);
    const double sum = 1.0 + std::exp(static_cast<double>(x));
    ASSERT_NEAR(row[1] * sum / std::exp(static_cast<double>(x)), 1.0, 3e-7) << x;
  }
}

TEST_P(Rows, GeluMatchesErf) {
  std::vector<float> x;
  for (int i = -400000; i <= 400000; ++i) x.push_back(i * 2.5e-5f);
  std::vector<float> y(x.size());
  kernels.gelu(x.data(), x.size(), y.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(y[i] - gelu_exact(x[i])));
    if (fused()) {
      ASSERT_EQ(y[i], gelu_sequence(x[i])) << x[i];
    }
  }
  EXPECT_LE(worst, 6e-7);
  // Where x is tiny, gelu(x) is x / 2.
  float tiny[3] = {1e-6f, -1e-10f, 1e-30f};
  kernels.gelu(tiny, 3, tiny);
  EXPECT_NEAR(tiny[0] / 0.5e-6f, 1.0, 1e-5);
  EXPECT_NEAR(tiny[1] / -0.5e-10f, 1.0, 1e-5);
  EXPECT_NEAR(tiny[2] / 0.5e-30f, 1.0, 1e-5);
}

TEST_P(Rows, GeluAtTheEnds) {
  float x[] = {kInf, -kInf, kNaN, kMax, -kMax, 1e10f, -1e10f, 6.0f, -6.0f, 0.0f, -0.0f};
  kernels.gelu(x, std::size(x), x);
  EXPECT_EQ(x[0], kInf);
  EXPECT_NEAR(x[1], 0.0f, 1e-7f);
  EXPECT_TRUE(std::isnan(x[2]));
  EXPECT_EQ(x[3], kMax);
  EXPECT_NEAR(x[4], 0.0f, 1e-7f);
  EXPECT_EQ(x[5], 1e10f);
  EXPECT_NEAR(x[6], 0.0f, 1e-7f);
  EXPECT_NEAR(x[7], 6.0f, 5e-7f);
  EXPECT_NEAR(x[8], 0.0f, 1e-7f);
  EXPECT_EQ(x[9], 0.0f);
  EXPECT_EQ(x[10], 0.0f);
}

TEST_P(Rows, TanhMatchesDouble) {
  std::vector<float> x;
  for (int i = -120000; i <= 120000; ++i) x.push_back(i * 1e-4f);
  for (float v : {1e-3f, 1e-8f, -1e-20f, 50.0f, -kMax}) x.push_back(v);
  std::vector<float> y(x.size());
  kernels.tanh(x.data(), x.size(), y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::tanh(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], exact, 4e-7 * std::abs(exact)) << x[i];
  }
  float ends[] = {kInf, -kInf, kNaN};
  kernels.tanh(ends, 3, ends);
  EXPECT_EQ(ends[0], 1.0f);
  EXPECT_EQ(ends[1], -1.0f);
  EXPECT_TRUE(std::isnan(ends[2]));
}

TEST_P(Rows, ElementwiseStaysInBoundsAndMayAlias) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<float> a(normal(n, n), side), b(normal(n, n + 1), side), c(normal(n, n + 2), side);
      Guarded<float> y(n, side);
      const std::vector<float> a0(a.begin(), a.end()), b0(b.begin(), b.end());
      kernels.add(a.data(), b.data(), n, y.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], a0[i] + b0[i]);
      kernels.add_rows(a.data(), b.data(), nullptr, n, y.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], a0[i] + b0[i]);
      kernels.add_rows(a.data(), b.data(), c.data(), n, y.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], (a0[i] + b0[i]) + c[i]);
      kernels.add(a.data(), b.data(), n, b.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(b[i], a0[i] + b0[i]);
      kernels.accumulate(a.data(), 0.7f, n, c.data());
      const std::vector<float> c0 = normal(n, n + 2);
      for (std::size_t i = 0; i < n; ++i) {
        const float expected = fused() ? std::fma(a0[i], 0.7f, c0[i]) : c0[i] + a0[i] * 0.7f;
        ASSERT_EQ(c[i], expected);
      }
      kernels.gelu(a.data(), n, y.data());
      kernels.gelu(a.data(), n, a.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], y[i]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i], gelu_exact(a0[i]), 1e-6);
      std::copy(a0.begin(), a0.end(), a.begin());
      kernels.tanh(a.data(), n, y.data());
      kernels.tanh(a.data(), n, a.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], y[i]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i], std::tanh(a0[i]), 1e-6);
    }
  }
}

TEST_P(Rows, TurnsStayInBoundsAndBetweenPairs) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      for (const std::size_t gap : {0, 3}) {  // floats between two pairs, which stay as they are
        const std::size_t stride = 2 * n + gap;
        const std::vector<float> x0 = normal(2 * n + stride, n), turn = normal(2 * n, n + 1);
        Guarded<float> x(x0, side), cos_sin(turn, side);
        kernels.rotate(x.data(), cos_sin.data(), n, 2, stride);
        for (std::size_t i = 0; i < x0.size(); ++i) {
          const std::size_t place = i % stride, angle = n == 0 ? 0 : place % n;
          if (place >= 2 * n) {
            ASSERT_EQ(x[i], x0[i]);
            continue;
          }
          const double cos = turn[angle], sin = turn[n + angle];
          ASSERT_NEAR(x[i], x0[i] * cos + (place < n ? -x0[i + n] : x0[i - n]) * sin, 1e-5);
        }
      }
    }
  }
}

TEST_P(Rows, ColumnsOfTwoTablesAreAddedWithinBounds) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      const std::size_t width = 5, stride = 7;  // columns that exist, and floats between rows
      const std::int32_t first = 2;
      std::vector<std::int32_t> picked(n);
      for (std::size_t i = 0; i < n; ++i)
        picked[i] = first + static_cast<std::int32_t>(3 * i % width);
      const std::vector<float> a0 = normal(width, n), y0 = normal(n, n + 2);
      const std::vector<float> b0 = normal(n == 0 ? 0 : (n - 1) * stride + width, n + 1);
      Guarded<float> a(a0, side), b(b0, side);
      Guarded<std::int32_t> columns(picked, side);
      for (const auto& [one, other] : {std::pair{true, true}, {true, false}, {false, true}}) {
        Guarded<float> y(y0, side);
        kernels.add_columns(one ? a.data() : nullptr, other ? b.data() : nullptr, stride,
                            columns.data(), first, n, y.data());
        for (std::size_t i = 0; i < n; ++i) {
          const auto c = static_cast<std::size_t>(picked[i] - first);
          const float sum = (one ? a0[c] : 0.0f) + (other ? b0[i * stride + c] : 0.0f);
          ASSERT_EQ(y[i], y0[i] + sum);
        }
      }
    }
  }
}

double silu_exact(double x) { return x / (1 + std::exp(-x)); }
double gelu_tanh_exact(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

TEST_P(Rows, GatesStayInBoundsAndMayAlias) {
  using Kernel = void (*)(const float*, const float*, std::size_t, float*);
  const std::pair<Kernel, double (*)(double)> gates[] = {
      {kernels.geglu, gelu_exact},
      {kernels.geglu_tanh, gelu_tanh_exact},
      {kernels.swiglu, silu_exact},
      {kernels.reglu, [](double x) { return std::max(x, 0.0); }}};
  for (const auto& [kernel, exact] : gates) {
    for (std::size_t n : lengths(0)) {
      for (Guard side : {Guard::after, Guard::before}) {
        Guarded<float> a(normal(n, n, 0.0f, 3.0f), side), gated(n, side);
        Guarded<float> gate(normal(n, n + 2), side);
        const std::vector<float> a0(a.begin(), a.end());
        kernel(a.data(), gate.data(), n, gated.data());
        kernel(a.data(), gate.data(), n, a.data());
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], gated[i]);
        for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(a[i], exact(a0[i]) * gate[i], 1e-5);
      }
    }
  }
}

TEST_P(Rows, GatesOfLargeNumbersAreWhatTheyTendToAndKeepNaN) {
  const float x[] = {-1e30f, -200.0f, -90.0f, 90.0f, 1e30f, std::nanf("")},
              one[] = {1, 1, 1, 1, 1, 1};
  for (const auto kernel : {kernels.geglu, kernels.geglu_tanh, kernels.swiglu, kernels.reglu}) {
    float y[6];
    kernel(x, one, 6, y);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(y[i], 0, 1e-6);
    EXPECT_EQ(y[3], 90.0f);
    EXPECT_EQ(y[4], 1e30f);
    EXPECT_TRUE(std::isnan(y[5]));
  }
}

TEST_P(Rows, RmsNormMatchesDouble) {
  for (std::size_t n : lengths(1)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<float> x(normal(n, n, 0.5f), side), gamma(normal(n, n + 1, 1.0f, 0.1f), side);
      Guarded<float> y(n, side);
      const std::vector<float> x0(x.begin(), x.end());
      double squares = 0;
      for (float v : x) squares += static_cast<double>(v) * v;
      kernels.rms_norm(x.data(), gamma.data(), 1e-3f, n, y.data());
      kernels.rms_norm(x.data(), gamma.data(), 1e-3f, n, x.data());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(x[i], y[i]);
        ASSERT_NEAR(y[i], x0[i] / std::sqrt(squares / n + 1e-3) * gamma[i], 1.5e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, Rows, testing::ValuesIn(supported_isas()), isa_test_name);

TEST(RowTables, ActiveFeaturesPickTheWidest) {
  const std::string target = simd::kernels(active_features()).target;
  if (active_features() & feature::neon) {
    EXPECT_EQ(target, "neon");
  } else if (active_features() & feature::avx512) {
    EXPECT_EQ(target, "avx512");
  } else if (active_features() & feature::avx2) {
    EXPECT_EQ(target, "avx2");
  } else {
    EXPECT_EQ(target, "generic");
  }
}

}  // namespace
}  // namespace fbg::test
