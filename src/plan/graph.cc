// Building a graph: each method checks shapes and appends an op. The i-th op writes the i-th
// buffer.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "fbg/plan/plan.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

std::string shape_text(const SharedMatrix& m) {
  std::string text = "(";
  text += std::to_string(m.rows);
  text += ", ";
  text += std::to_string(m.cols);
  return text += ")";
}

void require_vector(const SharedMatrix& v, std::int64_t n, const char* what) {
  require(v.data && v.rows == 1 && v.cols == n, std::string(what) + " must have shape (1, " +
                                                    std::to_string(n) + "), got " + shape_text(v));
}

}  // namespace

BufferShape Graph::shape(Buffer x) const {
  require(x >= 0 && static_cast<std::size_t>(x) < shapes_.size(),
          "graph: no buffer " + std::to_string(x));
  return shapes_[static_cast<std::size_t>(x)];
}

Buffer Graph::append(std::shared_ptr<Op> op, BufferShape shape) {
  const Buffer output = static_cast<Buffer>(ops_.size());
  op->output = output;
  ops_.push_back(std::move(op));
  shapes_.push_back(shape);
  return output;
}

Buffer append_op(Graph& graph, std::shared_ptr<Op> op, BufferShape shape) {
  return graph.append(std::move(op), shape);
}

std::vector<ProductKind> Graph::products() const {
  std::vector<ProductKind> kinds;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const auto* product = dynamic_cast<const ProductOp*>(ops_[i].get());
    if (product && shapes_[i].rows == RowKind::token &&
        std::find(kinds.begin(), kinds.end(), product->kind()) == kinds.end())
      kinds.push_back(product->kind());
  }
  return kinds;
}

Buffer Graph::embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type) {
  require(ops_.empty(), "embedding: must be the first op of a graph");
  const auto fits = [&](const SharedMatrix& table) {
    return table.data && table.rows > 0 && table.cols == word.cols && table.cols > 0;
  };
  require(fits(word) && (!position.data || fits(position)) && (!type.data || fits(type)),
          "embedding: tables must have the same number of columns and at least one row, got " +
              shape_text(word) + ", " + shape_text(position) + ", " + shape_text(type));
  limits_.word = word.rows;
  limits_.position_id = position.data ? position.rows : kUnread;
  limits_.type = type.data ? type.rows : 1;
  const BufferShape shape{RowKind::token, word.cols};
  return append(make_embedding(std::move(word), std::move(position), std::move(type)), shape);
}

Buffer Graph::layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps) {
  const BufferShape s = shape(x);
  require_vector(gamma, s.cols, "layer_norm: gamma");
  if (beta.data) require_vector(beta, s.cols, "layer_norm: beta");
  return append(make_layer_norm(x, std::move(gamma), std::move(beta), eps), s);
}

template <class Acc>
Buffer Graph::linear(Buffer x, PackedB<Acc> w, Epilogue epilogue) {
  if constexpr (is_integer(Acc::kind))
    require(w.scale() != nullptr, "linear: int8 weights must have a scale");
  const BufferShape in = shape(x);
  require(in.cols == w.rows(), "linear: x has " + std::to_string(in.cols) + " columns, w has " +
                                   std::to_string(w.rows()) + " rows");
  const BufferShape out{in.rows, w.cols()};
  if (epilogue.bias.data) require_vector(epilogue.bias, out.cols, "linear: bias");
  if (epilogue.channel_scale.data) {
    require(is_integer(Acc::kind), "linear: channel_scale needs int8 weights");
    require_vector(epilogue.channel_scale, in.cols, "linear: channel_scale");
  }
  if (epilogue.residual) {
    const BufferShape residual = shape(*epilogue.residual);
    require(residual.rows == out.rows && residual.cols == out.cols,
            "linear: the residual must have the shape of the output");
  }
  return append(make_linear(x, out.rows, std::move(w), std::move(epilogue)), out);
}

template Buffer Graph::linear(Buffer, PackedB<Int32>, Epilogue);
template Buffer Graph::linear(Buffer, PackedB<Float32>, Epilogue);
template Buffer Graph::linear(Buffer, PackedB<BFloat16>, Epilogue);
template Buffer Graph::linear(Buffer, PackedB<Float32F16>, Epilogue);

// Columns of one head of Q, K or V.
std::int64_t Graph::head_size(const char* op, Buffer qkv, std::int64_t num_heads) const {
  const BufferShape in = shape(qkv);
  require(in.rows == RowKind::token, std::string(op) + ": qkv must have one row per token");
  require(num_heads > 0 && num_heads <= in.cols && in.cols % (3 * num_heads) == 0,
          std::string(op) + ": " + std::to_string(in.cols) +
              " columns do not divide into Q, K and V of " + std::to_string(num_heads) + " heads");
  return in.cols / (3 * num_heads);
}

// An op reads the sequence positions of tokens, which must be less than `limit`.
void Graph::limit_sequence_positions(std::int64_t limit) {
  std::int64_t& bound = limits_.sequence_position;
  bound = bound == kUnread ? limit : std::min(bound, limit);
}

Buffer Graph::rotate(Buffer qkv, std::int64_t num_heads, SharedMatrix cos_sin) {
  const std::int64_t size = head_size("rotate", qkv, num_heads);
  require(size % 2 == 0 && cos_sin.data && cos_sin.rows > 0 && cos_sin.cols == size,
          "rotate: cos_sin must have one column for each of an even number in a head, " +
              std::to_string(size) + ", got " + shape_text(cos_sin));
  limit_sequence_positions(cos_sin.rows);
  return append(make_rotate(qkv, num_heads, std::move(cos_sin)), shape(qkv));
}

Buffer Graph::attention(Buffer qkv, std::int64_t num_heads, AttentionOptions options) {
  const std::int64_t size = head_size("attention", qkv, num_heads);
  const SharedMatrix& bias = options.distance_bias;
  constexpr std::int64_t kMaxPosition = std::numeric_limits<std::int32_t>::max();
  require(options.window.value_or(0) >= 0 && options.window.value_or(0) <= kMaxPosition,
          "attention: window must be at least 0, and an int32");
  require(!bias.data || (bias.rows == num_heads && bias.cols % 2 == 1),
          "attention: distance_bias must have a row for each of " + std::to_string(num_heads) +
              " heads and an odd number of columns, got " + shape_text(bias));
  if (bias.data) limit_sequence_positions((bias.cols + 1) / 2);
  if (options.window) limit_sequence_positions(kMaxPosition);
  return append(make_attention(qkv, num_heads, size, std::move(options)),
                {RowKind::token, num_heads * size});
}

Buffer Graph::geglu(Buffer x) {
  const BufferShape in = shape(x);
  require(in.cols % 2 == 0,
          "geglu: x must have an even number of columns, got " + std::to_string(in.cols));
  return append(make_geglu(x), {in.rows, in.cols / 2});
}

Buffer Graph::pool(Buffer x, Pooling pooling) {
  const BufferShape in = shape(x);
  require(in.rows == RowKind::token, "pool: x must have one row per token");
  return append(make_pool(x, pooling), {RowKind::sequence, in.cols});
}

Buffer Graph::tanh(Buffer x) { return append(make_tanh(x), shape(x)); }

Buffer Graph::normalize(Buffer x) { return append(make_normalize(x), shape(x)); }

void Graph::output(Buffer x) {
  shape(x);
  require(std::find(outputs_.begin(), outputs_.end(), x) == outputs_.end(),
          "output: buffer " + std::to_string(x) + " is an output already");
  outputs_.push_back(x);
}

}  // namespace fbg
