// Attention and what prepares it: masks, groups of heads and rotations agree with plain loops and
// do not depend on threads, and packed operands hold what they should.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/float16.h"
#include "helpers/plans.h"
#include "plan/ops/attention_panels.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

using test::attention;
using test::AttentionOptions;
using test::expect_near;
using test::fields_of;
using test::Input;
using test::kPositions;
using test::on_every_isa;
using test::plain_attention;
using test::Random;
using test::random_input;
using test::run;
using test::shared;
using test::step;
using test::table;
using test::Tables;
using test::Values;
using test::vector;

TEST(AttentionPanels, HoldTheMatrixAndZeros) {
  Random random;
  for (std::int64_t rows : {1, 3, 4, 31, 32, 33, 70}) {
    for (std::int64_t cols : {1, 4, 6, 16, 33, 64}) {
      const std::int64_t stride = cols + 5;
      const Values x = random.values(rows * stride);
      const MatrixView<const float> view{x.data(), rows, cols, stride, 1};
      Values panels(static_cast<std::size_t>(round_up(rows, 32) * cols), -1.0f);
      pack_keys(view, panels.data());
      for (std::int64_t j = 0; j < round_up(rows, kKeyPadding); ++j)
        for (std::int64_t k = 0; k < cols; ++k)
          ASSERT_EQ(panels[static_cast<std::size_t>(j / 32 * cols * 32 + k * 32 + j % 32)],
                    j < rows ? view(j, k) : 0.0f);
      panels.assign(static_cast<std::size_t>(round_up(cols, 32) * rows), -1.0f);
      pack_values(view, panels.data());
      for (std::int64_t j = 0; j < round_up(cols, 32); ++j)
        for (std::int64_t k = 0; k < rows; ++k)
          ASSERT_EQ(panels[static_cast<std::size_t>(j / 32 * rows * 32 + k * 32 + j % 32)],
                    j < cols ? view(k, j) : 0.0f);
      const std::int64_t pairs = ceil_div(rows, 2) + rows % 3;  // more than there are rows
      panels.assign(static_cast<std::size_t>(round_up(cols, 32) * pairs), -1.0f);
      pack_values_rounded(view, pairs, simd::kernels(active_features()).rows, panels.data());
      const auto* halves = reinterpret_cast<const std::uint16_t*>(panels.data());
      for (std::int64_t j = 0; j < round_up(cols, 32); ++j)
        for (std::int64_t k = 0; k < 2 * pairs; ++k)
          ASSERT_EQ(halves[(j / 32 * pairs * 32 + k / 2 * 32 + j % 32) * 2 + k % 2],
                    from_float<bfloat16>(j < cols && k < rows ? view(k, j) : 0.0f).bits);
    }
  }
}

// On every ISA the result is that of plain loops, within `tolerance` where it is computed in
// bfloat16, and any number of threads gives its bits.
void expect_plain_loops(const Tables& tables, const Input& in, const AttentionShape& shape,
                        AttentionOptions options, const std::vector<int>& threads = {3},
                        double tolerance = 0.15) {
  const std::int64_t tokens = in.offsets.back();
  const std::vector<double> want = plain_attention(tables, in, shape, options);
  on_every_isa([&] {
    for (const bool rounds : {false, true}) {
      options.rounds = rounds;
      Graph graph;
      graph.output(attention(graph, tables.embed(graph), shape, options));
      const Values one = run(graph, in, tokens);
      const bool rounded = rounds && active_features() & feature::avx512_bf16;
      expect_near(one, want, rounded ? tolerance : 2e-4);
      for (const int n : threads) EXPECT_EQ(run(graph, in, tokens, n), one) << n;
    }
  });
}

class Attention : public testing::TestWithParam<AttentionShape> {
 protected:
  const AttentionShape heads = GetParam();
  Random random;
  const Tables tables{heads.columns(), random};

  // A row for each head, with 599 distances.
  SharedMatrix distances() {
    return shared(random.values(heads.q_heads * 599, 4.0f), heads.q_heads, 599);
  }
};

TEST_P(Attention, AgreesWithPlainLoopsAndIsTheSameOnAnyThreads) {
  const Input in = random_input(random, {1, 2, 16, 31, 33, 150});
  expect_plain_loops(tables, in, heads, {}, {2, 3, 7}, 0.1);
}

TEST_P(Attention, RoundsIfItMayOnMachinesWithProductsOfBfloat16) {
  const Input in = random_input(random, {33});
  on_every_isa([&] {
    std::vector<Values> results;
    for (const bool allow_bfloat16 : {false, true}) {
      Graph graph;
      graph.output(attention(graph, tables.embed(graph), heads, {allow_bfloat16}));
      results.push_back(run(graph, in, 33));
    }
    EXPECT_EQ(results[0] == results[1], !(active_features() & feature::avx512_bf16));
  });
}

// What is added to the scores, and what a query sees.
struct Mask {
  SharedMatrix bias;
  std::optional<std::int64_t> window;
  bool causal;
};

TEST_P(Attention, SeesDistancesWindowsAndNoLaterKeys) {
  const SharedMatrix bias = distances();
  for (const std::int32_t hidden : {0, 5}) {
    const Input in = random_input(random, {1, 2, 33, 70}, hidden);
    for (const Mask& mask : {Mask{bias, {}, false}, Mask{{}, 0, false}, Mask{{}, 20, false},
                             Mask{bias, 7, false}, Mask{{}, {}, true}, Mask{bias, 5, true}}) {
      AttentionShape shape = heads;
      shape.window = mask.window;
      shape.causal = mask.causal;
      expect_plain_loops(tables, in, shape, {false, mask.bias});
    }
  }
}

TEST_P(Attention, ScalesAndCapsScoresAfterDistances) {
  const Input in = random_input(random, {1, 33, 70}, 3);
  for (const AttentionOptions& options :
       {AttentionOptions{false, {}, 0.3f}, {false, distances(), 1.0f, 2.5f}, {false, {}, {}, 0.5f}})
    expect_plain_loops(tables, in, heads, options);
}

TEST_P(Attention, AddsProductsWithVectorsOfDistances) {
  const std::int64_t columns = heads.q_heads * heads.head_dim;
  for (const std::int64_t rows : {9, 40}) {
    RelativePositions relative;
    relative.keys = shared(random.values(rows * columns), rows, columns);
    relative.queries = shared(random.values(rows * columns), rows, columns);
    for (std::int64_t distance = 1 - kPositions; distance < kPositions; ++distance)
      relative.rows.push_back(static_cast<std::int32_t>(
          std::clamp<std::int64_t>(distance / 2 + rows / 2, 0, rows - 1)));
    if (heads.kv_heads != heads.q_heads) {
      Graph graph;
      const Buffer x = tables.embed(graph);
      EXPECT_THROW(attention(graph, x, heads, {.relative = relative}), std::invalid_argument);
      continue;
    }
    const Input in = random_input(random, {1, 33, 70, 3}, rows == 9 ? 0 : 5);
    for (const auto& [keys, queries] : {std::pair{true, true}, {true, false}, {false, true}}) {
      AttentionOptions options{false, {}, 0.1f, {}, relative};
      if (!keys) options.relative.keys = {};
      if (!queries) options.relative.queries = {};
      expect_plain_loops(tables, in, heads, options);
    }
  }
}

TEST(LongAttention, JoinsTheContextsOfManyKeys) {
  // Two thousand keys are seen at a time; the tables have rows for the tokens between those of
  // `in`.
  constexpr std::int64_t kMany = 2220;
  Random random;
  const SharedMatrix bias = shared(random.values(2 * kMany - 1, 4.0f), 1, 2 * kMany - 1);
  const AttentionOptions biased{false, bias}, capped{false, {}, {}, 2.5f};
  const auto expect = [&](const AttentionShape& shape, const AttentionOptions& options) {
    const Tables tables{shape.columns(), random, kMany};
    expect_plain_loops(tables, random_input(random, {2210}, 3), shape, options);
  };
  expect({1, 1, 5}, biased);
  expect({1, 1, 5, false, 1100}, {});
  expect({1, 1, 64, true}, capped);
}

std::string heads_name(const testing::TestParamInfo<AttentionShape>& info) {
  const AttentionShape& shape = info.param;
  return std::to_string(shape.q_heads) + "_" + std::to_string(shape.kv_heads) + "x" +
         std::to_string(shape.head_dim);
}
INSTANTIATE_TEST_SUITE_P(Heads, Attention,
                         testing::Values(AttentionShape{1, 1, 5}, AttentionShape{3, 3, 16},
                                         AttentionShape{2, 2, 24}, AttentionShape{12, 12, 26},
                                         AttentionShape{2, 2, 32}, AttentionShape{3, 3, 64},
                                         AttentionShape{1, 1, 80}, AttentionShape{4, 2, 16},
                                         AttentionShape{6, 1, 10}, AttentionShape{12, 4, 32}),
                         heads_name);

TEST(AttentionMask, AWindowKeepsOutWhatIsNotFinite) {
  // A product with a weight of 0 would carry it over, and further the taller a block of queries is.
  Random random;
  Tables tables(3 * 16, random);
  for (std::size_t i = 0; i < 16; ++i)
    tables.position[100 * 48 + 32 + i] = std::numeric_limits<float>::infinity();
  const Input in = random_input(random, {200});
  Graph graph;
  graph.output(attention(graph, tables.embed(graph), {1, 1, 16, false, 10}));
  const auto bits = [](const Values& v) {
    std::vector<std::uint32_t> words(v.size());
    std::memcpy(words.data(), v.data(), v.size() * sizeof(float));
    return words;
  };
  on_every_isa([&] {
    const Values one = run(graph, in, 200);
    EXPECT_TRUE(std::isfinite(one[0]) && std::isfinite(one.back()));
    for (int threads : {2, 3, 7}) EXPECT_EQ(bits(run(graph, in, 200, threads)), bits(one));
  });
}

TEST(Rotate, RoundsForAttentionWithTheBitsOfFloats) {
  // Rows that are held as bfloat16 are shorter than those they are computed from.
  Random random;
  const AttentionShape heads{4, 2, 64};
  const Tables tables(heads.columns(), random);
  const Values angles = random.values(kPositions * 64), gamma = random.values(6 * 64);
  const Input in = random_input(random, {1, 33, 70, 3});
  const auto build = [&](bool floats) {
    Graph graph;
    const Array weights = vector(shared(gamma, 1, 6 * 64));
    const Buffer normed =
        graph.append("norm", {tables.embed(graph), "rms_norm", weights, FieldValue(), 1e-6, 64});
    const Buffer turned =
        graph.append("rotate", {normed, fields_of(heads), table(shared(angles, kPositions, 64))});
    if (floats) step(graph, "add", {turned, turned});  // does not round what it reads
    graph.output(attention(graph, turned, heads, {true}));
    return graph;
  };
  on_every_isa([&] {
    const Graph narrow = build(false), wide = build(true);
    const Values want = run(wide, in, 107);
    for (int threads : {1, 2, 3, 7}) EXPECT_EQ(run(narrow, in, 107, threads), want);
  });
}

TEST(Rotate, TurnsPairsOfQueriesAndKeysByTheirPlace) {
  Random random;
  for (const std::int64_t d : {2, 6, 32, 38}) {
    for (const std::int64_t kv_heads : {3, 1}) {
      const AttentionShape heads{3, kv_heads, d};
      const std::int64_t width = heads.columns();
      const Tables tables(width, random);
      const Values angles = random.values(kPositions * d);
      const Input in = random_input(random, {1, 5, 20}, 7);
      std::vector<double> want;
      for (std::int64_t t = 0; t < 26; ++t)
        for (std::int64_t c = 0; c < width; ++c) {
          const float* turn =
              angles.data() + in.sequence_positions[static_cast<std::size_t>(t)] * d;
          const std::int64_t i = c % (d / 2);
          const double x = tables.at(in, t, c), cos = turn[i], sin = turn[d / 2 + i];
          const bool first = c % d < d / 2;
          const double other = tables.at(in, t, first ? c + d / 2 : c - d / 2);
          want.push_back(c >= (3 + kv_heads) * d ? x : x * cos + (first ? -other : other) * sin);
        }
      on_every_isa([&] {
        Graph alone, inside;
        const auto rotate = [&](Graph& graph) {
          const Array turns = table(shared(angles, kPositions, d));
          return graph.append("rotate", {tables.embed(graph), fields_of(heads), turns});
        };
        alone.output(rotate(alone));
        const Values one = run(alone, in, 26);
        expect_near(one, want, 1e-5);
        // In the place of its input too.
        inside.output(attention(inside, rotate(inside), heads));
        alone.output(attention(alone, alone.outputs()[0], heads));
        EXPECT_EQ(inside.limits().sequence_position, kPositions);
        Plan plan(alone, {26, 3, 20, 2});
        Values copy(one.size()), context(static_cast<std::size_t>(26 * 3 * d));
        void* const outputs[] = {copy.data(), context.data()};
        plan.run(in.args(outputs), 2);
        EXPECT_EQ(copy, one);
        EXPECT_EQ(run(inside, in, 26, 2), context);
      });
    }
  }
}

// Each group of query heads with a key/value head of its own, as far as its keys and values repeat.
TEST(AttentionGroups, AreTheSameAsRepeatedKeysAndValues) {
  Random random;
  const AttentionShape grouped{6, 2, 16}, repeated{6, 6, 16};
  const Tables tables(grouped.columns(), random);
  Tables wide(repeated.columns(), random);
  const auto repeat = [&](const Values& from, Values& to) {
    const std::size_t rows = from.size() / static_cast<std::size_t>(grouped.columns());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t head = 0; head < 18; ++head) {
        const std::size_t source = head < 6    ? head
                                   : head < 12 ? 6 + (head - 6) / 3
                                               : 8 + (head - 12) / 3;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * 160 + source * 16), 16,
                    to.begin() + static_cast<std::ptrdiff_t>(row * 288 + head * 16));
      }
  };
  repeat(tables.word, wide.word);
  repeat(tables.position, wide.position);
  repeat(tables.type, wide.type);
  const Input in = random_input(random, {1, 40, 33});
  on_every_isa([&] {
    for (const bool allow_bfloat16 : {false, true}) {
      Graph few, all;
      few.output(attention(few, tables.embed(few), grouped, {allow_bfloat16}));
      all.output(attention(all, wide.embed(all), repeated, {allow_bfloat16}));
      for (const int threads : {1, 2, 5}) EXPECT_EQ(run(few, in, 74, threads), run(all, in, 74));
    }
  });
}

TEST(AttentionMask, WhatComesLaterChangesNoBitOfACausalRow) {
  Random random;
  const AttentionShape heads{4, 2, 24, true};
  const Tables tables(heads.columns(), random);
  const Input whole = random_input(random, {100});
  on_every_isa([&] {
    for (const bool allow_bfloat16 : {false, true}) {
      Graph graph;
      graph.output(attention(graph, tables.embed(graph), heads, {allow_bfloat16}));
      const Values all = run(graph, whole, 100, 2);
      for (const std::int64_t length : {1, 2, 11, 12, 13, 64, 99}) {
        Input prefix;
        prefix.add({whole.ids.begin(), whole.ids.begin() + length});
        const Values got = run(graph, prefix, length);
        EXPECT_TRUE(std::equal(got.begin(), got.end(), all.begin())) << length;
      }
    }
  });
}

}  // namespace
}  // namespace fbg
