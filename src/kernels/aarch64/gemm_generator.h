// Generates GEMM microkernels for AArch64.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/table.h"

namespace fbg::kernels {

// How a k-group of A is multiplied by a k-group of B and added to the accumulators: all that
// differs between families and instruction sets.
enum class Dot : std::uint8_t {
  fma,         // fmla by an element of A
  fma_f16,     // fmla on weights that fcvtl widens
  fma_bf16,    // fmla on bfloat16 weights widened to float, even and odd k apart
  widen_bf16,  // the same with A widened as well
  bfdot,  // bfdot: two products of bfloat16; for two rows or more bfmmla, which gives the same bits
  widen_int8,  // smlal on bytes widened to int16
  sdot,        // sdot on A - 128, to which 128 times the sum of a column is added
  sudot,       // sudot: four products s8 x u8; for two rows or more usmmla
  // 4-bit weights that are widened in registers; sums of groups are scaled
  widen_int4,  // the products of widen_int8
  sdot_int4,   // those of sdot
  sudot_int4,  // those of sudot or usmmla
};

// Position-independent code of the kernel; empty where the tile does not fit the registers.
std::vector<std::uint8_t> generate_gemm(Dot dot, const GemmFamily& family, const KernelKey& key);

// The same as a GenerateGemm, for the table.
template <Dot dot>
std::vector<std::uint8_t> generate_gemm(const GemmFamily& family, const KernelKey& key) {
  return generate_gemm(dot, family, key);
}

}  // namespace fbg::kernels
