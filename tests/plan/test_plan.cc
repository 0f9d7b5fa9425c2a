// Buffers of plans hold the types that graph and plan choose, and inputs are the caller's.
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

using test::attention;
using test::Input;
using test::kPositions;
using test::on_every_isa;
using test::Random;
using test::random_input;
using test::run;
using test::shared;
using test::Tables;
using test::Values;
using test::vector;

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
      const Buffer qkv = graph.append("linear", {tables.embed(graph), pack(first, 24, 3 * hidden)});
      const Buffer context = attention(graph, qkv, {heads, heads, d}, {true});
      const Buffer widened =
          graph.append("linear", {context, pack(middle, hidden, wide)}, {{"activation", "gelu"}});
      const Buffer narrow = graph.append("linear", {context, pack(beside, hidden, 8)});
      graph.output(graph.append("linear", {widened, pack(last, wide, 8)}, {{"residual", narrow}}));
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
          got.push_back(run(plan, graph, in, std::ssize(in.ids), threads));
        }
      }
      for (const Values& other : got) EXPECT_EQ(other, got[0]);
    });
  }
}

// Rows that all who read them quantize are handed on as bytes, which threads make of rows of their
// own or of shared ones, or as floats where there are few. A layer may do both, and gates and
// residuals are part of what is quantized.
TEST(Plan, RowsThatAreQuantizedAnywayChangeNoBit) {
  Random random;
  const std::int64_t width = 24, wide = 128, odd = 70;
  const Tables tables(width, random);
  const auto pack = [&](std::int64_t k, std::int64_t n, bool symmetric) {
    const Values w = random.values(k * n, 0.2f);
    return PackedB<Int32>::quantize({w.data(), k, n, n, 1}, Granularity::column, symmetric);
  };
  const auto first = pack(width, wide, true), gated = pack(wide, 2 * wide, true),
             middle = pack(wide, odd, false), beside = pack(wide, odd, true),
             last = pack(odd, 8, true);
  const SharedMatrix factors = shared(random.values(odd), 1, odd);
  const auto network = [&](Graph& graph, bool hands_back) {
    const Buffer x = graph.append("linear", {tables.embed(graph), first}, {{"activation", "gelu"}});
    const Buffer gate = graph.append("linear", {x, gated}, {{"gate", "silu"}});
    const Buffer residual = graph.append("linear", {x, beside});
    const Buffer sum = graph.append("linear", {gate, middle}, {{"residual", residual}});
    graph.output(graph.append("linear", {sum, last}, {{"channel_scale", vector(factors)}}));
    if (hands_back)
      for (const Buffer b : {x, gate, sum}) graph.output(b);
    return std::vector{x, gate, sum};
  };
  for (const auto& lengths : {std::vector<std::int64_t>{1, 7}, {20, 64}, {290, 1, 60}}) {
    const Input in = random_input(random, lengths);
    on_every_isa([&] {
      std::vector<Values> got;
      for (const bool hands_back : {false, true}) {
        Graph graph;
        const auto quantized = network(graph, hands_back);
        for (const int threads : {1, 2, 3, 4}) {
          Plan plan(graph, {512, 64, kPositions, threads});
          for (const Buffer b : quantized)
            EXPECT_EQ(plan.ops()[static_cast<std::size_t>(b)].name.ends_with("-> uint8"),
                      !hands_back);
          got.push_back(run(plan, graph, in, std::ssize(in.ids), threads));
        }
      }
      for (const Values& other : got) EXPECT_EQ(other, got[0]);
    });
  }
}

// Factors belong to what is quantized: readers with different ones quantize themselves.
TEST(Plan, RowsThatAreNotQuantizedAlikeStayFloats) {
  Random random;
  const std::int64_t width = 64;
  const Tables tables(width, random);
  const Values w = random.values(width * width, 0.2f);
  const auto packed =
      PackedB<Int32>::quantize({w.data(), width, width, width, 1}, Granularity::column, true);
  const SharedMatrix factors = shared(random.values(width), 1, width);
  for (const bool alike : {false, true}) {
    Graph graph;
    const Buffer x = graph.append("linear", {tables.embed(graph), packed});
    const FieldValue scale = vector(factors);
    graph.output(graph.append("linear", {x, packed}, {{"channel_scale", scale}}));
    graph.output(
        graph.append("linear", {x, packed}, {{"channel_scale", alike ? scale : FieldValue()}}));
    const Plan plan(graph, {8, 8, 8, 1});
    EXPECT_EQ(plan.ops()[static_cast<std::size_t>(x)].name.ends_with("-> uint8"), alike);
  }
}

// y = round(4 x) as int8, in two phases: an op as ops/ops.h describes one.
class QuantizeOp final : public Op {
 public:
  QuantizeOp(Buffer x, const BufferShape& bytes) : Op("quantize", {x}) { shape = bytes; }
  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    EXPECT_EQ(context.type(inputs[0]), ValueType::float32);
    EXPECT_EQ(context.type(output), ValueType::int8);
    return std::make_unique<TwoPhases>(*this);
  }

 private:
  struct TwoPhases final : Step {
    explicit TwoPhases(const QuantizeOp& o) : op(o) {}
    int phases(int) const noexcept override { return 2; }
    void run(const Frame& frame, std::byte*, int id, int threads) const noexcept override {
      const MatrixView<float> x = frame.floats(op.inputs[0]);
      const MatrixView<std::int8_t> y = frame[op.output].as<std::int8_t>();
      const auto each = [&](int part, auto function) {
        const Range rows = thread_rows(y.rows, part, threads);
        for (std::int64_t i = rows.begin; i < rows.end; ++i)
          for (std::int64_t j = 0; j < y.cols; ++j) function(i, j);
      };
      if (frame.phase == 0)
        return each(id, [&](auto i, auto j) {
          y(i, j) = static_cast<std::int8_t>(std::nearbyint(2 * x(i, j)));
        });
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
  const Buffer in = graph.append("input", {6});
  BufferShape bytes = graph.shape(in);
  bytes.type = ValueType::int8;
  const Buffer kept = append_op(graph, std::make_shared<QuantizeOp>(in, bytes));
  const Buffer inside = append_op(graph, std::make_shared<QuantizeOp>(in, bytes));
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

}  // namespace
}  // namespace fbg
