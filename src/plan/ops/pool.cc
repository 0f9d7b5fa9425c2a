// Pooling: one row of each sequence, which is one of its tokens, or a mean or the maximum over
// them, taken in token order; the first of them may be left out. Threads take ranges of sequences.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "plan/ops/ops.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

using simd::RowKernels;

const char* pooling_name(Pooling pooling) {
  switch (pooling) {
    case Pooling::first:
      return "first_token";
    case Pooling::last:
      return "last_token";
    case Pooling::mean:
      return "mean_pool";
    case Pooling::mean_sqrt_length:
      return "mean_sqrt_length_pool";
    case Pooling::weighted_mean:
      return "weighted_mean_pool";
    case Pooling::max:
      return "max_pool";
  }
  return "";
}

// The divisor of the sum over `count` tokens; token t = 1, 2, … of a weighted mean counts t.
float divisor(Pooling pooling, std::int64_t count) {
  if (pooling == Pooling::mean_sqrt_length) return std::sqrt(static_cast<float>(count));
  return static_cast<float>(pooling == Pooling::mean ? count : count * (count + 1) / 2);
}

// y = pooling of x rows [first, last), zeros if there is none.
void pool_rows(Pooling pooling, const RowKernels& kernels, const MatrixView<float>& x, Range tokens,
               float* y) {
  if (tokens.size() <= 0) {
    std::fill_n(y, x.cols, 0.0f);
    return;
  }
  const auto row = [&](std::int64_t token) { return x.data + token * x.row_stride; };
  std::copy_n(row(pooling == Pooling::last ? tokens.end - 1 : tokens.begin), x.cols, y);
  if (pooling == Pooling::first || pooling == Pooling::last) return;
  for (std::int64_t token = tokens.begin + 1; token < tokens.end; ++token) {
    if (pooling == Pooling::max) {
      for (std::int64_t i = 0; i < x.cols; ++i) y[i] = std::max(y[i], row(token)[i]);
    } else {
      const std::int64_t position = token - tokens.begin + 1;
      const float weight = pooling == Pooling::weighted_mean ? static_cast<float>(position) : 1.0f;
      kernels.accumulate(row(token), weight, static_cast<std::size_t>(x.cols), y);
    }
  }
  if (pooling == Pooling::max) return;
  const float by = divisor(pooling, tokens.size());
  for (std::int64_t i = 0; i < x.cols; ++i) y[i] /= by;
}

class PoolOp final : public Op {
 public:
  PoolOp(Buffer x, Pooling pooling, std::int64_t skipped)
      : Op(pooling_name(pooling), {x}), pooling_(pooling), skipped_(skipped) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return std::make_unique<PoolStep>(*this, context.features);
  }

 private:
  class PoolStep final : public Step {
   public:
    PoolStep(const PoolOp& op, Features features)
        : op_(op), kernels_(simd::kernels(features).rows) {}

    void run(const Frame& frame, std::byte*, int thread_id,
             int num_threads) const noexcept override {
      const MatrixView<float> x = frame.floats(op_.inputs[0]), y = frame.floats(op_.output);
      const std::int32_t* offsets = frame.args.offsets;
      const Range sequences = thread_rows(frame.args.sequences, thread_id, num_threads);
      for (std::int64_t s = sequences.begin; s < sequences.end; ++s)
        pool_rows(op_.pooling_, kernels_, x, {offsets[s] + op_.skipped_, offsets[s + 1]},
                  y.data + s * y.row_stride);
    }

   private:
    const PoolOp& op_;
    const RowKernels& kernels_;
  };

  const Pooling pooling_;
  const std::int64_t skipped_;
};

}  // namespace

Buffer Graph::pool(Buffer x, Pooling pooling, std::int64_t skipped) {
  const BufferShape s = shape(x);
  require_floats("pool", s);
  require(s.rows == RowKind::token, "pool: x must have one row per token");
  require(skipped >= 0 && skipped <= std::numeric_limits<std::int32_t>::max(),
          "pool: skipped must be between 0 and 2**31 - 1, got " + std::to_string(skipped));
  return append(std::make_shared<PoolOp>(x, pooling, skipped), {RowKind::sequence, s.cols});
}

}  // namespace fbg
