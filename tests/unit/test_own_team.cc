// Teams of their own: who works for whom, on which CPUs, how many, and that nobody stays.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fbg/core/threads.h"

namespace fbg {
namespace {

// The threads of a run with so many.
std::vector<pid_t> members(int num_threads) {
  std::vector<pid_t> found(static_cast<std::size_t>(num_threads), 0);
  run_team(num_threads,
           [&](int thread_id, int) { found[static_cast<std::size_t>(thread_id)] = gettid(); });
  while (!found.empty() && found.back() == 0) found.pop_back();
  return found;
}

bool exists(pid_t thread) {
  return access(("/proc/self/task/" + std::to_string(thread)).c_str(), F_OK) == 0;
}

TEST(OwnTeam, HasWorkersThatNoOtherThreadUsesAndThatEndWithIt) {
  const std::vector<pid_t> shared = members(2);
  std::vector<pid_t> own;
  std::thread lane([&] {
    own_team(2);
    own = members(2);
    EXPECT_EQ(members(2), own);
  });
  lane.join();
  ASSERT_EQ(own.size(), 2u);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_NE(own[1], shared[1]);
  EXPECT_FALSE(exists(own[1]));
  EXPECT_TRUE(exists(shared[1]));
  EXPECT_EQ(members(2), shared);
}

TEST(OwnTeam, LimitsTheThreadsOfARun) {
  std::thread([] {
    own_team(3);
    EXPECT_EQ(members(8).size(), 3u);
    own_team(1);
    EXPECT_EQ(members(8).size(), 1u);
  }).join();
  EXPECT_EQ(members(4).size(), 4u);
}

TEST(OwnTeam, WorkersInheritTheAffinityOfTheirThread) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  members(2);  // the process has a worker before that may run anywhere
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    own_team(2);
    std::atomic<int> same{0};
    run_team(2, [&](int, int) {
      cpu_set_t mask;
      sched_getaffinity(0, sizeof mask, &mask);
      same += CPU_EQUAL(&mask, &one);
    });
    EXPECT_EQ(same, 2);
  }).join();
}

TEST(OwnTeam, RunsAtOnceWithOthers) {
  if (available_cpus() < 4) GTEST_SKIP() << "needs a CPU for each of four threads";
  std::atomic<int> inside{0};
  const auto meet = [&] {
    own_team(2);
    run_team(2, [&](int, int) {
      ++inside;
      while (inside < 4) std::this_thread::yield();
    });
  };
  std::thread one(meet), other(meet);
  one.join();
  other.join();
  EXPECT_EQ(inside, 4);
}

TEST(OwnTeam, ARunWithinARunHasOneThread) {
  std::thread([] {
    own_team(2);
    std::atomic<int> most{0};
    run_team(2, [&](int, int) {
      run_team(2, [&](int, int count) {
        if (count > 1) most = count;
      });
    });
    EXPECT_EQ(most, 0);
  }).join();
}

TEST(OwnTeam, ChildOfForkHasNone) {
  std::thread([] {
    own_team(2);
    const std::vector<pid_t> own = members(2);
    const pid_t child = fork();
    if (child == 0) {
      const std::vector<pid_t> fresh = members(2);
      _exit(fresh.size() == 2 && fresh[1] != own[1] ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(members(2), own);
  }).join();
}

TEST(OwnTeam, ManyComeAndGo) {
  for (int i = 0; i < 300; ++i)
    std::thread([] {
      own_team(3);
      EXPECT_EQ(members(3).size(), 3u);
    }).join();
}

}  // namespace
}  // namespace fbg
