// Plans: the arena never lets live buffers overlap, ops agree with plain loops, and a sequence
// gives the same bits alone, in any batch, and on any number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/float16.h"
#include "fbg/core/isa.h"
#include "fbg/plan/plan.h"
#include "plan/arena.h"
#include "plan/ops/attention_operands.h"

namespace fbg {
namespace {

using Values = std::vector<float>;

class Random {
 public:
  Values values(std::int64_t n, float spread = 1.0f) {
    std::normal_distribution<float> normal(0, spread);
    Values v(static_cast<std::size_t>(n));
    for (float& x : v) x = normal(engine_);
    return v;
  }
  std::int64_t below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine_);
  }

 private:
  std::mt19937 engine_{7};
};

SharedMatrix shared(const Values& values, std::int64_t rows, std::int64_t cols) {
  auto copy = std::make_shared<Values>(values);
  return {{copy, copy->data()}, rows, cols};
}

// Token ids and the sequences they form, as a run takes them.
struct Input {
  std::vector<std::int32_t> ids, position_ids, types, sequence_positions, offsets{0};

  // `hidden`: how many tokens, not in the sequence, come before each of its second half.
  void add(const std::vector<std::int32_t>& sequence, std::int32_t hidden = 0) {
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      ids.push_back(sequence[i]);
      position_ids.push_back(static_cast<std::int32_t>(i));
      types.push_back(sequence[i] % 2);
      sequence_positions.push_back(static_cast<std::int32_t>(i) +
                                   (i < sequence.size() / 2 ? 0 : hidden));
    }
    offsets.push_back(static_cast<std::int32_t>(ids.size()));
  }
  RunArgs args(std::span<float* const> outputs) const {
    return {static_cast<std::int64_t>(ids.size()),
            static_cast<std::int64_t>(offsets.size()) - 1,
            ids.data(),
            position_ids.data(),
            types.data(),
            sequence_positions.data(),
            offsets.data(),
            outputs};
  }
};

constexpr std::int64_t kWords = 50, kPositions = 300;

// A graph under test starts with tables of given width; their values are kept for the plain loops.
struct Tables {
  std::int64_t width;
  Values word, position, type;

  Tables(std::int64_t w, Random& random)
      : width(w),
        word(random.values(kWords * w)),
        position(random.values(kPositions * w)),
        type(random.values(2 * w)) {}
  Buffer embed(Graph& graph) const {
    return graph.embedding(shared(word, kWords, width), shared(position, kPositions, width),
                           shared(type, 2, width));
  }
  // Row of a token, computed in double.
  double at(const Input& in, std::int64_t token, std::int64_t i) const {
    const auto t = static_cast<std::size_t>(token);
    const auto element = [&](const Values& table, std::int32_t row) {
      return static_cast<double>(table[static_cast<std::size_t>(row * width + i)]);
    };
    return element(word, in.ids[t]) + element(position, in.position_ids[t]) +
           element(type, in.types[t]);
  }
};

Input random_input(Random& random, const std::vector<std::int64_t>& lengths,
                   std::int32_t hidden = 0) {
  Input in;
  for (std::int64_t length : lengths) {
    std::vector<std::int32_t> ids;
    for (std::int64_t i = 0; i < length; ++i)
      ids.push_back(static_cast<std::int32_t>(random.below(kWords)));
    in.add(ids, hidden);
  }
  return in;
}

Values run(const Graph& graph, const Input& in, std::int64_t rows, int threads = 1) {
  const Capacity capacity{512, 64, kPositions, threads};
  Plan plan(graph, capacity);
  Values result(static_cast<std::size_t>(rows * graph.shape(graph.outputs()[0]).cols), -1.0f);
  float* const outputs[] = {result.data()};
  plan.run(in.args(outputs), threads);
  return result;
}

void expect_near(const Values& got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

template <class Function>
void on_every_isa(Function function) {
  for (Isa isa : supported_isas()) {
    SCOPED_TRACE(isa_name(isa));
    set_isa_limit(isa);
    function();
  }
  set_isa_limit(std::nullopt);
}

TEST(Arena, BuffersThatLiveTogetherDoNotOverlap) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> buffers(static_cast<std::size_t>(1 + random.below(40)));
    for (Lifetime& b : buffers) {
      b.bytes = static_cast<std::size_t>(random.below(1000));
      b.first = static_cast<int>(random.below(20));
      b.last = b.first + static_cast<int>(random.below(8));
    }
    const std::size_t total = lay_out_arena(buffers);
    std::size_t sum = 0;
    for (const Lifetime& a : buffers) {
      EXPECT_EQ(a.offset % 64, 0u);
      EXPECT_LE(a.offset + a.bytes, total);
      sum += (a.bytes + 63) / 64 * 64;
      for (const Lifetime& b : buffers) {
        if (&a == &b || a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(a.bytes == 0 || b.bytes == 0 || a.offset + a.bytes <= b.offset ||
                    b.offset + b.bytes <= a.offset);
      }
    }
    EXPECT_LE(total, sum);
  }
}

TEST(Arena, AChainOfBuffersNeedsOnlyTwo) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(lay_out_arena(chain), 2048u);
}

TEST(Transpose, PanelsHoldTheMatrixAndZeros) {
  Random random;
  for (std::int64_t rows : {1, 3, 4, 31, 32, 33, 70}) {
    for (std::int64_t cols : {1, 4, 6, 16, 33, 64}) {
      const std::int64_t stride = cols + 5;
      const Values x = random.values(rows * stride);
      const MatrixView<const float> view{x.data(), rows, cols, stride, 1};
      Values panels(static_cast<std::size_t>(round_up(rows, 32) * cols), -1.0f);
      pack_transposed(view, panels.data());
      for (std::int64_t j = 0; j < round_up(rows, kTransposedPadding); ++j)
        for (std::int64_t k = 0; k < cols; ++k)
          ASSERT_EQ(panels[static_cast<std::size_t>(j / 32 * cols * 32 + k * 32 + j % 32)],
                    j < rows ? view(j, k) : 0.0f);
      panels.assign(static_cast<std::size_t>(round_up(cols, 32) * rows), -1.0f);
      pack_rows(view, panels.data());
      for (std::int64_t j = 0; j < round_up(cols, 32); ++j)
        for (std::int64_t k = 0; k < rows; ++k)
          ASSERT_EQ(panels[static_cast<std::size_t>(j / 32 * rows * 32 + k * 32 + j % 32)],
                    j < cols ? view(k, j) : 0.0f);
      const std::int64_t pairs = ceil_div(rows, 2);
      panels.assign(static_cast<std::size_t>(round_up(cols, 32) * pairs), -1.0f);
      pack_row_pairs(view, simd::row_kernels(active_features()), panels.data());
      const auto* halves = reinterpret_cast<const std::uint16_t*>(panels.data());
      for (std::int64_t j = 0; j < round_up(cols, 32); ++j)
        for (std::int64_t k = 0; k < 2 * pairs; ++k)
          ASSERT_EQ(halves[(j / 32 * pairs * 32 + k / 2 * 32 + j % 32) * 2 + k % 2],
                    from_float<bfloat16>(j < cols && k < rows ? view(k, j) : 0.0f).bits);
    }
  }
}

TEST(Plan, EmbeddingAndLayerNormAgreeWithPlainLoops) {
  Random random;
  const Tables tables(37, random);
  const Values gamma = random.values(37), beta = random.values(37);
  Graph graph;
  graph.output(
      graph.layer_norm(tables.embed(graph), shared(gamma, 1, 37), shared(beta, 1, 37), 1e-3f));
  const Input in = random_input(random, {1, 7, 20});
  std::vector<double> want;
  for (std::int64_t t = 0; t < 28; ++t) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 37; ++i) mean += tables.at(in, t, i) / 37;
    for (int i = 0; i < 37; ++i) variance += std::pow(tables.at(in, t, i) - mean, 2) / 37;
    for (std::size_t i = 0; i < 37; ++i)
      want.push_back((tables.at(in, t, static_cast<std::int64_t>(i)) - mean) /
                         std::sqrt(variance + 1e-3) * gamma[i] +
                     beta[i]);
  }
  expect_near(run(graph, in, 28), want, 1e-4);
  EXPECT_EQ(run(graph, in, 28, 2), run(graph, in, 28, 1));
}

TEST(Plan, EmbeddingWithoutATypeTableAddsTheOtherTwo) {
  Random random;
  const Tables tables(37, random);
  Graph graph;
  graph.output(graph.embedding(shared(tables.word, kWords, 37),
                               shared(tables.position, kPositions, 37), {}));
  EXPECT_EQ(graph.limits().type, 1);
  const Input in = random_input(random, {1, 7});
  Values want;
  for (std::size_t t = 0; t < 8; ++t)
    for (std::size_t i = 0; i < 37; ++i)
      want.push_back(tables.word[static_cast<std::size_t>(in.ids[t]) * 37 + i] +
                     tables.position[static_cast<std::size_t>(in.position_ids[t]) * 37 + i]);
  EXPECT_EQ(run(graph, in, 8), want);
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return std::max(x, 0.0);
  }
  return x;
}

class Linear : public testing::TestWithParam<Activation> {};

TEST_P(Linear, AddsBiasActivationAndResidual) {
  Random random;
  const Tables tables(40, random);
  const Values w = random.values(40 * 40, 0.2f), bias = random.values(40);
  const Input in = random_input(random, {5, 9});
  std::vector<double> want;
  for (std::int64_t t = 0; t < 14; ++t)
    for (std::size_t j = 0; j < 40; ++j) {
      double sum = bias[j];
      for (std::size_t k = 0; k < 40; ++k)
        sum += tables.at(in, t, static_cast<std::int64_t>(k)) * w[k * 40 + j];
      want.push_back(activated(GetParam(), sum) + tables.at(in, t, static_cast<std::int64_t>(j)));
    }
  const MatrixView<const float> view{w.data(), 40, 40, 40, 1};
  const auto result = [&](auto packed) {
    Graph graph;
    const Buffer x = tables.embed(graph);
    graph.output(graph.linear(x, packed, {shared(bias, 1, 40), GetParam(), x, {}}));
    return run(graph, in, 14);
  };
  expect_near(result(PackedB<Float32>::pack(view)), want, 1e-4);
  expect_near(result(PackedB<Float32F16>::convert(view)), want, 0.01);
  expect_near(result(PackedB<BFloat16>::convert(view)), want, 0.05);
  expect_near(result(PackedB<Int32>::quantize(view, Granularity::column, true)), want, 0.2);
}

TEST(Plan, AChannelScaleIsTakenOutByTheWeights) {
  // Powers of two: x * s and w / s are exact, and so both graphs quantize the same numbers.
  Random random;
  const std::int64_t k = 37, n = 20;
  const Tables tables(k, random);
  const Input in = random_input(random, {5, 9});
  Tables scaled = tables;
  Values factors;
  for (std::int64_t i = 0; i < k; ++i)
    factors.push_back(std::ldexp(1.0f, static_cast<int>(i % 9) - 4));
  for (Values* table : {&scaled.word, &scaled.position, &scaled.type})
    for (std::size_t i = 0; i < table->size(); ++i)
      (*table)[i] *= factors[i % static_cast<std::size_t>(k)];
  const Values w = random.values(static_cast<std::size_t>(k * n), 0.2f);
  const auto packed = PackedB<Int32>::quantize({w.data(), k, n, n, 1}, Granularity::column, true);
  const auto result = [&](const Tables& embedding, Epilogue epilogue) {
    Graph graph;
    graph.output(graph.linear(embedding.embed(graph), packed, std::move(epilogue)));
    return run(graph, in, 14);
  };
  Epilogue epilogue;
  const Values want = result(scaled, epilogue);
  epilogue.channel_scale = shared(factors, 1, k);
  EXPECT_EQ(result(tables, epilogue), want);
}

std::string activation_name(const testing::TestParamInfo<Activation>& info) {
  constexpr const char* kNames[] = {"none", "gelu", "gelu_tanh", "relu"};
  return kNames[static_cast<std::size_t>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Activations, Linear,
                         testing::Values(Activation::none, Activation::gelu, Activation::gelu_tanh,
                                         Activation::relu),
                         activation_name);

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
      const Buffer context = graph.attention(qkv, heads, {true, {}, {}});
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
          std::vector<float*> outputs;
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

// Softmax(Q K^T / sqrt(d)) V with its options, in double; q, k, v are columns of x.
std::vector<double> plain_attention(const Tables& tables, const Input& in, std::int64_t heads,
                                    const AttentionOptions& options = {}) {
  const std::int64_t hidden = tables.width / 3, d = hidden / heads;
  const SharedMatrix& bias = options.distance_bias;
  std::vector<double> out(in.ids.size() * static_cast<std::size_t>(hidden));
  for (std::size_t s = 0; s + 1 < in.offsets.size(); ++s)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = in.offsets[s]; i < in.offsets[s + 1]; ++i) {
        std::vector<double> p;
        std::vector<std::int64_t> keys;
        for (std::int64_t j = in.offsets[s]; j < in.offsets[s + 1]; ++j) {
          const std::int64_t distance = in.sequence_positions[static_cast<std::size_t>(j)] -
                                        in.sequence_positions[static_cast<std::size_t>(i)];
          if (options.window && std::abs(distance) > *options.window) continue;
          double dot = bias.data ? bias.row(h)[bias.cols / 2 + distance] : 0;
          for (std::int64_t c = 0; c < d; ++c)
            dot += tables.at(in, i, h * d + c) * tables.at(in, j, hidden + h * d + c);
          p.push_back(dot / std::sqrt(static_cast<double>(d)));
          keys.push_back(j);
        }
        const double top = *std::max_element(p.begin(), p.end());
        double sum = 0;
        for (double& e : p) sum += e = std::exp(e - top);
        for (std::int64_t c = 0; c < d; ++c) {
          double value = 0;
          for (std::size_t j = 0; j < p.size(); ++j)
            value += p[j] / sum * tables.at(in, keys[j], 2 * hidden + h * d + c);
          out[static_cast<std::size_t>(i * hidden + h * d + c)] = value;
        }
      }
  return out;
}

struct Heads {
  std::int64_t count, size;
};
class Attention : public testing::TestWithParam<Heads> {};

TEST_P(Attention, AgreesWithPlainLoopsAndIsTheSameOnAnyThreads) {
  const auto [heads, d] = GetParam();
  Random random;
  const Tables tables(3 * heads * d, random);
  const Input in = random_input(random, {1, 2, 16, 31, 33, 150});
  const std::int64_t tokens = in.offsets.back();
  const std::vector<double> want = plain_attention(tables, in, heads);
  on_every_isa([&] {
    Values exact;
    for (const bool allow_bfloat16 : {false, true}) {
      Graph graph;
      graph.output(graph.attention(tables.embed(graph), heads, {allow_bfloat16, {}, {}}));
      const Values one = run(graph, in, tokens);
      const bool rounds = allow_bfloat16 && active_features() & feature::avx512_bf16;
      expect_near(one, want, rounds ? 0.1 : 2e-4);
      if (allow_bfloat16) {
        EXPECT_EQ(one == exact, !rounds);
      }
      for (int threads : {2, 3, 7}) EXPECT_EQ(run(graph, in, tokens, threads), one) << threads;
      exact = one;
    }
  });
}

TEST_P(Attention, SeesDistancesAndWindows) {
  const auto [heads, d] = GetParam();
  Random random;
  const Tables tables(3 * heads * d, random);
  const SharedMatrix bias = shared(random.values(heads * 599, 4.0f), heads, 599);
  for (const std::int32_t hidden : {0, 5}) {
    const Input in = random_input(random, {1, 2, 33, 100}, hidden);
    const std::int64_t tokens = in.offsets.back();
    for (AttentionOptions options :
         {AttentionOptions{false, bias, {}}, AttentionOptions{false, {}, 0},
          AttentionOptions{false, {}, 3}, AttentionOptions{false, {}, 40},
          AttentionOptions{false, bias, 7}}) {
      const std::vector<double> want = plain_attention(tables, in, heads, options);
      on_every_isa([&] {
        for (const bool allow_bfloat16 : {false, true}) {
          options.allow_bfloat16 = allow_bfloat16;
          Graph graph;
          graph.output(graph.attention(tables.embed(graph), heads, options));
          const Values one = run(graph, in, tokens);
          const bool rounds = allow_bfloat16 && active_features() & feature::avx512_bf16;
          expect_near(one, want, rounds ? 0.15 : 2e-4);
          EXPECT_EQ(run(graph, in, tokens, 3), one);
        }
      });
    }
  }
}

std::string heads_name(const testing::TestParamInfo<Heads>& info) {
  return std::to_string(info.param.count) + "x" + std::to_string(info.param.size);
}
INSTANTIATE_TEST_SUITE_P(Heads, Attention,
                         testing::Values(Heads{1, 5}, Heads{3, 16}, Heads{2, 24}, Heads{12, 26},
                                         Heads{2, 32}, Heads{3, 64}, Heads{1, 80}),
                         heads_name);

TEST(Plan, AWindowKeepsOutWhatIsNotFinite) {
  // A product with a weight of 0 would carry it over, and further the taller a block of queries is.
  Random random;
  Tables tables(3 * 16, random);
  for (std::size_t i = 0; i < 16; ++i)
    tables.position[100 * 48 + 32 + i] = std::numeric_limits<float>::infinity();
  const Input in = random_input(random, {200});
  Graph graph;
  graph.output(graph.attention(tables.embed(graph), 1, {false, {}, 10}));
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

TEST(Plan, RotateTurnsPairsOfQueriesAndKeysByTheirPlace) {
  Random random;
  for (const std::int64_t d : {2, 6, 32, 38}) {
    const std::int64_t heads = 3, width = 3 * heads * d;
    const Tables tables(width, random);
    const Values angles = random.values(kPositions * d);
    const Input in = random_input(random, {1, 5, 20}, 7);
    std::vector<double> want;
    for (std::int64_t t = 0; t < 26; ++t)
      for (std::int64_t c = 0; c < width; ++c) {
        const float* turn = angles.data() + in.sequence_positions[static_cast<std::size_t>(t)] * d;
        const std::int64_t i = c % (d / 2);
        const double x = tables.at(in, t, c), cos = turn[i], sin = turn[d / 2 + i];
        const bool first = c % d < d / 2;
        const double other = tables.at(in, t, first ? c + d / 2 : c - d / 2);
        want.push_back(c >= 2 * heads * d ? x : x * cos + (first ? -other : other) * sin);
      }
    on_every_isa([&] {
      Graph alone, inside;
      alone.output(alone.rotate(tables.embed(alone), heads, shared(angles, kPositions, d)));
      const Values one = run(alone, in, 26);
      expect_near(one, want, 1e-5);
      // In the place of its input too.
      const Buffer turned =
          inside.rotate(tables.embed(inside), heads, shared(angles, kPositions, d));
      inside.output(inside.attention(turned, heads));
      alone.output(alone.attention(alone.outputs()[0], heads));
      EXPECT_EQ(inside.limits().sequence_position, kPositions);
      Plan plan(alone, {26, 3, 20, 2});
      Values copy(one.size()), context(static_cast<std::size_t>(26 * heads * d));
      float* const outputs[] = {copy.data(), context.data()};
      plan.run(in.args(outputs), 2);
      EXPECT_EQ(copy, one);
      EXPECT_EQ(run(inside, in, 26, 2), context);
    });
  }
}

TEST(Plan, GegluIsGeluTimesAGate) {
  Random random;
  for (const std::int64_t n : {1, 5, 16, 37, 100}) {
    const Tables tables(2 * n, random);
    const Input in = random_input(random, {1, 9});
    std::vector<double> want;
    for (std::int64_t t = 0; t < 10; ++t)
      for (std::int64_t i = 0; i < n; ++i)
        want.push_back(activated(Activation::gelu, tables.at(in, t, i)) * tables.at(in, t, n + i));
    on_every_isa([&] {
      Graph graph;
      graph.output(graph.geglu(tables.embed(graph)));
      expect_near(run(graph, in, 10), want, 2e-5);
      EXPECT_EQ(run(graph, in, 10, 3), run(graph, in, 10));
    });
  }
}

TEST(Plan, WordsAloneAndANormWithoutBetaAddNothing) {
  Random random;
  const Tables tables(37, random);
  const Input in = random_input(random, {1, 7});
  Graph words, zeros, none;
  const SharedMatrix word = shared(tables.word, kWords, 37);
  words.output(words.embedding(word, {}, {}));
  EXPECT_EQ(words.limits().position_id, Graph::kUnread);
  Values want;
  for (const std::int32_t id : in.ids)
    want.insert(want.end(), tables.word.begin() + id * 37, tables.word.begin() + (id + 1) * 37);
  EXPECT_EQ(run(words, in, 8), want);
  const SharedMatrix gamma = shared(random.values(37), 1, 37);
  zeros.output(zeros.layer_norm(tables.embed(zeros), gamma, shared(Values(37), 1, 37), 1e-3f));
  none.output(none.layer_norm(tables.embed(none), gamma, {}, 1e-3f));
  EXPECT_EQ(run(none, in, 8), run(zeros, in, 8));
}

TEST(Plan, PoolingLooksAtEachSequenceAlone) {
  Random random;
  const Tables tables(20, random);
  const Input in = random_input(random, {1, 4, 30});
  std::vector<double> first, last, mean, root, weighted, maximum, unit;
  for (std::size_t s = 0; s < 3; ++s) {
    double squares = 0;
    for (std::int64_t i = 0; i < 20; ++i) {
      double sum = 0, weighted_sum = 0, weights = 0, top = -1e9;
      for (std::int64_t t = in.offsets[s]; t < in.offsets[s + 1]; ++t) {
        sum += tables.at(in, t, i);
        weights += t - in.offsets[s] + 1;
        weighted_sum += (t - in.offsets[s] + 1) * tables.at(in, t, i);
        top = std::max(top, tables.at(in, t, i));
      }
      first.push_back(tables.at(in, in.offsets[s], i));
      last.push_back(tables.at(in, in.offsets[s + 1] - 1, i));
      mean.push_back(sum / (in.offsets[s + 1] - in.offsets[s]));
      root.push_back(sum / std::sqrt(in.offsets[s + 1] - in.offsets[s]));
      weighted.push_back(weighted_sum / weights);
      maximum.push_back(top);
      squares += mean.back() * mean.back();
    }
    for (std::size_t i = 0; i < 20; ++i) unit.push_back(mean[s * 20 + i] / std::sqrt(squares));
  }
  const auto result = [&](auto op) {
    Graph graph;
    const Buffer x = tables.embed(graph);
    graph.output(op(graph, x));
    return run(graph, in, 3, 2);
  };
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::first); }), first, 1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::mean); }), mean, 1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::max); }), maximum, 1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::last); }), last, 1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::mean_sqrt_length); }), root,
              1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.pool(x, Pooling::weighted_mean); }),
              weighted, 1e-5);
  expect_near(result([](Graph& g, Buffer x) { return g.normalize(g.pool(x, Pooling::mean)); }),
              unit, 1e-5);
}

// Two transformer-like blocks, int8: every kind of op behind every other.
Graph small_network(const Tables& tables, Random& random) {
  const std::int64_t h = tables.width;
  const auto weight = [&](std::int64_t k, std::int64_t n) {
    const Values w = random.values(k * n, 0.1f);
    return PackedB<Int32>::quantize({w.data(), k, n, n, 1}, Granularity::column, true);
  };
  const auto vector = [&](std::int64_t n) { return shared(random.values(n), 1, n); };
  const SharedMatrix turns = shared(random.values(kPositions * h / 3), kPositions, h / 3);
  const SharedMatrix bias = shared(random.values(3 * (2 * kPositions - 1)), 3, 2 * kPositions - 1);
  const AttentionOptions near{false, bias, 20}, far{true, {}, {}};
  Graph graph;
  Buffer x = graph.layer_norm(tables.embed(graph), vector(h), vector(h), 1e-6f);
  for (int layer = 0; layer < 2; ++layer) {
    const Buffer qkv = graph.linear(x, weight(h, 3 * h), {vector(3 * h), Activation::none, {}});
    const Buffer turned = layer == 1 ? graph.rotate(qkv, 3, turns) : qkv;
    const Buffer context = graph.attention(turned, 3, layer == 1 ? far : near);
    const Buffer attended = graph.linear(context, weight(h, h), {vector(h), Activation::none, x});
    x = graph.layer_norm(attended, vector(h), vector(h), 1e-6f);
    const Buffer wide = graph.linear(x, weight(h, 100), {vector(100), Activation::gelu, {}});
    const Buffer both = graph.linear(x, weight(h, 200), {});
    const Buffer narrow = graph.linear(layer == 1 ? graph.geglu(both) : wide, weight(100, h),
                                       {vector(h), Activation::none, x});
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
    float* outputs[] = {got.data()};
    large.run(in.args(outputs), 2);
    outputs[0] = want.data();
    Plan exact(graph, {length, 1, length, 1});
    exact.run(in.args(outputs), 1);
    EXPECT_EQ(got, want) << length;
    EXPECT_LE(exact.arena_bytes(), large.arena_bytes());
  }
}

TEST(Graph, ShapesThatDoNotFitAreRefused) {
  Random random;
  const Tables tables(30, random);
  Graph graph;
  const Buffer x = tables.embed(graph);
  EXPECT_THROW(graph.attention(x, 4), std::invalid_argument);
  EXPECT_THROW(graph.attention(x, 0), std::invalid_argument);
  EXPECT_THROW(graph.attention(x, 2, {false, shared(Values(10), 2, 5), -1}), std::invalid_argument);
  EXPECT_THROW(graph.attention(x, 2, {false, shared(Values(8), 2, 4), {}}), std::invalid_argument);
  EXPECT_THROW(graph.attention(x, 2, {false, shared(Values(5), 1, 5), {}}), std::invalid_argument);
  EXPECT_THROW(graph.rotate(x, 2, shared(Values(15), 3, 5)), std::invalid_argument);
  EXPECT_THROW(graph.rotate(x, 5, shared(Values(3), 1, 3)), std::invalid_argument);
  EXPECT_THROW(graph.layer_norm(x, shared({1}, 1, 1), shared({1}, 1, 1), 0), std::invalid_argument);
  EXPECT_THROW(graph.tanh(5), std::invalid_argument);
  EXPECT_THROW(graph.tanh(-1), std::invalid_argument);
  const Values w(31 * 2, 1.0f);
  EXPECT_THROW(graph.linear(x, PackedB<Float32>::pack({w.data(), 31, 2, 2, 1}), {}),
               std::invalid_argument);
  Epilogue epilogue;
  epilogue.channel_scale = shared(Values(29, 1.0f), 1, 29);
  const Values w30(30 * 2, 1.0f);
  const MatrixView<const float> view{w30.data(), 30, 2, 2, 1};
  EXPECT_THROW(graph.linear(x, PackedB<Int32>::quantize(view, Granularity::column, true), epilogue),
               std::invalid_argument);
  epilogue.channel_scale = shared(Values(30, 1.0f), 1, 30);
  EXPECT_THROW(graph.linear(x, PackedB<Float32>::pack(view), epilogue), std::invalid_argument);
  EXPECT_THROW(graph.pool(graph.pool(x, Pooling::first), Pooling::first), std::invalid_argument);
  graph.output(x);
  EXPECT_THROW(graph.output(x), std::invalid_argument);
  EXPECT_THROW(Plan(graph, {0, 1, 1, 1}), std::invalid_argument);
}

}  // namespace
}  // namespace fbg
