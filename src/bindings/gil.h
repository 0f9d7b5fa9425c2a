// Giving the interpreter's lock (the GIL) back while native code computes, and taking it again.
//
// A thread that asks for the lock while the interpreter is shutting down never gets it. Until
// Python 3.13, CPython then ends the thread with pthread_exit(), which unwinds its stack. In C++
// that calls std::terminate() at the first function that is noexcept, as destructors are, and on
// the way runs destructors that give up references to Python objects without holding the lock.
// Python 3.14 suspends such a thread until the process ends instead. Here that holds for every
// version: pybind11's own guards are not used, because they do not catch the unwinding.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

namespace fbg::bindings {

// Calls `take_lock`; where that ends the thread, the thread sleeps until the process ends.
template <class TakeLock>
auto take_or_sleep(TakeLock take_lock) noexcept {
  try {
    return take_lock();
  } catch (...) {  // not an exception: the forced unwinding of pthread_exit()
    for (;;) pause();
  }
}

// Gives the lock back for as long as this lives.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    take_or_sleep([this] { PyEval_RestoreThread(state_); });
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// Holds the lock for as long as this lives, whether or not the thread held it before.
class GilAcquire {
 public:
  GilAcquire() noexcept : state_(take_or_sleep([] { return PyGILState_Ensure(); })) {}
  ~GilAcquire() { PyGILState_Release(state_); }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  const PyGILState_STATE state_;
};

}  // namespace fbg::bindings
