// Work that threads share: each share of each stage is computed once, whoever is late, and threads
// that lend each other CPUs leave no trace.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "fbg/core/threads.h"

namespace fbg {
namespace {

// Counts who computes which share of which stage, and checks that a stage sees the one before.
struct CountedWork final : SharedWork {
  CountedWork(int stages, int capacity)
      : count(static_cast<std::size_t>(stages),
              std::vector<int>(static_cast<std::size_t>(capacity))),
        last(stages - 1) {}

  void run(int share, int num_shares) noexcept override {
    shares = num_shares;
    if (stage > 0)
      for (int i = 0; i < num_shares; ++i)
        if (of(stage - 1)[static_cast<std::size_t>(i)] != 1) ++wrong;
    if (std::this_thread::get_id() == caller) ++by_caller;
    ++of(stage)[static_cast<std::size_t>(share)];
  }
  bool next(int) noexcept override { return stage++ < last; }

  std::vector<int>& of(int s) { return count[static_cast<std::size_t>(s)]; }
  bool is_complete() {
    for (const std::vector<int>& each : count)
      for (int i = 0; i < shares; ++i)
        if (each[static_cast<std::size_t>(i)] != 1) return false;
    return wrong == 0;
  }

  std::vector<std::vector<int>> count;  // plain: run_shared must order the accesses
  const std::thread::id caller = std::this_thread::get_id();
  const int last;
  int stage = 0;  // plain, too
  std::atomic<int> wrong{0}, by_caller{0}, shares{0};
};

TEST(RunShared, ComputesEachShareOfEachStageOnce) {
  for (int run = 0; run < 200; ++run) {
    CountedWork work(1 + run % 20, 4);
    run_shared(1 + run % 4, work);
    EXPECT_TRUE(work.is_complete());
    EXPECT_EQ(work.shares, 1 + run % 4);
    EXPECT_EQ(work.stage, 1 + run % 20);
  }
}

TEST(RunShared, ConcurrentCallersAllFinish) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&wrong] {
      for (int run = 0; run < 500; ++run) {
        CountedWork work(5, 3);
        run_shared(3, work);
        if (!work.is_complete()) wrong.fetch_add(1);
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(RunShared, WaitsForAShareThatIsClaimed) {
  for (int run = 0; run < 5; ++run) {
    std::vector<int> done(3);
    run_shares(3, [&](int share, int) {
      if (share > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      done[static_cast<std::size_t>(share)] = 1;
    });
    EXPECT_EQ(done, std::vector<int>(3, 1));
  }
}

std::atomic<bool> g_held{false}, g_release{false};
void hold(int) {
  g_held.store(true);
  while (!g_release.load()) usleep(100);
}

// Holds a worker in the handler of a signal, where it has claimed nothing.
TEST(RunShared, WaitsForNoWorkerThatIsLate) {
  std::atomic<pid_t> worker{0};
  run_team(2, [&](int id, int) {
    if (id == 1) worker = gettid();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // it sleeps
  const auto previous = signal(SIGTRAP, hold);
  ASSERT_EQ(tgkill(getpid(), worker, SIGTRAP), 0);
  while (!g_held.load()) std::this_thread::yield();
  for (int run = 0; run < 50; ++run) {
    CountedWork work(10, 2);
    run_shared(2, work);
    EXPECT_TRUE(work.is_complete());
    EXPECT_EQ(work.shares, 2);
    EXPECT_EQ(work.by_caller, 20);
  }
  g_release.store(true);
  std::atomic<int> total{0};
  run_team(2, [&](int, int) { ++total; });  // it comes back
  EXPECT_EQ(total, 2);
  signal(SIGTRAP, previous);
}

// A thread that keeps the last CPU of this process busy.
class Neighbour {
 public:
  Neighbour() {
    sched_getaffinity(0, sizeof allowed, &allowed);
    cpu_set_t last;
    CPU_ZERO(&last);
    for (std::size_t cpu = CPU_SETSIZE; CPU_COUNT(&last) == 0;)
      if (CPU_ISSET(--cpu, &allowed)) CPU_SET(cpu, &last);
    thread_ = std::thread([this, last] {
      sched_setaffinity(0, sizeof last, &last);
      while (!leave_.load(std::memory_order_relaxed)) continue;
    });
  }
  ~Neighbour() {
    leave_.store(true);
    thread_.join();
  }

  cpu_set_t allowed;  // to this process

 private:
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

// Threads lend each other CPUs meanwhile, the caller's being one of them.
TEST(RunShared, CallersHaveTheirAffinityAfterEachRun) {
  const Neighbour neighbour;
  int narrowed = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) {
    run_shares(CPU_COUNT(&neighbour.allowed), [](int, int) {
      const auto done = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
      while (std::chrono::steady_clock::now() < done) continue;
    });
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    if (!CPU_EQUAL(&now, &neighbour.allowed)) ++narrowed;
  }
  EXPECT_EQ(narrowed, 0);
}

}  // namespace
}  // namespace fbg
