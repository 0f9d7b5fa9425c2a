// Graph and Plan: a whole network, described once and run with no decision left to make.
//
//   Graph    ops and the buffers between them; weights are shared, sizes are not known yet
//   Plan     a Graph prepared for a capacity: kernels generated, every buffer and all scratch laid
//            out in one arena by lifetime
//   run()    one entry into the thread team; every op is computed by all threads, a barrier between
//            ops; nothing is allocated, searched or validated
//
// Sequences are packed end to end without padding: a token buffer has one row per token, and
// `offsets` says where each sequence begins. Capacity bounds a run; its actual lengths are
// arguments. What a run computes for a sequence depends on that sequence alone, to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/kernels/blocking.h"

namespace fbg {

class Op;         // a described operation: src/plan/ops/ops.h
class ProductOp;  // one that multiplies by weights
class Step;       // the same, prepared for a capacity

// Dense row-major float32 that graphs and plans share: an embedding table, or a vector (one row).
struct SharedMatrix {
  std::shared_ptr<const float> data;
  std::int64_t rows = 0, cols = 0;
  const float* row(std::int64_t i) const { return data.get() + i * cols; }
};

// What a row of a buffer stands for.
enum class RowKind : std::uint8_t { token, sequence };

// Handle of a buffer of a graph: the output of one op.
using Buffer = std::int32_t;
struct BufferShape {
  RowKind rows;
  std::int64_t cols;
};

enum class Activation : std::uint8_t { none, gelu, gelu_tanh, relu };

// How the rows of a sequence's tokens become one: a token of it; its mean, Σ x / n, or Σ x / √n, or
// Σ t x / Σ t with t = 1, 2, …; or its maximum.
enum class Pooling : std::uint8_t { first, last, mean, mean_sqrt_length, weighted_mean, max };

// Products that are alike, whatever weights they have: blockings are chosen for a kind.
struct ProductKind {
  Accumulator accumulator;
  std::int64_t k, n;
  friend bool operator==(const ProductKind&, const ProductKind&) = default;
};

// What was measured to be the best blocking of a kind, where the rows of x number first to last.
struct TunedProduct {
  ProductKind kind;
  std::int64_t first_rows, last_rows;
  Blocking blocking;
};

// What a linear layer does to its product x * w before it stores the result. Empty members mean
// that there is nothing of the kind.
struct Epilogue {
  SharedMatrix bias;  // (1, N)
  Activation activation = Activation::none;
  std::optional<Buffer> residual;   // added last
  SharedMatrix channel_scale = {};  // (1, K): with int8 weights, what is quantized is x * this
};

// What attention does beyond softmax(Q K^T / sqrt(d)) V. The distance of a key from a query is the
// difference of their sequence positions (RunArgs::sequence_positions).
struct AttentionOptions {
  // Both products may take operands rounded to bfloat16, where the ISA has a dot product for it.
  bool allow_bfloat16 = false;
  // (heads, 2 L - 1), added to Q K^T before it is scaled: the column is L - 1 +
  // position of the key - position of the query. Sequence positions must be less than L.
  SharedMatrix distance_bias = {};
  // A query sees the keys that are at most this far away; without it, all of them.
  std::optional<std::int64_t> window = {};
};

// Each method appends one op and returns its output. Throws std::invalid_argument where shapes do
// not fit. Buffers are float32.
class Graph {
 public:
  // x = word[ids] + position[position_ids] + type[types], one row per token. An empty `position` or
  // `type` adds nothing; types must then be 0.
  Buffer embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type);
  // An empty `beta` adds nothing.
  Buffer layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps);
  // y = x * w. Rows of x are quantized as they are packed for int8 weights (Int32), rounded for
  // bfloat16 ones (BFloat16), and read in place for the others (Float32, Float32F16).
  template <class Acc>
  Buffer linear(Buffer x, PackedB<Acc> w, Epilogue epilogue);
  // Rotary positions (Su et al., 2021, arXiv:2104.09864). A row of qkv is Q, K, V of all heads, end
  // to end; of each head of Q and K, elements i and i + d / 2 are turned by an angle. cos_sin is
  // (L, d): for each sequence position the cosines of d / 2 angles, then their sines. Sequence
  // positions must be less than L.
  Buffer rotate(Buffer qkv, std::int64_t num_heads, SharedMatrix cos_sin);
  // Softmax(Q K^T / sqrt(d)) V within each sequence; a row of qkv is Q, K, V of all heads, end to
  // end. Both products are of float32, unless the options allow otherwise.
  Buffer attention(Buffer qkv, std::int64_t num_heads, AttentionOptions options = {});
  // gelu(a) * b, where a row of x is a, b end to end (GeGLU: Shazeer, 2020, arXiv:2002.05202).
  Buffer geglu(Buffer x);
  // One row per sequence.
  Buffer pool(Buffer x, Pooling pooling);
  Buffer tanh(Buffer x);
  // Rows divided by their Euclidean length.
  Buffer normalize(Buffer x);
  // What a run hands back, in order of these calls.
  void output(Buffer x);

  BufferShape shape(Buffer x) const;
  std::span<const Buffer> outputs() const { return outputs_; }
  // Kinds of the linear layers that compute a row per token, in order of their first layer.
  std::vector<ProductKind> products() const;

  // Exclusive bounds of the indices that tables can be asked for; kUnread where no op reads them.
  static constexpr std::int64_t kUnread = 0;
  struct Limits {
    std::int64_t word = 0, position_id = kUnread, type = 0, sequence_position = kUnread;
  };
  const Limits& limits() const { return limits_; }

 private:
  friend class Plan;
  friend class Tuner;
  friend Buffer append_op(Graph& graph, std::shared_ptr<Op> op, BufferShape shape);
  Buffer append(std::shared_ptr<Op> op, BufferShape shape);
  std::int64_t head_size(const char* op, Buffer qkv, std::int64_t num_heads) const;
  void limit_sequence_positions(std::int64_t limit);

  std::vector<std::shared_ptr<const Op>> ops_;  // op i writes buffer i
  std::vector<BufferShape> shapes_;
  std::vector<Buffer> outputs_;
  Limits limits_;
};

// The largest run that a plan can do, and what is known of how its products run best; the cost
// model knows of the others.
struct Capacity {
  std::int64_t tokens = 0, sequences = 0;
  std::int64_t length = 0;  // of one sequence
  int threads = 1;
  std::vector<TunedProduct> tuned = {};
};

// Arguments of a run; the caller has checked them against capacity and limits.
struct RunArgs {
  std::int64_t tokens = 0, sequences = 0;
  const std::int32_t* ids = nullptr;  // [tokens]: rows of the word table
  // [tokens]: rows of the position table. A model decides how they follow from the text; those of
  // RoBERTa begin after the padding id and skip padding.
  const std::int32_t* position_ids = nullptr;
  const std::int32_t* types = nullptr;  // [tokens]: rows of the token type table
  // [tokens]: where each token stands in its sequence, from 0; masked tokens, which are not part of
  // the run, are counted. Distances and rotations are taken of these. Ascending in each sequence.
  const std::int32_t* sequence_positions = nullptr;
  // [sequences + 1]: first token of each sequence, then their number; ascending, none empty.
  const std::int32_t* offsets = nullptr;
  std::span<float* const> outputs;  // dense (rows, cols), one per Graph::output
};

// What a plan decided for an op.
struct OpPlan {
  std::string name;
  std::string kernel;    // of a linear layer: that of its largest tile
  std::string blocking;  // and where it is not the cost model's
  // Where the arena holds the output, which may be in the place of another; no bytes: what a run
  // hands back lies in the caller's memory.
  std::size_t offset = 0, bytes = 0;
  std::size_t scratch_offset = 0, scratch_bytes = 0;  // of all threads, while the op runs
};

class Plan {
 public:
  // Throws std::invalid_argument, std::length_error, std::bad_alloc; std::runtime_error where
  // executable memory is denied.
  Plan(const Graph& graph, const Capacity& capacity);
  // A copy shares weights, kernels and decisions with `other`, and has an arena of its own, so that
  // both may run at the same time. Throws std::bad_alloc.
  Plan(const Plan& other);
  ~Plan();
  Plan& operator=(const Plan&) = delete;

  // One run at a time. `seconds`, if given, has room for every op and receives how long each took;
  // `phases`, [ops][kPhases] (phase.h), what the first thread spent in the phases of each.
  void run(const RunArgs& args, int num_threads, double* seconds = nullptr,
           double* phases = nullptr) noexcept;

  const Capacity& capacity() const { return capacity_; }
  const Graph& graph() const { return graph_; }
  std::size_t num_ops() const { return steps_.size(); }
  std::span<const OpPlan> ops() const { return op_plans_; }
  std::size_t arena_bytes() const;
  // What a plan and its copies take together, beside their arenas and what other plans share.
  std::size_t shared_bytes() const;

  // Whether a range of the arena becomes NaN as soon as nothing may read it any more, so that an op
  // which does shows in the results; debug builds and those with sanitizers begin with true.
  void poison_freed(bool on);

 private:
  struct Layout;
  struct Memory;
  void allocate();
  void poison(std::size_t step) noexcept;

  const Graph graph_;  // keeps ops and weights alive
  const Capacity capacity_;
  std::vector<std::shared_ptr<const Step>> steps_;
  std::vector<OpPlan> op_plans_;
  std::shared_ptr<const Layout> layout_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace fbg
