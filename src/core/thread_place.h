// On which CPU a thread runs, and whether it runs.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>

namespace fbg {

// Moves a thread to that CPU, where it may stay or not. False if it cannot. Meanwhile it may run
// there only, so it must not go on to what depends on its affinity before this returns.
bool bring_to(pid_t thread, int cpu) noexcept;

// While it exists, a thread (0: this one) may not run on that CPU; if it ran there, it goes to
// another. It fails if the thread may run there only.
class KeptOff {
 public:
  KeptOff(pid_t thread, int cpu) noexcept;
  ~KeptOff();
  KeptOff(const KeptOff&) = delete;
  KeptOff& operator=(const KeptOff&) = delete;
  bool succeeded() const noexcept { return succeeded_; }

 private:
  const pid_t thread_;
  cpu_set_t allowed_;
  bool succeeded_ = false;
};

// The time for which a thread runs from here on.
class RunTime {
 public:
  explicit RunTime(pid_t thread) noexcept;
  bool is_known() const noexcept { return ran_.count() >= 0; }
  // Whether the thread has had hardly any of the time that has passed.
  bool stands_still() const noexcept;

 private:
  const pid_t thread_;
  const std::chrono::nanoseconds ran_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace fbg
