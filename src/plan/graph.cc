// Building a graph: buffers, inputs and outputs. The methods that append an op are beside it, in
// ops/. The i-th op writes the i-th buffer.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/memory.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

// Stands for an input of a run: the plan finds its memory, and there is nothing to compute.
class InputOp final : public Op {
 public:
  InputOp() : Op("input", {}) {}
  std::unique_ptr<Step> prepare(const PrepareContext&) const override { return nullptr; }
};

bool is_storage(ValueType type) {
  return type == ValueType::float32 || type == ValueType::bfloat16 || type == ValueType::uint8 ||
         type == ValueType::int8;
}

}  // namespace

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
  bound = bound == Graph::kUnread ? limit : std::min(bound, limit);
}

BufferShape Graph::shape(Buffer x) const {
  require(x >= 0 && static_cast<std::size_t>(x) < shapes_.size(),
          "graph: no buffer " + std::to_string(x));
  return shapes_[static_cast<std::size_t>(x)];
}

std::shared_ptr<const Record> Graph::record(Buffer x) const {
  shape(x);
  return records_[static_cast<std::size_t>(x)];
}

Buffer Graph::append(std::shared_ptr<Op> op, const BufferShape& shape) {
  const Buffer output = static_cast<Buffer>(ops_.size());
  op->output = output;
  ops_.push_back(std::move(op));
  shapes_.push_back(shape);
  records_.emplace_back();
  return output;
}

Buffer append_op(Graph& graph, std::shared_ptr<Op> op, const BufferShape& shape) {
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

Buffer Graph::input(const BufferShape& shape) {
  require(shape.cols >= 1,
          "input: must have at least one column, got " + std::to_string(shape.cols));
  require(is_storage(shape.type),
          std::string("input: type must be float32, bfloat16, uint8 or int8, got ") +
              value_type_name(shape.type));
  const Buffer buffer = append(std::make_shared<InputOp>(), shape);
  inputs_.push_back(buffer);
  return buffer;
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
