// Strassen's product: 7 products of halves of A and B where the definition has 8, at any number of
// levels. The recursion is resolved beforehand into a flat list of products of sums of blocks.
#pragma once

#include <vector>

namespace fbg {

// One of 4^levels blocks of a matrix, row by row, and 1 or -1.
struct StrassenTerm {
  int block, sign;
};

// M = (sum of terms of A) * (sum of terms of B), added to the blocks of C that `c` names.
struct StrassenProduct {
  std::vector<StrassenTerm> a, b, c;
};

// The 7^levels products; without levels the one of whole matrices.
std::vector<StrassenProduct> strassen_products(int levels);

}  // namespace fbg
