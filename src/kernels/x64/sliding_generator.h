// The kernels of kernels/sliding.h, by what their lanes hold.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/sliding.h"

namespace fbg::kernels {

std::vector<std::uint8_t> generate_sliding_bytes(const SlidingKey& key);
std::vector<std::uint8_t> generate_sliding_pairs(const SlidingKey& key);
std::vector<std::uint8_t> generate_sliding_floats(const SlidingKey& key);

}  // namespace fbg::kernels
