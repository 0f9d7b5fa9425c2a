// Waiting for other threads without giving up the CPU.
#pragma once

#include <chrono>

namespace fbg {

// Long enough to bridge the gap between two calls of a model, short enough not to be felt by
// others.
inline constexpr std::chrono::microseconds kSpinTime{100};

inline void pause_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Spins until ready(), which is true, or until so much time has passed.
template <class Ready>
bool spin_until(Ready ready, std::chrono::microseconds time = kSpinTime) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace fbg
