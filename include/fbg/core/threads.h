// The thread team of the Python layer and of plans. Kernels never create threads: they take
// (thread_id, num_threads) and compute their share; this is one way to bring them those threads.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

namespace fbg {

inline constexpr int kMaxThreads = 1024;

// CPUs this process may use: the smaller of its affinity mask and its cgroup quota, at least 1.
int available_cpus() noexcept;

// How many threads calls use that name no number. Starts as FBG_NUM_THREADS, or available_cpus().
// Throws std::invalid_argument outside [1, kMaxThreads].
void set_num_threads(int n);
int num_threads() noexcept;

// Between enter_call() and leave_call() this thread counts as a caller of the library. While
// several threads are callers, a run takes only as many threads as the others leave CPUs, so that
// many callers have one CPU each. A run counts its caller by itself; these count what surrounds
// runs and also needs a CPU, such as tokenizing a text. Pairs of calls may be nested.
void enter_call() noexcept;
void leave_call() noexcept;

class CallScope {
 public:
  CallScope() noexcept { enter_call(); }
  ~CallScope() { leave_call(); }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

// Whether the runs of this thread give way to other threads. That is for threads of low priority: a
// system may notice only at the next tick of its timer, after up to 4 ms, that a thread of higher
// priority waits for their CPU. A thread that gives way lets the system look after every op of a
// plan that it runs alone, but not more often than once in a millisecond.
void set_gives_way(bool gives_way) noexcept;
bool gives_way() noexcept;

// What a run calls where it may give way.
void give_way() noexcept;

// Work that threads share: stages that follow each other, each divided into as many shares as
// threads run it.
class SharedWork {
 public:
  // Computes one share of the stage. Shares of a stage are computed at the same time or one after
  // the other, each by the thread that claims it, so none may wait for another; what is written in
  // one stage is seen by all in the next.
  virtual void run(int share, int num_shares) noexcept = 0;
  // Called by one thread when all shares of a stage are done. False: that was the last.
  virtual bool next(int num_shares) noexcept = 0;

 protected:
  ~SharedWork() = default;
};

// Does the work on num_threads threads, of which the caller is one, and returns when it is done.
// Thread i claims share i of each stage, and then those that nobody has claimed: a thread that gets
// no CPU, because other processes use it, keeps nobody waiting. While a thread is kept from a share
// that it has claimed, one that would wait for it lends it its CPU. The number of shares is
// the number asked for, or, while there are other callers, the number of CPUs that they leave, if
// it is less; and 1 when the team is busy (another thread runs it, or this call comes from within a
// share) or the system refuses more threads. Workers are created by the first call that needs them;
// later calls allocate nothing. After a fork the child starts a new team. All threads compute in
// the FloatEnvironment of the caller, or in a default one where it is inside of none.
void run_shared(int num_threads, SharedWork& work) noexcept;

// Gives this thread a team of its own until it ends, and its runs at most so many threads. Without
// it, all threads of a process share one team, which one of them uses at a time. The first run that
// needs workers starts them: they inherit the affinity mask and the priority that this thread then
// has.
void own_team(int max_threads) noexcept;

// A function of its context, of the number of a share or thread, and of how many there are.
using TeamTask = void (*)(void* context, int index, int count) noexcept;

// The same for a single stage.
void run_shares(int num_threads, TeamTask task, void* context) noexcept;

// Calls task(context, thread_id, num_threads) once on each of num_threads threads at the same time,
// the caller being thread 0, and returns when all are done; the number is chosen as for run_shared.
// That is for tasks whose threads wait for each other: others need not wait for all of them.
void run_team(int num_threads, TeamTask task, void* context) noexcept;

// A task that calls the callable that is its context.
template <std::invocable<int, int> Function>
TeamTask task_of(Function&) noexcept {
  return [](void* context, int index, int count) noexcept {
    (*static_cast<Function*>(context))(index, count);
  };
}

// run_shares(4, [&](int share, int num_shares) { ... })
template <std::invocable<int, int> Function>
void run_shares(int num_threads, Function&& function) noexcept {
  run_shares(num_threads, task_of(function),
             const_cast<void*>(static_cast<const void*>(&function)));
}

// run_team(4, [&](int thread_id, int num_threads) { ... })
template <std::invocable<int, int> Function>
void run_team(int num_threads, Function&& function) noexcept {
  run_team(num_threads, task_of(function), const_cast<void*>(static_cast<const void*>(&function)));
}

// Lets the workers sleep at once, which otherwise spin for a moment in case that another run
// follows. That is for a caller who is about to start threads of another library: two teams that
// wait for work on the same CPUs keep each other from it. The next run wakes them.
void rest_team() noexcept;

// Makes the threads of one run_team wait for each other: what was written before wait() is seen by
// all after it. A barrier belongs to one run: its threads, however many there are, call wait()
// alike.
class Barrier {
 public:
  Barrier() = default;
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  void wait() noexcept;

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

}  // namespace fbg
