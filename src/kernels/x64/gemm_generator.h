// Generates GEMM microkernels: u8 x s8 -> int32 and fp32, for AVX2, AVX-VNNI, AVX-512, AVX-512
// VNNI.
#pragma once

#include <cstdint>
#include <vector>

#include "fbg/kernels/microkernel.h"

namespace fbg::kernels {

// Position-independent code of the kernel; empty when no generator applies to the key.
std::vector<std::uint8_t> generate_gemm(const KernelKey& key);

}  // namespace fbg::kernels
