// Timers for the phases of fused steps, which `fbg profile` reports separately.
//
// A thread that is being profiled points `phase_seconds` at an array of counters, and a PhaseTimer
// adds the duration of its scope to one of them. On other threads a timer costs one load and one
// branch. Results never depend on timers. Time that no timer covers is reported as that of the
// products of linear layers, including their epilogues.
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
