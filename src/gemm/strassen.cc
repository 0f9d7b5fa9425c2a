// The flat list of Strassen's products.
#include "gemm/strassen.h"

#include <array>

namespace fbg {
namespace {

// Blocks 0 1 / 2 3 of each matrix (Strassen, "Gaussian elimination is not optimal", 1969).
struct Step {
  std::array<StrassenTerm, 2> a, b, c;  // a term of sign 0 is none
};
constexpr StrassenTerm kNone{0, 0};
constexpr Step kSteps[] = {
    {{{{0, 1}, {3, 1}}}, {{{0, 1}, {3, 1}}}, {{{0, 1}, {3, 1}}}},
    {{{{2, 1}, {3, 1}}}, {{{0, 1}, kNone}}, {{{2, 1}, {3, -1}}}},
    {{{{0, 1}, kNone}}, {{{1, 1}, {3, -1}}}, {{{1, 1}, {3, 1}}}},
    {{{{3, 1}, kNone}}, {{{2, 1}, {0, -1}}}, {{{0, 1}, {2, 1}}}},
    {{{{0, 1}, {1, 1}}}, {{{3, 1}, kNone}}, {{{1, 1}, {0, -1}}}},
    {{{{2, 1}, {0, -1}}}, {{{0, 1}, {1, 1}}}, {{{3, 1}, kNone}}},
    {{{{1, 1}, {3, -1}}}, {{{2, 1}, {3, 1}}}, {{{0, 1}, kNone}}},
};

// The terms of a step, each of which stands for the terms of a product within its quarter.
std::vector<StrassenTerm> combine(const std::array<StrassenTerm, 2>& outer,
                                  const std::vector<StrassenTerm>& inner, int side) {
  std::vector<StrassenTerm> terms;
  for (const StrassenTerm& o : outer)
    for (const StrassenTerm& i : inner) {
      if (o.sign == 0) continue;
      const int row = o.block / 2 * side + i.block / side,
                col = o.block % 2 * side + i.block % side;
      terms.push_back({row * 2 * side + col, o.sign * i.sign});
    }
  return terms;
}

}  // namespace

std::vector<StrassenProduct> strassen_products(int levels) {
  std::vector<StrassenProduct> products{{{{0, 1}}, {{0, 1}}, {{0, 1}}}};
  for (int level = 0; level < levels; ++level) {
    const int side = 1 << level;
    std::vector<StrassenProduct> next;
    for (const Step& step : kSteps)
      for (const StrassenProduct& p : products)
        next.push_back(
            {combine(step.a, p.a, side), combine(step.b, p.b, side), combine(step.c, p.c, side)});
    products = std::move(next);
  }
  return products;
}

}  // namespace fbg
