// Preparing a graph for a capacity, and the loop that runs it.
//
//   prepare   every op makes its step; storage is assigned (in place where possible); buffers and
//             scratch are laid out by lifetime
//   run       for each step, and each of its phases: threads claim and compute shares
#include "fbg/plan/plan.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "core/memory.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/phase.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "plan/arena.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
constexpr int kFirstPoison = 0xff;  // four of them are NaN, two as well
#else
constexpr int kFirstPoison = -1;
#endif
std::atomic<int> poison_byte = kFirstPoison;  // negative: none

using Ops = std::span<const std::shared_ptr<const Op>>;

bool contains(std::span<const Buffer> buffers, Buffer b) {
  return std::find(buffers.begin(), buffers.end(), b) != buffers.end();
}

// The capacities that a graph needs, and threads, must be there.
void check_capacity(const Capacity& capacity, std::span<const BufferShape> shapes) {
  const auto need = [](const char* name, std::int64_t value) {
    require(value >= 1, std::string("plan: capacity of ") + name + " must be at least 1, got " +
                            std::to_string(value));
  };
  need("threads", capacity.threads);
  for (const BufferShape& shape : shapes) {
    if (shape.rows == RowKind::tensor) continue;
    need("tokens", capacity.tokens);
    need("sequences", capacity.sequences);
    need("length", capacity.length);
  }
}

// The element types of buffers. Floats are held as bfloat16, which is half of the traffic, if the
// op that writes them can do so, no run hands them back, and all that read them would round them or
// only move them to such a buffer: no bit of a result depends on that. Where the graph allows
// rounding, it also suffices that they can read them.
std::vector<ValueType> choose_types(Ops ops, std::span<const BufferShape> shapes,
                                    std::span<const Buffer> outputs, Features features,
                                    bool allows_rounding) {
  std::vector<bool> narrow(ops.size());
  for (const auto& op : ops)
    for (const Buffer input : op->inputs) {
      const auto at = static_cast<std::size_t>(input);
      narrow[at] = shapes[at].type == ValueType::float32 && ops[at]->can_write_bfloat16();
    }
  for (const Buffer output : outputs) narrow[static_cast<std::size_t>(output)] = false;
  std::vector<std::vector<Halves>> reads(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (std::size_t input = 0; input < ops[i]->inputs.size(); ++input)
      reads[i].push_back(ops[i]->reads_bfloat16(input, features));
  // What an op refuses may pass through those that move elements, against their order and in it.
  for (bool changed = true; std::exchange(changed, false);)
    for (std::size_t i = ops.size(); i-- > 0;)
      for (std::size_t input = 0; input < ops[i]->inputs.size(); ++input) {
        const auto at = static_cast<std::size_t>(ops[i]->inputs[input]);
        const Halves how = reads[i][input];
        const bool can = how == Halves::rounded || (how == Halves::widened && allows_rounding) ||
                         (how >= Halves::moved && narrow[i]);
        changed = changed || (narrow[at] && !can);
        narrow[at] = narrow[at] && can;
        if (how != Halves::kept || !narrow[i] || narrow[at]) continue;
        narrow[i] = false;
        changed = true;
      }
  std::vector<ValueType> types;
  for (std::size_t i = 0; i < ops.size(); ++i)
    types.push_back(narrow[i] ? ValueType::bfloat16 : shapes[i].type);
  return types;
}

// Rows that all who read a buffer would quantize alike are quantized by the op that writes them:
// its type becomes uint8. The result has the factors of columns of each buffer.
std::vector<const float*> choose_quantized(Ops ops, std::span<const BufferShape> shapes,
                                           std::span<const Buffer> outputs,
                                           std::span<ValueType> types) {
  std::vector<bool> read(ops.size()), alike(ops.size(), true);
  std::vector<const float*> factors(ops.size());
  const auto same = [](const float* a, const float* b, std::int64_t n) {
    return a == b || (a && b && std::equal(a, a + n, b));
  };
  for (const auto& op : ops)
    for (std::size_t i = 0; i < op->inputs.size(); ++i) {
      const auto at = static_cast<std::size_t>(op->inputs[i]);
      const std::optional<const float*> own = op->quantized_factors(i);
      // Whether rows are quantized depends on how many there are.
      alike[at] = alike[at] && own && (!read[at] || same(*own, factors[at], shapes[at].cols)) &&
                  op->routed == ops[at]->routed;
      factors[at] = own.value_or(nullptr);
      read[at] = true;
    }
  for (const Buffer output : outputs) read[static_cast<std::size_t>(output)] = false;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const bool floats = shapes[i].type == ValueType::float32 && types[i] == ValueType::float32;
    if (floats && read[i] && alike[i] && ops[i]->can_write_quantized()) types[i] = ValueType::uint8;
  }
  return factors;
}

// Bytes between the rows of a buffer. Rows that are quantized were floats before.
std::int64_t held_row_bytes(const BufferShape& shape, ValueType type) {
  return arena_row_bytes(shape.cols, type == ValueType::uint8 ? shape.type : type);
}

// The op that reads each buffer last, or the one that writes it.
std::vector<int> last_uses(Ops ops) {
  std::vector<int> last(ops.size());
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const Buffer input : ops[i]->inputs)
      last[static_cast<std::size_t>(input)] = static_cast<int>(i);
  return last;
}

// Which buffer's memory each buffer uses: its own, or that of the input it replaces. `outside`:
// buffers in the caller's memory. Where the plan narrows one of both, rows differ in length:
// threads would overwrite values that others have yet to read.
std::vector<Buffer> assign_storage(Ops ops, std::span<const BufferShape> shapes,
                                   std::span<const ValueType> types, std::span<const int> last_use,
                                   std::span<const Buffer> outside) {
  std::vector<Buffer> storage(ops.size());
  std::iota(storage.begin(), storage.end(), 0);
  const auto is_narrowed = [&](std::size_t i) { return types[i] != shapes[i].type; };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!ops[i]->in_place) continue;
    const Buffer source = ops[i]->inputs[0];
    if (is_narrowed(i) != is_narrowed(static_cast<std::size_t>(source))) continue;
    const bool dies_here = last_use[static_cast<std::size_t>(source)] == static_cast<int>(i);
    if (dies_here && !contains(outside, source) && !contains(outside, static_cast<Buffer>(i)))
      storage[i] = storage[static_cast<std::size_t>(source)];
  }
  return storage;
}

}  // namespace

// Where an arena has everything.
struct Plan::Layout {
  std::size_t bytes = 0;
  std::vector<BufferView> buffers;  // columns and strides only
  std::vector<Lifetime> lifetimes;  // for all ranges of the arena
};

struct Plan::Memory {
  AlignedBuffer arena;
  std::vector<BufferView> buffers;  // rows of all, and data of inputs and outputs: set by each run
  std::vector<std::byte*> scratch;  // by step
  int poison = -1;                  // the byte of this run
};

// A run in progress: at which phase of which step.
class Plan::Run final : public SharedWork {
 public:
  Run(Plan& plan, const RunArgs& args, double* seconds, double* phases)
      : plan_(plan),
        seconds_(seconds),
        phases_(phases),
        frame_{args, plan.memory_->buffers, failed},
        start_(Clock::now()) {
    skip_empty();
  }

  bool has_step() const { return step_ < plan_.steps_.size(); }

  void run(int share, int num_shares) noexcept override {
    const bool profiles = phases_ && share == 0;
    if (profiles) phase_seconds = phases_ + step_ * kPhases;
    plan_.steps_[step_]->run(frame_, plan_.memory_->scratch[step_], share, num_shares);
    if (profiles) phase_seconds = nullptr;
  }

  bool next(int num_shares) noexcept override {
    if (++frame_.phase < plan_.steps_[step_]->phases(num_shares)) return true;
    if (num_shares == 1) give_way();  // in a team, others would wait for the one that does
    if (plan_.memory_->poison >= 0) plan_.poison_freed(step_);
    if (seconds_) {
      const Clock::time_point end = Clock::now();
      seconds_[step_] = std::chrono::duration<double>(end - start_).count();
      start_ = end;
    }
    frame_.phase = 0;
    ++step_;
    skip_empty();
    return has_step();
  }

  std::atomic<Buffer> failed = kNone;

 private:
  using Clock = std::chrono::steady_clock;

  void skip_empty() {
    while (has_step() && !plan_.steps_[step_]) ++step_;
  }

  Plan& plan_;
  double *const seconds_, *const phases_;
  Frame frame_;
  Clock::time_point start_;
  std::size_t step_ = 0;
};

Plan::Plan(const Graph& graph, const Capacity& capacity, Features features)
    : graph_(graph), capacity_(capacity), features_(features) {
  const FloatEnvironment environment(Subnormals::keep);  // what steps compute of weights
  const auto& ops = graph_.ops_;
  const std::span<const BufferShape> shapes = graph_.shapes_;
  const std::size_t n = ops.size();
  check_capacity(capacity, shapes);
  std::vector<ValueType> types =
      choose_types(ops, shapes, graph_.outputs_, features, graph_.allows_bfloat16_);
  const std::vector<const float*> factors = choose_quantized(ops, shapes, graph_.outputs_, types);
  const PrepareContext context{capacity_, features, types, factors};
  for (const auto& op : ops) steps_.push_back(op->prepare(context));

  std::vector<Buffer> outside = graph_.inputs_;
  outside.insert(outside.end(), graph_.outputs_.begin(), graph_.outputs_.end());
  for (const auto& op : ops)
    if (op->constant()) outside.push_back(op->output);
  const std::vector<int> last_use = last_uses(ops);
  const std::vector<Buffer> storage = assign_storage(ops, shapes, types, last_use, outside);

  // Entries 0..n-1 are buffers, n..2n-1 the scratch of each step. Memory of the caller
  // takes no bytes, and a buffer in the memory of another only prolongs that one's life.
  std::vector<Lifetime> lifetimes(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const int now = static_cast<int>(i);
    const auto at = static_cast<std::size_t>(storage[i]);
    if (at == i) {
      const std::int64_t rows = max_rows(capacity, shapes[i]);
      lifetimes[i] = {checked_bytes(static_cast<std::size_t>(rows),
                                    static_cast<std::size_t>(held_row_bytes(shapes[i], types[i]))),
                      now, last_use[i]};
    }
    lifetimes[at].last = std::max(lifetimes[at].last, last_use[i]);
    lifetimes[n + i] = {steps_[i] ? steps_[i]->scratch_bytes() : 0, now, now};
  }
  for (const Buffer b : outside) lifetimes[static_cast<std::size_t>(b)].bytes = 0;
  auto layout = std::make_shared<Layout>();
  layout->bytes = std::max<std::size_t>(lay_out_arena(lifetimes), 1);

  for (std::size_t i = 0; i < n; ++i) {
    const BufferShape& shape = shapes[i];
    const Lifetime& buffer = lifetimes[static_cast<std::size_t>(storage[i])];
    const Lifetime& scratch = lifetimes[n + i];
    const bool dense = contains(outside, static_cast<Buffer>(i));
    layout->buffers.push_back(
        {nullptr, 0, shape.cols,
         dense ? shape.cols * value_size(types[i]) : held_row_bytes(shape, types[i])});
    OpPlan plan{ops[i]->name, {}, {}, buffer.offset, buffer.bytes, scratch.offset, scratch.bytes};
    if (types[i] != shape.type) plan.name += std::string(" -> ") + value_type_name(types[i]);
    if (steps_[i]) {
      plan.kernel = steps_[i]->kernel(capacity_.tokens, capacity_.threads);
      plan.blocking = steps_[i]->blocking();
    }
    op_plans_.push_back(std::move(plan));
  }
  layout->lifetimes = std::move(lifetimes);
  layout_ = std::move(layout);
  allocate();
}

std::vector<std::string> Plan::kernels(std::int64_t tokens, int num_threads) const {
  std::vector<std::string> names;
  for (const auto& step : steps_)
    names.push_back(step ? step->kernel(tokens, num_threads) : std::string());
  return names;
}

Plan::Plan(const Plan& other)
    : graph_(other.graph_),
      capacity_(other.capacity_),
      features_(other.features_),
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
    const std::byte* const constant = graph_.ops_[i]->constant();  // which no op writes to
    memory_->buffers[i].data =
        constant ? const_cast<std::byte*>(constant) : base + op_plans_[i].offset;
    memory_->scratch.push_back(base + op_plans_[i].scratch_offset);
  }
}

std::optional<std::uint8_t> Plan::set_poison(std::optional<std::uint8_t> byte) {
  const int before = poison_byte.exchange(byte ? *byte : -1);
  return before < 0 ? std::nullopt : std::optional(static_cast<std::uint8_t>(before));
}

void Plan::poison_whole(const RunArgs& args) noexcept {
  std::memset(memory_->arena.data(), memory_->poison, memory_->arena.size());
  for (std::size_t i = 0; i < graph_.outputs_.size(); ++i) {
    const BufferShape& shape = graph_.shape(graph_.outputs_[i]);
    const std::int64_t bytes = rows(graph_.outputs_[i], args) * shape.cols * value_size(shape.type);
    std::memset(args.outputs[i], memory_->poison, static_cast<std::size_t>(bytes));
  }
}

// Overwrites the memory whose life ends at this step, including scratch.
void Plan::poison_freed(std::size_t step) noexcept {
  for (const Lifetime& range : layout_->lifetimes)
    if (range.last == static_cast<int>(step))
      std::memset(memory_->arena.data() + range.offset, memory_->poison, range.bytes);
}

Buffer Plan::run(const RunArgs& args, int num_threads, double* seconds, double* phases) noexcept {
  const FloatEnvironment environment(Subnormals::flush);
  if (phases) std::fill_n(phases, steps_.size() * kPhases, 0.0);
  if (seconds) std::fill_n(seconds, steps_.size(), 0.0);
  Memory& memory = *memory_;
  memory.poison = poison_byte;
  if (memory.poison >= 0) poison_whole(args);
  for (std::size_t i = 0; i < memory.buffers.size(); ++i)
    memory.buffers[i].rows = rows(static_cast<Buffer>(i), args);
  const auto data = [&](Buffer b) -> std::byte*& {
    return memory.buffers[static_cast<std::size_t>(b)].data;
  };
  for (std::size_t i = 0; i < graph_.outputs_.size(); ++i)
    data(graph_.outputs_[i]) = static_cast<std::byte*>(args.outputs[i]);
  // No op writes to them.
  for (std::size_t i = 0; i < graph_.inputs_.size(); ++i)
    data(graph_.inputs_[i]) = static_cast<std::byte*>(const_cast<void*>(args.inputs[i]));

  const int threads = std::clamp(num_threads, 1, capacity_.threads);
  Run run(*this, args, seconds, phases);
  if (run.has_step()) run_shared(threads, run);
  return run.failed;
}

std::int64_t Plan::rows(Buffer buffer, const RunArgs& args) const {
  const BufferShape& shape = graph_.shapes_[static_cast<std::size_t>(buffer)];
  if (shape.rows == RowKind::tensor) return 1;
  return shape.rows == RowKind::token ? args.tokens : args.sequences;
}

std::size_t Plan::arena_bytes() const { return layout_->bytes; }

std::size_t Plan::shared_bytes() const {
  std::size_t bytes = 0;
  for (const auto& step : steps_)
    if (step) bytes += step->nbytes();
  return bytes;
}

}  // namespace fbg
