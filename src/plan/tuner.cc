// Timing the blockings of a linear layer, with weights that no cache holds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <thread>

#include "core/memory.h"
#include "fbg/core/float_environment.h"
#include "fbg/core/isa.h"
#include "fbg/core/threads.h"
#include "fbg/gemm/gemm.h"
#include "fbg/plan/tuning.h"
#include "plan/ops/ops.h"

namespace fbg {
namespace {

// Bytes of all copies: twice the last cache, within bounds that spare the machine.
constexpr std::int64_t kLeastBytes = 64 << 20, kMostBytes = 256 << 20;
constexpr int kLeastRounds = 5, kMostRounds = 200;

std::atomic<std::int64_t> g_tuners{0};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The buffers of one layer, by their numbers in the graph: random inputs and room for the output.
// All hold float32.
class Buffers {
 public:
  Buffers(const ProductOp& op, std::int64_t rows) {
    std::mt19937 random(1);
    const auto add = [&](Buffer buffer, std::int64_t cols) {
      const auto at = static_cast<std::size_t>(buffer);
      if (views_.size() <= at) views_.resize(at + 1);
      const std::int64_t row_bytes = arena_row_bytes(cols, ValueType::float32);
      memory_.emplace_back(
          checked_bytes(static_cast<std::size_t>(rows), static_cast<std::size_t>(row_bytes)));
      float* const data = memory_.back().as<float>();
      for (std::size_t i = 0; i < memory_.back().size() / sizeof(float); ++i)
        data[i] = static_cast<float>(random() >> 8) * 0x1p-23f - 1;
      views_[at] = {memory_.back().data(), rows, cols, row_bytes};
    };
    add(op.inputs[0], op.kind().k);
    for (std::size_t i = 1; i < op.inputs.size(); ++i) add(op.inputs[i], op.kind().n);
    add(op.output, op.kind().n);
  }
  std::span<const BufferView> views() const { return views_; }

 private:
  std::vector<AlignedBuffer> memory_;
  std::vector<BufferView> views_;
};

}  // namespace

std::int64_t tuner_count() noexcept { return g_tuners.load(); }

Tuner::Tuner(const Graph& graph, const ProductKind& kind, int num_threads, Features features)
    : kind_(kind), num_threads_(num_threads), features_(features) {
  const ProductOp* op = nullptr;
  for (std::size_t i = graph.ops_.size(); i-- > 0;) {
    const auto* product = dynamic_cast<const ProductOp*>(graph.ops_[i].get());
    if (product && product->kind() == kind && graph.shapes_[i].rows == RowKind::token) op = product;
  }
  if (!op) throw std::invalid_argument("Tuner: the graph has no such product");
  if (num_threads < 1) throw std::invalid_argument("Tuner: at least one thread");
  const std::int64_t bytes =
      std::clamp<std::int64_t>(2 * cpu_info().l3_bytes, kLeastBytes, kMostBytes);
  // A copy of tiny weights costs more than its bytes: an op, and a step for each blocking.
  const std::int64_t each = std::max<std::int64_t>(op->weight_bytes(), 256 << 10);
  for (std::int64_t n = std::max<std::int64_t>(bytes / each, 2); n > 0; --n)
    copies_.push_back(op->clone());
  ++g_tuners;
}

Tuner::~Tuner() = default;

std::vector<Blocking> Tuner::candidates(std::int64_t rows) const {
  return candidate_blockings(kind_.gemm_type, features_, rows, kind_.n, kind_.k, num_threads_);
}

std::vector<double> Tuner::seconds(std::int64_t rows, std::span<const Blocking> blockings,
                                   double budget) const {
  using Clock = std::chrono::steady_clock;
  const std::size_t count = blockings.size();
  if (count == 0) return {};
  std::vector<std::vector<std::unique_ptr<Step>>> steps(count);  // [blocking][copy]
  std::size_t scratch_bytes = 1;
  const Buffers buffers(*copies_.front(), rows);
  const std::vector<ValueType> types(buffers.views().size(), ValueType::float32);
  for (std::size_t i = 0; i < count; ++i) {
    const Capacity capacity{rows, 1, rows, num_threads_, {{kind_, 1, rows, blockings[i]}}};
    for (const auto& op : copies_) {
      steps[i].push_back(op->prepare({capacity, features_, types}));
      scratch_bytes = std::max(scratch_bytes, steps[i].back()->scratch_bytes());
    }
  }
  AlignedBuffer scratch(scratch_bytes);
  std::vector<std::vector<double>> samples(count);
  for (auto& s : samples) s.reserve(kMostRounds);
  Barrier meet;
  const RunArgs args{};
  std::atomic<Buffer> failed = Plan::kNone;
  const Frame frame{args, buffers.views(), failed};
  std::atomic<bool> more = true, complete = false;
  const auto rounds = [&](int thread_id, int team_size) {
    if (team_size != num_threads_) return;
    const Clock::time_point start = Clock::now();
    std::size_t next = 0;                  // copy
    for (int round = -1; more; ++round) {  // the first is not recorded
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t which = (i + static_cast<std::size_t>(round + 1)) % count;
        const Step& step = *steps[which][next++ % copies_.size()];
        meet.wait();
        const Clock::time_point begin = Clock::now();
        step.run(frame, scratch.data(), thread_id, team_size);
        meet.wait();
        const std::chrono::duration<double> taken = Clock::now() - begin;
        if (thread_id == 0 && round >= 0) samples[which].push_back(taken.count());
      }
      if (thread_id == 0) {
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        more = round + 1 < kLeastRounds || (elapsed.count() < budget && round + 1 < kMostRounds);
        complete = !more;
      }
      meet.wait();
    }
  };
  const FloatEnvironment environment(Subnormals::flush);  // as plans compute
  for (int attempt = 0; !complete; ++attempt) {
    if (attempt == 200)
      throw std::runtime_error("Tuner: other runs keep the threads busy, or there are too few");
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    run_team(num_threads_, rounds);
  }
  std::vector<double> medians;
  for (auto& s : samples) medians.push_back(median(std::move(s)));
  return medians;
}

}  // namespace fbg
