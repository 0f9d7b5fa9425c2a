// Which plan a run gets: the one whose arena is the most likely to be in a cache.
#include "bindings/plan_pool.h"

#include <unistd.h>

#include "fbg/core/threads.h"

namespace fbg::bindings {

PlanPool::Queue::Queue(Plan& first) : most_(static_cast<std::size_t>(available_cpus())) {
  copies_.reserve(most_);
  idle_.reserve(most_);
  idle_.push_back(&first);
}

Plan& PlanPool::Queue::take(const Plan& first) {
  std::unique_lock lock(mutex_);
  if (idle_.empty() && 1 + copies_.size() < most_) {
    copies_.push_back(std::make_unique<Plan>(first));
    return *copies_.back();
  }
  given_back_.wait(lock, [this] { return !idle_.empty(); });
  Plan& plan = *idle_.back();
  idle_.pop_back();
  return plan;
}

void PlanPool::Queue::give_back(Plan& plan) noexcept {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(&plan);  // room was reserved
  }
  given_back_.notify_one();
}

std::size_t PlanPool::Queue::num_plans() {
  const std::lock_guard lock(mutex_);
  return 1 + copies_.size();
}

PlanPool::PlanPool(const Graph& graph, const Capacity& capacity, Features features)
    : first_(graph, capacity, features),
      queue_(std::make_unique<Queue>(first_)),
      process_(getpid()) {}

std::size_t PlanPool::num_arenas() { return queue().num_plans(); }

// A fork may have caught the queue at any point of a change, and plans with threads that the child
// does not have. There it is abandoned, not destroyed; no run uses the first plan any more.
PlanPool::Queue& PlanPool::queue() {
  if (process_ != getpid()) {
    static_cast<void>(queue_.release());
    queue_ = std::make_unique<Queue>(first_);
    process_ = getpid();
  }
  return *queue_;
}

}  // namespace fbg::bindings
