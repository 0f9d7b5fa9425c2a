// The generators of kernels for x86-64. Products have generators for AVX2 and AVX-512, with and
// without VNNI and BF16, and for AMX.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sliding.h"
#include "kernels/table.h"

namespace fbg::kernels {

// How a k-group of A is multiplied by a k-group of B and added to the accumulators: all that
// differs between families and instruction sets.
enum class Dot : std::uint8_t {
  vnni,        // vpdpbusd: four u8 x s8 products into an int32 lane, no saturation in between
  widen_int8,  // vpmaddwd on int16, even and odd k apart, A widened when it was packed: exact, as
               // 2 * 255 * 128 fits easily where vpmaddubsw would saturate
  pair_sums,   // vpmaddubsw on two k-groups, whose sums fit in int16 because B is narrow, and
               // vpmaddwd with ones, which adds them to int32 lanes
  maddubs,     // vpmaddubsw into int16 sums, which B was packed to have room for and which are
               // spilled to int32 in time
  fma,         // vfmadd231ps
  fma_f16,     // vfmadd231ps on weights that vcvtph2ps widens
  nibbles,     // vpdpbusd on 4-bit weights that are widened in registers; sums of groups are scaled
  wide_nibbles,  // the same with vpmaddwd, on A widened when it was packed
  fma_half,      // vfmadd231ph on float16; the sums of kHalfDepth k are added to float sums
  dot_bf16,      // vdpbf16ps
  fma_bf16,      // vfmadd231ps on bfloat16 weights widened to float, even and odd k apart
};

// Position-independent code of the kernel; empty where the tile does not fit the registers.
std::vector<std::uint8_t> generate_gemm(Dot dot, const GemmFamily& family, const KernelKey& key);

// The same as a GenerateGemm, for the table.
template <Dot dot>
std::vector<std::uint8_t> generate_gemm(const GemmFamily& family, const KernelKey& key) {
  return generate_gemm(dot, family, key);
}

// The same of a matrix unit. Its code calls vector kernels at their addresses, which it finds or
// generates first.
std::vector<std::uint8_t> generate_amx(const GemmFamily& family, const KernelKey& key);

// Sliding kernels, by what their lanes hold.
std::vector<std::uint8_t> generate_sliding_bytes(const SlidingKey& key);
std::vector<std::uint8_t> generate_sliding_pairs(const SlidingKey& key);
std::vector<std::uint8_t> generate_sliding_floats(const SlidingKey& key);

}  // namespace fbg::kernels
