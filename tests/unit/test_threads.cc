// The thread team: every thread runs once, whoever calls, however often, before and after a fork.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "fbg/core/threads.h"

namespace fbg {
namespace {

// How often each thread ran, and what it was told.
struct Visits {
  std::vector<std::atomic<int>> count;
  std::atomic<int> told{0};
  explicit Visits(int capacity) : count(static_cast<std::size_t>(capacity)) {}

  void run(int num_threads) {
    run_team(num_threads, [this](int thread_id, int n) {
      count[static_cast<std::size_t>(thread_id)].fetch_add(1);
      told.store(n);
    });
  }
  int total() const {
    int sum = 0;
    for (const auto& c : count) sum += c.load();
    return sum;
  }
};

TEST(RunTeam, CallsEveryThreadOnce) {
  for (int n : {1, 2, 5, 3, 8, 1, 8}) {
    Visits visits(8);
    visits.run(n);
    EXPECT_EQ(visits.told.load(), n);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(visits.count[static_cast<std::size_t>(i)], i < n ? 1 : 0);
  }
}

TEST(RunTeam, CallerIsThreadZeroAndOthersDiffer) {
  std::vector<std::thread::id> ids(4);
  run_team(4, [&](int id, int) { ids[static_cast<std::size_t>(id)] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 4u);
}

TEST(RunTeam, ZeroAndNegativeMeanOne) {
  for (int n : {0, -3}) {
    Visits visits(1);
    visits.run(n);
    EXPECT_EQ(visits.told.load(), 1);
    EXPECT_EQ(visits.total(), 1);
  }
}

TEST(RunTeam, ManyRunsSeeTheirOwnWrites) {
  constexpr int kRuns = 20000;
  std::vector<long> sums(3);  // plain: run_team itself must order the accesses
  for (int run = 1; run <= kRuns; ++run) {
    const int n = 1 + run % 3;
    run_team(n, [&](int id, int) { sums[static_cast<std::size_t>(id)] += run; });
  }
  long expected[3] = {};
  for (int run = 1; run <= kRuns; ++run)
    for (int id = 0; id <= run % 3; ++id) expected[id] += run;
  for (int id = 0; id < 3; ++id) EXPECT_EQ(sums[static_cast<std::size_t>(id)], expected[id]);
}

TEST(RunTeam, WakesSleepingWorkers) {
  for (int run = 0; run < 20; ++run) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // beyond the spin
    Visits visits(3);
    visits.run(3);
    EXPECT_EQ(visits.total(), 3);
  }
}

TEST(RunTeam, IdleWorkersSleep) {
  Visits(2).run(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::clock_t start = std::clock();  // CPU time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC / 50);
}

// Without rest_team, workers spin for 0.1 ms after each run, while their caller is elsewhere. What
// the run itself takes is not counted: waiting for a worker without a CPU takes longer.
TEST(RunTeam, WorkersThatRestTakeNoTimeFromOtherLibraries) {
  const auto cpu_time_between_runs = [](bool rest) {
    std::clock_t sum = 0;  // CPU time of all threads
    for (int run = 0; run < 50; ++run) {
      Visits(2).run(2);
      if (rest) rest_team();
      const std::clock_t start = std::clock();
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      sum += std::clock() - start;
    }
    return sum;
  };
  cpu_time_between_runs(true);
  EXPECT_LT(cpu_time_between_runs(true), cpu_time_between_runs(false));
}

TEST(RunTeam, NestedRunIsSerial) {
  std::atomic<int> inner_calls{0}, inner_wide{0};
  run_team(3, [&](int, int) {
    Barrier barrier;
    run_team(3, [&](int id, int n) {
      barrier.wait();  // alone: must not wait for the threads that were asked for
      inner_calls.fetch_add(1);
      if (id != 0 || n != 1) inner_wide.fetch_add(1);
    });
  });
  EXPECT_EQ(inner_calls.load(), 3);
  EXPECT_EQ(inner_wide.load(), 0);
}

TEST(RunTeam, TeamInsideASerialRunHasItsBarrier) {
  std::atomic<int> before{0}, missed{0};
  run_team(1, [&](int, int) {
    Barrier barrier;
    run_team(3, [&](int, int) {
      before.fetch_add(1);
      barrier.wait();
      if (before.load() != 3) missed.fetch_add(1);
    });
  });
  EXPECT_EQ(missed.load(), 0);
}

TEST(RunTeam, ConcurrentCallersAllFinish) {
  constexpr int kCallers = 4, kRuns = 2000;
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < kCallers; ++c) {
    callers.emplace_back([&wrong] {
      for (int run = 0; run < kRuns; ++run) {
        Visits visits(3);
        visits.run(3);
        const int n = visits.told.load();
        if (visits.total() != n || n < 1 || n > 3) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

// Threads that are callers for as long as this lives.
class OtherCallers {
 public:
  explicit OtherCallers(int number) {
    for (int i = 0; i < number; ++i)
      threads_.emplace_back([this] {
        const CallScope outer, inner;  // counted once
        inside_.fetch_add(1);
        leave_.wait(false);
      });
    while (inside_.load() != number) std::this_thread::yield();
  }
  ~OtherCallers() {
    leave_.store(true);
    leave_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> leave_{false};
  std::vector<std::thread> threads_;
};

int threads_of_a_run(int wanted) {
  Visits visits(wanted);
  visits.run(wanted);
  EXPECT_EQ(visits.total(), visits.told.load());
  return visits.told.load();
}

TEST(RunTeam, TakesTheCpusThatOtherCallersLeave) {
  const int cpus = available_cpus(), wanted = cpus + 2;
  EXPECT_EQ(threads_of_a_run(wanted), wanted);  // alone: what is asked for
  for (int others = 1; others <= cpus + 2; ++others) {
    const OtherCallers callers(others);
    EXPECT_EQ(threads_of_a_run(wanted), std::max(cpus - others, 1)) << others;
    EXPECT_EQ(threads_of_a_run(1), 1);
  }
  const CallScope own;
  EXPECT_EQ(threads_of_a_run(wanted), wanted);
}

TEST(RunTeam, BarrierMeetsAllThreadsOfASmallerRun) {
  const OtherCallers callers(1);
  std::vector<int> written(static_cast<std::size_t>(available_cpus() + 2));  // plain
  std::atomic<int> missed{0};
  Barrier barrier;
  run_team(available_cpus() + 2, [&](int id, int n) {
    written[static_cast<std::size_t>(id)] = 1;
    barrier.wait();
    for (int i = 0; i < n; ++i)
      if (written[static_cast<std::size_t>(i)] != 1) missed.fetch_add(1);
  });
  EXPECT_EQ(missed.load(), 0);
}

// Runs `body` in a forked child that is killed after a few seconds; true when body returned true.
template <class Body>
bool in_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(RunTeam, ChildOfForkStartsAFreshTeam) {
  Visits(4).run(4);
  const auto child = [] {
    for (int run = 0; run < 100; ++run) {
      Visits visits(4);
      visits.run(4);
      if (visits.told.load() != 4 || visits.total() != 4) return false;
    }
    return true;
  };
  EXPECT_TRUE(in_child(child));
  EXPECT_TRUE(in_child([&] { return in_child(child) && child(); }));
  Visits visits(4);
  visits.run(4);
  EXPECT_EQ(visits.total(), 4);
}

TEST(RunTeam, ChildOfForkCountsNoCallersOfItsParent) {
  const OtherCallers callers(available_cpus() + 2);
  EXPECT_TRUE(in_child([] {
    const CallScope own;
    return threads_of_a_run(4) == 4;
  }));
}

TEST(RunTeam, ForkWhileAnotherThreadRuns) {
  std::atomic<bool> stop{false};
  std::atomic<unsigned> started{0};  // one bit per thread
  std::thread other([&] {
    while (!stop.load()) run_team(3, [&](int id, int) { started.fetch_or(1u << id); });
  });
  // AddressSanitizer has locks of its own while a thread starts, and fork does not know of them.
#ifdef __SANITIZE_ADDRESS__
  constexpr unsigned kEnough = 7;
#else
  constexpr unsigned kEnough = 1;
#endif
  while ((started.load() & kEnough) != kEnough) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(in_child([] {
      Visits visits(3);
      visits.run(3);
      return visits.told.load() == 3 && visits.total() == 3;
    }));
  }
  stop.store(true);
  other.join();
}

TEST(RunTeam, ExitWithLiveWorkersIsClean) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    Visits(4).run(4);
    std::exit(0);  // runs static destructors while workers exist
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(BarrierTest, SeparatesPhases) {
  constexpr int kThreads = 4, kPhases = 500;
  Barrier barrier;
  std::vector<int> phase(kThreads);  // plain: the barrier must order the accesses
  std::atomic<int> wrong{0};
  run_team(kThreads, [&](int id, int n) {
    for (int p = 1; p <= kPhases; ++p) {
      phase[static_cast<std::size_t>(id)] = p;
      barrier.wait();
      for (int i = 0; i < n; ++i)
        if (phase[static_cast<std::size_t>(i)] != p) wrong.fetch_add(1);
      barrier.wait();
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

TEST(NumThreads, RejectsWhatIsOutOfRange) {
  const int before = num_threads();
  EXPECT_GE(before, 1);
  EXPECT_THROW(set_num_threads(0), std::invalid_argument);
  EXPECT_THROW(set_num_threads(kMaxThreads + 1), std::invalid_argument);
  EXPECT_EQ(num_threads(), before);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(before);
}

// Workers are steered away from the CPU of the thread that wakes them, for that moment only.
TEST(RunTeam, WorkersKeepTheirAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::atomic<pid_t> worker{0};
  for (int i = 0; i < 200; ++i) {
    run_team(2, [&](int thread_id, int) noexcept {
      if (thread_id == 1) worker = gettid();
    });
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // it sleeps, too
  }
  ASSERT_NE(worker, 0);
  cpu_set_t after;
  ASSERT_EQ(sched_getaffinity(worker, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

// What a crash reporter such as Python's faulthandler does: say a word, then die by the signal.
void report_and_die(int signal) {
  constexpr char kMessage[] = "reported by the handler\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// pthread_kill would not do: unlike a fault, it leaves a blocked signal pending.
void fault(int signal) {
  if (signal == SIGSEGV) {
    volatile std::uintptr_t nowhere = 16;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
  } else {
    __builtin_trap();
  }
}

class WorkerFaults : public testing::TestWithParam<int> {};

TEST_P(WorkerFaults, ReachTheHandlerOfTheProcess) {
  const int expected = GetParam();
  const auto crash = [&] {
    signal(expected, report_and_die);
    run_team(2, [&](int thread_id, int) noexcept {
      if (thread_id == 1) fault(expected);
    });
  };
  EXPECT_EXIT(crash(), testing::KilledBySignal(expected), "reported by the handler");
}

#if defined(__x86_64__)
INSTANTIATE_TEST_SUITE_P(Signals, WorkerFaults, testing::Values(SIGSEGV, SIGILL));
#else  // __builtin_trap raises SIGTRAP on some
INSTANTIATE_TEST_SUITE_P(Signals, WorkerFaults, testing::Values(SIGSEGV));
#endif

}  // namespace
}  // namespace fbg
