// What run() promises to a C++ program: called by the program's own threads with their shares, it
// gives the bits of one thread, and no call allocates.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "fbg/gemm/gemm.h"
#include "helpers/allocations.h"

namespace fbg {
namespace {

template <class T>
std::vector<T> random_values(std::int64_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& v : values)
    v = std::is_same_v<T, float> ? static_cast<T>(static_cast<double>(random()) / 2e9 - 1)
                                 : static_cast<T>(random());
  return values;
}

struct Square {
  float operator()(float x) const noexcept { return x * x; }
};

class RunContract : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { set_isa_limit(GetParam()); }
  void TearDown() override { set_isa_limit(std::nullopt); }

  // Serial result, then by threads of our own: all start together, none is the caller.
  template <class A, class Acc, class P>
  void check(const A& a, const PackedB<Acc>& b, const P& pipeline) {
    const Gemm<A, Acc, P> gemm(b, pipeline, a.rows());
    static_assert(noexcept(gemm.run(a, b, pipeline, OutputView{}, nullptr, 0, 1)));
    const std::int64_t ld = b.cols() * value_size(gemm.output_type());
    const auto bytes = static_cast<std::size_t>(a.rows() * ld);

    std::vector<std::byte> serial(bytes);
    AlignedBuffer workspace(gemm.workspace_bytes(1));
    const std::int64_t before = allocations();
    gemm.run(a, b, pipeline, {serial.data(), ld}, workspace.data(), 0, 1);
    EXPECT_EQ(allocations(), before) << "the first run allocated";

    for (const int num_threads : {2, 3, 7}) {
      std::vector<std::byte> c(bytes, std::byte{0xa5});
      AlignedBuffer shared(gemm.workspace_bytes(num_threads));
      std::atomic<int> waiting = num_threads;
      std::atomic<std::int64_t> allocated = 0;
      std::vector<std::thread> threads;
      for (int t = 0; t < num_threads; ++t)
        threads.emplace_back([&, t] {
          for (--waiting; waiting > 0;) std::this_thread::yield();
          const std::int64_t start = allocations();
          gemm.run(a, b, pipeline, {c.data(), ld}, shared.data(), t, num_threads);
          allocated += allocations() - start;
        });
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(c, serial) << num_threads << " threads";
      EXPECT_EQ(allocated, 0) << num_threads << " threads";
    }
  }
};

struct Shape {
  std::int64_t m, n, k;
};
// Fewer rows than threads, one panel, more rows than are packed at a time, K with a tail, K in
// blocks.
const Shape kShapes[] = {{1, 512, 64},    {5, 33, 7},    {64, 32, 40},
                         {150, 70, 2050}, {29, 130, 31}, {40, 290, 4111}};

TEST_P(RunContract, HoldsForQuantizedRows) {
  for (const auto& [m, n, k] : kShapes) {
    const auto x = random_values<float>(m * k, 1), w = random_values<float>(k * n, 2),
               bias = random_values<float>(n, 3), residual = random_values<float>(m * n, 4);
    const auto b = PackedB<Int32>::quantize({w.data(), k, n, n}, Granularity::column, false);
    const PackAWithQuantRowOffset a({x.data(), m, k, k});
    const Dequantize dequantize;
    check(a, b, Pipeline(dequantize, Bias{bias.data()}, Gelu{}, Add{residual.data(), n}));
    check(a, b, Pipeline(dequantize, Bias{bias.data()}, Square{}, Requantize{0.1f, 3}));
  }
}

TEST_P(RunContract, HoldsForBytesReadInPlaceOrShifted) {
  for (const auto& [m, n, k] : kShapes) {
    const auto u8 = random_values<std::uint8_t>(m * k, 1);
    const auto s8 = random_values<std::int8_t>(m * k, 2), w = random_values<std::int8_t>(k * n, 3);
    const float scale = 0.01f;
    const std::int32_t zero_point = 5;
    const auto b = PackedB<Int32>::pack({w.data(), k, n, n}, {{&scale, 1}, {&zero_point, 1}});
    check(PackA<std::uint8_t>({u8.data(), m, k, k}), b, RuntimePipeline{});
    const Requantize requantize{0.5f, -4, ValueType::int8};
    check(PackAWithRowOffset<std::uint8_t>({u8.data(), m, k, k}, 0.02f, 128), b,
          Pipeline(requantize));
    check(PackAWithRowOffset<std::int8_t>({s8.data(), m, k, k}, 0.02f, -7), b,
          Pipeline(requantize));
    // Columns of a transposed matrix: gathered piece by piece.
    check(PackAWithRowOffset<std::uint8_t>({u8.data(), m, k, 1, m}, 0.02f, 128), b,
          Pipeline(requantize));
  }
}

TEST_P(RunContract, HoldsForNarrowWeights) {
  for (const auto& [m, n, k] : kShapes) {
    const auto u8 = random_values<std::uint8_t>(m * k, 1);
    auto w = random_values<std::int8_t>(k * n, 2);
    for (std::int8_t& x : w) x = static_cast<std::int8_t>(x / 4);
    const auto b = PackedB<Int32>::pack({w.data(), k, n, n});
    check(PackA<std::uint8_t>({u8.data(), m, k, k}), b, RuntimePipeline{});
  }
}

// A Gemm that was made for narrow weights serves others of their shape, and the other way round.
TEST_P(RunContract, HoldsForNarrowWeightsAndOthersInTurn) {
  constexpr std::int64_t m = 23, n = 70, k = 99;
  const std::vector<std::uint8_t> u8(m * k, 255);
  const PackA<std::uint8_t> a({u8.data(), m, k, k});
  const std::vector<std::int8_t> small(k * n, 32), large(k * n, 127);
  const auto narrow = PackedB<Int32>::pack({small.data(), k, n, n}),
             wide = PackedB<Int32>::pack({large.data(), k, n, n});
  EXPECT_FALSE(wide.is_narrow());
  EXPECT_EQ(narrow.is_narrow(), GetParam() == Isa::avx2 || GetParam() == Isa::avx512);
  for (const auto* first : {&narrow, &wide}) {
    const Gemm<PackA<std::uint8_t>, Int32> gemm(*first, RuntimePipeline{}, m);
    EXPECT_EQ(gemm.kernel_name().find("_narrow") != std::string::npos, first->is_narrow());
    for (const auto& [b, value] : {std::pair{&narrow, 32}, {&wide, 127}}) {
      ASSERT_TRUE(gemm.serves(*b));
      std::vector<std::int32_t> c(m * n);
      AlignedBuffer workspace(gemm.workspace_bytes(1));
      gemm.run(a, *b, RuntimePipeline{}, {c.data(), n * 4}, workspace.data(), 0, 1);
      EXPECT_EQ(c, std::vector<std::int32_t>(m * n, 255 * k * value));
    }
  }
}

TEST_P(RunContract, HoldsForFloats) {
  for (const auto& [m, n, k] : kShapes) {
    const auto x = random_values<float>(m * k, 1), w = random_values<float>(k * n, 2),
               bias = random_values<float>(n, 3);
    const PackA<float> a({x.data(), m, k, k});
    const Pipeline pipeline(Bias{bias.data()}, Relu{});
    check(a, PackedB<Float32>::pack({w.data(), k, n, n}), pipeline);
    check(a, PackedB<Float32F16>::convert({w.data(), k, n, n}), pipeline);
    const auto bf16 = PackedB<BFloat16>::convert({w.data(), k, n, n});
    check(a, PackedB<Float32BF16>::share(bf16), pipeline);
    check(PackAToBFloat16({x.data(), m, k, k}), bf16, Pipeline(Bias{bias.data()}, Square{}));
  }
}

TEST(RunContractCounter, SeesAllocations) {
  const std::int64_t everywhere = allocations_of_all_threads();
  const std::int64_t before = allocations();
  std::vector<int> values(100);
  AlignedBuffer buffer(64);
  void* volatile raw = std::malloc(1);
  std::free(raw);
#if defined(__SANITIZE_THREAD__)
  constexpr int kSeen = 2;  // ThreadSanitizer's hooks do not see aligned allocations
#else
  constexpr int kSeen = 3;
#endif
  EXPECT_GE(allocations() - before, kSeen);
  EXPECT_GE(allocations_of_all_threads() - everywhere, kSeen);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  void* const pages = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  munmap(pages, 1);
  EXPECT_GE(allocations() - before, 4);
#endif
}

INSTANTIATE_TEST_SUITE_P(Isas, RunContract, testing::ValuesIn(supported_isas()),
                         [](const auto& isa) { return isa_name(isa.param); });

}  // namespace
}  // namespace fbg
