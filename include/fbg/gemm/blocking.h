// Blocking: those decisions about cutting a product into tiles and blocks that can be tuned. None
// of them changes a bit of a result, because an element of C is always one sum over ascending k,
// whichever tile, block or thread computes it. How K is cut is not part of a Blocking: it follows
// from K alone (src/gemm/driver.cc).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"

namespace fbg {

// A member that is 0 leaves the choice to the cost model. A value that the machine or the matrix
// cannot use stands for the nearest one that it can use, so every value is valid.
struct Blocking {
  int rows = 0;    // rows of the tallest tile
  int panels = 0;  // panels of B that the widest tile spans
  int a_kib = 0;   // KiB of A that a thread works on at a time
  int row_parts =
      0;  // parts into which threads divide the rows of C; the others divide its columns
  friend auto operator<=>(const Blocking&, const Blocking&) = default;
};

// Text such as "rows=6 panels=2", which names the members that are not left to the cost model.
std::string to_string(const Blocking& blocking);

// The blockings that are worth timing for products of m x k by k x n. The first is Blocking{}, the
// choice of the cost model, and no two of them divide the work in the same way.
std::vector<Blocking> candidate_blockings(GemmType gemm_type, Features features, std::int64_t m,
                                          std::int64_t n, std::int64_t k, int num_threads);

}  // namespace fbg
