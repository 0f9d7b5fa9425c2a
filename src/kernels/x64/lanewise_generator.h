// Generates the kernels of kernels/lanewise.h.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/lanewise.h"

namespace fbg::kernels {

// Position-independent code of the kernel; empty where the tile does not fit the registers.
std::vector<std::uint8_t> generate_lanewise(const LanewiseKey& key);

}  // namespace fbg::kernels
