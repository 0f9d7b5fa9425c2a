// See attention_shape.h.
#include "plan/ops/attention_shape.h"

#include <algorithm>
#include <limits>
#include <string>

#include "plan/ops/ops.h"

namespace fbg {
namespace {

constexpr std::int64_t kMaxPosition = std::numeric_limits<std::int32_t>::max();

// Keys that any query sees at most.
std::int64_t reach(const AttentionShape& shape) {
  const std::int64_t window = shape.window.value_or(kMaxPosition);
  return shape.causal ? window + 1 : 2 * window + 1;
}

// Keys that the first `rows` queries of a head of `length` tokens see together, at most.
std::int64_t work(const AttentionShape& shape, std::int64_t length, std::int64_t rows) {
  const std::int64_t most = std::min(length, reach(shape));
  if (!shape.causal) return rows * most;
  const std::int64_t growing = std::min(rows, most);  // these see one key more than the row before
  return growing * (growing + 1) / 2 + (rows - growing) * most;
}

// The most rows whose work is no more than `limit`.
std::int64_t rows_within(const AttentionShape& shape, std::int64_t length, std::int64_t limit) {
  std::int64_t low = 0, high = length;
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (work(shape, length, middle) <= limit)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

}  // namespace

void require_attention_input(const char* op, const BufferShape& x, const AttentionShape& shape) {
  const std::string prefix = std::string(op) + ": ";
  require_floats(op, x);
  require(x.rows == RowKind::token, prefix + "qkv must have one row per token");
  require(shape.q_heads >= 1 && shape.kv_heads >= 1 && shape.head_dim >= 1,
          prefix + "q_heads, kv_heads and head_dim must be at least 1, got " +
              std::to_string(shape.q_heads) + ", " + std::to_string(shape.kv_heads) + ", " +
              std::to_string(shape.head_dim));
  require(shape.q_heads % shape.kv_heads == 0, prefix + "kv_heads must divide q_heads, got " +
                                                   std::to_string(shape.kv_heads) + " and " +
                                                   std::to_string(shape.q_heads));
  // No product or sum of these can overflow: each is at most x.cols, where the first tests hold.
  require(shape.q_heads <= x.cols && x.cols % shape.head_dim == 0 &&
              x.cols / shape.head_dim == shape.q_heads + 2 * shape.kv_heads,
          prefix + "qkv must have (q_heads + 2 * kv_heads) * head_dim columns for q_heads " +
              std::to_string(shape.q_heads) + ", kv_heads " + std::to_string(shape.kv_heads) +
              ", head_dim " + std::to_string(shape.head_dim) + ", got " + std::to_string(x.cols));
  const std::int64_t window = shape.window.value_or(0);
  require(window >= 0 && window <= kMaxPosition,
          prefix + "window must be within [0, 2147483647], got " + std::to_string(window));
}

Range visible_keys(const AttentionShape& shape, const std::int32_t* positions, std::int64_t length,
                   std::int64_t query) noexcept {
  Range keys{0, shape.causal ? query + 1 : length};
  if (shape.window) {
    const std::int64_t position = positions[query], window = *shape.window;
    const std::int32_t* const end = positions + keys.end;
    keys.begin = std::lower_bound(positions, end, position - window) - positions;
    if (!shape.causal) keys.end = std::upper_bound(positions, end, position + window) - positions;
  }
  return keys;
}

QueryPosition cut_attention(const AttentionShape& shape, const RunArgs& args,
                            const QueryBlocks& blocks, int part, int parts) noexcept {
  const auto length = [&](std::int64_t s) {
    return static_cast<std::int64_t>(args.offsets[s + 1]) - args.offsets[s];
  };
  if (part == 0) return {0, 0, 0};
  if (part == parts) return {args.sequences, 0, 0};
  const std::int64_t heads = shape.q_heads;
  std::int64_t total = 0;
  for (std::int64_t s = 0; s < args.sequences; ++s) total += work(shape, length(s), length(s));
  std::int64_t left = total * heads * part / parts;
  for (std::int64_t s = 0; s < args.sequences; ++s) {
    const std::int64_t t = length(s), head_work = work(shape, t, t);
    if (left >= head_work * heads) {
      left -= head_work * heads;
      continue;
    }
    const std::int64_t rows = rows_within(shape, t, left % head_work);
    const std::int64_t row = round_up(rows, t < blocks.least_tokens ? t : blocks.rows);
    if (row < t) return {s, left / head_work, row};
    const std::int64_t next = left / head_work + 1;
    return next < heads ? QueryPosition{s, next, 0} : QueryPosition{s + 1, 0, 0};
  }
  return {args.sequences, 0, 0};
}

}  // namespace fbg
