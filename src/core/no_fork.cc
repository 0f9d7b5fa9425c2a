#include "core/no_fork.h"

#include <pthread.h>

#include <new>
#include <shared_mutex>

namespace fbg {
namespace {

// Shared by all scopes; a fork has it alone. Readers are preferred, so that scopes may be nested
// while a fork waits. Never destroyed: threads may still run while static objects are.
std::shared_mutex& gate() {
  static auto* const the = new std::shared_mutex;
  return *the;
}

void before_fork() { gate().lock(); }
void in_parent() { gate().unlock(); }
// The thread that locked it has another id in the child, which a lock for writing goes by.
void in_child() { new (&gate()) std::shared_mutex; }
[[maybe_unused]] const int g_at_fork = pthread_atfork(before_fork, in_parent, in_child);

}  // namespace

NoFork::NoFork() { gate().lock_shared(); }
NoFork::~NoFork() { gate().unlock_shared(); }

}  // namespace fbg
