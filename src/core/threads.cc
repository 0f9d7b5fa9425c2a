// The thread team: workers that spin briefly for the next run, then sleep. One team per process,
// never destroyed, so that neither exit nor fork has threads to join; and one for each thread that
// asks for its own, which ends with it.
#include "fbg/core/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "core/spin.h"
#include "core/thread_place.h"
#include "core/thread_team.h"
#include "fbg/core/float_environment.h"

namespace fbg {
namespace {

using namespace team;

// A thread that yields loses the rest of its share of time. More often than this, threads of
// low priority would hardly advance beside others.
constexpr std::chrono::milliseconds kGiveWayInterval{1};

// Since rest_team() was called and until the next run: workers sleep at once.
std::atomic<bool> g_resting{false};

// Waits until the ticket of a worker differs from `old` or the condition holds.
template <class Ready>
void wait_for_run(Seat& seat, std::uint32_t old, Ready ready) noexcept {
  bool is_ready = false;
  spin_until([&] {
    is_ready = ready();
    return is_ready || seat.ticket.load(std::memory_order_acquire) != old ||
           g_resting.load(std::memory_order_relaxed);
  });
  if (is_ready) return;
  seat.asleep.store(true, std::memory_order_relaxed);
  seat.ticket.wait(old, std::memory_order_acquire);
  seat.asleep.store(false, std::memory_order_relaxed);
}

// Hands a worker its ticket, and sees to it that it does not run where this thread does. The
// scheduler may wake a thread on the CPU of the one that wakes it and goes on working, or where it
// last ran, even if that thread has come there meanwhile; both then take turns until the next
// balancing, for milliseconds. So the worker is kept away from this CPU for the moment in which it
// wakes. (From then on it has a mask of its own: CPUs that the process gets later are not
// added to it.)
void hand_out(Seat& seat, int cpu) noexcept {
  const pid_t thread = seat.thread.load(std::memory_order_relaxed);
  const bool may_meet = seat.asleep.load(std::memory_order_relaxed) ||
                        seat.cpu.load(std::memory_order_relaxed) == cpu;
  const auto wake = [&] {
    seat.ticket.fetch_add(1);
    seat.ticket.notify_one();
  };
  const auto wake_elsewhere = [&] {
    const KeptOff away(thread, cpu);
    wake();
  };
  if (!may_meet || thread == 0 || !seat.move(wake_elsewhere)) wake();
}

// Callers of the library at this moment, which every run counts, and how many scopes this thread is
// inside of.
alignas(64) std::atomic<int> g_callers{0};
thread_local int t_scopes = 0;

// The team of this thread's runs, if it is not that of the process: its own, or that of which it is
// a worker; and the most threads of a run.
constinit thread_local Team* t_team = nullptr;
constinit thread_local int t_max_threads = kMaxThreads;

void work(Team& team, Seat& seat, int id) noexcept {
  t_scopes = 1;  // a worker is never counted: its caller is
  t_team = &team;
  seat.thread.store(gettid(), std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t seen = seat.ticket.load(std::memory_order_acquire);
    if (team.ended.load(std::memory_order_relaxed)) return;
    take_part(team, seat, id);
    seat.cpu.store(sched_getcpu(), std::memory_order_relaxed);
    wait_for_run(seat, seen, [&] {
      const Stage now = team.now();
      return id < now.shares() &&
             !(now.fixed() && seat.claimed.load(std::memory_order_relaxed) == now.number());
    });
  }
}

// Signals belong to the application's threads, so workers start with all of them blocked, except
// those that a thread raises itself by a fault: while such a signal is blocked, the kernel ends the
// process without calling the handler that would report it.
class BlockSignals {
 public:
  BlockSignals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
      sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &previous_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t previous_;
};

// False when the system refuses a thread.
bool grow(Team& team, int num_seats) noexcept {
  if (team.num_seats >= num_seats) return true;
  const BlockSignals block;
  try {
    for (; team.num_seats < num_seats; ++team.num_seats) {
      auto seat = std::make_unique<Seat>();
      const int id = team.num_seats;
      if (id > 0) {
        seat->worker = std::thread(work, std::ref(team), std::ref(*seat), id);
        pthread_setname_np(seat->worker.native_handle(), "fbg-worker");
      }
      team.seats[static_cast<std::size_t>(id)].store(seat.release(), std::memory_order_release);
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// The team that a thread owns. Its workers end before the thread does.
struct OwnTeam {
  Team* team = nullptr;

  ~OwnTeam() {
    if (!team) return;
    t_team = nullptr;
    team->ended.store(true, std::memory_order_relaxed);
    for (int i = 0; i < team->num_seats; ++i) {
      Seat& seat = team->seat(i);
      seat.ticket.fetch_add(1);
      seat.ticket.notify_one();
      if (i > 0) seat.worker.join();
      delete &seat;
    }
    delete team;
  }
};
thread_local OwnTeam t_own_team;

std::atomic<Team*> g_team{nullptr};

thread_local pid_t t_thread_id = 0;

pid_t this_thread_id() noexcept {
  if (t_thread_id == 0) t_thread_id = gettid();
  return t_thread_id;
}

// Neither workers nor other callers exist in a forked child. Their team is abandoned, not
// destroyed: it may have been caught at any point of a run.
void forget_other_threads() noexcept {
  g_team.store(nullptr, std::memory_order_relaxed);
  if (t_team) t_team = t_own_team.team = nullptr;
  g_callers.store(t_scopes > 0 ? 1 : 0, std::memory_order_relaxed);
  t_thread_id = 0;
}
[[maybe_unused]] const int g_at_fork = pthread_atfork(nullptr, nullptr, forget_other_threads);

Team* get_team() noexcept {
  if (t_team) return t_team;
  Team* team = g_team.load(std::memory_order_acquire);
  if (team) return team;
  Team* created = new (std::nothrow) Team;
  if (g_team.compare_exchange_strong(team, created, std::memory_order_acq_rel)) return created;
  delete created;
  return team;
}

// How many threads a run may have that asks for `wanted`.
int granted_threads(int wanted) noexcept {
  wanted = std::min(wanted, t_max_threads);
  const int others = g_callers.load(std::memory_order_relaxed) - 1;
  if (wanted <= 1 || others <= 0) return wanted;
  static const int cpus = available_cpus();  // asked once: it reads files
  return std::clamp(cpus - others, 1, wanted);
}

thread_local bool t_gives_way = false;
thread_local std::chrono::steady_clock::time_point t_gave_way;

std::atomic<int> g_num_threads{0};  // 0: not chosen yet

int default_num_threads() noexcept {
  if (const char* text = std::getenv("FBG_NUM_THREADS")) {
    const char* end = text + std::strlen(text);
    int n = 0;
    const auto result = std::from_chars(text, end, n);
    // The Python layer raises on a bad value at import; here it counts as not set.
    if (result.ec == std::errc() && result.ptr == end && n >= 1 && n <= kMaxThreads) return n;
  }
  return std::min(available_cpus(), kMaxThreads);
}

}  // namespace

void set_num_threads(int n) {
  if (n < 1 || n > kMaxThreads)
    throw std::invalid_argument("set_num_threads: n must be within [1, " +
                                std::to_string(kMaxThreads) + "], got " + std::to_string(n));
  g_num_threads.store(n, std::memory_order_relaxed);
}

int num_threads() noexcept {
  int n = g_num_threads.load(std::memory_order_relaxed);
  if (n == 0 && g_num_threads.compare_exchange_strong(n, default_num_threads()))
    return num_threads();
  return n;
}

void enter_call() noexcept {
  if (t_scopes++ == 0) g_callers.fetch_add(1, std::memory_order_relaxed);
}

void leave_call() noexcept {
  if (--t_scopes == 0) g_callers.fetch_sub(1, std::memory_order_relaxed);
}

void set_gives_way(bool gives_way) noexcept { t_gives_way = gives_way; }
bool gives_way() noexcept { return t_gives_way; }

void give_way() noexcept {
  if (!t_gives_way) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - t_gave_way < kGiveWayInterval) return;
  t_gave_way = now;
  sched_yield();
}

void own_team(int max_threads) noexcept {
  t_max_threads = max_threads;
  if (!t_own_team.team) t_team = t_own_team.team = new (std::nothrow) Team;
}

namespace {

void run_work(int num_threads, SharedWork& work, bool fixed) noexcept {
  const CallScope scope;
  const FloatEnvironment environment;
  num_threads = granted_threads(num_threads);
  Team* team = num_threads > 1 ? get_team() : nullptr;
  const bool owner = team && !team->busy.exchange(true, std::memory_order_acquire);
  if (!owner || !grow(*team, num_threads)) {
    if (owner) team->busy.store(false, std::memory_order_release);
    const RunScope alone(1);
    do work.run(0, 1);
    while (work.next(1));
    return;
  }

  if (g_resting.load(std::memory_order_relaxed))  // idle workers of all teams read it
    g_resting.store(false, std::memory_order_relaxed);
  team->work = &work;
  team->subnormals = FloatEnvironment::subnormals();
  team->left.store(num_threads, std::memory_order_relaxed);
  Seat& self = team->seat(0);
  self.thread.store(this_thread_id(), std::memory_order_relaxed);
  team->stage.store(Stage::of(team->now().number() + 1, num_threads, fixed).word,
                    std::memory_order_seq_cst);
  const int cpu = sched_getcpu();
  for (int i = 1; i < num_threads; ++i) hand_out(team->seat(i), cpu);
  take_part(*team, self, 0);
  team->busy.store(false, std::memory_order_release);
}

class OneStage final : public SharedWork {
 public:
  OneStage(TeamTask task, void* context) : task_(task), context_(context) {}
  void run(int share, int num_shares) noexcept override { task_(context_, share, num_shares); }
  bool next(int) noexcept override { return false; }

 private:
  const TeamTask task_;
  void* const context_;
};

void run_task(int num_threads, TeamTask task, void* context, bool fixed) noexcept {
  OneStage work(task, context);
  run_work(num_threads, work, fixed);
}

}  // namespace

void run_shared(int num_threads, SharedWork& work) noexcept { run_work(num_threads, work, false); }

void run_shares(int num_threads, TeamTask task, void* context) noexcept {
  run_task(num_threads, task, context, false);
}

void run_team(int num_threads, TeamTask task, void* context) noexcept {
  run_task(num_threads, task, context, true);
}

void rest_team() noexcept { g_resting.store(true, std::memory_order_relaxed); }

void Barrier::wait() noexcept {
  const int threads = t_run_threads;
  if (threads == 1) return;
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(generation + 1, std::memory_order_release);
    return;
  }
  const auto released = [&] { return generation_.load(std::memory_order_acquire) != generation; };
  spin_until(released);
  while (!released()) sched_yield();
}

}  // namespace fbg
