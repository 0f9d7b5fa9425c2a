// The shape of attention, and what follows from it alone: whether a buffer fits it, which keys a
// query sees, and how the work of a run is shared among threads.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "fbg/core/types.h"
#include "fbg/plan/plan.h"
#include "plan/fields.h"

namespace fbg {

// The heads of attention and which keys a query sees. A row of `qkv` is Q of all query heads, then
// K and then V of all key/value heads, head_dim columns each. Consecutive query heads share a
// key/value head where there are fewer of those: query head h reads number
// h / (q_heads / kv_heads) (grouped-query attention: Ainslie et al., 2023, arXiv:2305.13245).
struct AttentionShape {
  AttentionShape(std::int64_t of_queries, std::int64_t of_keys, std::int64_t dim,
                 bool is_causal = false, std::optional<std::int64_t> sees = {})
      : q_heads(of_queries), kv_heads(of_keys), head_dim(dim), causal(is_causal), window(sees) {}
  explicit AttentionShape(Fields& f)
      : q_heads(f("q_heads")),
        kv_heads(f("kv_heads")),
        head_dim(f("head_dim")),
        causal(f("causal", false)),
        window(f.find<std::int64_t>("window")) {}

  std::int64_t q_heads, kv_heads, head_dim;
  bool causal;  // a query sees no key that comes after it
  // A query sees the keys whose distance, the difference of sequence positions, is at most this.
  std::optional<std::int64_t> window;

  // The columns of K or V of all heads, and of a row of qkv.
  std::int64_t kv_columns() const { return kv_heads * head_dim; }
  std::int64_t columns() const { return q_heads * head_dim + 2 * kv_columns(); }
};

// Throws std::invalid_argument unless x has one row of Q, K and V per token.
void require_attention_input(const char* op, const BufferShape& x, const AttentionShape& shape);

// The keys that query number `query` of a sequence sees. `positions` are the sequence positions of
// its `length` tokens, which ascend; only windows need them.
Range visible_keys(const AttentionShape& shape, const std::int32_t* positions, std::int64_t length,
                   std::int64_t query) noexcept;

// Where a thread's work begins or ends: a query row of a query head of a sequence.
struct QueryPosition {
  std::int64_t sequence, head, row;
  friend auto operator<=>(const QueryPosition&, const QueryPosition&) = default;
};

// How the rows of a head may be divided: at multiples of `rows`, and not at all where a sequence
// has fewer than `least_tokens`.
struct QueryBlocks {
  std::int64_t rows, least_tokens;
};

// The position that ends `part` of `parts` of the work of a run, where a query costs as much as
// it sees keys.
QueryPosition cut_attention(const AttentionShape& shape, const RunArgs& args,
                            const QueryBlocks& blocks, int part, int parts) noexcept;

}  // namespace fbg
