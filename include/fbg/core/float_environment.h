// The floating-point environment that results depend on.
#pragma once

#include <cstdint>

namespace fbg {

// Rounds half to even and keeps denormals for as long as it lives; then what was before, which may
// be another rounding mode, or denormals taken for zeros.
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
