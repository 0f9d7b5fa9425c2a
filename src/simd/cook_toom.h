// Winograd's fast convolution F(n, k) in exact rationals: n outputs of a filter of k weights by
// t = n + k - 1 products instead of n * k, after Cook and Toom. For an input d of t elements,
//
//   y = A^T [(G g) * (B^T d)]        elementwise product in the brackets
//
// The t - 1 points p_j and a point at infinity determine all three matrices. M(x) is the product of
// all x - p_j, and N_j that of p_j - p_l over l != j:
//
//   source  B^T  t x t   row j: the coefficients of M(x) / (x - p_j); last row: those of M(x)
//   weights G    t x k   row j: p_j^i / N_j;                          last row: 0 ... 0 1
//   output  A^T  n x t   column j: p_j^i;                             last column: 0 ... 0 1
//
// See Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), and Barabasz et
// al., "Error Analysis and Improving the Accuracy of Winograd Convolution" (2020). Everything here
// is constexpr: the kernels of winograd.cc are compiled for the coefficients, and no coefficient is
// written down anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace fbg::winograd {

struct Rational {
  std::int64_t numerator = 0, denominator = 1;

  constexpr Rational() = default;
  constexpr Rational(std::int64_t n, std::int64_t d = 1)  // NOLINT: whole numbers are rational
      : numerator(n), denominator(d) {
    const std::int64_t common = std::gcd(n, d) * (d < 0 ? -1 : 1);
    numerator /= common;
    denominator /= common;
  }
  friend constexpr Rational operator+(Rational a, Rational b) {
    return {a.numerator * b.denominator + b.numerator * a.denominator,
            a.denominator * b.denominator};
  }
  friend constexpr Rational operator-(Rational a) { return {-a.numerator, a.denominator}; }
  friend constexpr Rational operator-(Rational a, Rational b) { return a + -b; }
  friend constexpr Rational operator*(Rational a, Rational b) {
    return {a.numerator * b.numerator, a.denominator * b.denominator};
  }
  friend constexpr Rational operator/(Rational a, Rational b) {
    return {a.numerator * b.denominator, a.denominator * b.numerator};
  }
  friend constexpr bool operator==(const Rational&, const Rational&) = default;
  constexpr double value() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

inline constexpr int kMaxTile = 8;  // t

// The finite points of a tile of t elements; those after the first come in pairs p, -p as long as
// there are two left. Where floats of 32 bits are exact, symmetry about 1 makes the error least:
// found by measuring it for all choices of small fractions (bench/convolutions.py --errors shows
// what remains).
constexpr std::array<Rational, kMaxTile - 1> points(int t) {
  switch (t) {
    case 2:
      return {0};
    case 3:
      return {0, 1};
    case 4:
      return {0, 1, -1};
    case 5:
      return {0, {3, 4}, {-3, 4}, 2};
    case 6:
      return {0, {3, 4}, {-3, 4}, {3, 2}, {-3, 2}};
    case 7:
      return {0, 1, -1, {1, 2}, {-1, 2}, 2};
    default:
      return {0, 1, -1, {1, 2}, {-1, 2}, 2, -2};
  }
}

// Whether points j and j + 1 are p and -p: their rows share all sums.
constexpr bool is_pair(int t, int j) {
  return j >= 1 && j % 2 == 1 && j + 1 < t - 1 &&
         points(t)[static_cast<std::size_t>(j)] == -points(t)[static_cast<std::size_t>(j) + 1];
}

// The coefficients, lowest first, of the product of x - p_l over all finite points but the i-th and
// the j-th; -1 leaves out none.
constexpr std::array<Rational, kMaxTile> product_without(int t, int i, int j) {
  std::array<Rational, kMaxTile> product;
  product[0] = 1;
  for (int l = 0; l + 1 < t; ++l) {
    if (l == i || l == j) continue;
    const Rational p = points(t)[static_cast<std::size_t>(l)];
    std::array<Rational, kMaxTile> next;
    for (std::size_t c = 0; c < kMaxTile; ++c)
      next[c] = (c > 0 ? product[c - 1] : Rational(0)) - p * product[c];
    product = next;
  }
  return product;
}

constexpr Rational power(Rational p, int exponent) {
  Rational result = 1;
  for (int i = 0; i < exponent; ++i) result = result * p;
  return result;
}

// Elements of the three matrices of F(n, k), t = n + k - 1.
constexpr Rational source(int t, int row, int column) {
  return product_without(t, row + 1 < t ? row : -1, -1)[static_cast<std::size_t>(column)];
}

constexpr Rational output(int t, int n, int row, int column) {
  if (column == t - 1) return row == n - 1 ? 1 : 0;
  return power(points(t)[static_cast<std::size_t>(column)], row);
}

constexpr Rational weights(int t, int k, int row, int column) {
  if (row == t - 1) return column == k - 1 ? 1 : 0;
  const Rational p = points(t)[static_cast<std::size_t>(row)];
  Rational scale = 1;
  for (int l = 0; l + 1 < t; ++l)
    if (l != row) scale = scale * (p - points(t)[static_cast<std::size_t>(l)]);
  return power(p, column) / scale;
}

}  // namespace fbg::winograd
