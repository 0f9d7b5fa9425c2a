// Ops of plans agree with plain loops: embedding, norms, linear layers, gates, pooling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "helpers/plans.h"

namespace fbg {
namespace {

using test::expect_near;
using test::Input;
using test::kPositions;
using test::kWords;
using test::on_every_isa;
using test::Random;
using test::random_input;
using test::run;
using test::shared;
using test::Tables;
using test::Values;

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
      graph.output(graph.gated(tables.embed(graph), Gate::gelu));
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

}  // namespace
}  // namespace fbg
