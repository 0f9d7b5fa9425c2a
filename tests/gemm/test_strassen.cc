// Strassen's list of products: the sums of all of them are the product of the matrices, exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gemm/strassen.h"

namespace fbg {
namespace {

// The products give block k of C the coefficient of (block i of A) * (block j of B).
TEST(Strassen, ProductsAddUpToTheMatrixProduct) {
  for (int levels = 0; levels <= 3; ++levels) {
    const int side = 1 << levels, blocks = side * side;
    const std::vector<StrassenProduct> products = strassen_products(levels);
    EXPECT_EQ(products.size(), static_cast<std::size_t>(std::lround(std::pow(7, levels))));
    std::vector<int> sums(static_cast<std::size_t>(blocks * blocks * blocks));
    const auto at = [&](int i, int j, int k) {
      return static_cast<std::size_t>((i * blocks + j) * blocks + k);
    };
    for (const StrassenProduct& p : products)
      for (const StrassenTerm& a : p.a)
        for (const StrassenTerm& b : p.b)
          for (const StrassenTerm& c : p.c)
            sums[at(a.block, b.block, c.block)] += a.sign * b.sign * c.sign;
    for (int i = 0; i < blocks; ++i)
      for (int j = 0; j < blocks; ++j)
        for (int k = 0; k < blocks; ++k) {
          const bool meet = i % side == j / side;
          const int expected = meet && k == i / side * side + j % side;
          ASSERT_EQ(sums[at(i, j, k)], expected) << levels << " levels";
        }
  }
}

}  // namespace
}  // namespace fbg
