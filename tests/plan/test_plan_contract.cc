// What a prepared plan promises: a run allocates nothing, on any thread; no op reads what the arena
// no longer keeps for it; and no blocking, number of threads or earlier run changes a bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/plan/plan.h"
#include "fbg/plan/tuning.h"
#include "helpers/allocations.h"
#include "helpers/float_control.h"
#include "helpers/plans.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

using test::table;
using test::vector;

constexpr std::int64_t kHidden = 96, kInner = 200, kHeads = 3, kWords = 50, kTokens = 70;

std::vector<float> values(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> v(static_cast<std::size_t>(n));
  for (float& x : v) x = static_cast<float>(random() >> 8) * 0x1p-24f - 0.5f;
  return v;
}

SharedMatrix matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  auto data = std::make_shared<std::vector<float>>(values(rows * cols, seed));
  return {{data, data->data()}, rows, cols};
}

template <class Acc>
PackedB<Acc> packed(std::int64_t k, std::int64_t n, unsigned seed) {
  const std::vector<float> w = values(k * n, seed);
  const MatrixView<const float> view{w.data(), k, n, n, 1};
  if constexpr (Acc::kind == GemmType::int32)
    return PackedB<Acc>::quantize(view, Granularity::column, true);
  else
    return PackedB<Acc>::convert(view);
}

// Two blocks of BERT with everything that a model has around them.
template <class Acc>
Graph encoder() {
  Graph graph;
  unsigned seed = 1;
  const auto norm = [&](Buffer x) {
    const Array gamma = vector(matrix(1, kHidden, ++seed)),
                beta = vector(matrix(1, kHidden, ++seed));
    return graph.append("norm", {x, "layer_norm", gamma, beta, 1e-5f});
  };
  const auto linear = [&](Buffer x, std::int64_t n, const char* activation = "none",
                          const FieldValue& residual = {}) {
    const Array bias = vector(matrix(1, n, ++seed));
    const std::int64_t k = graph.shape(x).cols;
    return graph.append("linear", {x, packed<Acc>(k, n, ++seed), bias, activation, residual});
  };
  const bool rounds = Acc::kind != GemmType::float32;
  Buffer x = norm(
      graph.append("embed", {table(matrix(kWords, kHidden, 90)),
                             table(matrix(kTokens, kHidden, 91)), table(matrix(2, kHidden, 92))}));
  for (int layer = 0; layer < 2; ++layer) {
    const Buffer context = test::attention(graph, linear(x, 3 * kHidden),
                                           {kHeads, kHeads, kHidden / kHeads}, {rounds});
    x = norm(linear(context, kHidden, "none", x));
    x = norm(linear(linear(x, kInner, "gelu"), kHidden, "none", x));
  }
  graph.output(test::step(graph, "tanh", {linear(graph.append("pool", {x, "cls"}), kHidden)}));
  graph.output(graph.append("norm", {graph.append("pool", {x, "mean"}), "normalize"}));
  graph.output(x);
  return graph;
}

// A batch, and where its results go.
struct Batch {
  std::vector<std::int32_t> ids, position_ids, types, offsets{0};
  std::vector<std::vector<float>> results;
  std::vector<void*> outputs;

  Batch(const Graph& graph, const std::vector<std::int32_t>& lengths) {
    for (const std::int32_t length : lengths) {
      for (std::int32_t i = 0; i < length; ++i) {
        ids.push_back((7 * i + 3 * length) % kWords);
        position_ids.push_back(i);
        types.push_back(i % 2);
      }
      offsets.push_back(static_cast<std::int32_t>(ids.size()));
    }
    for (const Buffer output : graph.outputs()) {
      const BufferShape shape = graph.shape(output);
      const auto rows = shape.rows == RowKind::token ? ids.size() : lengths.size();
      results.emplace_back(rows * static_cast<std::size_t>(shape.cols));
      outputs.push_back(results.back().data());
    }
  }
  void run(Plan& plan, int num_threads) {
    for (auto& result : results) std::ranges::fill(result, NAN);
    plan.run({static_cast<std::int64_t>(ids.size()), static_cast<std::int64_t>(offsets.size()) - 1,
              ids.data(), position_ids.data(), types.data(), nullptr, offsets.data(), outputs},
             num_threads);
  }
};

using Results = std::vector<std::vector<float>>;

const std::vector<std::int32_t> kLengths{5, 31, 1, 20};
Capacity capacity(int threads, std::vector<TunedProduct> tuned = {}) {
  return {kTokens, 8, 40, threads, std::move(tuned)};
}

Results results(const Graph& graph, const Capacity& c, std::optional<std::uint8_t> poison = {}) {
  Plan plan(graph, c);
  const std::optional<std::uint8_t> before = Plan::set_poison(poison);
  Batch batch(graph, kLengths);
  batch.run(plan, c.threads);
  const Results first = batch.results;
  batch.run(plan, c.threads);
  Plan::set_poison(before);
  EXPECT_EQ(batch.results, first) << "the second run differs";
  for (const auto& result : first)
    EXPECT_TRUE(std::ranges::all_of(result, [](float x) { return std::isfinite(x); }));
  return first;
}

template <class Acc>
class PlanContract : public testing::Test {};
using Families = testing::Types<Int32, Float32, BFloat16, Float32F16, Float16>;
TYPED_TEST_SUITE(PlanContract, Families);

TYPED_TEST(PlanContract, ARunAllocatesNothingOnAnyThread) {
  const Graph graph = encoder<TypeParam>();
  for (const int threads : {1, 2}) {
    Plan plan(graph, capacity(threads));
    run_team(threads, [](int, int) {});  // the team has its workers
    Batch batch(graph, kLengths), small(graph, {3});
    const std::int64_t before = allocations_of_all_threads();
    batch.run(plan, threads);
    small.run(plan, threads);
    EXPECT_EQ(allocations_of_all_threads(), before) << threads << " threads";
  }
}

#ifdef FBG_HAS_FLOAT_CONTROL
TYPED_TEST(PlanContract, TheModeOfTheCallerMakesNoDifferenceAndIsKept) {
  const Graph graph = encoder<TypeParam>();
  const Results want = results(graph, capacity(1));
  const FlushingCaller caller;
  for (const int threads : {1, 2}) EXPECT_EQ(results(graph, capacity(threads)), want);
  EXPECT_TRUE(FlushingCaller::is_active());
}

TEST(PlanModes, SubnormalNumbersCountAsZeros) {
  constexpr std::int64_t k = 40, n = 64, m = 7;
  struct Case {
    float x, w;  // magnitudes
    bool flushed;
  };
  constexpr Case kCases[] = {{1e-39f, 1e30f, true},  // operands, weights, results, none of them
                             {1e30f, 1e-39f, true},
                             {1e-9f, 1e-30f, true},
                             {1.0f, 1.0f, false}};
  const std::uint64_t before = float_control();
  for (const Case& c : kCases) {
    std::vector<float> w = values(k * n, 1), x = values(m * k, 2), y(m * n);
    for (float& value : w) value *= c.w;
    for (float& value : x) value *= c.x;
    Graph graph;
    const auto weights = PackedB<Float32>::convert({w.data(), k, n, n, 1});
    graph.output(graph.append("linear", {graph.append("input", {k}), weights}));
    void* const outputs[] = {y.data()};
    const void* const inputs[] = {x.data()};
    RunArgs args;
    args.tokens = m;
    args.outputs = outputs;
    args.inputs = inputs;
    for (const int threads : {1, 2}) {
      Plan(graph, capacity(threads)).run(args, threads);
      EXPECT_EQ(std::ranges::all_of(y, [](float v) { return v == 0.0f; }), c.flushed)
          << c.x << " * " << c.w << ", " << threads << " threads";
    }
  }
  EXPECT_EQ(float_control(), before);
}
#endif

TYPED_TEST(PlanContract, CopiesRunAtTheSameTime) {
  const Graph graph = encoder<TypeParam>();
  const Results want = results(graph, capacity(1));
  const Plan plan(graph, capacity(1));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      Plan copy(plan);
      EXPECT_EQ(copy.arena_bytes(), plan.arena_bytes());
      Batch batch(graph, kLengths);
      for (int run = 0; run < 10; ++run) {
        batch.run(copy, 1);
        if (batch.results != want) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TYPED_TEST(PlanContract, NoOpReadsWhatIsFreed) {
  const Graph graph = encoder<TypeParam>();
  const Results want = results(graph, capacity(1));
  EXPECT_EQ(results(graph, capacity(1), 0xff), want);
  EXPECT_EQ(results(graph, capacity(2), 0xa5), want);
}

TYPED_TEST(PlanContract, NoBlockingChangesABit) {
  const Graph graph = encoder<TypeParam>();
  const Results want = results(graph, capacity(1));
  for (const int threads : {1, 2, 3}) {
    std::vector<Blocking> blockings{{1, 9, 1, 7}, {5, 3, 100000, 1}, {0, 0, 0, 3}};
    for (const ProductKind& kind : graph.products())
      for (const Blocking& b :
           candidate_blockings(kind.gemm_type, active_features(), 57, kind.n, kind.k, threads))
        if (std::ranges::find(blockings, b) == blockings.end()) blockings.push_back(b);
    EXPECT_GT(blockings.size(), 3u);
    for (const Blocking& blocking : blockings) {
      std::vector<TunedProduct> tuned;
      for (const ProductKind& kind : graph.products())
        tuned.push_back({kind, 1, kTokens, blocking});
      EXPECT_EQ(results(graph, capacity(threads, tuned)), want)
          << to_string(blocking) << ", " << threads << " threads";
    }
  }
}

// An op that reads its neighbour's input after its last use.
class StaleReader final : public Op {
 public:
  StaleReader(Buffer x, Buffer stale) : Op("stale", {x}), stale_(stale) {
    shape = {RowKind::token, kHidden};
  }
  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return std::make_unique<Copy>(*this);
  }

 private:
  struct Copy final : Step {
    explicit Copy(const StaleReader& o) : op(o) {}
    void run(const Frame& frame, std::byte*, int thread_id, int) const noexcept override {
      if (thread_id != 0) return;
      const MatrixView<float> from = frame.floats(op.stale_), to = frame.floats(op.output);
      for (std::int64_t i = 0; i < to.rows; ++i) std::copy_n(&from(i, 0), to.cols, &to(i, 0));
    }
    const StaleReader& op;
  };
  const Buffer stale_;
};

TEST(Poison, ShowsAStaleRead) {
  Graph graph;
  const Buffer x =
      graph.append("embed", {table(matrix(kWords, kHidden, 1)), table(matrix(kTokens, kHidden, 2)),
                             table(matrix(2, kHidden, 3))});
  const auto next = [&](Buffer from, unsigned seed) {
    return graph.append("linear", {from, packed<Float32>(kHidden, kHidden, seed)});
  };
  const Buffer first = next(x, 4), second = next(first, 5), third = next(second, 6);
  graph.output(append_op(graph, std::make_shared<StaleReader>(third, second)));
  Plan plan(graph, capacity(2));
  for (const bool poisons : {false, true}) {
    const auto before =
        Plan::set_poison(poisons ? std::optional<std::uint8_t>(0xff) : std::nullopt);
    Batch batch(graph, kLengths);
    batch.run(plan, 2);
    const std::vector<float>& seen = batch.results[0];
    EXPECT_EQ(std::ranges::count_if(seen, [](float v) { return std::isnan(v); }),
              poisons ? static_cast<std::ptrdiff_t>(seen.size()) : 0);
    Plan::set_poison(before);
  }
}

TEST(Blockings, AreNamedByTheirOps) {
  const Graph graph = encoder<Float32>();
  const ProductKind kind{GemmType::float32, kHidden, kInner};
  const std::vector<ProductKind> kinds = graph.products();
  EXPECT_EQ(std::ranges::count(kinds, kind), 1);
  EXPECT_EQ(kinds.size(), 4u);  // Q, K and V; attention's output; two of the feed-forward part
  const Blocking blocking{4, 1, 0, 0};
  const Plan plan(graph, capacity(1, {{kind, 3, 9, blocking}, {kind, 5, 8, {2, 0, 0, 0}}}));
  int named = 0;
  for (const OpPlan& op : plan.ops()) {
    if (op.blocking.empty()) continue;
    EXPECT_EQ(op.blocking, "<=9 rows: rows=4 panels=1");
    EXPECT_NE(op.name.find("96x200"), std::string::npos);
    ++named;
  }
  EXPECT_EQ(named, 2);
}

TEST(Candidates, StartWithTheCostModelsAndDiffer) {
  for (const Isa isa : supported_isas())
    for (const int threads : {1, 2, 6})
      for (const std::int64_t m : {1, 3, 8, 64, 384}) {
        const std::vector<Blocking> found =
            candidate_blockings(GemmType::int32, isa_features(isa), m, 2304, 768, threads);
        ASSERT_FALSE(found.empty());
        EXPECT_EQ(found[0], Blocking{});
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_EQ(
              std::find(found.begin() + static_cast<std::ptrdiff_t>(i) + 1, found.end(), found[i]),
              found.end());
      }
}

TEST(Tuner, TimesEveryBlockingAndIsCounted) {
  const Graph graph = encoder<Int32>();
  const std::int64_t before = tuner_count();
  const Tuner tuner(graph, graph.products()[1], 2);
  EXPECT_EQ(tuner_count(), before + 1);
  const std::vector<Blocking> blockings = tuner.candidates(9);
  const std::vector<double> seconds = tuner.seconds(9, blockings, 0.001);
  ASSERT_EQ(seconds.size(), blockings.size());
  for (const double s : seconds) EXPECT_GT(s, 0);
  EXPECT_THROW(Tuner(graph, {GemmType::int32, 5, 6}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace fbg
