// Ops that make one row of each sequence: its first token, or the mean or maximum over its tokens,
// taken in token order. Threads take ranges of sequences.
#include <algorithm>

#include "plan/ops.h"
#include "simd/rows.h"

namespace fbg {
namespace {

using simd::RowKernels;

enum class Reduction : std::uint8_t { first, mean, max };

const char* reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::first:
      return "first_token";
    case Reduction::mean:
      return "mean_pool";
    case Reduction::max:
      return "max_pool";
  }
  return "";
}

// y = reduction over x rows [first, last), at least one of them.
void reduce(Reduction reduction, const RowKernels& kernels, const MatrixView<float>& x,
            Range tokens, float* y) {
  const auto row = [&](std::int64_t token) { return x.data + token * x.row_stride; };
  std::copy_n(row(tokens.begin), x.cols, y);
  if (reduction == Reduction::first) return;
  for (std::int64_t token = tokens.begin + 1; token < tokens.end; ++token) {
    if (reduction == Reduction::mean) {
      kernels.accumulate(row(token), 1.0f, static_cast<std::size_t>(x.cols), y);
    } else {
      for (std::int64_t i = 0; i < x.cols; ++i) y[i] = std::max(y[i], row(token)[i]);
    }
  }
  if (reduction == Reduction::mean) {
    const float count = static_cast<float>(tokens.size());
    for (std::int64_t i = 0; i < x.cols; ++i) y[i] /= count;
  }
}

class ReductionOp final : public Op {
 public:
  ReductionOp(Buffer x, Reduction reduction)
      : Op(reduction_name(reduction), {x}), reduction_(reduction) {}

  std::unique_ptr<Step> prepare(const Capacity&) const override {
    return std::make_unique<ReductionStep>(*this);
  }

 private:
  class ReductionStep final : public Step {
   public:
    explicit ReductionStep(const ReductionOp& op)
        : op_(op), kernels_(simd::row_kernels(active_features())) {}

    void run(const Frame& frame, std::byte*, int thread_id,
             int num_threads) const noexcept override {
      const MatrixView<float>& x = frame[op_.inputs[0]];
      const MatrixView<float>& y = frame[op_.output];
      const std::int32_t* offsets = frame.args.offsets;
      const Range sequences = thread_rows(frame.args.sequences, thread_id, num_threads);
      for (std::int64_t s = sequences.begin; s < sequences.end; ++s)
        reduce(op_.reduction_, kernels_, x, {offsets[s], offsets[s + 1]},
               y.data + s * y.row_stride);
    }

   private:
    const ReductionOp& op_;
    const RowKernels& kernels_;
  };

  const Reduction reduction_;
};

}  // namespace

std::shared_ptr<Op> make_first_token(Buffer x) {
  return std::make_shared<ReductionOp>(x, Reduction::first);
}

std::shared_ptr<Op> make_pool(Buffer x, Pooling pooling) {
  return std::make_shared<ReductionOp>(x,
                                       pooling == Pooling::mean ? Reduction::mean : Reduction::max);
}

}  // namespace fbg
