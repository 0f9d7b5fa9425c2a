// Building a graph: buffers, and what comes from outside. The i-th op writes the i-th buffer.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/memory.h"
#include "plan/ops/ops.h"

namespace fbg {

static std::span<const Choice<RowKind>> choices(RowKind) {
  static constexpr Choice<RowKind> kRows[] = {
      {"token", RowKind::token}, {"sequence", RowKind::sequence}, {"tensor", RowKind::tensor}};
  return kRows;
}

namespace {

// What a run brings: a dense matrix in the caller's memory (RunArgs::inputs), or a tensor of so
// many bytes. The plan finds its memory, and there is nothing to compute.
class InputOp final : public Op {
 public:
  explicit InputOp(Fields& f) : Op("input", f) {
    shape = {rows_, cols_, type_};
    require(cols_ >= 1, "input: must have at least one column, got " + std::to_string(cols_));
    const bool stored = type_ == ValueType::float32 || type_ == ValueType::bfloat16 ||
                        type_ == ValueType::uint8 || type_ == ValueType::int8;
    require(stored, std::string("input: dtype must be float32, bfloat16, uint8 or int8, got ") +
                        value_type_name(type_));
  }
  std::unique_ptr<Step> prepare(const PrepareContext&) const override { return nullptr; }

 private:
  const std::int64_t cols_ = field("cols");
  const RowKind rows_ = field("rows", RowKind::token);
  const ValueType type_ =
      field("dtype", rows_ == RowKind::tensor ? ValueType::uint8 : ValueType::float32);
};

// A tensor that is known beforehand; aligned to its elements.
class ConstantOp final : public Op {
 public:
  explicit ConstantOp(Fields& f) : Op("constant", f) {
    require(values_.nbytes >= 1, "constant: must have at least one byte");
    shape = {RowKind::tensor, values_.nbytes, ValueType::uint8};
  }
  std::unique_ptr<Step> prepare(const PrepareContext&) const override { return nullptr; }
  const std::byte* constant() const override { return values_.data.get(); }

 private:
  const Array values_ = field("values");
};

}  // namespace

Buffer kinds::input(Graph& graph, Fields& f) { return append_as<InputOp>(graph, f); }
Buffer kinds::constant(Graph& graph, Fields& f) { return append_as<ConstantOp>(graph, f); }

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

void require_floats(const char* op, const BufferShape& x) {
  require(x.type == ValueType::float32,
          std::string(op) + ": x must hold float32, got " + value_type_name(x.type));
}

void lower_limit(std::int64_t& bound, std::int64_t limit) {
  if (limit != Graph::kUnread) bound = bound == Graph::kUnread ? limit : std::min(bound, limit);
}

BufferShape Graph::shape(Buffer x) const {
  require(x >= 0 && static_cast<std::size_t>(x) < shapes_.size(),
          "graph: no buffer " + std::to_string(x));
  return shapes_[static_cast<std::size_t>(x)];
}

Buffer append_op(Graph& graph, std::shared_ptr<Op> op) {
  const Buffer output = op->output = graph.num_ops();
  lower_limit(graph.limits_.word, op->limits.word);
  lower_limit(graph.limits_.position_id, op->limits.position_id);
  lower_limit(graph.limits_.type, op->limits.type);
  lower_limit(graph.limits_.sequence_position, op->limits.sequence_position);
  graph.shapes_.push_back(op->shape);
  if (dynamic_cast<const InputOp*>(op.get())) graph.inputs_.push_back(output);
  graph.ops_.push_back(std::move(op));
  return output;
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

void Graph::output(Buffer x) {
  shape(x);
  const auto contains = [x](std::span<const Buffer> buffers) {
    return std::find(buffers.begin(), buffers.end(), x) != buffers.end();
  };
  require(!contains(outputs_), "output: buffer " + std::to_string(x) + " is an output already");
  require(!contains(inputs_), "output: buffer " + std::to_string(x) + " is an input of the graph");
  outputs_.push_back(x);
}

}  // namespace fbg
