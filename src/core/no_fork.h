// Holds a fork off while a thread changes what a forked child will read.
//
// A child has the memory of its parent at one moment, but none of the other threads: a mutex that
// one of them holds stays locked for ever, and what it was changing stays half changed. Whatever
// the child may use is therefore locked and changed within a NoFork, in addition to its own mutex.
#pragma once

namespace fbg {

// While one lives, on any thread, no fork begins. Scopes may be nested. One ends soon: it never
// waits for a run.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

}  // namespace fbg
