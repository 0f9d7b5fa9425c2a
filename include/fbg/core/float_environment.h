// The floating-point environment that results depend on.
#pragma once

#include <cstdint>

namespace fbg {

// While it exists, this thread rounds half to even and computes with denormals. Its destructor
// restores the previous modes, which may round differently or take denormals for zeros.
class FloatEnvironment {
 public:
  FloatEnvironment() noexcept;
  ~FloatEnvironment();
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::uint64_t saved_;  // MXCSR, FPCR, or the rounding mode of <cfenv>
};

}  // namespace fbg
