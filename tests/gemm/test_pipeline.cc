// Pipelines with C++ functors: the bits are those of the same stages without it, in any place of
// the pipeline, for every shape of tile, ISA and accumulator; what fits together is known to the
// compiler.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"
#include "fbg/gemm/pipeline.h"

namespace fbg {
namespace {

// relu() and a bias as the library has them, so that results can be compared bit for bit.
struct UserRelu {
  float operator()(float x) const noexcept { return 0.0f > x ? 0.0f : x; }
};
struct UserBias {
  const float* values;
  float operator()(float x, std::int64_t, std::int64_t col) const noexcept {
    return x + values[col];
  }
};
struct UserAdd {
  const float* values;
  std::int64_t ld;
  float operator()(float x, std::int64_t row, std::int64_t col) const noexcept {
    return x + values[row * ld + col];
  }
};
struct MayThrow {
  float operator()(float x) const { return x; }
};
struct TakesText {
  float operator()(const char*) const noexcept { return 0; }
};

static_assert(KernelStage<Dequantize> && KernelStage<Bias> && KernelStage<Requantize>);
static_assert(FunctorStage<UserRelu> && FunctorStage<UserBias> && !FunctorStage<Relu>);
static_assert(!PipelineStage<MayThrow> && !PipelineStage<TakesText>);

static_assert(composes_from<Dequantize, Bias, UserRelu, Gelu>(ValueType::acc));
static_assert(composes_from<UserRelu, Requantize>(ValueType::float32));
static_assert(composes_from<BiasInt32, CorrectZeroPoints, Dequantize>(ValueType::acc));
static_assert(!composes_from<UserRelu>(ValueType::acc));
static_assert(!composes_from<Dequantize, UserRelu, BiasInt32>(ValueType::acc));
static_assert(!composes_from<Dequantize, Bias>(ValueType::float32));
static_assert(!composes_from<Requantize, UserRelu>(ValueType::float32));

static_assert(!Pipeline<Dequantize, Bias>::kHasFunctor);
static_assert(Pipeline<Dequantize, UserRelu, Bias>::kHasFunctor);

class PipelineOnIsa : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { set_isa_limit(GetParam()); }
  void TearDown() override { set_isa_limit(std::nullopt); }

  std::vector<float> floats(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& v : values) v = distribution_(random_);
    return values;
  }

  // C, framed by bytes that must stay.
  template <class A, class Acc, class P>
  std::vector<std::byte> product(const A& a, const PackedB<Acc>& b, const P& pipeline,
                                 int num_threads = 1) {
    const Gemm<A, Acc, P> gemm(b, pipeline, a.rows());
    const std::int64_t ld = b.cols() * value_size(gemm.output_type()) + 8;
    std::vector<std::byte> c(static_cast<std::size_t>(a.rows() * ld), std::byte{0x5a});
    AlignedBuffer workspace(gemm.workspace_bytes(num_threads));
    for (int t = 0; t < num_threads; ++t)
      gemm.run(a, b, pipeline, {c.data(), ld}, workspace.data(), t, num_threads);
    return c;
  }

 private:
  std::mt19937 random_{7};
  std::uniform_real_distribution<float> distribution_{-1.0f, 1.0f};
};

struct Shape {
  std::int64_t m, n, k;
};
const Shape kShapes[] = {{1, 1, 1},   {1, 300, 17}, {3, 65, 8},    {5, 40, 33},
                         {12, 32, 4}, {13, 97, 30}, {37, 130, 19}, {26, 270, 4099}};

TEST_P(PipelineOnIsa, FunctorsEqualTheStagesTheyStandFor) {
  for (const auto& [m, n, k] : kShapes) {
    const auto x = floats(m * k), w = floats(k * n), bias = floats(n), residual = floats(m * n);
    const auto b = PackedB<Int32>::quantize({w.data(), k, n, n}, Granularity::column, false);
    const PackAWithQuantRowOffset a({x.data(), m, k, k});
    const Dequantize dequantize;
    const Requantize requantize{0.03f, 11, ValueType::int8};
    const Add add{residual.data(), n};
    const auto expected =
        product(a, b, Pipeline(dequantize, Bias{bias.data()}, Relu{}, add, requantize));
    const UserRelu relu;
    const UserBias user_bias{bias.data()};
    const UserAdd user_add{residual.data(), n};
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(
          product(a, b, Pipeline(dequantize, Bias{bias.data()}, relu, add, requantize), threads),
          expected);
      EXPECT_EQ(product(a, b, Pipeline(dequantize, user_bias, Relu{}, add, requantize), threads),
                expected);
      EXPECT_EQ(product(a, b, Pipeline(dequantize, user_bias, relu, user_add, requantize), threads),
                expected);
      EXPECT_EQ(product(a, b, Pipeline(dequantize, Bias{bias.data()}, Relu{}, user_add, requantize),
                        threads),
                expected);
    }
  }
}

TEST_P(PipelineOnIsa, AFunctorMayBeFirstOfAFloatProductAndLast) {
  for (const auto& [m, n, k] : kShapes) {
    const auto x = floats(m * k), w = floats(k * n), bias = floats(n);
    const auto b = PackedB<Float32>::pack({w.data(), k, n, n});
    const PackA<float> a({x.data(), m, k, k});
    const auto expected = product(a, b, Pipeline(Bias{bias.data()}, Relu{}, Gelu{}));
    const UserBias user_bias{bias.data()};
    EXPECT_EQ(product(a, b, Pipeline(user_bias, Relu{}, Gelu{})), expected);
    EXPECT_EQ(product(a, b, Pipeline(user_bias, UserRelu{}, Gelu{})), expected);
    EXPECT_EQ(product(a, b, Pipeline(Bias{bias.data()}, UserRelu{}, Gelu{}, UserRelu{})),
              product(a, b, Pipeline(Bias{bias.data()}, Relu{}, Gelu{}, Relu{})));
  }
}

TEST_P(PipelineOnIsa, EveryOutputTypeMayFollowAFunctor) {
  const auto& [m, n, k] = kShapes[5];
  const auto x = floats(m * k), w = floats(k * n);
  const auto b = PackedB<Float32>::pack({w.data(), k, n, n});
  const PackA<float> a({x.data(), m, k, k});
  const auto expect_equal = [&](const auto& last) {
    EXPECT_EQ(product(a, b, Pipeline(UserRelu{}, last)), product(a, b, Pipeline(Relu{}, last)));
  };
  for (const ValueType type : {ValueType::float16, ValueType::bfloat16}) expect_equal(Cast{type});
  for (const ValueType type : {ValueType::uint8, ValueType::int8})
    expect_equal(Requantize{0.02f, 3, type});
  expect_equal(Sigmoid{});
}

TEST_P(PipelineOnIsa, WithoutFunctorsAPipelineIsItsStages) {
  const auto& [m, n, k] = kShapes[6];
  const auto x = floats(m * k), w = floats(k * n), bias = floats(n);
  const auto b = PackedB<Int32>::quantize({w.data(), k, n, n}, Granularity::tensor, true);
  const PackAWithQuantRowOffset a({x.data(), m, k, k});
  const Pipeline pipeline(Dequantize{}, Bias{bias.data()}, Relu{});
  const Gemm<PackAWithQuantRowOffset, Int32, decltype(pipeline)> typed(b, pipeline, m);
  const Gemm<PackAWithQuantRowOffset, Int32> untyped(b, pipeline.stages(), m);
  EXPECT_EQ(typed.workspace_bytes(3), untyped.workspace_bytes(3));
  EXPECT_EQ(product(a, b, pipeline), product(a, b, pipeline.stages()));
}

TEST_P(PipelineOnIsa, RowRangeIsThatOfTheResultForAnyThreads) {
  for (const auto& [m, n, k] : kShapes) {
    const auto x = floats(m * k), w = floats(k * n);
    const auto b = PackedB<Float32>::pack({w.data(), k, n, n});
    const PackA<float> a({x.data(), m, k, k});
    std::vector<RowExtent> extents(static_cast<std::size_t>(m));
    const RowRange range(extents.data());
    const auto expect_range = [&](const auto& pipeline, const auto& without) {
      const auto expected = product(a, b, without);
      for (const int threads : {1, 2, 3}) {
        range.reset(m);
        EXPECT_EQ(product(a, b, pipeline, threads), expected);
        for (std::int64_t i = 0; i < m; ++i) {
          std::vector<float> row(static_cast<std::size_t>(n));
          std::memcpy(row.data(), expected.data() + i * (n * 4 + 8), row.size() * 4);
          const auto [lo, hi] = std::ranges::minmax(row);
          EXPECT_EQ(extents[static_cast<std::size_t>(i)].lo, lo);
          EXPECT_EQ(extents[static_cast<std::size_t>(i)].hi, hi);
        }
      }
    };
    expect_range(Pipeline(Gelu{}, range), Pipeline(Gelu{}));
    expect_range(Pipeline(UserRelu{}, range), Pipeline(UserRelu{}));
  }
}

// Kernels add zero points to int16, so that 40000 would be 32767 there.
TEST(Requantize, RefusesZeroPointsThatTheResultCannotHold) {
  const auto type = [](std::int32_t zero_point, ValueType to) {
    return type_pipeline(std::vector{Requantize{0.5f, zero_point, to}.stage()}, ValueType::acc);
  };
  for (const std::int32_t fits : {0, 255}) EXPECT_NO_THROW(type(fits, ValueType::uint8));
  for (const std::int32_t fits : {-128, 127}) EXPECT_NO_THROW(type(fits, ValueType::int8));
  for (const std::int32_t beyond : {-1, 256, 40000, -40000, 1 << 30})
    EXPECT_THROW(type(beyond, ValueType::uint8), std::invalid_argument);
  for (const std::int32_t beyond : {-129, 128, 40000, -40000, 1 << 30})
    EXPECT_THROW(type(beyond, ValueType::int8), std::invalid_argument);
}

TEST(RowRange, EndsAPipeline) {
  static_assert(composes_from<Gelu, RowRange>(ValueType::float32));
  static_assert(!composes_from<RowRange, Gelu>(ValueType::float32));
  static_assert(!composes_from<RowRange>(ValueType::acc));
  const Stage range = RowRange(nullptr).stage();
  EXPECT_THROW(type_pipeline(std::vector{range, Relu{}.stage()}, ValueType::float32),
               PipelineTypeError);
}

// Threads that widen one row at once lose nothing.
TEST(RowRange, IsWidenedByManyThreadsAtOnce) {
  RowExtent row{0, 0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&row, t] {
      for (int i = 0; i < 10000; ++i)
        RowRange::widen(row, -static_cast<float>(4 * i + t), static_cast<float>(4 * i + t));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(row.lo, -39999);
  EXPECT_EQ(row.hi, 39999);
}

TEST_P(PipelineOnIsa, AResidualOfAnyTypeMayFollowAFunctor) {
  const auto& [m, n, k] = kShapes[5];
  const auto x = floats(m * k), w = floats(k * n);
  const auto b = PackedB<Float32>::pack({w.data(), k, n, n});
  const PackA<float> a({x.data(), m, k, k});
  const std::vector<std::int8_t> bytes(static_cast<std::size_t>(m * n), -100);
  const std::vector<bfloat16> halves(static_cast<std::size_t>(m * n), bfloat16{0x4049});
  const auto expect_equal = [&](const Add& add) {
    EXPECT_EQ(product(a, b, Pipeline(UserRelu{}, add)), product(a, b, Pipeline(Relu{}, add)));
  };
  expect_equal(Add(bytes.data(), n, 0.125f, 3));
  expect_equal(Add(halves.data(), n));
}

TEST_P(PipelineOnIsa, AFunctorTakesWhatItsCallGivesIt) {
  const auto x = floats(9 * 5), w = floats(5 * 70);
  const auto b = PackedB<Float32>::pack({w.data(), 5, 70, 70});
  const PackA<float> a({x.data(), 9, 5, 5});
  float factor = 2;
  const Pipeline pipeline([&factor](float v) noexcept { return v * factor; });
  const auto twice = product(a, b, pipeline);
  factor = 1;
  const auto once = product(a, b, pipeline);
  EXPECT_EQ(once, product(a, b, RuntimePipeline{}));
  float one, two;
  std::memcpy(&one, once.data(), 4);
  std::memcpy(&two, twice.data(), 4);
  EXPECT_EQ(two, 2 * one);
}

INSTANTIATE_TEST_SUITE_P(Isas, PipelineOnIsa, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return isa_name(isa.param); });

}  // namespace
}  // namespace fbg
