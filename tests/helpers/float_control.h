// The control register of this thread's floating-point unit, which programs set as they like.
#pragma once

#include <cstdint>

namespace fbg {

#if defined(__x86_64__)
#define FBG_HAS_FLOAT_CONTROL 1
inline constexpr std::uint64_t kFlushes = 0x8040;  // FTZ and DAZ of MXCSR
inline std::uint64_t float_control() { return __builtin_ia32_stmxcsr() & ~0x3fu; }  // no flags
inline void set_float_control(std::uint64_t value) {
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(value));
}
#elif defined(__aarch64__)
#define FBG_HAS_FLOAT_CONTROL 1
inline constexpr std::uint64_t kFlushes = std::uint64_t{1} << 24;  // FZ of FPCR
inline std::uint64_t float_control() {
  std::uint64_t value;
  __asm__ volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
inline void set_float_control(std::uint64_t value) {
  __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory");
}
#endif

#ifdef FBG_HAS_FLOAT_CONTROL
// While it exists, this thread is that of a program that flushes subnormal numbers.
class FlushingCaller {
 public:
  FlushingCaller() : before_(float_control()) { set_float_control(before_ | kFlushes); }
  ~FlushingCaller() { set_float_control(before_); }
  FlushingCaller(const FlushingCaller&) = delete;
  FlushingCaller& operator=(const FlushingCaller&) = delete;
  static bool is_active() { return (float_control() & kFlushes) == kFlushes; }

 private:
  const std::uint64_t before_;
};
#endif

}  // namespace fbg
