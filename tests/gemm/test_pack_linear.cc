// Weights of linear layers packed where they lie: the bytes are those that PackedB gives for the
// same matrix, for any number of threads and on every ISA; what cannot be packed is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "gemm/pack_linear.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

using Matrix = std::vector<float>;

// Parts of (rows, k) floats, and what is to be packed: the matrix (k, n), scaled element by
// element.
struct Layer {
  std::int64_t k, n = 0;
  std::vector<Matrix> storage;
  LinearWeights weights;

  Layer(std::vector<std::int64_t> rows, std::int64_t inputs, bool divided, bool multiplied)
      : k(inputs) {
    std::mt19937 random(static_cast<unsigned>(k));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> near_one(0.5f, 2.0f);
    for (const std::int64_t count : rows) {
      Matrix& part = storage.emplace_back(static_cast<std::size_t>(count * k));
      for (float& w : part) w = normal(random);
      n += count;
    }
    std::fill_n(storage[0].begin(), k, 0.0f);  // an output that is always zero
    for (std::size_t i = 0; i < rows.size(); ++i)
      weights.parts.push_back({storage[i].data(), rows[i], k, k, 1});
    if (divided)
      for (std::int64_t j = 0; j < n; ++j)
        weights.divisor.push_back(j < n / 2 ? 1.0f : near_one(random));
    if (multiplied)
      for (std::int64_t i = 0; i < k; ++i) weights.factor.push_back(near_one(random));
  }

  Matrix matrix() const {
    Matrix w;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float divided = weights.output(j)[i] / weights.divisor_of(j);
        w.push_back(weights.factor.empty() ? divided : divided * weights.factor[i]);
      }
    return w;
  }
};

template <class Acc>
PackedMatrix pack(const LinearWeights& weights, int threads,
                  float limit = std::numeric_limits<float>::infinity(), bool symmetric = true) {
  LinearPacker packer(Acc::kind, weights, limit, symmetric);
  run_shares(threads, [&](int thread_id, int n) { packer.run(thread_id, n); });
  return packer.finish();
}

// What is packed must not depend on where the weights lie: a matrix of the same ones, in one part.
template <class Acc>
PackedMatrix pack_matrix(const Matrix& w, std::int64_t k, std::int64_t n) {
  if constexpr (is_int4(Acc::kind)) {
    Matrix columns;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < k; ++i)
        columns.push_back(w[static_cast<std::size_t>(i * n + j)]);
    return pack<Acc>(LinearWeights{{{columns.data(), n, k, k, 1}}}, 1);
  } else {
    return PackedB<Acc>::convert(MatrixView<const float>{w.data(), k, n, n, 1});
  }
}

template <class>
class PackLinear : public testing::Test {};
using Families =
    testing::Types<Int32, Float32, BFloat16, Float32F16, Float16, Int4<32>, Int4<64>, Int4<128>>;
TYPED_TEST_SUITE(PackLinear, Families);

TYPED_TEST(PackLinear, GivesTheBytesOfPackedB) {
  constexpr bool integer = reads_bytes(TypeParam::kind);
  for (const std::vector<std::int64_t>& rows :
       {std::vector<std::int64_t>{1}, {33, 31}, {40, 40, 40}})
    for (const std::int64_t k : {1, 5, 256, 257, 550})
      for (const bool divided : {false, true}) {
        const Layer layer(rows, k, divided, integer);
        const Matrix w = layer.matrix();
        const auto wanted = pack_matrix<TypeParam>(w, k, layer.n);
        for (const Isa isa : supported_isas()) {
          set_isa_limit(isa);
          for (const int threads : {1, 3}) {
            const auto got = pack<TypeParam>(layer.weights, threads);
            EXPECT_TRUE(std::ranges::equal(got.bytes(), wanted.bytes()))
                << layer.n << " x " << k << ", " << isa_name(isa) << ", " << threads;
          }
          set_isa_limit(std::nullopt);
        }
      }
}

TEST(PackLinearErrors, SizesThatDoNotFitAreRefused) {
  Layer layer({4, 4}, 8, true, true);
  EXPECT_THROW(LinearPacker(GemmType::float32, layer.weights),
               std::invalid_argument);  // factors
  LinearWeights other = layer.weights;
  other.divisor.pop_back();
  EXPECT_THROW(LinearPacker(GemmType::int32, other), std::invalid_argument);
  other = layer.weights;
  other.factor.push_back(1.0f);
  EXPECT_THROW(LinearPacker(GemmType::int32, other), std::invalid_argument);
  other = layer.weights;
  other.parts[1].cols = 7;
  EXPECT_THROW(LinearPacker(GemmType::int32, other), std::invalid_argument);
  EXPECT_THROW(LinearPacker(GemmType::int32, LinearWeights{}), std::invalid_argument);
}

TEST(WidenMagnitudes, IsTheLargestOfEveryInput) {
  Layer layer({33, 30}, 77, true, false);
  std::vector<float> wanted(77, 0.0f);
  const Matrix w = layer.matrix();
  for (std::size_t i = 0; i < w.size(); ++i)
    wanted[i / 63] = std::max(wanted[i / 63], std::abs(w[i]));
  for (const Isa isa : supported_isas()) {
    set_isa_limit(isa);
    std::vector<float> largest(77, 0.0f);
    widen_magnitudes(layer.weights, {0, 20}, largest.data());
    widen_magnitudes(layer.weights, {20, 63}, largest.data());
    EXPECT_EQ(largest, wanted) << isa_name(isa);
    set_isa_limit(std::nullopt);
  }
  layer.storage[1][5] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> largest(77, 0.0f);
  widen_magnitudes(layer.weights, {0, 63}, largest.data());
  EXPECT_TRUE(std::isnan(largest[5]));
}

TEST(PackLinearOffsets, GivesOffsetsToGroupsOfInt4Alone) {
  const Layer layer({33, 31}, 257, true, true);
  const float any = std::numeric_limits<float>::infinity();
  const auto one = pack<Int4<32>>(layer.weights, 1, any, false);
  const auto three = pack<Int4<32>>(layer.weights, 3, any, false);
  EXPECT_TRUE(std::ranges::equal(one.bytes(), three.bytes()));
  ASSERT_TRUE(one.has_group_offsets());
  EXPECT_FALSE(pack<Int4<32>>(layer.weights, 1).has_group_offsets());
  // The same values and parameters, packed as they are.
  std::vector<std::int8_t> q(static_cast<std::size_t>(257 * 64));
  one.unpack(q.data(), 64, 1);
  std::vector<float16> scales, offsets;
  for (std::int64_t g = 0; g < one.groups(); ++g)
    for (std::int64_t j = 0; j < 64; ++j) {
      scales.push_back(one.group_scale(g, j));
      offsets.push_back(one.group_offset(g, j));
    }
  const auto again =
      PackedB<Int4<32>>::pack({q.data(), 257, 64, 64, 1}, {scales.data(), 9, 64, 64, 1},
                              MatrixView<const float16>{offsets.data(), 9, 64, 64, 1});
  EXPECT_TRUE(std::ranges::equal(again.bytes(), one.bytes()));
  EXPECT_THROW(LinearPacker(GemmType::int32, layer.weights, any, false), std::invalid_argument);
}

TEST(SumSquares, AddsFloatSquaresInTheOrderOfTheRows) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const std::size_t n : {1, 3, 8, 31, 32, 33, 100}) {
    const std::size_t rows = 37, stride = n + 5;
    Matrix x(rows * stride);
    for (float& v : x) v = normal(random);
    std::vector<double> wanted(n, 0.0);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        const float square = x[r * stride + i] * x[r * stride + i];
        wanted[i] += static_cast<double>(square);
      }
    for (const Isa isa : supported_isas()) {
      std::vector<double> sums(n);
      simd::kernels(isa_features(isa)).weights.sum_squares(x.data(), rows, stride, n, sums.data());
      EXPECT_EQ(sums, wanted) << isa_name(isa) << " " << n;
    }
  }
}

}  // namespace
}  // namespace fbg
