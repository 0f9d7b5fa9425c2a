// Plans: a sequence gives the same bits alone, in any batch and on any number of threads; buffers
// hold the types that graph and plan choose, inputs are the caller's; and all ops of a plan run
// with the instruction set that it was made for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/plan/plan.h"
#include "helpers/plans.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

using test::Input;
using test::kPositions;
using test::on_every_isa;
using test::Random;
using test::random_input;
using test::run;
using test::shared;
using test::Tables;
using test::Values;

// Buffers that all who read them round hold bfloat16. One that a run hands back stays float:
// nothing else may change by it.
TEST(Plan, BuffersThatAreRoundedAnywayChangeNoBit) {
  Random random;
  for (const auto& [heads, d] : {std::pair<std::int64_t, std::int64_t>{3, 10}, {2, 5}, {1, 64}}) {
    const std::int64_t hidden = heads * d, wide = 37;
    const Tables tables(24, random);
    const Input in = random_input(random, {1, 2, 33, 90});
    const auto weights = [&](std::int64_t k, std::int64_t n) { return random.values(k * n, 0.2f); };
    const Values first = weights(24, 3 * hidden), middle = weights(hidden, wide),
                 last = weights(wide, 8), beside = weights(hidden, 8);
    const auto pack = [](const Values& w, std::int64_t k, std::int64_t n) {
      return PackedB<BFloat16>::convert({w.data(), k, n, n, 1});
    };
    const auto network = [&](Graph& graph, bool hands_back) {
      const Buffer qkv = graph.linear(tables.embed(graph), pack(first, 24, 3 * hidden), {});
      const Buffer context = graph.attention(qkv, {heads, heads, d}, {true, {}});
      const Buffer widened =
          graph.linear(context, pack(middle, hidden, wide), {{}, Activation::gelu, {}, {}});
      const Buffer narrow = graph.linear(context, pack(beside, hidden, 8), {});
      graph.output(graph.linear(widened, pack(last, wide, 8), {{}, {}, narrow, {}}));
      if (hands_back)
        for (const Buffer b : {qkv, widened}) graph.output(b);
    };
    on_every_isa([&] {
      std::vector<Values> got;
      for (const bool hands_back : {false, true}) {
        Graph graph;
        network(graph, hands_back);
        for (const int threads : {1, 2}) {
          Plan plan(graph, {512, 64, kPositions, threads});
          const bool pairs = active_features() & feature::avx512_bf16 && d % 2 == 0;
          EXPECT_EQ(plan.ops()[1].name.ends_with("-> bfloat16"), !hands_back && pairs);
          EXPECT_EQ(plan.ops()[3].name.ends_with("-> bfloat16"), !hands_back);
          std::vector<Values> results;
          std::vector<void*> outputs;
          for (const Buffer b : graph.outputs())
            results.emplace_back(in.ids.size() * static_cast<std::size_t>(graph.shape(b).cols));
          for (Values& result : results) outputs.push_back(result.data());
          plan.run(in.args(outputs), threads);
          got.push_back(results[0]);
        }
      }
      for (const Values& other : got) EXPECT_EQ(other, got[0]);
    });
  }
}

// Two transformer-like blocks, int8: every kind of op behind every other.
Graph small_network(const Tables& tables, Random& random, Graph graph = {}) {
  const std::int64_t h = tables.width;
  const auto weight = [&](std::int64_t k, std::int64_t n) {
    const Values w = random.values(k * n, 0.1f);
    return PackedB<Int32>::quantize({w.data(), k, n, n, 1}, Granularity::column, true);
  };
  const auto vector = [&](std::int64_t n) { return shared(random.values(n), 1, n); };
  const SharedMatrix turns = shared(random.values(kPositions * h / 3), kPositions, h / 3);
  const SharedMatrix bias = shared(random.values(3 * (2 * kPositions - 1)), 3, 2 * kPositions - 1);
  const AttentionShape far{3, 3, h / 3}, near{3, 3, h / 3, false, 20};
  Buffer x = graph.layer_norm(tables.embed(graph), vector(h), vector(h), 1e-6f);
  for (int layer = 0; layer < 2; ++layer) {
    const Buffer qkv = graph.linear(x, weight(h, 3 * h), {vector(3 * h), Activation::none, {}});
    const Buffer turned = layer == 1 ? graph.rotate(qkv, far, turns) : qkv;
    const Buffer context = layer == 1 ? graph.attention(turned, far, {true, {}})
                                      : graph.attention(turned, near, {false, bias});
    const Buffer attended = graph.linear(context, weight(h, h), {vector(h), Activation::none, x});
    x = graph.layer_norm(attended, vector(h), vector(h), 1e-6f);
    const Buffer wide = graph.linear(x, weight(h, 100), {vector(100), Activation::gelu, {}});
    const Buffer both = graph.linear(x, weight(h, 200), {});
    const Buffer narrow = graph.linear(layer == 1 ? graph.gated(both, Gate::gelu) : wide,
                                       weight(100, h), {vector(h), Activation::none, x});
    x = graph.layer_norm(narrow, vector(h), vector(h), 1e-6f);
  }
  graph.output(x);
  return graph;
}

TEST(Plan, ASequenceGivesTheSameBitsAloneAndInAnyBatch) {
  Random random;
  const Tables tables(48, random);
  const Graph graph = small_network(tables, random);
  const std::vector<std::int64_t> lengths = {3, 1, 40, 17, 130, 64};
  const Input batch = random_input(random, lengths);
  on_every_isa([&] {
    const Values together = run(graph, batch, batch.offsets.back(), 2);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      Input alone;
      alone.add({batch.ids.begin() + batch.offsets[s], batch.ids.begin() + batch.offsets[s + 1]});
      const Values one = run(graph, alone, lengths[s]);
      EXPECT_EQ(0, std::memcmp(one.data(), together.data() + batch.offsets[s] * 48,
                               one.size() * sizeof(float)))
          << "sequence " << s;
    }
  });
}

TEST(Plan, RunsOfEveryLengthGiveTheSameAsAPlanOfThatSize) {
  Random random;
  const Tables tables(48, random);
  const Graph graph = small_network(tables, random);
  Plan large(graph, {512, 64, kPositions, 2});
  for (std::int64_t length : {1, 2, 13, 64, 200, 5}) {
    const Input in = random_input(random, {length});
    Values got(static_cast<std::size_t>(length * 48)), want = got;
    void* outputs[] = {got.data()};
    large.run(in.args(outputs), 2);
    outputs[0] = want.data();
    Plan exact(graph, {length, 1, length, 1});
    exact.run(in.args(outputs), 1);
    EXPECT_EQ(got, want) << length;
    EXPECT_LE(exact.arena_bytes(), large.arena_bytes());
  }
}

// y = round(4 x) as int8, by way of a barrier: an op as ops/ops.h describes one, with two phases.
class QuantizeOp final : public Op {
 public:
  explicit QuantizeOp(Buffer x) : Op("quantize", {x}) {}
  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    EXPECT_EQ(context.type(inputs[0]), ValueType::float32);
    EXPECT_EQ(context.type(output), ValueType::int8);
    return std::make_unique<TwoPhases>(*this);
  }

 private:
  struct TwoPhases final : Step {
    explicit TwoPhases(const QuantizeOp& o) : op(o) {}
    void run(const Frame& frame, std::byte*, int id, int threads) const noexcept override {
      const MatrixView<float> x = frame.floats(op.inputs[0]);
      const MatrixView<std::int8_t> y = frame[op.output].as<std::int8_t>();
      const auto each = [&](int part, auto function) {
        const Range rows = thread_rows(y.rows, part, threads);
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
          for (std::int64_t j = 0; j < y.cols; ++j) function(i, j);
      };
      each(id, [&](auto i, auto j) {
        y(i, j) = static_cast<std::int8_t>(std::nearbyint(2 * x(i, j)));
      });
      frame.barrier.wait();
      each(threads - 1 - id,
           [&](auto i, auto j) { y(i, j) = static_cast<std::int8_t>(2 * y(i, j)); });
    }
    const QuantizeOp& op;
  };
};

TEST(Plan, BuffersHoldTheTypeOfTheirShape) {
  Random random;
  const Values x = random.values(60);
  Graph graph;
  const Buffer in = graph.input({RowKind::token, 6});
  BufferShape bytes = graph.shape(in);
  bytes.type = ValueType::int8;
  const Buffer kept = append_op(graph, std::make_shared<QuantizeOp>(in), bytes);
  const Buffer inside = append_op(graph, std::make_shared<QuantizeOp>(in), bytes);
  graph.output(kept);
  for (const int threads : {1, 2}) {
    Plan plan(graph, {10, 10, 10, threads});
    EXPECT_EQ(plan.ops()[static_cast<std::size_t>(in)].bytes, 0u);    // the caller's
    EXPECT_EQ(plan.ops()[static_cast<std::size_t>(kept)].bytes, 0u);  // the caller's
    EXPECT_EQ(plan.ops()[static_cast<std::size_t>(inside)].bytes, 640u);
    std::vector<std::int8_t> y(60), want;
    for (const float v : x)
      want.push_back(static_cast<std::int8_t>(2 * static_cast<int>(std::nearbyint(2 * v))));
    const std::int32_t offsets[] = {0, 4, 10};
    void* const outputs[] = {y.data()};
    const void* const inputs[] = {x.data()};
    plan.run(
        {.tokens = 10, .sequences = 2, .offsets = offsets, .outputs = outputs, .inputs = inputs},
        threads);
    EXPECT_EQ(y, want);
  }
}

// Stands for another thread that changes the limit while a plan is prepared.
class LimitChanger final : public Op {
 public:
  explicit LimitChanger(Isa isa) : Op("limit", {}), isa_(isa) {}
  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    set_isa_limit(isa_);
    return nullptr;
  }

 private:
  const Isa isa_;
};

TEST(Plan, HasTheKernelsOfOneInstructionSetWhateverTheLimitBecomes) {
  const Input in = [] {
    Random random;
    return random_input(random, {3, 40});
  }();
  const auto network = [](Graph start) {
    Random random;
    const Tables tables(48, random);
    return small_network(tables, random, std::move(start));
  };
  const auto kernels = [](const Plan& plan) {
    std::vector<std::string> names;
    for (const OpPlan& op : plan.ops())
      if (!op.kernel.empty()) names.push_back(op.kernel);
    return names;
  };
  const auto result = [&](Plan& plan) {
    Values y(in.ids.size() * 48);
    void* const outputs[] = {y.data()};
    plan.run(in.args(outputs), 1);
    return y;
  };
  const Capacity capacity{64, 4, kPositions, 1};
  const Graph plain = network({});
  for (const Isa isa : supported_isas()) {
    const Features features = cpu_features() & isa_features(isa);
    set_isa_limit(isa);
    Plan pure(plain, capacity);
    EXPECT_EQ(pure.features(), features);
    const std::vector<std::string> want_kernels = kernels(pure);
    const Values want = result(pure);
    for (const Isa other : supported_isas()) {
      SCOPED_TRACE(std::string(isa_name(isa)) + ", limit " + isa_name(other));
      Graph start;
      append_op(start, std::make_shared<LimitChanger>(other), {RowKind::token, 1});
      set_isa_limit(isa);
      Plan raced(network(std::move(start)), capacity);  // and from here on the limit is `other`
      Plan chosen(plain, capacity, features);
      for (Plan* plan : {&raced, &chosen}) {
        EXPECT_EQ(plan->features(), features);
        EXPECT_EQ(kernels(*plan), want_kernels);
        EXPECT_EQ(result(*plan), want);
      }
    }
  }
  set_isa_limit(std::nullopt);
}

}  // namespace
}  // namespace fbg
