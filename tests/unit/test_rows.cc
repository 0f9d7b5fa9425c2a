// Row kernels against double-precision references: every target of this machine, every length up to
// 130, buffers that end at an inaccessible page.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/float16.h"
#include "core/gelu_coefficients.h"
#include "fbg/core/isa.h"
#include "helpers/guarded.h"
#include "simd/rows.h"

namespace fbg {
namespace {

using simd::RowKernels;
using simd::RowQuant;
using test::Guard;
using test::Guarded;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

std::vector<std::size_t> lengths(std::size_t first) {
  std::vector<std::size_t> all;
  for (std::size_t n = first; n <= 130; ++n) all.push_back(n);
  for (std::size_t n : {255, 257, 384, 512, 768, 3072}) all.push_back(n);
  return all;
}

std::vector<float> normal(std::size_t n, unsigned seed, float mean = 0.0f, float deviation = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(random);
  return values;
}

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

class Rows : public testing::TestWithParam<Isa> {
 protected:
  const RowKernels& kernels = simd::row_kernels(isa_features(GetParam()));
  bool fused() const { return kernels.fused; }
};

TEST_P(Rows, TableIsTheOneOfTheIsa) {
  const Isa isa = GetParam();
  const std::string expected = isa == Isa::generic                         ? "generic"
                               : isa == Isa::avx2 || isa == Isa::avx2_vnni ? "avx2"
                                                                           : "avx512";
  EXPECT_EQ(kernels.target, expected);
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
  // Without vectors the sum is one long chain of roundings.
  const double tolerance = fused() ? 4e-7 : 2e-6;
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
      const float sum = kernels.exp_bfloat16(x.data(), n, 0.3f, y.data());
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
    EXPECT_TRUE(std::isfinite(kernels.exp_bfloat16(x.data(), n, 1.0f, y.data())));
    EXPECT_EQ(y[0], 0);
    for (std::size_t bad = 0; bad < n; ++bad) {
      std::vector<float> z = normal(n, n);
      z[bad] = kNaN;
      EXPECT_TRUE(std::isnan(kernels.exp_bfloat16(z.data(), n, 1.0f, y.data())));
    }
    const std::vector<float> equal(n, 1e30f);
    EXPECT_EQ(kernels.exp_bfloat16(equal.data(), n, 1.0f, y.data()), static_cast<float>(n));
    for (std::uint16_t bits : y) EXPECT_EQ(to_float(bfloat16{bits}), 1.0f);
  }
  EXPECT_EQ(kernels.exp_bfloat16(nullptr, 0, 1.0f, nullptr), 0.0f);
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

TEST_P(Rows, GatesAndTurnsStayInBoundsAndMayAlias) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      const std::vector<float> x0 = normal(4 * n, n), turn = normal(2 * n, n + 1);
      Guarded<float> x(x0, side), y(4 * n, side), cos_sin(turn, side), gate(normal(n, n + 2), side);
      kernels.rotate(x.data(), cos_sin.data(), n, 2, y.data());
      kernels.rotate(x.data(), cos_sin.data(), n, 2, x.data());
      for (std::size_t i = 0; i < 4 * n; ++i) ASSERT_EQ(x[i], y[i]);
      for (std::size_t i = 0; i < 4 * n; ++i) {
        const bool first = i / n % 2 == 0;
        const double cos = turn[i % n], sin = turn[n + i % n];
        ASSERT_NEAR(y[i], x0[i] * cos + (first ? -x0[i + n] : x0[i - n]) * sin, 1e-5);
      }
      Guarded<float> a(normal(n, n), side), gated(n, side);
      const std::vector<float> a0(a.begin(), a.end());
      kernels.geglu(a.data(), gate.data(), n, gated.data());
      kernels.geglu(a.data(), gate.data(), n, a.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(a[i], gated[i]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(a[i], gelu_exact(a0[i]) * gate[i], 1e-5);
    }
  }
}

RowQuant row_quant_reference(const float* x, std::size_t n) {
  float lo = 0.0f, hi = 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return {kNaN, 0};
    lo = std::min(lo, x[i]);
    hi = std::max(hi, x[i]);
  }
  const float scale = (hi - lo) / 255.0f;
  if (scale == 0.0f) return {1.0f, 0};
  return {scale, static_cast<std::int32_t>(std::min(255.0f, std::nearbyint(-lo / scale)))};
}

TEST_P(Rows, RowQuantFollowsDynamicQuantizeLinear) {
  for (std::size_t n : lengths(0)) {
    for (float mean : {-5.0f, 0.0f, 0.3f, 5.0f}) {
      Guarded<float> x(normal(n, n, mean));
      const RowQuant expected = row_quant_reference(x.data(), n);
      const RowQuant got = kernels.choose_row_quant(x.data(), nullptr, n);
      ASSERT_EQ(got.scale, expected.scale) << "n = " << n;
      ASSERT_EQ(got.zero_point, expected.zero_point) << "n = " << n;
    }
  }
}

TEST_P(Rows, RowQuantSeesNotFiniteAnywhere) {
  for (std::size_t n : {1, 5, 16, 17, 64, 65, 100, 384}) {
    for (std::size_t bad = 0; bad < n; ++bad) {
      for (float value : {kNaN, kInf, -kInf}) {
        std::vector<float> x = normal(n, n);
        x[bad] = value;
        const RowQuant quant = kernels.choose_row_quant(x.data(), nullptr, n);
        ASSERT_TRUE(std::isnan(quant.scale));
        ASSERT_EQ(quant.zero_point, 0);
        std::vector<std::uint8_t> q(n, 77);
        ASSERT_EQ(kernels.quantize_row(x.data(), nullptr, n, quant, q.data()), 0);
        ASSERT_EQ(q, std::vector<std::uint8_t>(n, 0));
      }
    }
  }
}

TEST_P(Rows, RowQuantAtTheEndsOfTheRange) {
  const auto choose = [&](std::vector<float> x) {
    return kernels.choose_row_quant(x.data(), nullptr, x.size());
  };
  for (float tiny : {0.0f, -0.0f, 1e-45f, -1e-40f, 2e-36f}) {
    const RowQuant quant = choose({tiny, 0.0f, tiny});
    EXPECT_EQ(quant.scale, 1.0f) << tiny;
    EXPECT_EQ(quant.zero_point, 0);
  }
  const RowQuant small = choose({0.0f, 4e-36f});
  EXPECT_GT(small.scale, 0.0f);
  EXPECT_TRUE(std::isfinite(1.0f / small.scale));

  std::vector<float> huge = {-kMax, kMax, 0.0f};
  const RowQuant wide = choose(huge);
  EXPECT_NEAR(wide.scale / (2.0 * kMax / 255.0), 1.0, 1e-6);
  EXPECT_NEAR(wide.zero_point, 127.5, 0.5);
  std::uint8_t q[3];
  kernels.quantize_row(huge.data(), nullptr, 3, wide, q);
  EXPECT_LE(q[0], 1);
  EXPECT_GE(q[1], 254);
  EXPECT_EQ(q[2], wide.zero_point);

  EXPECT_EQ(choose({-255.0f}).zero_point, 255);
  EXPECT_EQ(choose({255.0f}).zero_point, 0);
}

TEST_P(Rows, QuantizeRowRoundsHalfToEvenAndSaturates) {
  for (std::size_t n : lengths(0)) {
    for (RowQuant quant : {RowQuant{0.02f, 128}, RowQuant{0.5f, 3}, RowQuant{1e-3f, 0},
                           RowQuant{1e-38f, 255}, RowQuant{3e38f, 7}}) {
      for (Guard side : {Guard::after, Guard::before}) {
        Guarded<float> x(normal(n, n), side);
        for (std::size_t i = 0; i < n; i += 3) x[i] = 0.25f * (static_cast<int>(i % 41) - 20);
        if (n > 5) x[5] = 1e30f, x[4] = -1e30f;
        Guarded<std::uint8_t> q(n, side);
        const std::int32_t sum = kernels.quantize_row(x.data(), nullptr, n, quant, q.data());
        std::int32_t expected_sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double rounded = std::nearbyint(x[i] * (1.0f / quant.scale)) + quant.zero_point;
          const double expected = std::min(255.0, std::max(0.0, rounded));
          ASSERT_EQ(q[i], expected) << "n = " << n << ", i = " << i << ", x = " << x[i];
          expected_sum += q[i];
        }
        ASSERT_EQ(sum, expected_sum);
      }
    }
  }
}

TEST_P(Rows, AScaledRowIsQuantizedAsItsProductWithTheFactors) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<float> x(normal(n, n), side);
      Guarded<float> factors(normal(n, n + 1, 1.0f), side);
      std::vector<float> product(n);
      for (std::size_t i = 0; i < n; ++i) product[i] = x[i] * factors[i];
      const RowQuant expected = kernels.choose_row_quant(product.data(), nullptr, n);
      const RowQuant got = kernels.choose_row_quant(x.data(), factors.data(), n);
      ASSERT_EQ(got.scale, expected.scale) << "n = " << n;
      ASSERT_EQ(got.zero_point, expected.zero_point) << "n = " << n;
      std::vector<std::uint8_t> q(n);
      const std::int32_t sum = kernels.quantize_row(product.data(), nullptr, n, got, q.data());
      Guarded<std::uint8_t> scaled(n, side);
      ASSERT_EQ(kernels.quantize_row(x.data(), factors.data(), n, got, scaled.data()), sum);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(scaled[i], q[i]) << "n = " << n << ", i = " << i;
    }
  }
}

TEST_P(Rows, QuantizedRowIsWithinHalfAStep) {
  for (std::size_t n : {384, 768, 3072}) {
    const std::vector<float> x = normal(n, n, 0.4f);
    std::vector<std::uint8_t> q(n);
    const RowQuant quant = kernels.choose_row_quant(x.data(), nullptr, n);
    kernels.quantize_row(x.data(), nullptr, n, quant, q.data());
    // The rounding of the zero point may push the extremes half a step further.
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(quant.scale * (q[i] - quant.zero_point), x[i], 1.0001 * quant.scale);
    }
  }
}

TEST_P(Rows, SumAndShiftAreExact) {
  std::mt19937 random(5);
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<std::uint8_t> x(n, side), q(n, side);
      Guarded<std::int8_t> s(n, side);
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        sum += x[i] = static_cast<std::uint8_t>(random());
        s[i] = static_cast<std::int8_t>(x[i] - 128);
      }
      ASSERT_EQ(kernels.sum_row(x.data(), n), sum);
      ASSERT_EQ(kernels.shift_row(s.data(), n, q.data()), sum);
      ASSERT_TRUE(std::equal(q.begin(), q.end(), x.begin()));
      kernels.shift_row(s.data(), n, reinterpret_cast<std::uint8_t*>(s.data()));
      ASSERT_TRUE(std::equal(q.begin(), q.end(), reinterpret_cast<std::uint8_t*>(s.data())));
    }
  }
  const std::vector<std::uint8_t> most(1 << 20, 255);
  EXPECT_EQ(kernels.sum_row(most.data(), most.size()), 255 << 20);
}

double half_reference(std::uint16_t h) {
  const int exponent = (h >> 10) & 31, mantissa = h & 1023;
  const double sign = h & 0x8000 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST_P(Rows, EveryHalfConverts) {
  std::vector<std::uint16_t> bits(65536);
  for (int i = 0; i < 65536; ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> y(bits.size());
  kernels.half_to_float(bits.data(), bits.size(), y.data());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double expected = half_reference(bits[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(y[i])) << i;
    } else {
      ASSERT_EQ(y[i], expected) << i;
      ASSERT_EQ(std::signbit(y[i]), std::signbit(expected)) << i;
    }
  }
  kernels.bfloat16_to_float(bits.data(), bits.size(), y.data());
  for (std::size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), static_cast<std::uint32_t>(i) << 16);
  }
}

TEST_P(Rows, ConversionsStayInBounds) {
  for (std::size_t n : lengths(0)) {
    for (Guard side : {Guard::after, Guard::before}) {
      Guarded<std::uint16_t> x(n, side);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<std::uint16_t>(0x3C00 + i);
      Guarded<float> y(n, side);
      kernels.half_to_float(x.data(), n, y.data());
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], half_reference(x[i]));
      kernels.bfloat16_to_float(x.data(), n, y.data());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::uint32_t{x[i]} << 16);
      }
      Guarded<float> other(normal(n, n), side);
      Guarded<std::uint32_t> pairs(n, side);
      kernels.pair_bfloat16(y.data(), other.data(), n, pairs.data());
      kernels.float_to_bfloat16(other.data(), n, x.data());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(x[i], from_float<bfloat16>(other[i]).bits);
        ASSERT_EQ(pairs[i], (0x3C00u + i) | std::uint32_t{x[i]} << 16);
      }
      Guarded<std::uint16_t> low(n, side);
      for (std::size_t i = 0; i < n; ++i) low[i] = static_cast<std::uint16_t>(0xfff0 + i);
      kernels.pair_words(low.data(), x.data(), n, pairs.data());
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(pairs[i], std::uint32_t{low[i]} | std::uint32_t{x[i]} << 16);
      }
    }
  }
}

TEST_P(Rows, EmptyRowsTouchNothing) {
  kernels.layer_norm(nullptr, nullptr, nullptr, 1e-5f, 0, nullptr);
  const RowQuant quant = kernels.choose_row_quant(nullptr, nullptr, 0);
  EXPECT_EQ(quant.scale, 1.0f);
  EXPECT_EQ(kernels.quantize_row(nullptr, nullptr, 0, quant, nullptr), 0);
  EXPECT_EQ(kernels.sum_row(nullptr, 0), 0);
  EXPECT_EQ(kernels.shift_row(nullptr, 0, nullptr), 0);
}

INSTANTIATE_TEST_SUITE_P(Isa, Rows, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(isa_name(isa.param)); });

TEST(RowTables, ActiveFeaturesPickTheWidest) {
  const std::string target = simd::row_kernels(active_features()).target;
  if (active_features() & feature::avx512) {
    EXPECT_EQ(target, "avx512");
  } else if (active_features() & feature::avx2) {
    EXPECT_EQ(target, "avx2");
  } else {
    EXPECT_EQ(target, "generic");
  }
}

}  // namespace
}  // namespace fbg
