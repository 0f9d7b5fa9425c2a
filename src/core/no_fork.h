// Holds a fork off while a thread changes what a forked child will read.
//
// A child has the memory of its parent at one moment, but none of the other threads: a mutex that
// one of them holds stays locked for ever, and what it was changing stays half changed. Whatever
// the child may use is therefore locked and changed within a NoFork, in addition to its own mutex.
#pragma once

#include <atomic>
#include <cstdint>

namespace fbg {

// While one lives, on any thread, no fork begins. Scopes may be nested. One ends soon: it never
// waits for a run. It costs two additions, because each product by itself has one.
class NoFork {
 public:
  NoFork() {
    if (inside_.fetch_add(1, std::memory_order_acquire) < 0) wait_for_fork();
  }
  ~NoFork() { inside_.fetch_sub(1, std::memory_order_release); }
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;

 private:
  friend struct ForkHandlers;
  static void wait_for_fork();

  // Scopes that live; far below 0 during a fork, which begins only while there are none.
  static std::atomic<std::int64_t> inside_;
};

}  // namespace fbg
