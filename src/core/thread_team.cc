// Claims, and waiting for those of others.
#include "core/thread_team.h"

#include <sched.h>

#include <chrono>
#include <optional>

#include "core/spin.h"
#include "core/thread_place.h"

namespace fbg::team {
namespace {

// How long a thread waits for another before it looks whether that one runs.
constexpr std::chrono::microseconds kStageSpin{20};

// How long it then looks: longer than an interrupt takes the CPU from a thread, and little of the
// milliseconds for which a thread loses its CPU to another.
constexpr std::chrono::microseconds kLookTime{60};

// What follows a stage. From the moment in which another stage begins, or none, the run may end.
void end_stage(Team& team, Stage stage) noexcept {
  const int shares = stage.shares();
  const bool more = team.work->next(shares);
  team.left.store(shares, std::memory_order_relaxed);
  team.stage.store(Stage::of(stage.number() + 1, more ? shares : 0, stage.fixed()).word,
                   std::memory_order_seq_cst);
}

// Claims a share of the stage, the thread's own if it can.
std::optional<int> claim(Team& team, Stage stage, int id) noexcept {
  const int shares = stage.shares();
  for (int i = 0; i < (stage.fixed() ? 1 : shares); ++i) {
    const int share = id + i < shares ? id + i : id + i - shares;
    std::atomic<std::uint64_t>& claimed = team.seat(share).claimed;
    std::uint64_t last = claimed.load(std::memory_order_relaxed);
    if (last < stage.number() &&
        claimed.compare_exchange_strong(last, stage.number(), std::memory_order_seq_cst))
      return share;
  }
  return std::nullopt;
}

// Computes a share of the stage; false if there is none to claim.
bool compute(Team& team, Stage stage, Seat& self, int id) noexcept {
  self.working.store(stage.number(), std::memory_order_release);
  const std::optional<int> share = claim(team, stage, id);
  if (share) {
    {
      const RunScope together(stage.shares());
      const FloatEnvironment environment(team.subnormals);
      team.work->run(*share, stage.shares());
    }
    if (team.left.fetch_sub(1, std::memory_order_acq_rel) == 1) end_stage(team, stage);
  }
  self.working.exchange(0, std::memory_order_seq_cst);
  if (team.lenders.load(std::memory_order_seq_cst) > 0) {
    team.done.fetch_add(1, std::memory_order_release);
    team.done.notify_all();
  }
  if (self.lent_cpu.load(std::memory_order_relaxed) >= 0) {
    const int cpu = self.lent_cpu.exchange(-1, std::memory_order_acquire);
    self.move([&] { const KeptOff moved(0, cpu); });  // the CPU goes back
  }
  return share.has_value();
}

// Whether the stage cannot end before the thread of that seat has run.
bool is_needed(Seat& seat, Stage stage) noexcept {
  return seat.working.load(std::memory_order_seq_cst) == stage.number() ||
         (stage.fixed() && seat.claimed.load(std::memory_order_seq_cst) != stage.number());
}

// Lets the thread of a seat, which the stage needs and which waits for a CPU, have the CPU of this
// thread. That sleeps until a share is done, and then has its CPU back. Only to a caller, a worker
// leaves its CPU for good if there is another, and takes its turns there.
void lend(Team& team, Stage stage, Seat& self, int id) noexcept {
  const int cpu = sched_getcpu();
  Seat& holder = team.seat(id);
  bool moved = false, elsewhere = false;
  if (id != 0) holder.lent_cpu.store(cpu, std::memory_order_relaxed);
  // A caller whose stage has not ended yet will see that it is being moved, and wait.
  holder.move([&] {
    moved = team.now() == stage && bring_to(holder.thread.load(std::memory_order_relaxed), cpu);
  });
  if (!moved) {
    sched_yield();
    return;
  }
  if (id == 0) self.move([&] { elsewhere = KeptOff(0, cpu).succeeded(); });
  if (elsewhere) return;
  team.lenders.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t done = team.done.load(std::memory_order_acquire);
  if (team.now() == stage && is_needed(holder, stage))
    team.done.wait(done, std::memory_order_acquire);
  team.lenders.fetch_sub(1, std::memory_order_seq_cst);
}

// Waits for another stage, or for the end of the run, with nothing left to claim.
void await_stage(Team& team, Stage stage, Seat& self, int id) noexcept {
  const auto ended = [&] { return team.now() != stage; };
  if (spin_until(ended, kStageSpin)) return;
  for (int other = 0; !ended(); other = (other + 1) % stage.shares()) {
    if (other == id) continue;
    Seat& holder = team.seat(other);
    if (!is_needed(holder, stage)) {
      pause_cpu();
      continue;
    }
    const RunTime time(holder.thread.load(std::memory_order_relaxed));
    if (spin_until(ended, kLookTime)) return;
    if (time.stands_still())
      lend(team, stage, self, other);
    else if (!time.is_known())
      sched_yield();
  }
}

}  // namespace

void take_part(Team& team, Seat& self, int id) noexcept {
  for (Stage stage = team.now(); id < stage.shares(); stage = team.now()) {
    if (compute(team, stage, self, id)) continue;
    if (stage.fixed() && id != 0) return;  // there is no other stage
    await_stage(team, stage, self, id);
  }
  if (id == 0) self.moving.wait(1, std::memory_order_seq_cst);
}

}  // namespace fbg::team
