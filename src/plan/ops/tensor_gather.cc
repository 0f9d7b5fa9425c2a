// Rows of a table by indices that a run brings, and the conversion of such integers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

class GatherOp final : public Op {
 public:
  GatherOp(Buffer table, Buffer indices, const Gathering& gathering)
      : Op("gather", {table, indices}), g_(gathering) {}

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return make_unit_step(
        g_.outer * g_.count, 0, [this](const Frame& frame, std::byte*, int, Range units) {
          const std::byte* const table = frame[inputs[0]].data;
          std::byte* const y = frame[output].data;
          for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
            std::int64_t row = index(frame[inputs[1]].data, unit % g_.count);
            if (row < 0) row += g_.extent;
            row = std::clamp<std::int64_t>(row, 0, g_.extent - 1);
            std::memcpy(y + unit * g_.row_bytes,
                        table + (unit / g_.count * g_.extent + row) * g_.row_bytes,
                        static_cast<std::size_t>(g_.row_bytes));
          }
        });
  }

 private:
  std::int64_t index(const std::byte* indices, std::int64_t i) const {
    if (g_.index_bytes == 8) {
      std::int64_t value;
      std::memcpy(&value, indices + 8 * i, 8);
      return value;
    }
    std::int32_t value;
    std::memcpy(&value, indices + 4 * i, 4);
    return value;
  }

  const Gathering g_;
};

class WidenedOp final : public Op {
 public:
  WidenedOp(Buffer x, std::int64_t elements) : Op("int64_to_float", {x}), elements_(elements) {}

  std::unique_ptr<Step> prepare(const PrepareContext&) const override {
    return make_unit_step(elements_, 0, [this](const Frame& frame, std::byte*, int, Range units) {
      const auto* x = reinterpret_cast<const std::int64_t*>(frame[inputs[0]].data);
      auto* y = reinterpret_cast<float*>(frame[output].data);
      for (std::int64_t i = units.begin; i < units.end; ++i) y[i] = static_cast<float>(x[i]);
    });
  }

 private:
  const std::int64_t elements_;
};

}  // namespace

Buffer gather(Graph& graph, Buffer table, Buffer indices, const Gathering& gathering) {
  const Gathering& g = gathering;
  require(g.index_bytes == 4 || g.index_bytes == 8, "gather: indices must have 4 or 8 bytes");
  const std::int64_t from[] = {g.outer, g.extent, g.row_bytes};
  const std::int64_t to[] = {g.outer, g.count, g.row_bytes};
  const std::int64_t index[] = {g.count, g.index_bytes};
  require_bytes(graph, table, checked_product(from, "gather: the table"), "gather: the table");
  require_bytes(graph, indices, checked_product(index, "gather: indices"), "gather: indices");
  return append_op(graph, std::make_shared<GatherOp>(table, indices, gathering),
                   tensor_shape(checked_product(to, "gather: the output")));
}

Buffer int64_to_float(Graph& graph, Buffer x) {
  const std::int64_t elements = tensor_bytes(graph, x) / 8;
  require_bytes(graph, x, elements * 8, "int64_to_float: x");
  return append_op(graph, std::make_shared<WidenedOp>(x, elements), tensor_shape(4 * elements));
}

}  // namespace fbg
