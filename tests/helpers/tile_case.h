// What a test of a microkernel describes: the tile, its blocks and the kind of its operands.
#pragma once

#include <cstdint>
#include <vector>

#include "helpers/operand_filler.h"
#include "kernels/microkernel.h"

namespace fbg::test {

// One pair of blocks as a test describes it.
struct Block {
  std::int64_t groups;
  std::int64_t a_padding;  // bytes between the end of a row and the next
};

struct TileCase {
  KernelKey key;
  std::vector<Block> blocks;
  std::int64_t columns;
  std::int64_t first_column = 0;          // of the tile inside its first panel
  std::int64_t row = 0, col = 0;          // of the tile in C
  std::vector<std::uint8_t> picked = {};  // with a row mask: the rows that have results
  bool prefetches = false;
  Guard side = Guard::after;
  int spill_groups = 1;
  unsigned seed = 0;
  // Infinities and NaN among the operands; ranges of rows that are not empty before.
  bool specials = false;
  // Subnormal numbers, and such as lie in the middle of two of bfloat16, in the place of other
  // floats than those of A and B. There had better be no blocks then.
  bool odd_floats = false;
  int magnitude = 0;  // of floats of A, or of the scales of integers: a power of two

  std::int64_t result_rows() const { return key.row_mask ? std::ssize(picked) : key.rows; }
};

}  // namespace fbg::test
