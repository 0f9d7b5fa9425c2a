// A plan that several Python threads run at the same time.
#pragma once

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "bindings/gil.h"
#include "fbg/core/threads.h"
#include "fbg/plan/plan.h"

namespace fbg::bindings {

// The plan and copies of it, which share everything but their arenas: one for every run that goes
// on at the same time, but no more than there are CPUs, because further runs would only compete for
// CPUs and caches. A run that finds no plan free waits for one. Runs in threads that give way
// (`set_gives_way`) are counted by themselves, so that no other run waits for them. Call all of it
// with the GIL held.
class PlanPool {
 public:
  // Throws the same exceptions as Plan.
  PlanPool(const Graph& graph, const Capacity& capacity, Features features);

  // The plan that all copies share: it must not be run.
  const Plan& plan() const { return first_; }

  // How many arenas there are that runs have used.
  std::size_t num_arenas();

  // Frees the arenas of copies that no run uses.
  void free_idle();

  // Releases the GIL and calls run(plan) with a plan that nobody else runs meanwhile. Throws
  // std::bad_alloc; `run` throws nothing.
  template <class Run>
  void run(Run run) {
    Queue& queue = this->queue();
    const GilRelease release;
    Plan& plan = queue.take(first_);
    run(plan);
    queue.give_back(plan);
  }

 private:
  class Queue {
   public:
    explicit Queue(Plan& first);
    Plan& take(const Plan& first);
    void give_back(Plan& plan) noexcept;
    std::size_t num_plans();
    void free_idle();

   private:
    struct Idle {
      Plan* plan;
      std::thread::id user;  // the thread that used it last
    };

    // The runs of one kind of threads: those that give way, or the others.
    struct Runs {
      std::size_t count = 0;
      std::condition_variable ended;
    };

    Runs& runs() { return runs_[gives_way() ? 1 : 0]; }

    const std::size_t most_;  // runs of a kind
    bool first_is_used_;
    std::mutex mutex_;
    std::array<Runs, 2> runs_;
    std::vector<std::unique_ptr<Plan>> copies_;
    std::vector<Idle> idle_;  // the last one was in use most recently
  };

  Queue& queue();

  Plan first_;
  std::unique_ptr<Queue> queue_;
  pid_t process_;
};

}  // namespace fbg::bindings
