// Row kernels that quantize, sum and convert: exact, on every target of this machine.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "core/float16.h"
#include "helpers/rows_fixture.h"

namespace fbg::test {
namespace {

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

TEST(Float16, NanKeepsTheUpperBitsOfItsPayload) {
  const auto bits = [](std::uint32_t x) {
    return from_float<float16>(std::bit_cast<float>(x)).bits;
  };
  EXPECT_EQ(bits(0x7fc00000), 0x7e00);
  EXPECT_EQ(bits(0x7fffffff), 0x7fff);
  EXPECT_EQ(bits(0xffc02000), 0xfe01);
  EXPECT_EQ(bits(0x7f800001), 0x7e00);  // made quiet; its payload is lost
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

TEST_P(Rows, SumsOfGroupsAreExact) {
  std::mt19937 random(7);
  for (const std::size_t group : {16, 32, 64, 128})
    for (const std::size_t n : lengths(0))
      for (Guard side : {Guard::after, Guard::before}) {
        const std::size_t groups = (n + group - 1) / group, ld = 3;
        Guarded<std::uint8_t> x(n, side);
        Guarded<float> sums(groups ? (groups - 1) * ld + 1 : 0, side);
        std::fill(sums.begin(), sums.end(), -1.0f);
        std::vector<float> wanted(sums.begin(), sums.end());
        for (std::size_t g = 0; g < groups; ++g) wanted[g * ld] = 0.0f;
        for (std::size_t i = 0; i < n; ++i) {
          x[i] = static_cast<std::uint8_t>(random() % 2 ? random() : 255);
          wanted[i / group * ld] += x[i];
        }
        kernels.sum_groups(x.data(), n, group, sums.data(), ld);
        ASSERT_TRUE(std::equal(sums.begin(), sums.end(), wanted.begin())) << n << " " << group;
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

INSTANTIATE_TEST_SUITE_P(Isa, Rows, testing::ValuesIn(supported_isas()), isa_test_name);

}  // namespace
}  // namespace fbg::test
