// Blocking: how a product is cut, as far as that is a choice. No choice changes a bit of a result:
// an element of C is one sum upwards in k, whichever tile, block or thread it falls to. The cut of
// K is no choice: it follows from K (gemm_driver.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/kernels/microkernel.h"

namespace fbg {

// A member of 0 leaves the choice to the cost model. What a machine or a matrix has no use for
// counts as the nearest that it has, so that no value is wrong.
struct Blocking {
  int rows = 0;       // of the tallest tile
  int panels = 0;     // of B that the widest tile spans
  int a_kib = 0;      // of A that a thread works on at a time
  int row_parts = 0;  // threads side by side along the rows of C; the rest cut its columns
  TileLimits tile() const { return {rows, panels}; }
  friend auto operator<=>(const Blocking&, const Blocking&) = default;
};

// "rows=6 panels=2": what is not left to the cost model; empty where all is.
std::string to_string(const Blocking& blocking);

// Rows of A in a block whose rows have `row_bytes`: whole tiles of mr rows.
std::int64_t a_block_rows(const Blocking& blocking, std::int64_t row_bytes, std::int64_t mr);

// Blockings worth timing for products of m x k by k x n: first that of the cost model, which is
// Blocking{}, and no two that run alike.
std::vector<Blocking> candidate_blockings(Accumulator accumulator, Features features,
                                          std::int64_t m, std::int64_t n, std::int64_t k,
                                          int num_threads);

}  // namespace fbg
