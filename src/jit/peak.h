// Register-only peak of an instruction sequence: the limit that benchmarks are measured against.
#pragma once

#include <string>
#include <vector>

namespace fbg::jit {

// Names of the sequences this CPU can run, such as "int8_vpdpbusd_zmm".
std::vector<std::string> peak_names();
// Billions of operations (2 per multiply-add) per second on one core: the mean over `seconds`, as a
// benchmark times its contestants. Throws std::invalid_argument for a name that is not in
// peak_names().
double measure_peak(const std::string& name, double seconds);

}  // namespace fbg::jit
