// Plans of graphs made at random: ops in any order on any buffers, of which the graph refuses those
// that do not fit. What is left is run: freed memory that is poisoned, the number of threads and
// the other sequences of a batch must not change a bit, and no output is left unwritten.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fbg/plan/plan.h"
#include "fuzz/fuzz_input.h"

namespace fbg::fuzz {
namespace {

constexpr std::int64_t kWords = 20, kPositions = 24, kMostTokens = 40, kMostColumns = 200;

class Builder {
 public:
  explicit Builder(Choices& choices) : choices_(choices), fill_(choices) {
    static constexpr std::int64_t kWidths[] = {16, 8, 1, 24, 32, 33, 48};
    const std::int64_t width = choices.one_of(kWidths);
    buffers_.push_back(graph.append(
        "embed", {matrix(kWords, width), choices.flag() ? matrix(kPositions, width) : FieldValue(),
                  choices.flag() ? matrix(2, width) : FieldValue()}));
    const std::int64_t ops = choices.within(0, 8);
    for (std::int64_t i = 0; i < ops; ++i) try {
        const Buffer made = append();
        if (graph.shape(made).cols <= kMostColumns) buffers_.push_back(made);
      } catch (const std::invalid_argument&) {  // the op does not fit
      }
    graph.output(buffers_.back());
    if (const Buffer other = pick(); other != buffers_.back()) graph.output(other);
  }
  Graph graph;

 private:
  Array array(std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    auto data = std::make_shared<std::vector<float>>(static_cast<std::size_t>(count));
    fill_.floats(data->data(), count);
    const auto* bytes = reinterpret_cast<const std::byte*>(data->data());
    return {{data, bytes}, "float32", std::move(shape), 4 * count};
  }
  FieldValue matrix(std::int64_t rows, std::int64_t cols) { return array({rows, cols}); }
  FieldValue vector(std::int64_t n) { return array({n}); }
  FieldValue number() { return choices_.flag() ? FieldValue(choices_.number()) : FieldValue(); }
  Buffer pick() { return choices_.element_of(buffers_); }
  // Mostly that of the buffer, so that most ops fit.
  std::int64_t width_of(Buffer x) {
    return choices_.byte() % 16 == 15 ? choices_.within(0, 50) : graph.shape(x).cols;
  }

  struct Heads {
    std::int64_t queries, keys, dim;
    FieldValue field;
  };
  Heads heads(Buffer qkv) {
    static constexpr std::int64_t kHeads[] = {1, 2, 3, 4};
    Heads of{choices_.one_of(kHeads), 1, 1, {}};
    of.keys = choices_.flag() ? of.queries : choices_.one_of(kHeads);
    of.dim = graph.shape(qkv).cols / (of.queries + 2 * of.keys);
    FieldValue::List fields{of.queries, of.keys, of.dim, std::int64_t{choices_.flag()}};
    if (choices_.flag()) fields.push_back(choices_.within(0, 6));
    of.field = std::move(fields);
    return of;
  }

  template <class Acc>
  Buffer linear(Buffer x) {
    const std::int64_t k = width_of(x);
    std::int64_t n = choices_.within(1, 100);
    const auto gate = choices_.within(0, 7);  // one of four, or none
    if (gate < 4 && n > 64) n = 64;           // whole panels, which are gated with the product
    const Array w = array({k, n});
    const MatrixView<const float> view{reinterpret_cast<const float*>(w.data.get()), k, n, n, 1};
    static constexpr const char* kActivations[] = {"none", "gelu", "gelu_tanh", "relu"};
    Graph::Named fields;
    if (choices_.flag()) fields.emplace_back("bias", vector(n));
    fields.emplace_back("activation", kActivations[choices_.within(0, 3)]);
    if (choices_.flag()) fields.emplace_back("residual", pick());
    if (gate < 4) fields.emplace_back("gate", kGates[gate]);
    if constexpr (Acc::kind == GemmType::int32) {
      if (choices_.flag()) fields.emplace_back("channel_scale", vector(k));
      const auto packed = PackedB<Acc>::quantize(view, Granularity::column, choices_.flag());
      return graph.append("linear", {x, packed}, std::move(fields));
    } else {
      return graph.append("linear", {x, PackedB<Acc>::convert(view)}, std::move(fields));
    }
  }

  // A step of a program over rows, whose operands begin at these columns.
  Buffer program(std::int64_t columns, const std::vector<std::pair<Buffer, std::int64_t>>& operands,
                 const std::vector<FieldValue::List>& steps) {
    FieldValue::List read;
    for (const auto& [buffer, column] : operands)
      read.push_back(FieldValue::List{buffer, "float32", std::vector<std::int64_t>{1}, column});
    return graph.append("elementwise",
                        {std::vector{columns}, read, FieldValue::List(steps.begin(), steps.end())});
  }

  Buffer append() {
    static constexpr const char* kPoolings[] = {
        "cls", "lasttoken", "mean", "mean_sqrt_len_tokens", "weightedmean", "max"};
    const Buffer x = pick();
    const std::int64_t columns = graph.shape(x).cols;
    switch (choices_.byte() % 14) {
      case 0:
        return linear<Int32>(x);
      case 1:
        return linear<Float32>(x);
      case 2:
        return linear<BFloat16>(x);
      case 3:
        return linear<Float32F16>(x);
      case 4:
        return graph.append("norm", {x, "layer_norm", vector(width_of(x)),
                                     choices_.flag() ? vector(width_of(x)) : FieldValue(), 1e-5});
      case 5:
        return graph.append("norm", {x, "rms_norm", vector(width_of(x)), FieldValue(), 1e-5});
      case 6:
        return program(columns, {{x, 0}, {pick(), 0}}, {{"add", 0, 1, 0, 0}});
      case 7:
        return program(columns / 2, {{x, 0}, {x, choices_.within(0, columns)}},
                       {{kGates[choices_.within(0, 3)], 0, 0, 0, 0}, {"multiply", 2, 1, 0, 0}});
      case 8:
        return graph.append("pool", {x, kPoolings[choices_.within(0, 5)], choices_.within(0, 3)});
      case 9:
        return program(columns, {{x, 0}}, {{"tanh", 0, 0, 0, 0}});
      case 10:
        return graph.append("norm", {x, "normalize"});
      case 11: {
        const Heads of = heads(x);
        return graph.append("norm", {x, "rms_norm", vector((of.queries + of.keys) * of.dim),
                                     FieldValue(), 1e-5, of.dim});
      }
      case 12: {
        const Heads of = heads(x);
        return graph.append("rotate",
                            {x, of.field, matrix(kPositions, choices_.within(0, of.dim))});
      }
      default: {
        const Heads of = heads(x);
        FieldValue bias;
        if (choices_.flag()) bias = matrix(of.queries, 2 * kPositions - 1);
        return graph.append("attention",
                            {x, of.field, std::int64_t{choices_.flag()}, bias, number(), number()});
      }
    }
  }

  static constexpr const char* kGates[] = {"gelu", "gelu_tanh", "silu", "relu"};

  Choices& choices_;
  Filler fill_;
  std::vector<Buffer> buffers_;
};

struct Batch {
  std::vector<std::int32_t> ids, position_ids, types, positions, offsets{0};

  void add(Choices& choices, std::int64_t length) {
    for (std::int32_t i = 0; i < length; ++i) {
      const std::uint8_t id = choices.byte();
      ids.push_back(id % kWords);
      position_ids.push_back(i);
      types.push_back(0);
      positions.push_back(i);
    }
    offsets.push_back(static_cast<std::int32_t>(ids.size()));
  }
  Batch first() const {
    const auto part = [&](const std::vector<std::int32_t>& v) {
      return std::vector<std::int32_t>(v.begin(), v.begin() + offsets[1]);
    };
    return {part(ids), part(position_ids), part(types), part(positions), {0, offsets[1]}};
  }
};

using Results = std::vector<std::vector<float>>;

Results run(Plan& plan, const Batch& batch, int threads) {
  const Graph& graph = plan.graph();
  RunArgs args{static_cast<std::int64_t>(batch.ids.size()),
               static_cast<std::int64_t>(batch.offsets.size()) - 1,
               batch.ids.data(),
               batch.position_ids.data(),
               batch.types.data(),
               batch.positions.data(),
               batch.offsets.data()};
  Results results;
  std::vector<void*> outputs;
  float unwritten;
  std::memset(&unwritten, 0xa5, sizeof unwritten);
  for (const Buffer output : graph.outputs()) {
    const auto count = plan.rows(output, args) * graph.shape(output).cols;
    results.emplace_back(static_cast<std::size_t>(count), unwritten);
    outputs.push_back(results.back().data());
  }
  args.outputs = outputs;
  plan.run(args, threads);
  for (const auto& result : results)
    for (const float& x : result)
      require(std::memcmp(&x, &unwritten, sizeof x) != 0,
              "an element of an output was not written");
  return results;
}

bool same(const std::vector<float>& a, const std::vector<float>& b, std::size_t count) {
  return std::memcmp(a.data(), b.data(), count * sizeof(float)) == 0;
}

void run_case(Choices choices) {
  static const std::vector<Isa> isas = supported_isas();
  const Features features = isa_features(choices.element_of(isas));
  const Builder builder(choices);
  Batch batch;
  const std::int64_t sequences = choices.within(1, 3);
  for (std::int64_t i = 0; i < sequences; ++i) batch.add(choices, choices.within(1, 12));
  try {
    const int threads = choices.byte() % 8 == 7 ? 2 : 1;
    Plan plan(builder.graph, {kMostTokens, 3, 12, threads}, features);
    Plan::set_poison({});
    const Results results = run(plan, batch, 1);
    Plan::set_poison(std::uint8_t{0xff});
    const Results poisoned = run(plan, batch, threads), alone = run(plan, batch.first(), 1);
    for (std::size_t i = 0; i < results.size(); ++i) {
      require(same(results[i], poisoned[i], results[i].size()),
              "freed memory or a thread changed a result");
      require(same(results[i], alone[i], alone[i].size()),
              "another sequence of the batch changed a result");
    }
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace
}  // namespace fbg::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fbg::fuzz::run_case({data, size});
  return 0;
}
