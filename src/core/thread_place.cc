// Affinity masks, and the clocks of threads.
#include "core/thread_place.h"

#include <ctime>

namespace fbg {
namespace {

// The time for which a thread of this process has run, which the kernel counts to the moment of the
// question; negative if it does not say.
std::chrono::nanoseconds run_time(pid_t thread) noexcept {
  constexpr unsigned kClockOfThread = 6;  // its place in a number of a clock: CPUCLOCK_SCHED | 4
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kClockOfThread);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return std::chrono::nanoseconds{-1};
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

bool bring_to(pid_t thread, int cpu) noexcept {
  cpu_set_t allowed, here;
  if (cpu < 0 || sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return false;
  CPU_ZERO(&here);
  CPU_SET(static_cast<unsigned>(cpu), &here);
  if (!CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) return false;
  if (sched_setaffinity(thread, sizeof here, &here) != 0) return false;
  sched_setaffinity(thread, sizeof allowed, &allowed);
  return true;
}

KeptOff::KeptOff(pid_t thread, int cpu) noexcept : thread_(thread) {
  if (cpu < 0 || sched_getaffinity(thread, sizeof allowed_, &allowed_) != 0) return;
  cpu_set_t elsewhere = allowed_;
  CPU_CLR(static_cast<unsigned>(cpu), &elsewhere);
  succeeded_ =
      CPU_COUNT(&elsewhere) > 0 && sched_setaffinity(thread, sizeof elsewhere, &elsewhere) == 0;
}

KeptOff::~KeptOff() {
  if (succeeded_) sched_setaffinity(thread_, sizeof allowed_, &allowed_);
}

RunTime::RunTime(pid_t thread) noexcept
    : thread_(thread), ran_(run_time(thread)), start_(std::chrono::steady_clock::now()) {}

bool RunTime::stands_still() const noexcept {
  if (!is_known()) return false;
  const auto passed = std::chrono::steady_clock::now() - start_;
  return (run_time(thread_) - ran_) * 4 < passed;
}

}  // namespace fbg
