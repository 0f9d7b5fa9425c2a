// What Gemm promises a C++ user beside the product: nothing outside of operands and workspace is
// touched, the bits are the same however K is cut and however the caller rounds. The tests of
// Python hold products and pipelines against their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "core/policy.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "gemm/partition.h"
#include "helpers/float_control.h"
#include "helpers/guarded.h"

namespace fbg {
namespace {

using test::Guard;
using test::Guarded;

// What is known without running anything.
using Int8Gemm = Gemm<PackAWithQuantRowOffset, Int32>;
static_assert(PackAModel<PackA<std::uint8_t>> && PackAModel<PackA<float>>);
static_assert(PackAModel<PackAWithRowOffset<std::uint8_t>>);
static_assert(PackAModel<PackAWithRowOffset<std::int8_t>> && PackAModel<PackAWithQuantRowOffset>);
static_assert(!PackAModel<int>);
static_assert(noexcept(std::declval<const Int8Gemm&>().run(
    std::declval<const PackAWithQuantRowOffset&>(), std::declval<const PackedB<Int32>&>(), {}, {},
    nullptr, 0, 1)));
static_assert(noexcept(thread_share(1, 1, 0, 1)));

// The limits of K are the largest at which the worst sums fit.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
static_assert(kMaxDepthRaw * 255 * 128 <= kMost + 1 && (kMaxDepthRaw + 1) * 255 * 128 > kMost + 1);
static_assert(kMaxDepthCorrected * 255 * 255 <= kMost &&
              (kMaxDepthCorrected + 1) * 255 * 255 > kMost);

template <class... Stages>
constexpr bool Composes =
    composes_from<Stages...>(ValueType::acc) || composes_from<Stages...>(ValueType::float32);
static_assert(Composes<> && Composes<Dequantize, Bias, Relu> && Composes<Bias, Gelu, Add>);
static_assert(Composes<BiasInt32, CorrectZeroPoints, BiasInt32, Relu, Requantize>);
static_assert(!Composes<Relu, Dequantize> && !Composes<Dequantize, Dequantize>);
static_assert(!Composes<Requantize, Relu> && !Composes<Requantize, Requantize>);
static_assert(!Composes<CorrectZeroPoints, Bias> && !Composes<Bias, CorrectZeroPoints>);
static_assert(!Composes<BiasInt32, Relu> && !Composes<Dequantize, BiasInt32>);

std::vector<float> normal(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = distribution(random);
  return x;
}

template <class T>
std::vector<T> bytes(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& v : x) v = static_cast<T>(random());
  return x;
}

template <class T>
MatrixView<const T> view(const std::vector<T>& x, std::int64_t rows, std::int64_t cols) {
  return {x.data(), rows, cols, cols, 1};
}

// Runs every share, one after the other, in a workspace that ends where it says it does.
template <class Out, class A, class Acc>
std::vector<Out> run(const Gemm<A, Acc>& gemm, const A& a, const PackedB<Acc>& b,
                     std::span<const Stage> stages, int threads = 1) {
  Guarded<std::byte> workspace(gemm.workspace_bytes(threads));
  const std::int64_t n = b.cols();
  Guarded<Out> c(static_cast<std::size_t>(a.rows() * n));
  for (int id = 0; id < threads; ++id)
    gemm.run(a, b, stages, {c.data(), n * static_cast<std::int64_t>(sizeof(Out))}, workspace.data(),
             id, threads);
  return {c.begin(), c.end()};
}

class GemmOnIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { set_isa_limit(GetParam()); }
  void TearDown() override { set_isa_limit(before_); }

 private:
  const std::optional<Isa> before_ = isa_limit();
};

// Operands whose ends meet an inaccessible page, before and after, read in place and packed.
TEST_P(GemmOnIsa, NothingOutsideTheOperandsIsTouched) {
  for (const std::int64_t m : {1, 5, 13})
    for (const std::int64_t n : {1, 31, 40})
      for (const std::int64_t k : {1, 3, 6, 17, 64})
        for (const Guard side : {Guard::after, Guard::before}) {
          const auto w8 = bytes<std::int8_t>(k * n, 11);
          const auto w32 = normal(k * n, 12);
          const std::vector<float> scale(1, 0.5f);
          const Guarded<std::int8_t> guarded_w(w8, side);
          const auto b8 = PackedB<Int32>::pack({guarded_w.data(), k, n, n, 1}, {scale, {}});
          const auto b32 = PackedB<Float32>::pack(view(w32, k, n));
          const Guarded<std::uint8_t> u8(bytes<std::uint8_t>(m * k, 13), side);
          const Guarded<std::int8_t> s8(bytes<std::int8_t>(m * k, 14), side);
          const Guarded<float> f32(normal(m * k, 15), side);
          const Guarded<float> bias(normal(n, 16), side);
          const auto multiply = [&](const auto& a, const auto& b, const auto& pipeline) {
            using A = std::decay_t<decltype(a)>;
            using Acc =
                std::conditional_t<std::is_same_v<typename A::Element, float>, Float32, Int32>;
            const Gemm<A, Acc> gemm(b, pipeline.kernel_stages(), m);
            return run<float>(gemm, a, b, pipeline.kernel_stages());
          };
          const Pipeline integer(Dequantize{}, Bias{bias.data()});
          const Pipeline floating(Bias{bias.data()});
          // The same through strides that forbid reading in place: one column after the other.
          const auto strided = [&](const auto& x) {
            using T = std::decay_t<decltype(x[0])>;
            std::vector<T> by_column(static_cast<std::size_t>(m * k));
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t p = 0; p < k; ++p) by_column[p * m + i] = x[i * k + p];
            return by_column;
          };
          const auto u8t = strided(u8);
          const auto f32t = strided(f32);
          using U8 = PackAWithRowOffset<std::uint8_t>;
          EXPECT_EQ(multiply(U8({u8.data(), m, k, k, 1}, 1.0f, 3), b8, integer),
                    multiply(U8({u8t.data(), m, k, 1, m}, 1.0f, 3), b8, integer));
          EXPECT_EQ(multiply(PackA<float>({f32.data(), m, k, k, 1}), b32, floating),
                    multiply(PackA<float>({f32t.data(), m, k, 1, m}), b32, floating));
          EXPECT_EQ(multiply(PackAWithQuantRowOffset({f32.data(), m, k, k, 1}), b8, integer),
                    multiply(PackAWithQuantRowOffset({f32t.data(), m, k, 1, m}), b8, integer));
          multiply(PackAWithRowOffset<std::int8_t>({s8.data(), m, k, k, 1}, 1.0f, 3), b8, integer);
        }
}

TEST_P(GemmOnIsa, ModesOfTheCallerMakeNoDifferenceAndAreKept) {
  const std::int64_t m = 5, n = 40, k = 33;
  auto x = normal(m * k, 17);
  for (float& v : x) v *= 1e-20f;  // products are denormal
  auto w = normal(k * n, 18);
  for (float& v : w) v *= 1e-20f;
  const auto b = PackedB<Float32>::pack(view(w, k, n));
  const auto b8 = PackedB<Int32>::quantize(view(w, k, n), Granularity::column, true);
  const PackA<float> a(view(x, m, k));
  const PackAWithQuantRowOffset a8(view(x, m, k));
  const Pipeline pipeline(Dequantize{});
  const Gemm<PackA<float>, Float32> gemm(b, {}, m);
  const Int8Gemm gemm8(b8, pipeline.kernel_stages(), m);
  const auto wanted = run<float>(gemm, a, b, {});
  const auto wanted8 = run<float>(gemm8, a8, b8, pipeline.kernel_stages());
  EXPECT_TRUE(std::any_of(wanted.begin(), wanted.end(), [](float v) { return v != 0.0f; }));
  for (const int mode : {FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const auto got = run<float>(gemm, a, b, {});
    const auto got8 = run<float>(gemm8, a8, b8, pipeline.kernel_stages());
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(got8, wanted8);
  }
#ifdef FBG_HAS_FLOAT_CONTROL
  const FlushingCaller caller;
  EXPECT_EQ(run<float>(gemm, a, b, {}), wanted);
  EXPECT_EQ(run<float>(gemm8, a8, b8, pipeline.kernel_stages()), wanted8);
  EXPECT_TRUE(FlushingCaller::is_active());
  const FloatEnvironment environment(Subnormals::flush);
  const auto is_zero = [](float v) { return v == 0.0f; };
  EXPECT_TRUE(std::ranges::all_of(run<float>(gemm, a, b, {}), is_zero));
  EXPECT_TRUE(std::ranges::all_of(run<float>(gemm8, a8, b8, pipeline.kernel_stages()), is_zero));
#endif
}

// Long rows are cut into blocks of k when there are several tiles of them, never when there is one:
// a matrix must give the bits of its rows alone. `out` holds the residual before.
template <class A, class Acc>
void expect_rows_alone(const A& a, const std::vector<A>& rows, const PackedB<Acc>& b,
                       const std::vector<float>& residual, bool raw) {
  const std::int64_t m = a.rows(), n = b.cols();
  const std::vector<float> bias = normal(n, 33);
  const auto stages = [&](const float* added) {
    std::vector<Stage> list;
    if (raw) return list;
    if (is_integer(Acc::kind)) list.push_back(Dequantize{}.stage());
    for (const Stage& s : {Bias{bias.data()}.stage(), Relu{}.stage(), Add{added, n}.stage()})
      list.push_back(s);
    return list;
  };
  const Gemm<A, Acc> gemm(b, stages(nullptr), m);
  Guarded<std::byte> workspace(gemm.workspace_bytes(2));
  std::vector<float> wanted(residual), got(residual);  // int32 sums are compared as their bits
  for (std::int64_t i = 0; i < m; ++i) {
    float* const row = wanted.data() + i * n;
    gemm.run(rows[static_cast<std::size_t>(i)], b, stages(row), {row, n * 4}, workspace.data(), 0,
             1);
  }
  for (const int threads : {1, 2}) {
    got = residual;
    for (int id = 0; id < threads; ++id)
      gemm.run(a, b, stages(got.data()), {got.data(), n * 4}, workspace.data(), id, threads);
    ASSERT_EQ(std::memcmp(got.data(), wanted.data(), got.size() * 4), 0)
        << m << " x " << n << " x " << b.rows() << ", " << threads << " threads";
  }
}

template <class A, class Acc, class T>
void expect_rows_alone(const std::vector<T>& x, const PackedB<Acc>& b, std::int64_t m) {
  const std::int64_t k = b.rows();
  std::vector<A> rows;
  for (std::int64_t i = 0; i < m; ++i)
    rows.push_back(A(MatrixView<const T>{x.data() + i * k, 1, k, k, 1}));
  const auto residual = normal(m * b.cols(), 34);
  for (const bool raw : {true, false}) {
    if (!raw && is_integer(Acc::kind) && !A::kHasScale) continue;  // nothing to dequantize by
    expect_rows_alone(A(MatrixView<const T>{x.data(), m, k, k, 1}), rows, b, residual, raw);
  }
}

TEST_P(GemmOnIsa, CuttingKChangesNoBit) {
  struct Case {
    std::int64_t m, n, blocks, beyond;  // K = blocks * kc + beyond
  };
  // Whole columns and less than a vector, one block of them and several; K with whole k-groups and
  // without, and a last block as short as can be.
  for (const auto& [m, n, blocks, beyond] :
       {Case{13, 33, 1, 0}, Case{13, 40, 1, 1}, Case{40, 290, 2, -1}, Case{25, 5, 2, 3},
        Case{14, 256, 3, 2}}) {
    const auto depth = [&, blocks = blocks, beyond = beyond](std::int64_t element_bytes) {
      return blocks * policy::gemm::kDepthBytes / element_bytes + beyond;
    };
    const std::int64_t k4 = depth(4), k2 = depth(2), k1 = depth(1);
    const auto x = normal(m * k1, 30), w = normal(k1 * n, 31);
    const auto u8 = bytes<std::uint8_t>(m * k1, 32);
    expect_rows_alone<PackA<float>>(x, PackedB<Float32>::pack(view(w, k4, n)), m);
    expect_rows_alone<PackA<float>>(x, PackedB<Float32F16>::convert(view(w, k4, n)), m);
    const auto b16 = PackedB<BFloat16>::convert(view(w, k4, n));
    expect_rows_alone<PackA<float>>(x, PackedB<Float32BF16>::share(b16), m);
    expect_rows_alone<PackAToBFloat16>(x, PackedB<BFloat16>::convert(view(w, k2, n)), m);
    const auto b8 = PackedB<Int32>::quantize(view(w, k1, n), Granularity::column, false);
    expect_rows_alone<PackA<std::uint8_t>>(u8, b8, m);
    expect_rows_alone<PackAWithQuantRowOffset>(x, b8, m);
  }
}

// The chain has fused multiply-adds, from the first k to the last.
TEST_P(GemmOnIsa, FloatSumsAreOneChain) {
  const std::int64_t m = 13, n = 33, k = policy::gemm::kDepthBytes / 4 + 5;
  const auto x = normal(m * k, 35), w = normal(k * n, 36);
  const auto b = PackedB<Float32>::pack(view(w, k, n));
  const Gemm<PackA<float>, Float32> gemm(b, {}, m);
  const auto c = run<float>(gemm, PackA<float>(view(x, m, k)), b, {});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) sum = std::fma(x[i * k + p], w[p * n + j], sum);
      ASSERT_EQ(c[i * n + j], sum) << i << ", " << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Isa, GemmOnIsa, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return std::string(isa_name(isa.param)); });

TEST(Gemm, WorkspaceOfAThreadIsWholeCacheLines) {
  const std::vector<float> w(100 * 40, 1.0f);
  const auto b = PackedB<Float32>::pack(view(w, 100, 40));
  for (const std::int64_t m : {1, 5, 100, 100000}) {
    const Gemm<PackA<float>, Float32> gemm(b, {}, m);
    EXPECT_EQ(gemm.workspace_bytes(1) % 64, 0u);
    EXPECT_EQ(gemm.workspace_bytes(7), 7 * gemm.workspace_bytes(1));
    EXPECT_LE(gemm.workspace_bytes(1), std::size_t{1} << 20);
  }
}

}  // namespace
}  // namespace fbg
