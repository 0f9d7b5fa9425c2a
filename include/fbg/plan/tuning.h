// Tuner: how long the blockings of a kind of linear layer take, measured as a model meets them.
// In a model a layer finds its weights in memory, not in a cache, because those of all others were
// read since. So the tuner rotates over more copies of the weights than the last cache holds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/gemm/blocking.h"
#include "fbg/plan/plan.h"

namespace fbg {

class ProductOp;  // src/plan/ops/ops.h

class Tuner {
 public:
  // For the first layer of that kind in the graph, with all that follows in its pipeline, run with
  // the kernels for `features`. Throws std::invalid_argument if there is none.
  Tuner(const Graph& graph, const ProductKind& kind, int num_threads,
        Features features = active_features());
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  std::vector<Blocking> candidates(std::int64_t rows) const;

  // Median seconds of each blocking, timed in turn for about `budget` seconds, at least 5 rounds.
  // Throws std::runtime_error if the thread team does not become free.
  std::vector<double> seconds(std::int64_t rows, std::span<const Blocking> blockings,
                              double budget) const;

 private:
  const ProductKind kind_;
  const int num_threads_;
  const Features features_;
  std::vector<std::shared_ptr<ProductOp>> copies_;
};

// Tuners made since the start of the process: loading and running models add none.
std::int64_t tuner_count() noexcept;

}  // namespace fbg
