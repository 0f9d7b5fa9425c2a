// Where the time inside fused steps goes: stretches of a thread's work that a profile tells apart.
//
// A thread that is profiled points `phase_seconds` at a row of counters; a PhaseTimer adds the
// length of its scope to one of them. Everywhere else it costs one load and a branch, and results
// never depend on it. What no timer covers is the product of a linear layer, epilogue included.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fbg {

enum class Phase : std::uint8_t {
  pack,     // rows of A quantized, rounded or copied; K and V into panels
  scores,   // Q K^T
  softmax,  // P, rounded where the next product wants it so
  context,  // P V
};
inline constexpr std::size_t kPhases = 4;

inline constinit thread_local double* phase_seconds = nullptr;  // [kPhases], or null

class PhaseTimer {
 public:
  explicit PhaseTimer(Phase phase) noexcept
      : seconds_(phase_seconds ? phase_seconds + static_cast<std::size_t>(phase) : nullptr) {
    if (seconds_) start_ = Clock::now();
  }
  ~PhaseTimer() {
    if (seconds_) *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count();
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double* const seconds_;
  Clock::time_point start_{};
};

}  // namespace fbg
