// Tensors that come from outside: those that a run brings, and those that are known beforehand.
#include "fbg/plan/tensor.h"

#include <utility>

#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

class ConstantOp final : public Op {
 public:
  explicit ConstantOp(std::shared_ptr<const std::byte> data)
      : Op("constant", {}), data_(std::move(data)) {}
  std::unique_ptr<Step> prepare(const PrepareContext&) const override { return nullptr; }
  const std::byte* constant() const override { return data_.get(); }

 private:
  const std::shared_ptr<const std::byte> data_;
};

}  // namespace

Buffer tensor_input(Graph& graph, std::int64_t bytes) { return graph.input(tensor_shape(bytes)); }

Buffer tensor_constant(Graph& graph, std::shared_ptr<const std::byte> data, std::int64_t bytes) {
  require(data != nullptr && bytes >= 1, "constant: must have at least one byte");
  return append_op(graph, std::make_shared<ConstantOp>(std::move(data)), tensor_shape(bytes));
}

void require_bytes(const Graph& graph, Buffer x, std::int64_t bytes, const char* what) {
  const std::int64_t own = tensor_bytes(graph, x);
  require(graph.shape(x).rows == RowKind::tensor && own == bytes,
          std::string(what) + " must be a tensor of " + std::to_string(bytes) + " bytes, got " +
              std::to_string(own));
}

std::int64_t checked_product(std::span<const std::int64_t> extents, const char* what) {
  std::size_t product = 1;
  for (const std::int64_t extent : extents) {
    require(extent >= 1,
            std::string(what) + " must have extents of at least 1, got " + std::to_string(extent));
    product = checked_bytes(product, static_cast<std::size_t>(extent));
  }
  return static_cast<std::int64_t>(product);
}

}  // namespace fbg
