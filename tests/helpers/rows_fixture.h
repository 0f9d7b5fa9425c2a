// What the tests of row kernels share: lengths, values, and the table of each ISA.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "helpers/guarded.h"
#include "simd/kernels.h"

namespace fbg::test {

using simd::RowKernels;
using simd::RowQuant;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kMax = std::numeric_limits<float>::max();

inline std::vector<std::size_t> lengths(std::size_t first) {
  std::vector<std::size_t> all;
  for (std::size_t n = first; n <= 130; ++n) all.push_back(n);
  for (std::size_t n : {255, 257, 384, 512, 768, 3072}) all.push_back(n);
  return all;
}

inline std::vector<float> normal(std::size_t n, unsigned seed, float mean = 0.0f,
                                 float deviation = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution(mean, deviation);
  std::vector<float> values(n);
  for (float& v : values) v = distribution(random);
  return values;
}

class Rows : public testing::TestWithParam<Isa> {
 protected:
  const simd::Kernels& of_isa = simd::kernels(isa_features(GetParam()));
  const RowKernels& kernels = of_isa.rows;
  bool fused() const { return of_isa.fused; }
};

inline std::string isa_test_name(const testing::TestParamInfo<Isa>& isa) {
  return isa_name(isa.param);
}

}  // namespace fbg::test
