// The thread team: workers that spin briefly for the next run, then sleep. One team per process,
// never destroyed, so that neither exit nor fork has threads to join.
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
#include <vector>

#include "fbg/core/float_environment.h"

namespace fbg {
namespace {

// Long enough to bridge the gap between two calls of a model, short enough not to be felt by
// others.
constexpr std::chrono::microseconds kSpinTime{100};

// A thread that yields loses the rest of its share of time. More often than this, threads of
// low priority would hardly advance beside others.
constexpr std::chrono::milliseconds kGiveWayInterval{1};

void pause_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Spins until ready() or until kSpinTime has passed.
template <class Ready>
void spin_until(Ready ready) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
}

// Since rest_team() was called and until the next run: workers sleep at once.
std::atomic<bool> g_resting{false};

// A worker's own word: a run that needs only some of the workers leaves the others asleep.
struct alignas(64) Ticket {
  std::atomic<std::uint32_t> number{0};
  std::atomic<bool> asleep{false};  // or about to be
  std::atomic<int> cpu{-1};         // where the worker was last seen
  std::atomic<pid_t> thread{0};

  // Waits until the number differs from `old`; returns the new one.
  std::uint32_t wait(std::uint32_t old) noexcept {
    spin_until([&] {
      return number.load(std::memory_order_acquire) != old ||
             g_resting.load(std::memory_order_relaxed);
    });
    asleep.store(true, std::memory_order_relaxed);
    number.wait(old, std::memory_order_acquire);
    asleep.store(false, std::memory_order_relaxed);
    return number.load(std::memory_order_acquire);
  }
};

struct Team {
  std::atomic<bool> busy{false};
  // The run in progress: written by the owner of `busy` before it hands out tickets.
  TeamTask task = nullptr;
  void* context = nullptr;
  int num_threads = 0;
  Subnormals subnormals = Subnormals::keep;
  std::vector<std::unique_ptr<Ticket>> workers;  // worker i is thread i + 1
  alignas(64) std::atomic<int> unfinished{0};    // workers still inside the task
};

// Hands a worker its ticket, and sees to it that it does not run where this thread does. The
// scheduler may wake a thread on the CPU of the one that wakes it and goes on working, or where it
// last ran, even if that thread has come there meanwhile; both then take turns until the next
// balancing, for milliseconds. So the worker is kept away from this CPU for the moment in which it
// wakes. (From then on it has a mask of its own: CPUs that the process gets later are not
// added to it.)
void hand_out(Ticket& ticket, int cpu) noexcept {
  cpu_set_t allowed, elsewhere;
  const pid_t thread = ticket.thread.load(std::memory_order_relaxed);
  bool moved = false;
  const bool may_meet = ticket.asleep.load(std::memory_order_relaxed) ||
                        ticket.cpu.load(std::memory_order_relaxed) == cpu;
  if (may_meet && cpu >= 0 && thread != 0 &&
      sched_getaffinity(thread, sizeof allowed, &allowed) == 0) {
    elsewhere = allowed;
    CPU_CLR(static_cast<unsigned>(cpu), &elsewhere);
    moved =
        CPU_COUNT(&elsewhere) > 0 && sched_setaffinity(thread, sizeof elsewhere, &elsewhere) == 0;
  }
  ticket.number.fetch_add(1);
  ticket.number.notify_one();
  if (moved) sched_setaffinity(thread, sizeof allowed, &allowed);
}

// Callers of the library at this moment, and how many scopes this thread is inside of.
std::atomic<int> g_callers{0};
thread_local int t_scopes = 0;

// Threads of the run that this thread is part of; outside of any run, it is on its own.
thread_local int t_run_threads = 1;

void work(Team& team, Ticket& ticket, int thread_id) noexcept {
  std::uint32_t seen = 0;
  t_scopes = 1;  // a worker is never counted: its caller is
  ticket.thread.store(gettid(), std::memory_order_relaxed);
  for (;;) {
    seen = ticket.wait(seen);
    t_run_threads = team.num_threads;
    {
      const FloatEnvironment environment(team.subnormals);
      team.task(team.context, thread_id, team.num_threads);
    }
    ticket.cpu.store(sched_getcpu(), std::memory_order_relaxed);
    if (team.unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) team.unfinished.notify_one();
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
bool grow(Team& team, std::size_t num_workers) noexcept {
  if (team.workers.size() >= num_workers) return true;
  const BlockSignals block;
  try {
    team.workers.reserve(num_workers);
    while (team.workers.size() < num_workers) {
      auto ticket = std::make_unique<Ticket>();
      const int thread_id = static_cast<int>(team.workers.size()) + 1;
      std::thread thread(work, std::ref(team), std::ref(*ticket), thread_id);
      team.workers.push_back(std::move(ticket));
      pthread_setname_np(thread.native_handle(), "fbg-worker");
      thread.detach();
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::atomic<Team*> g_team{nullptr};

// Neither workers nor other callers exist in a forked child. Their team is abandoned, not
// destroyed: it may have been caught at any point of a run.
void forget_other_threads() noexcept {
  g_team.store(nullptr, std::memory_order_relaxed);
  g_callers.store(t_scopes > 0 ? 1 : 0, std::memory_order_relaxed);
}
[[maybe_unused]] const int g_at_fork = pthread_atfork(nullptr, nullptr, forget_other_threads);

Team* get_team() noexcept {
  Team* team = g_team.load(std::memory_order_acquire);
  if (team) return team;
  Team* created = new (std::nothrow) Team;
  if (g_team.compare_exchange_strong(team, created, std::memory_order_acq_rel)) return created;
  delete created;
  return team;
}

// A run of `threads` threads, one of which is this one.
class RunScope {
 public:
  explicit RunScope(int threads) noexcept : previous_(std::exchange(t_run_threads, threads)) {}
  ~RunScope() { t_run_threads = previous_; }
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

 private:
  const int previous_;
};

// How many threads a run may have that asks for `wanted`.
int granted_threads(int wanted) noexcept {
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

void run_team(int num_threads, TeamTask task, void* context) noexcept {
  const CallScope scope;
  const FloatEnvironment environment;
  num_threads = granted_threads(num_threads);
  Team* team = num_threads > 1 ? get_team() : nullptr;
  const bool owner = team && !team->busy.exchange(true, std::memory_order_acquire);
  if (!owner || !grow(*team, static_cast<std::size_t>(num_threads) - 1)) {
    if (owner) team->busy.store(false, std::memory_order_release);
    const RunScope alone(1);
    task(context, 0, 1);
    return;
  }

  g_resting.store(false, std::memory_order_relaxed);
  team->task = task;
  team->context = context;
  team->num_threads = num_threads;
  team->subnormals = FloatEnvironment::subnormals();
  team->unfinished.store(num_threads - 1, std::memory_order_relaxed);
  const int cpu = sched_getcpu();
  for (int i = 0; i < num_threads - 1; ++i)
    hand_out(*team->workers[static_cast<std::size_t>(i)], cpu);
  {
    const RunScope together(num_threads);
    task(context, 0, num_threads);
  }
  for (int left; (left = team->unfinished.load(std::memory_order_acquire)) != 0;) {
    spin_until([&] { return team->unfinished.load(std::memory_order_acquire) != left; });
    team->unfinished.wait(left, std::memory_order_acquire);
  }
  team->busy.store(false, std::memory_order_release);
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
