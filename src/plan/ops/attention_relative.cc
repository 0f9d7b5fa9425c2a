// See attention_relative.h.
#include "plan/ops/attention_relative.h"

#include <string>

namespace fbg {

void require_relative_positions(const RelativePositions& relative, const AttentionShape& shape) {
  const std::int64_t columns = shape.q_heads * shape.head_dim, rows = relative.num_rows();
  const auto fits = [&](const SharedMatrix& table) {
    return !table.data || (table.rows == rows && table.cols == columns);
  };
  require(fits(relative.keys) && fits(relative.queries),
          "attention: tables of relative positions must have q_heads * head_dim columns, " +
              std::to_string(columns) + ", and equally many rows, got " +
              shape_text(relative.keys) + " and " + shape_text(relative.queries));
  require(shape.q_heads == shape.kv_heads,
          "attention: relative positions need as many key/value heads as query heads, got " +
              std::to_string(shape.kv_heads) + " and " + std::to_string(shape.q_heads));
  require(relative.rows.size() % 2 == 1 && std::ranges::is_sorted(relative.rows) &&
              relative.rows.front() >= 0 && relative.rows.back() < rows,
          "attention: relative_rows must be an odd number of ascending numbers in [0, " +
              std::to_string(rows) + ")");
}

}  // namespace fbg
