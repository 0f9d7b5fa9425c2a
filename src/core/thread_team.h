// How the threads of a run share it.
//
// A run is a row of stages, and stages of all runs are numbered through. Thread i claims share i of
// a stage by writing the number of the stage into seat i; whoever has nothing left to do claims for
// others. A stage cannot end before all of its shares are claimed and done, so a claim that
// succeeds belongs to the stage in progress, however late the thread is, and the run waits for it.
// A thread without a claim touches nothing of the run: it may come too late for all of it.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "fbg/core/float_environment.h"
#include "fbg/core/threads.h"

namespace fbg::team {

// A number of a stage, and how many shares it has: none between runs. In a fixed stage, threads
// compute their own shares alone.
struct Stage {
  std::uint64_t word = 0;

  static constexpr int kSharesBits = 11;
  static_assert(kMaxThreads < 1 << kSharesBits);
  static Stage of(std::uint64_t number, int shares, bool fixed) {
    return {(number << (kSharesBits + 1)) | (std::uint64_t{fixed} << kSharesBits) |
            static_cast<std::uint64_t>(shares)};
  }
  std::uint64_t number() const { return word >> (kSharesBits + 1); }
  int shares() const { return static_cast<int>(word & ((1u << kSharesBits) - 1)); }
  bool fixed() const { return (word >> kSharesBits & 1) != 0; }
  bool operator==(const Stage&) const = default;
};

// Share i and thread i: the caller for 0, a worker for others.
struct Seat {
  alignas(64) std::atomic<std::uint64_t> claimed{0};  // the last stage in which the share was
  alignas(64) std::atomic<std::uint64_t> working{0};  // the stage for which the thread has a claim
  std::atomic<std::uint32_t> ticket{0};               // a run that may need the thread adds 1
  std::atomic<bool> asleep{false};                    // or about to be
  std::atomic<int> cpu{-1};                           // where the thread was last seen
  std::atomic<pid_t> thread{0};
  std::atomic<std::uint32_t> moving{0};  // 1: a thread, which may be this one, changes its affinity
  std::atomic<int> lent_cpu{-1};         // the CPU that another thread has lent to this one
  std::thread worker;                    // none for the caller

  // Calls a function that changes the affinity of the thread and restores it, unless another thread
  // is doing so: what it restored would be the change.
  template <class Function>
  bool move(Function function) noexcept {
    if (moving.exchange(1, std::memory_order_seq_cst) != 0) return false;
    function();
    moving.store(0, std::memory_order_seq_cst);
    moving.notify_one();
    return true;
  }
};

struct Team {
  std::atomic<bool> busy{false};  // callers that find it true write it, too
  // The run in progress: written by the owner of `busy` before its first stage, read by those who
  // have a claim.
  alignas(64) SharedWork* work = nullptr;
  Subnormals subnormals = Subnormals::keep;
  std::array<std::atomic<Seat*>, kMaxThreads> seats{};
  int num_seats = 0;
  std::atomic<bool> ended{false};  // its workers are to end
  alignas(64) std::atomic<std::uint64_t> stage{0};
  alignas(64) std::atomic<int> left{0};  // shares of the stage that are not done
  std::atomic<int> lenders{0};           // threads that sleep until a share is done
  std::atomic<std::uint32_t> done{0};    // counts shares, while there are lenders

  Stage now() const noexcept { return {stage.load(std::memory_order_seq_cst)}; }
  Seat& seat(int i) noexcept {
    return *seats[static_cast<std::size_t>(i)].load(std::memory_order_acquire);
  }
};

// Threads of the run that this thread is part of; outside of any run, it is on its own.
inline constinit thread_local int t_run_threads = 1;

// Threads of a run, one of which is this one.
class RunScope {
 public:
  explicit RunScope(int threads) noexcept : previous_(std::exchange(t_run_threads, threads)) {}
  ~RunScope() { t_run_threads = previous_; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  const int previous_;
};

// Takes part in the run in progress, if it has so many shares. The caller is thread 0, and comes
// back when the run has ended and its affinity is what it was.
void take_part(Team& team, Seat& self, int id) noexcept;

}  // namespace fbg::team
