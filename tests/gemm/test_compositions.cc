// Every packer with every family of weights that multiplies what it gives, and every kind of
// pipeline behind both, composed as types: operands are small integers, so that results are exact,
// but for the quantization of float rows.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"

namespace fbg {
namespace {

constexpr std::int64_t kRows = 9, kDepth = 100, kColumns = 128;

template <class T>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> converted;
  for (const float x : values)
    if constexpr (std::is_same_v<T, bfloat16>)
      converted.push_back({static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16)});
    else
      converted.push_back(static_cast<T>(x));
  return converted;
}

template <class T>
MatrixView<const T> view(const std::vector<T>& values, std::int64_t rows, std::int64_t cols) {
  return {values.data(), rows, cols, cols, 1};
}

// What a packer reads, and how it is made.
template <class A>
struct Source {
  using Element = float;
  static A make(MatrixView<const float> x) { return A(x); }
};
template <class T>
struct Source<PackA<T>> {
  using Element = T;
  static PackA<T> make(MatrixView<const T> x) { return PackA<T>(x); }
};
template <class T>
struct Source<PackAWithRowOffset<T>> {
  using Element = T;
  static PackAWithRowOffset<T> make(MatrixView<const T> x) { return {x, 1.0f, 0}; }
};

template <class Family>
PackedB<Family> pack(const std::vector<float>& w) {
  const auto q = as<std::int8_t>(w);
  const float one = 1.0f;
  if constexpr (Family::kind == GemmType::int16) {
    return *PackedB<Int16>::split(pack<Int32>(w), 3);
  } else if constexpr (is_int4(Family::kind)) {
    const std::int64_t groups = ceil_div(kDepth, std::int64_t{Family::format.kr});
    const std::vector<float16> ones(static_cast<std::size_t>(groups * kColumns), {0x3c00});
    return PackedB<Family>::pack(view(q, kDepth, kColumns), view(ones, groups, kColumns));
  } else if constexpr (is_integer(Family::kind)) {
    return PackedB<Family>::pack(view(q, kDepth, kColumns), {std::span(&one, 1), {}});
  } else {
    return PackedB<Family>::convert(view(w, kDepth, kColumns));
  }
}

struct Twice {
  float operator()(float x) const noexcept { return 2 * x; }
};

// a + 2 b, of the halves of a row.
struct Weighted {
  std::span<const Stage> stages;
  std::span<const Stage> kernel_stages() const { return stages; }
  ValueType output() const { return ValueType::float32; }
  void gate(const float* a, const float* b, std::int64_t n, std::byte* y) const noexcept {
    auto* const out = reinterpret_cast<float*>(y);
    for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + 2 * b[i];
  }
};

class Compositions : public testing::Test {
 public:
  Compositions() {
    for (std::int64_t i = 0; i < kRows * kDepth; ++i) x_.push_back(static_cast<float>(i * 7 % 8));
    for (std::int64_t i = 0; i < kDepth * kColumns; ++i)
      w_.push_back(static_cast<float>(i * 5 % 15 - 7));
    for (std::int64_t j = 0; j < kColumns; ++j) bias_.push_back(static_cast<float>(j % 5));
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < kDepth; ++k) sum += x_[i * kDepth + k] * w_[k * kColumns + j];
        sums_.push_back(sum);
      }
  }

  // All families behind the packer A; returns how many there are.
  template <class A>
  int expect_all() {
    return expect_family<A, Int32>() + expect_family<A, Int16>() + expect_family<A, Float32>() +
           expect_family<A, BFloat16>() + expect_family<A, Float32BF16>() +
           expect_family<A, Float32F16>() + expect_family<A, Float16>() +
           expect_family<A, Int4<32>>() + expect_family<A, Int4<64>>() +
           expect_family<A, Int4<128>>();
  }

 private:
  template <class A, class Family>
  int expect_family() {
    if constexpr (!std::is_same_v<typename A::Element, typename Family::A>) {
      return 0;
    } else {
      const auto source = as<typename Source<A>::Element>(x_);
      const A a = Source<A>::make(view(source, kRows, kDepth));
      const PackedB<Family> b = pack<Family>(w_);
      if constexpr (!A::kHasScale && is_int4(Family::kind)) {
        EXPECT_THROW((Gemm<A, Family>(b, {}, kRows)), std::invalid_argument);
      } else if constexpr (!A::kHasScale && is_integer(Family::kind)) {
        expect<std::int32_t>(a, b, RuntimePipeline{}, [&](auto i, auto j) { return sum(i, j); });
        expect<std::int32_t>(a, b, Pipeline<>(), [&](auto i, auto j) { return sum(i, j); });
      } else if constexpr (is_integer(Family::kind)) {
        expect_pipelines(a, b, Dequantize{}, Bias{bias_.data()});
      } else {
        expect_pipelines(a, b, Bias{bias_.data()});
      }
      return 1;
    }
  }

  // Stages that are known at run time, at compile time, with a functor after them, and gated.
  template <class A, class Family, class... Stages>
  void expect_pipelines(const A& a, const PackedB<Family>& b, Stages... stages) {
    const auto biased = [&](std::int64_t i, std::int64_t j) { return sum(i, j) + bias_[j]; };
    const std::vector<Stage> runtime{stages.stage()...};
    expect<float>(a, b, RuntimePipeline(runtime), biased);
    expect<float>(a, b, Pipeline(stages...), biased);
    expect<float>(a, b, Pipeline(stages..., Twice{}),
                  [&](std::int64_t i, std::int64_t j) { return 2 * biased(i, j); });
    expect<float>(
        a, b, Weighted{runtime},
        [&](std::int64_t i, std::int64_t j) {
          return biased(i, j) + 2 * biased(i, j + kColumns / 2);
        },
        kColumns / 2);
  }

  template <class C, class A, class Family, class P, class Wanted>
  void expect(const A& a, const PackedB<Family>& b, const P& pipeline, Wanted wanted,
              std::int64_t columns = kColumns) {
    const Gemm<A, Family, P> gemm(b, pipeline, kRows);
    ASSERT_TRUE(gemm.serves(b));
    std::vector<C> c(static_cast<std::size_t>(kRows * columns));
    AlignedBuffer workspace(gemm.workspace_bytes(1));
    gemm.run(a, b, pipeline, {c.data(), columns * static_cast<std::int64_t>(sizeof(C))},
             workspace.data(), 0, 1);
    // Half a step of the scale for each element of a row, times the largest weight; twice where
    // results are.
    const double error =
        std::is_same_v<A, PackAWithQuantRowOffset> ? 3 * kDepth * 7 * (7.0 / 255 / 2) : 0;
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_NEAR(static_cast<double>(c[i * columns + j]), wanted(i, j), error)
            << gemm.kernel_name() << " " << i << " " << j;
  }

  float sum(std::int64_t i, std::int64_t j) const { return sums_[i * kColumns + j]; }

  std::vector<float> x_, w_, bias_, sums_;
};

TEST_F(Compositions, OfBytes) {
  EXPECT_EQ(expect_all<PackA<std::uint8_t>>(), 5);
  EXPECT_EQ(expect_all<PackAWithRowOffset<std::uint8_t>>(), 5);
  EXPECT_EQ(expect_all<PackAWithRowOffset<std::int8_t>>(), 5);
  EXPECT_EQ(expect_all<PackAWithQuantRowOffset>(), 5);
}

TEST_F(Compositions, OfFloats) {
  EXPECT_EQ(expect_all<PackA<float>>(), 3);
  EXPECT_EQ(expect_all<PackA<bfloat16>>(), 1);
  EXPECT_EQ(expect_all<PackAToBFloat16>(), 1);
  EXPECT_EQ(expect_all<PackAToFloat16>(), 1);
}

}  // namespace
}  // namespace fbg
