// e^x as 2^k e^r: the scalar reference, the row kernels and the JIT epilogue run the same
// operations.
//
//   s = fma(x, log2(e), 1.5 * 2^23 + 127);  k = s - (1.5 * 2^23 + 127);  2^k = bits of s << 23
//   r = fma(k, -kLn2Low, fma(k, -kLn2High, x));  e^r - 1 = r P(r), by Horner with fma
//
// Adding 1.5 * 2^23 rounds to an integer, which is then the low bits of the float; the 127 more is
// the exponent bias. ln 2 is in two parts: k * high is exact. P is minimax in relative error
// (Lawson's iteration, as in scripts/fit_gelu.py) with P(0) = 1, p'(0) = 1 / 2 to rounding.
#pragma once

namespace fbg {

inline constexpr float kExpRounder = 12582912.0f + 127.0f, kLog2E = 1.44269504f;
inline constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
inline constexpr float kExpP[] = {1.0f,          0.49999994f,    0.166664302f,
                                  0.0416680053f, 0.00837419555f, 0.00138436072f};
// Bounds of x: below kLeastExp the result is 0. Between kMostPower and ln of the largest float the
// power alone would overflow, so that the rest of the exponent is a factor.
inline constexpr float kLeastExp = -87.3f, kMostPower = 88.0f, kMostExp = 88.8f;

}  // namespace fbg
