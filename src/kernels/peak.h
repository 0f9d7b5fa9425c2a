// The limits that benchmarks are measured against: what a sequence of instructions does from
// registers, and what a core can read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fbg::kernels {

// Names of the sequences this CPU can run, such as "int8_vpdpbusd_zmm".
std::vector<std::string> peak_names();
// Billions of operations (2 per multiply-add) per second on one core: the mean over `seconds`, as a
// benchmark times its contestants. Throws std::invalid_argument for a name that is not in
// peak_names().
double measure_peak(const std::string& name, double seconds);
// GB/s at which one core reads `bytes` over and over: of the cache they fit in, or of memory.
// Throws std::invalid_argument for less than 4096 bytes and on a CPU without AVX2 or NEON.
double measure_read(std::size_t bytes, double seconds);

}  // namespace fbg::kernels
