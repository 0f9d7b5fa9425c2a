// The control register of each architecture: MXCSR on x86-64, FPCR on AArch64.
#include "fbg/core/float_environment.h"

#include <cfenv>

namespace fbg {

#if defined(__x86_64__)

FloatEnvironment::FloatEnvironment() noexcept : saved_(__builtin_ia32_stmxcsr()) {
  __builtin_ia32_ldmxcsr(0x1f80);  // all exceptions masked, round to nearest even, no FTZ or DAZ
}
FloatEnvironment::~FloatEnvironment() { __builtin_ia32_ldmxcsr(static_cast<unsigned>(saved_)); }

#elif defined(__aarch64__)

namespace {

// FZ (24) and FZ16 (19) flush denormals, RMode (23-22) rounds, FIZ (0) and AH (1) of newer CPUs
// take denormal operands for zeros and change the signs of NaNs, bits 8-15 trap exceptions. All of
// them are 0 in the default environment.
std::uint64_t read_fpcr() noexcept {
  std::uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
void write_fpcr(std::uint64_t value) noexcept { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }

}  // namespace

FloatEnvironment::FloatEnvironment() noexcept : saved_(read_fpcr()) { write_fpcr(0); }
FloatEnvironment::~FloatEnvironment() { write_fpcr(saved_); }

#else

// Only the rounding mode can be set portably; other architectures keep denormals by default.
FloatEnvironment::FloatEnvironment() noexcept
    : saved_(static_cast<std::uint64_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
FloatEnvironment::~FloatEnvironment() { std::fesetround(static_cast<int>(saved_)); }

#endif

}  // namespace fbg
