// Preparing a graph for a capacity, and the loop that runs it.
//
//   prepare   every op makes its step; storage is assigned (in place where possible); buffers and
//             scratch are laid out by lifetime
//   run       for each step: all threads compute their share, then meet at a barrier
#include "fbg/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "core/memory.h"
#include "fbg/core/phase.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "plan/arena.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
constexpr bool kPoisonsFreed = true;
#else
constexpr bool kPoisonsFreed = false;
#endif
constexpr int kPoison = 0xff;  // four of them are NaN, two as well

// A buffer is bfloat16 if the op that writes it can, all that read it would round it, and no run
// hands it back: half of the traffic, and the same bits.
Formats choose_formats(std::span<const std::shared_ptr<const Op>> ops,
                       std::span<const Buffer> outputs) {
  std::vector<bool> read(ops.size()), rounded(ops.size(), true);
  for (const auto& op : ops)
    for (std::size_t i = 0; i < op->inputs.size(); ++i) {
      const auto at = static_cast<std::size_t>(op->inputs[i]);
      read[at] = true;
      rounded[at] = rounded[at] && i == 0 && op->rounds_input();
    }
  for (const Buffer output : outputs) rounded[static_cast<std::size_t>(output)] = false;
  Formats formats;
  for (std::size_t i = 0; i < ops.size(); ++i)
    formats.bfloat16.push_back(read[i] && rounded[i] && ops[i]->can_write_bfloat16());
  return formats;
}

// Which buffer's memory each buffer uses: its own, or that of the input it replaces.
std::vector<Buffer> assign_storage(std::span<const std::shared_ptr<const Op>> ops,
                                   std::span<const int> last_use, std::span<const Buffer> outputs) {
  std::vector<Buffer> storage(ops.size());
  std::iota(storage.begin(), storage.end(), 0);
  const auto is_output = [&](Buffer b) {
    return std::find(outputs.begin(), outputs.end(), b) != outputs.end();
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i]->in_place) continue;
    const Buffer source = ops[i]->inputs[0];
    const bool dies_here = last_use[static_cast<std::size_t>(source)] == static_cast<int>(i);
    if (dies_here && !is_output(source) && !is_output(static_cast<Buffer>(i)))
      storage[i] = storage[static_cast<std::size_t>(source)];
  }
  return storage;
}

}  // namespace

// Where an arena has everything.
struct Plan::Layout {
  std::size_t bytes = 0;
  std::vector<MatrixView<float>> buffers;  // columns and strides only
  std::vector<Lifetime> lifetimes;         // of all ranges of the arena
};

struct Plan::Memory {
  AlignedBuffer arena;
  std::vector<MatrixView<float>> buffers;  // data of outputs and rows of all: set by each run
  std::vector<std::byte*> scratch;         // by step
  bool poisons = false;
};

Plan::Plan(const Graph& graph, const Capacity& capacity) : graph_(graph), capacity_(capacity) {
  if (capacity.tokens < 1 || capacity.sequences < 1 || capacity.length < 1 || capacity.threads < 1)
    throw std::invalid_argument("plan: every capacity must be at least 1");
  const auto& ops = graph_.ops_;
  const std::size_t n = ops.size();
  const Formats formats = choose_formats(ops, graph_.outputs_);
  for (const auto& op : ops) steps_.push_back(op->prepare(capacity, formats));
  // Floats, or words of two bfloat16, between rows of a buffer.
  const auto stride = [&](std::size_t i) {
    const std::int64_t cols = graph_.shapes_[i].cols;
    return arena_row_stride(formats.bfloat16[i] ? ceil_div(cols, 2) : cols);
  };

  std::vector<int> last_use(n);
  std::iota(last_use.begin(), last_use.end(), 0);
  for (std::size_t i = 0; i < n; ++i)
    for (Buffer input : ops[i]->inputs)
      last_use[static_cast<std::size_t>(input)] = static_cast<int>(i);
  const std::vector<Buffer> storage = assign_storage(ops, last_use, graph_.outputs_);

  // Entries 0..n-1 are buffers, n..2n-1 the scratch of each step. What a run hands back lives in
  // the caller's memory, and a buffer in another's place adds only to that one's lifetime.
  std::vector<Lifetime> lifetimes(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const BufferShape shape = graph_.shapes_[i];
    const auto at = static_cast<std::size_t>(storage[i]);
    const std::size_t row_bytes = checked_bytes(static_cast<std::size_t>(stride(i)), 4);
    if (at == i)
      lifetimes[i] = {
          checked_bytes(static_cast<std::size_t>(max_rows(capacity, shape.rows)), row_bytes),
          static_cast<int>(i), last_use[i]};
    lifetimes[at].last = std::max(lifetimes[at].last, last_use[i]);
    lifetimes[n + i] = {steps_[i]->scratch_bytes(), static_cast<int>(i), static_cast<int>(i)};
  }
  for (Buffer b : graph_.outputs_) lifetimes[static_cast<std::size_t>(b)].bytes = 0;
  auto layout = std::make_shared<Layout>();
  layout->bytes = std::max<std::size_t>(lay_out_arena(lifetimes), 1);

  for (std::size_t i = 0; i < n; ++i) {
    const Lifetime& buffer = lifetimes[static_cast<std::size_t>(storage[i])];
    const Lifetime& scratch = lifetimes[n + i];
    layout->buffers.push_back({nullptr, 0, graph_.shapes_[i].cols, stride(i), 1});
    op_plans_.push_back({ops[i]->name + (formats.bfloat16[i] ? " -> bfloat16" : ""),
                         steps_[i]->kernel(), steps_[i]->blocking(), buffer.offset, buffer.bytes,
                         scratch.offset, scratch.bytes});
  }
  for (Buffer b : graph_.outputs_) {
    auto& view = layout->buffers[static_cast<std::size_t>(b)];
    view.row_stride = view.cols;
  }
  layout->lifetimes = std::move(lifetimes);
  layout_ = std::move(layout);
  allocate();
}

Plan::Plan(const Plan& other)
    : graph_(other.graph_),
      capacity_(other.capacity_),
      steps_(other.steps_),
      op_plans_(other.op_plans_),
      layout_(other.layout_) {
  allocate();
}

Plan::~Plan() = default;

void Plan::allocate() {
  memory_ = std::make_unique<Memory>();
  memory_->arena = AlignedBuffer(layout_->bytes);
  memory_->buffers = layout_->buffers;
  std::byte* const base = memory_->arena.data();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    memory_->buffers[i].data = reinterpret_cast<float*>(base + op_plans_[i].offset);
    memory_->scratch.push_back(base + op_plans_[i].scratch_offset);
  }
  poison_freed(kPoisonsFreed);
}

void Plan::poison_freed(bool on) {
  memory_->poisons = on;
  if (on) std::memset(memory_->arena.data(), kPoison, memory_->arena.size());
}

// Overwrites what lived until this step, its scratch included.
void Plan::poison(std::size_t step) noexcept {
  for (const Lifetime& range : layout_->lifetimes)
    if (range.last == static_cast<int>(step))
      std::memset(memory_->arena.data() + range.offset, kPoison, range.bytes);
}

void Plan::run(const RunArgs& args, int num_threads, double* seconds, double* phases) noexcept {
  if (phases) std::fill_n(phases, steps_.size() * kPhases, 0.0);
  Memory& memory = *memory_;
  for (std::size_t i = 0; i < memory.buffers.size(); ++i)
    memory.buffers[i].rows =
        graph_.shapes_[i].rows == RowKind::token ? args.tokens : args.sequences;
  for (std::size_t i = 0; i < graph_.outputs_.size(); ++i)
    memory.buffers[static_cast<std::size_t>(graph_.outputs_[i])].data = args.outputs[i];
  const Frame frame{args, memory.buffers};

  const int threads = std::clamp(num_threads, 1, capacity_.threads);
  Barrier barrier;
  run_team(threads, [&](int thread_id, int team_size) {
    using Clock = std::chrono::steady_clock;
    const FloatEnvironment environment;
    Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (phases && thread_id == 0) phase_seconds = phases + i * kPhases;
      steps_[i]->run(frame, memory.scratch[i], thread_id, team_size);
      barrier.wait();
      if (memory.poisons) {
        if (thread_id == 0) poison(i);
        barrier.wait();
      }
      if (seconds && thread_id == 0) {
        const Clock::time_point end = Clock::now();
        seconds[i] = std::chrono::duration<double>(end - start).count();
        start = end;
      }
    }
    if (phases && thread_id == 0) phase_seconds = nullptr;
  });
}

std::size_t Plan::arena_bytes() const { return layout_->bytes; }

std::size_t Plan::shared_bytes() const {
  std::size_t bytes = 0;
  for (const auto& step : steps_) bytes += step->nbytes();
  return bytes;
}

}  // namespace fbg
