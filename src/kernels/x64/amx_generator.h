// Generates GEMM microkernels that multiply with AMX tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/table.h"

namespace fbg::kernels {

// Code of the kernel, a GenerateGemm. It calls vector kernels at their addresses, which it finds or
// generates first. Empty where the tile of C does not fit the tile registers.
std::vector<std::uint8_t> generate_amx(const GemmFamily& family, const KernelKey& key);

}  // namespace fbg::kernels
