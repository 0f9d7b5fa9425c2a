// Which plan a run gets: the one whose arena is the most likely to be in a cache of its CPU. That
// is the one of the last run of the same thread, else that of the last run of all.
#include "bindings/plan_pool.h"

#include <unistd.h>

#include <algorithm>

namespace fbg::bindings {
namespace {

// From this size on, an arena has pages of its own, which take no memory before they are used
// (core/memory.h). The first plan is then not run, so that all arenas in use can be freed.
constexpr std::size_t kOwnPages = std::size_t{4} << 20;

}  // namespace

PlanPool::Queue::Queue(Plan& first) : most_(static_cast<std::size_t>(available_cpus())) {
  copies_.reserve(2 * most_);
  idle_.reserve(2 * most_);
  first_is_used_ = first.arena_bytes() < kOwnPages;
  if (first_is_used_) idle_.push_back({&first, std::thread::id()});
}

Plan& PlanPool::Queue::take(const Plan& first) {
  std::unique_lock lock(mutex_);
  Runs& runs = this->runs();
  runs.ended.wait(lock, [&] { return runs.count < most_; });
  if (idle_.empty()) {
    copies_.push_back(std::make_unique<Plan>(first));
    ++runs.count;
    return *copies_.back();
  }
  ++runs.count;
  const auto own = std::find_if(idle_.begin(), idle_.end(), [](const Idle& idle) {
    return idle.user == std::this_thread::get_id();
  });
  const auto chosen = own == idle_.end() ? idle_.end() - 1 : own;
  Plan& plan = *chosen->plan;
  idle_.erase(chosen);
  return plan;
}

void PlanPool::Queue::give_back(Plan& plan) noexcept {
  Runs& runs = this->runs();
  {
    const std::lock_guard lock(mutex_);
    --runs.count;
    idle_.push_back({&plan, std::this_thread::get_id()});  // room was reserved
  }
  runs.ended.notify_one();
}

std::size_t PlanPool::Queue::num_plans() {
  const std::lock_guard lock(mutex_);
  return std::max<std::size_t>(copies_.size() + (first_is_used_ ? 1 : 0), 1);
}

void PlanPool::Queue::free_idle() {
  const std::lock_guard lock(mutex_);
  std::erase_if(idle_, [&](const Idle& idle) {
    return std::erase_if(copies_, [&](const auto& copy) { return copy.get() == idle.plan; }) > 0;
  });
}

PlanPool::PlanPool(const Graph& graph, const Capacity& capacity, Features features)
    : first_(graph, capacity, features),
      queue_(std::make_unique<Queue>(first_)),
      process_(getpid()) {}

std::size_t PlanPool::num_arenas() { return queue().num_plans(); }

void PlanPool::free_idle() { queue().free_idle(); }

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
