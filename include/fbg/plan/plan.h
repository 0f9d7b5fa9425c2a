// Plan: a graph prepared for a capacity, and run with no decision left to make.
//
//   Plan     kernels generated, every buffer and all scratch laid out in one arena by lifetime
//   run()    one entry into the thread team, whose threads claim shares of each op in turn; nothing
//            is allocated, searched or validated
//
// Sequences are packed end to end without padding: a token buffer has one row per token, and
// `offsets` says where each sequence begins. Capacity bounds a run; its actual lengths are
// arguments. What a run computes for a sequence depends on that sequence alone, to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/gemm/blocking.h"
#include "fbg/plan/graph.h"

namespace fbg {

class Step;  // an op, prepared: src/plan/ops/ops.h

// What was measured to be the best blocking of a kind, where the rows of x number first to last.
struct TunedProduct {
  ProductKind kind;
  std::int64_t first_rows, last_rows;
  Blocking blocking;
};

// The largest run that a plan can do, and what was measured of how its products run best; for the
// others a cost model decides.
struct Capacity {
  std::int64_t tokens = 0, sequences = 0;
  std::int64_t length = 0;  // of one sequence
  int threads = 1;
  std::vector<TunedProduct> tuned = {};
};

// Arguments of a run; the caller has checked them against capacity and limits.
struct RunArgs {
  std::int64_t tokens = 0, sequences = 0;
  const std::int32_t* ids = nullptr;  // [tokens]: rows of the word table
  // [tokens]: rows of the position table. A model decides how they follow from the text; those of
  // RoBERTa begin after the padding id and skip padding.
  const std::int32_t* position_ids = nullptr;
  const std::int32_t* types = nullptr;  // [tokens]: rows of the token type table
  // [tokens]: where each token stands in its sequence, from 0; masked tokens, which are not part of
  // the run, are counted. Distances and rotations are taken of these. Ascending in each sequence.
  const std::int32_t* sequence_positions = nullptr;
  // [sequences + 1]: first token of each sequence, then their number; ascending, none empty.
  const std::int32_t* offsets = nullptr;
  // Dense matrices, one per Graph::output and Graph::input; outputs must not overlap inputs.
  std::span<void* const> outputs = {};
  std::span<const void* const> inputs = {};
};

// What a plan decided for an op.
struct OpPlan {
  std::string name;
  std::string kernel;    // of a linear layer: that of its largest tile, at the capacity
  std::string blocking;  // and where it is not the cost model's
  // Where the arena holds the output, which may be in the place of another; no bytes: what a run
  // hands back is in the caller's memory.
  std::size_t offset = 0, bytes = 0;
  std::size_t scratch_offset = 0, scratch_bytes = 0;  // of all threads, while the op runs
};

class Plan {
 public:
  // `features` decide which kernels all ops run with, now and later: a limit that is set while the
  // plan is prepared, or after, does not change it. Throws std::invalid_argument,
  // std::length_error, std::bad_alloc; std::runtime_error where executable memory is denied.
  Plan(const Graph& graph, const Capacity& capacity, Features features = active_features());
  // A copy shares weights, kernels and decisions with `other`, and has an arena of its own, so that
  // both may run at the same time. Throws std::bad_alloc.
  Plan(const Plan& other);
  ~Plan();
  Plan& operator=(const Plan&) = delete;

  // One run at a time. Subnormal numbers count as zeros in its floating-point operations, whatever
  // the modes of the calling thread, which are restored (float_environment.h). `seconds`, if given,
  // has room for every op and receives how long each took; `phases`, [ops][kPhases] (phase.h), what
  // the first share spent in the phases of each. Returns kNone, or the buffer of the first op that
  // met indices out of range (of a gather or scatter, or lengths of sequences): then no output
  // counts.
  static constexpr Buffer kNone = -1;
  Buffer run(const RunArgs& args, int num_threads, double* seconds = nullptr,
             double* phases = nullptr) noexcept;

  const Capacity& capacity() const { return capacity_; }
  Features features() const { return features_; }
  const Graph& graph() const { return graph_; }
  // The number of rows of a buffer during a run.
  std::int64_t rows(Buffer buffer, const RunArgs& args) const;
  std::size_t num_ops() const { return op_plans_.size(); }
  std::span<const OpPlan> ops() const { return op_plans_; }
  // The kernel of each op in a run of so many tokens: of the largest tile of its first thread.
  std::vector<std::string> kernels(std::int64_t tokens, int num_threads) const;
  std::size_t arena_bytes() const;
  // What a plan and its copies take together, beside their arenas and what other plans share.
  std::size_t shared_bytes() const;

  // The byte with which runs of all plans fill what nothing may read: the arena and the outputs
  // before a run, and ranges of the arena as soon as no later op reads them. An op that does, or an
  // output that no op has written, shows in the results, or as their difference between two bytes.
  // Debug builds and those with sanitizers begin with 0xff, of which floats are NaN, others
  // without. Returns the byte before.
  static std::optional<std::uint8_t> set_poison(std::optional<std::uint8_t> byte);

 private:
  struct Layout;
  struct Memory;
  class Run;
  void allocate();
  void poison_whole(const RunArgs& args) noexcept;
  void poison_freed(std::size_t step) noexcept;

  const Graph graph_;  // keeps ops and weights alive
  const Capacity capacity_;
  const Features features_;
  std::vector<std::shared_ptr<const Step>> steps_;  // null where a run has nothing to do
  std::vector<OpPlan> op_plans_;
  std::shared_ptr<const Layout> layout_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace fbg
