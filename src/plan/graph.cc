// Building a graph: each method checks shapes and appends an op. The i-th op writes the i-th
// buffer.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "fbg/plan.h"
#include "plan/ops.h"

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

Buffer Graph::embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type) {
  require(ops_.empty(), "embedding: must be the first op of a graph");
  const auto fits = [&](const SharedMatrix& table) {
    return table.data && table.rows > 0 && table.cols == word.cols && table.cols > 0;
  };
  require(fits(word) && fits(position) && (!type.data || fits(type)),
          "embedding: tables must have the same number of columns and at least one row, got " +
              shape_text(word) + ", " + shape_text(position) + ", " + shape_text(type));
  limits_ = {word.rows, position.rows, type.data ? type.rows : 1};
  const BufferShape shape{RowKind::token, word.cols};
  return append(make_embedding(std::move(word), std::move(position), std::move(type)), shape);
}

Buffer Graph::layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps) {
  const BufferShape s = shape(x);
  require_vector(gamma, s.cols, "layer_norm: gamma");
  require_vector(beta, s.cols, "layer_norm: beta");
  return append(make_layer_norm(x, std::move(gamma), std::move(beta), eps), s);
}

template <class Acc>
Buffer Graph::linear(Buffer x, PackedB<Acc> w, LinearTail tail) {
  if constexpr (is_integer(Acc::kind))
    require(w.scale() != nullptr, "linear: int8 weights must have a scale");
  const BufferShape in = shape(x);
  require(in.cols == w.rows(), "linear: x has " + std::to_string(in.cols) + " columns, w has " +
                                   std::to_string(w.rows()) + " rows");
  const BufferShape out{in.rows, w.cols()};
  if (tail.bias.data) require_vector(tail.bias, out.cols, "linear: bias");
  if (tail.channel_scale.data) {
    require(is_integer(Acc::kind), "linear: channel_scale needs int8 weights");
    require_vector(tail.channel_scale, in.cols, "linear: channel_scale");
  }
  if (tail.residual) {
    const BufferShape residual = shape(*tail.residual);
    require(residual.rows == out.rows && residual.cols == out.cols,
            "linear: the residual must have the shape of the output");
  }
  return append(make_linear(x, out.rows, std::move(w), std::move(tail)), out);
}

template Buffer Graph::linear(Buffer, PackedB<Int32>, LinearTail);
template Buffer Graph::linear(Buffer, PackedB<Float32>, LinearTail);
template Buffer Graph::linear(Buffer, PackedB<BFloat16>, LinearTail);
template Buffer Graph::linear(Buffer, PackedB<Float32F16>, LinearTail);

Buffer Graph::attention(Buffer qkv, std::int64_t num_heads, bool allow_bfloat16) {
  const BufferShape in = shape(qkv);
  require(in.rows == RowKind::token, "attention: qkv must have one row per token");
  require(num_heads > 0 && in.cols % (3 * num_heads) == 0,
          "attention: " + std::to_string(in.cols) + " columns do not divide into Q, K and V of " +
              std::to_string(num_heads) + " heads");
  return append(make_attention(qkv, num_heads, in.cols / (3 * num_heads), allow_bfloat16),
                {RowKind::token, in.cols / 3});
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
