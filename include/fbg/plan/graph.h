// Graph: a network as a list of ops and the buffers between them. A graph shares its weights and
// knows no sizes of runs; a Plan (plan.h) prepares it for a capacity and runs it.
//
// A buffer is a matrix. Its rows are the tokens or the sequences of a run, and its columns are the
// features of a row. Tokens of all sequences are end to end without padding. To add an op, see
// src/plan/ops/ops.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fbg/conv/geometry.h"
#include "fbg/core/types.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/kernels/embedding_rows.h"
#include "fbg/kernels/output.h"

namespace fbg {

class Op;       // a described operation: src/plan/ops/ops.h
struct Record;  // an op as plain data: src/plan/record.h

// Dense row-major float32 that graphs and plans share: an embedding table, or a vector (one row).
struct SharedMatrix {
  std::shared_ptr<const float> data;
  std::int64_t rows = 0, cols = 0;
  const float* row(std::int64_t i) const { return data.get() + i * cols; }
};

// An embedding table in any format of rows. Rows of float32 are those of a matrix.
struct SharedRows {
  SharedRows(std::shared_ptr<const std::byte> bytes, const RowLayout& of, std::int64_t count)
      : data(std::move(bytes)), layout(of), rows(count) {}
  SharedRows(const SharedMatrix& m)  // NOLINT: a matrix is such a table
      : data(m.data, reinterpret_cast<const std::byte*>(m.data.get())),
        layout{.columns = static_cast<std::int32_t>(m.cols)},
        rows(m.rows) {}

  std::shared_ptr<const std::byte> data;
  RowLayout layout;
  std::int64_t rows;
};

// What a row of a buffer stands for. A buffer of kind `tensor` is a single row: the dense elements
// of a tensor of any shape, which the ops of tensor.h know.
enum class RowKind : std::uint8_t { token, sequence, tensor };

// Number of a buffer of a graph: buffer i is written by op i.
using Buffer = std::int32_t;

struct BufferShape {
  RowKind rows = RowKind::token;
  std::int64_t cols = 0;
  ValueType type = ValueType::float32;  // of an element: float32, bfloat16, uint8 or int8
  friend bool operator==(const BufferShape&, const BufferShape&) = default;
};

// silu is x / (1 + e^-x).
enum class Activation : std::uint8_t { none, gelu, gelu_tanh, relu, silu };

// The function f of a gated layer, f(a) * b (Shazeer, 2020, arXiv:2002.05202).
enum class Gate : std::uint8_t { gelu, gelu_tanh, silu, relu };

// How the rows of a sequence's tokens become one: a token of it; its mean, Σ x / n, or Σ x / √n, or
// Σ t x / Σ t with t = 1, 2, …; or its maximum.
enum class Pooling : std::uint8_t { first, last, mean, mean_sqrt_length, weighted_mean, max };

// Products with the same GEMM type and sizes. Blockings are measured and chosen by kind.
struct ProductKind {
  GemmType gemm_type;
  std::int64_t k, n;
  friend bool operator==(const ProductKind&, const ProductKind&) = default;
};

struct Frame;

// The rows that go to an expert: those with a weight other than 0 in its column of (rows, experts).
struct Routes {
  Buffer weights = -1;
  std::int64_t expert = 0;

  float weight(const Frame& frame, std::int64_t row) const;
  std::int64_t count(const Frame& frame, std::int64_t rows) const;  // of the first rows
  friend bool operator==(const Routes&, const Routes&) = default;
};

// What a linear layer does to its product x * w before it stores the result. Empty members mean
// that there is nothing of the kind.
struct Epilogue {
  SharedMatrix bias;  // (1, N)
  Activation activation = Activation::none;
  std::optional<Buffer> residual;   // added last
  SharedMatrix channel_scale = {};  // (1, K): with int8 weights, what is quantized is x * this
  // After the bias, in place of an activation and a residual: where a row is a, b end to end, the
  // output is gate(a) * b, half as many columns, which must be whole panels of w.
  std::optional<Gate> gate = {};
  // Only as many rows as go to an expert are multiplied, the first ones; the others mean nothing.
  // There is no residual then.
  std::optional<Routes> routes = {};
};

// The heads of attention and which keys a query sees. A row of `qkv` is Q of all query heads, then
// K and then V of all key/value heads, head_dim columns each. Consecutive query heads share a
// key/value head where there are fewer of those: query head h reads number
// h / (q_heads / kv_heads) (grouped-query attention: Ainslie et al., 2023, arXiv:2305.13245).
struct AttentionShape {
  std::int64_t q_heads = 0, kv_heads = 0, head_dim = 0;
  bool causal = false;  // a query sees no key that comes after it
  // A query sees the keys whose distance, the difference of sequence positions, is at most this.
  std::optional<std::int64_t> window = {};

  // The columns of K or V of all heads, and of a row of qkv.
  std::int64_t kv_columns() const { return kv_heads * head_dim; }
  std::int64_t columns() const { return q_heads * head_dim + 2 * kv_columns(); }
};

// Disentangled attention (He et al., 2020, arXiv:2006.03654): distances have vectors of their own,
// and a score is Q_i K_j + Q_i key_r + query_r K_j, where r is the row of the distance j - i.
// Either table may be empty.
struct RelativePositions {
  SharedMatrix keys = {}, queries = {};  // (R, q_heads * head_dim)
  // [2 L - 1]: r of the distances 1 - L to L - 1, ascending, in [0, R). Sequence positions must be
  // less than L.
  std::vector<std::int32_t> rows = {};

  std::int64_t num_rows() const { return std::max(keys.rows, queries.rows); }
};

// What attention does beyond softmax(scale Q K^T) V.
struct AttentionOptions {
  // Both products may take operands rounded to bfloat16, which they do on CPUs with AVX512-BF16.
  bool allow_bfloat16 = false;
  // (q_heads, 2 L - 1), added to Q K^T before it is scaled: the column is L - 1 + position of the
  // key - position of the query. Sequence positions must be less than L.
  SharedMatrix distance_bias = {};
  // Factor of the scores; 1 / sqrt(head_dim) where it is not given. Positive.
  std::optional<float> scale = {};
  // Soft-capping: scaled scores s become cap * tanh(s / cap). Positive.
  std::optional<float> softcap = {};
  // There must be as many heads of keys as of queries.
  RelativePositions relative = {};
};

// Each method appends one op and returns its output. Throws std::invalid_argument where shapes do
// not fit. Buffers hold float32 unless it says otherwise.
class Graph {
 public:
  // What a run brings: a dense matrix of that shape, in the caller's memory (RunArgs::inputs).
  Buffer input(const BufferShape& shape);

  // x = word[ids] + position[position_ids] + type[types], one row per token. An empty `position` or
  // `type` adds nothing; types must then be 0.
  Buffer embedding(SharedRows word, SharedMatrix position, SharedMatrix type);
  // An empty `beta` adds nothing.
  Buffer layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps);
  // x / sqrt(mean of x^2 + eps) * gamma (RMSNorm: Zhang and Sennrich, 2019, arXiv:1910.07467).
  Buffer rms_norm(Buffer x, SharedMatrix gamma, float eps);
  // The same for each head of Q and of K in a row of qkv, with head_dim elements of gamma each.
  Buffer norm_heads(Buffer qkv, const AttentionShape& shape, SharedMatrix q_gamma,
                    SharedMatrix k_gamma, float eps);
  // a + b, of the same shape.
  Buffer add(Buffer a, Buffer b);
  // y = x * w. Rows of x are quantized as they are packed for int8 and int4 weights (Int32, Int4),
  // rounded for bfloat16 ones (BFloat16, where x may also hold bfloat16), and read in place for the
  // others (Float32, Float32F16). Weights that were split for int16 sums are refused.
  Buffer linear(Buffer x, PackedMatrix w, Epilogue epilogue);
  // Rotary positions (Su et al., 2021, arXiv:2104.09864): of the first n elements of each head of Q
  // and K in a row of qkv, elements i and i + n / 2 are turned by an angle. cos_sin is (L, n), n
  // even and at most head_dim: for each sequence position the cosines of n / 2 angles, then their
  // sines. Sequence positions must be less than L.
  Buffer rotate(Buffer qkv, const AttentionShape& shape, SharedMatrix cos_sin);
  // softmax(scale Q K^T) V within each sequence: (tokens, q_heads * head_dim). Both
  // products are of float32, unless the options allow otherwise.
  Buffer attention(Buffer qkv, const AttentionShape& shape, AttentionOptions options = {});
  // gate(a) * b, where a row of x is a, b end to end.
  Buffer gated(Buffer x, Gate gate);
  // The softmax of each row, with 0 for all columns but the `count` largest.
  Buffer route(Buffer logits, std::int64_t count);
  // The rows of x that go to an expert, one after the other; what follows them means nothing.
  Buffer take_routed(Buffer x, const Routes& routes);
  // The sum and, for each row that goes to an expert, its weight times the next one of `rows`; and
  // the bias, which may be empty.
  Buffer add_routed(Buffer sum, Buffer rows, const Routes& routes, SharedMatrix bias = {});
  // The rows of the `width` tokens around each one, at the sequence positions that follow each
  // other, zeros where there is no token: column i of the place t is in column i * width + t. A
  // product with it is a convolution over the sequence. `width` is odd.
  Buffer unfold(Buffer x, std::int64_t width);
  // One row per sequence, of all its tokens but the first `skipped`; zeros where none is left.
  Buffer pool(Buffer x, Pooling pooling, std::int64_t skipped = 0);
  Buffer tanh(Buffer x);
  // Rows divided by their Euclidean length.
  Buffer normalize(Buffer x);

  // What a run hands back, in order of these calls: a dense matrix in the caller's memory
  // (RunArgs::outputs).
  void output(Buffer x);

  // Plans may hold floats between ops as bfloat16 wherever that changes results by no more than
  // its rounding, and not only where it changes none.
  void allow_bfloat16() { allows_bfloat16_ = true; }

  BufferShape shape(Buffer x) const;
  std::int32_t num_ops() const { return static_cast<std::int32_t>(ops_.size()); }
  std::span<const Buffer> inputs() const { return inputs_; }
  std::span<const Buffer> outputs() const { return outputs_; }
  // The op that writes a buffer as data, if it was appended as data; null otherwise.
  std::shared_ptr<const Record> record(Buffer x) const;
  // Kinds of the linear layers that compute a row per token, in order of their first layer.
  std::vector<ProductKind> products() const;

  // Exclusive bounds of the indices that a run may bring; kUnread where no op reads them.
  static constexpr std::int64_t kUnread = 0;
  struct Limits {
    std::int64_t word = kUnread, position_id = kUnread, type = kUnread, sequence_position = kUnread;
  };
  const Limits& limits() const { return limits_; }

 private:
  friend class Plan;
  friend class Tuner;
  friend class Recorder;
  friend Buffer append_op(Graph& graph, std::shared_ptr<Op> op, const BufferShape& shape);
  Buffer append(std::shared_ptr<Op> op, const BufferShape& shape);

  std::vector<std::shared_ptr<const Op>> ops_;  // op i writes buffer i
  std::vector<BufferShape> shapes_;
  std::vector<std::shared_ptr<const Record>> records_;  // null where a method appended the op
  std::vector<Buffer> inputs_, outputs_;
  bool allows_bfloat16_ = false;
  Limits limits_;
};

}  // namespace fbg
