// Facts that follow from the shape of attention alone: whether a buffer fits it, which keys a query
// sees, and how the work of a run is shared among threads.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "fbg/core/types.h"
#include "fbg/plan/plan.h"

namespace fbg {

// What a listing of a plan calls it.
std::string attention_name(const AttentionShape& shape, const AttentionOptions& options);

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
