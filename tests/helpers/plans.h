// What tests of plans share: random tables and inputs, running a graph, plain loops.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/plan/plan.h"
#include "plan/ops/attention_relative.h"

namespace fbg::test {

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

// A matrix as an array that is a field of an op; a vector has one row.
inline Array table(const SharedMatrix& m) {
  if (!m.data) return {};
  return {{m.data, reinterpret_cast<const std::byte*>(m.data.get())},
          "float32",
          {m.rows, m.cols},
          m.rows * m.cols * 4};
}
inline FieldValue optional_table(const SharedMatrix& m) {
  return m.data ? FieldValue(table(m)) : FieldValue();
}
inline Array vector(const SharedMatrix& m) {
  Array array = table(m);
  array.shape = {m.cols};
  return array;
}
inline FieldValue::List fields_of(const AttentionShape& s) {
  return {s.q_heads, s.kv_heads, s.head_dim, std::int64_t{s.causal},
          s.window ? FieldValue(*s.window) : FieldValue()};
}

// What attention does beyond softmax(scale Q K^T) V: the fields of its op.
struct AttentionOptions {
  bool rounds = false;
  SharedMatrix distance_bias = {};
  std::optional<float> scale = {}, softcap = {};
  RelativePositions relative = {};
};
inline Buffer attention(Graph& graph, Buffer qkv, const AttentionShape& shape,
                        const AttentionOptions& options = {}) {
  Graph::Named fields{{"rounds", std::int64_t{options.rounds}},
                      {"distance_bias", optional_table(options.distance_bias)}};
  if (options.scale) fields.emplace_back("scale", *options.scale);
  if (options.softcap) fields.emplace_back("softcap", *options.softcap);
  if (const auto& rows = options.relative.rows; !rows.empty()) {
    auto copy = std::make_shared<std::vector<std::int32_t>>(rows);
    const auto count = static_cast<std::int64_t>(rows.size());
    const Array indices{
        {copy, reinterpret_cast<const std::byte*>(copy->data())}, "int32", {count}, 4 * count};
    fields.emplace_back("relative",
                        FieldValue::List{optional_table(options.relative.keys),
                                         optional_table(options.relative.queries), indices});
  }
  return graph.append("attention", {qkv, fields_of(shape)}, std::move(fields));
}

// A function of the elements of rows.
inline Buffer step(Graph& graph, const char* function, const std::vector<Buffer>& operands) {
  FieldValue::List read;
  for (const Buffer x : operands)
    read.push_back(FieldValue::List{x, "float32", std::vector<std::int64_t>{1}});
  const auto last = static_cast<std::int64_t>(operands.size()) - 1;
  const FieldValue::List how{function, 0, last, 0, 0};
  return graph.append("elementwise",
                      {std::vector{graph.shape(operands[0]).cols}, read, FieldValue::List(1, how)});
}

inline SharedMatrix shared(const Values& values, std::int64_t rows, std::int64_t cols) {
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
  RunArgs args(std::span<void* const> outputs) const {
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

inline constexpr std::int64_t kWords = 50, kPositions = 300;

// A graph under test starts with tables of given width; their values are kept for the plain loops.
struct Tables {
  std::int64_t width, positions;
  Values word, position, type;

  Tables(std::int64_t w, Random& random, std::int64_t most_positions = kPositions)
      : width(w),
        positions(most_positions),
        word(random.values(kWords * w)),
        position(random.values(positions * w)),
        type(random.values(2 * w)) {}
  Buffer embed(Graph& graph) const {
    return graph.append(
        "embed", {table(shared(word, kWords, width)), table(shared(position, positions, width)),
                  table(shared(type, 2, width))});
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

inline Input random_input(Random& random, const std::vector<std::int64_t>& lengths,
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

// The first output of a run; outputs of the graph have `rows` rows.
inline Values run(Plan& plan, const Graph& graph, const Input& in, std::int64_t rows, int threads) {
  std::vector<Values> results;
  std::vector<void*> outputs;
  for (const Buffer output : graph.outputs())
    results.emplace_back(static_cast<std::size_t>(rows * graph.shape(output).cols), -1.0f);
  for (Values& result : results) outputs.push_back(result.data());
  plan.run(in.args(outputs), threads);
  return results.front();
}
inline Values run(const Graph& graph, const Input& in, std::int64_t rows, int threads = 1) {
  const std::int64_t last = *std::ranges::max_element(in.sequence_positions);
  Plan plan(graph,
            {std::max<std::int64_t>(512, rows), 64, std::max(kPositions, last + 1), threads});
  return run(plan, graph, in, rows, threads);
}

inline void expect_near(const Values& got, const std::vector<double>& want, double tolerance) {
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

// softmax(Q K^T / sqrt(d)) V with its options, in double; q, k, v are columns of the tables' sum.
std::vector<double> plain_attention(const Tables& tables, const Input& in,
                                    const AttentionShape& shape,
                                    const AttentionOptions& options = {});

}  // namespace fbg::test
