#include "core/no_fork.h"

#include <pthread.h>

#include <thread>

namespace fbg {

constinit std::atomic<std::int64_t> NoFork::inside_{0};

struct ForkHandlers {
  static constexpr std::int64_t kForking = std::int64_t{1} << 32;  // more than there are threads

  static void before() {
    std::int64_t none = 0;
    while (!NoFork::inside_.compare_exchange_weak(none, -kForking, std::memory_order_acquire)) {
      none = 0;
      std::this_thread::yield();
    }
  }
  static void in_parent() { NoFork::inside_.fetch_add(kForking, std::memory_order_release); }
  // Threads that began to wait are not in the child.
  static void in_child() { NoFork::inside_.store(0, std::memory_order_relaxed); }
};

namespace {
[[maybe_unused]] const int g_at_fork =
    pthread_atfork(ForkHandlers::before, ForkHandlers::in_parent, ForkHandlers::in_child);
}  // namespace

void NoFork::wait_for_fork() {
  do {
    inside_.fetch_sub(1, std::memory_order_relaxed);
    while (inside_.load(std::memory_order_relaxed) < 0) std::this_thread::yield();
  } while (inside_.fetch_add(1, std::memory_order_acquire) < 0);
}

}  // namespace fbg
