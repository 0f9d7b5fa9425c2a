// The neighbours of each token side by side, so that a convolution over a sequence is a product.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "plan/ops/row_step.h"

namespace fbg {
namespace {

// A row of the output, where a, b, c are the columns of x at three places that follow each other:
//
//     a0 b0 c0 a1 b1 c1 a2 b2 c2 …
//
// as the weights of a convolution have them in files: (outputs, columns, places). Where there is no
// token, there are zeros. A product with it is a convolution over the sequence.
class UnfoldOp final : public Op {
 public:
  explicit UnfoldOp(Fields& f) : Op("unfold", f) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    require_floats("unfold", shape_of(x_));
    require(shape_of(x_).rows == RowKind::token, "unfold: x must have one row per token");
    require(width_ > 0 && width_ % 2 == 1 && width_ <= kMost / cols_,
            "unfold: width must be an odd number of tokens, got " + std::to_string(width_));
    limits.sequence_position = kMost;
    shape = {RowKind::token, cols_ * width_};
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(*this, context,
                         [this](const simd::RowKernels&, const Frame& frame, std::int64_t row,
                                float* y) { gather(frame, row, y); });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  void gather(const Frame& frame, std::int64_t row, float* y) const {
    const std::int32_t* const offsets = frame.args.offsets;
    const std::int32_t* const positions = frame.args.sequence_positions;
    const std::int32_t* const end =
        std::upper_bound(offsets, offsets + frame.args.sequences + 1, row);
    // No token is further away in memory than it is in its sequence.
    const std::int64_t before = width_ / 2;
    const std::int64_t first = std::max<std::int64_t>(end[-1], row - before);
    const std::int64_t last = std::min<std::int64_t>(end[0], row + before + 1);
    if (last - first < width_ || positions[last - 1] - positions[first] >= width_)
      std::fill_n(y, cols_ * width_, 0.0f);
    for (std::int64_t other = first; other < last; ++other) {
      const std::int64_t place = before + positions[other] - positions[row];
      if (place < 0 || place >= width_) continue;
      const float* const x = row_of(frame[x_], other);
      for (std::int64_t i = 0; i < cols_; ++i) y[i * width_ + place] = x[i];
    }
  }

  const Buffer x_ = input("x");
  const std::int64_t width_ = field("width"), cols_ = shape_of(x_).cols;
};

}  // namespace

Buffer kinds::unfold(Graph& graph, Fields& f) { return append_as<UnfoldOp>(graph, f); }

}  // namespace fbg
