// Pooling: one row of each sequence, which is one of its tokens, or a mean or the maximum over
// them, taken in token order; the first of them may be left out. Threads take ranges of sequences.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "plan/ops/row_step.h"

namespace fbg {
namespace {

using simd::RowKernels;

// How the rows of a sequence's tokens become one: a token of it; its mean, Σ x / n, or Σ x / √n, or
// Σ t x / Σ t with t = 1, 2, …; or its maximum.
enum class Pooling : std::uint8_t { first, last, mean, mean_sqrt_length, weighted_mean, max };
std::span<const Choice<Pooling>> choices(Pooling) {
  static constexpr Choice<Pooling> kPoolings[] = {
      {"cls", Pooling::first},
      {"lasttoken", Pooling::last},
      {"mean", Pooling::mean},
      {"mean_sqrt_len_tokens", Pooling::mean_sqrt_length},
      {"weightedmean", Pooling::weighted_mean},
      {"max", Pooling::max}};
  return kPoolings;
}

const char* pooling_name(Pooling pooling) {
  constexpr const char* kNames[] = {"first_token",           "last_token",         "mean_pool",
                                    "mean_sqrt_length_pool", "weighted_mean_pool", "max_pool"};
  return kNames[static_cast<std::size_t>(pooling)];
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
  explicit PoolOp(Fields& f) : Op("pool", f) {
    name = pooling_name(pooling_);
    const BufferShape x = shape_of(x_);
    require_floats("pool", x);
    require(x.rows == RowKind::token, "pool: x must have one row per token");
    require(skipped_ >= 0 && skipped_ <= std::numeric_limits<std::int32_t>::max(),
            "pool: skipped must be between 0 and 2**31 - 1, got " + std::to_string(skipped_));
    shape = {RowKind::sequence, x.cols};
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        *this, context,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          const std::int32_t* const offsets = frame.args.offsets + row;
          pool_rows(pooling_, k, frame.floats(x_), {offsets[0] + skipped_, offsets[1]}, y);
        });
  }

 private:
  const Buffer x_ = input("x");
  const Pooling pooling_ = field("pooling");
  const std::int64_t skipped_ = field("skipped", 0);  // of the first tokens
};

}  // namespace

Buffer kinds::pool(Graph& graph, Fields& f) { return append_as<PoolOp>(graph, f); }

}  // namespace fbg
