// Rotary positions: pairs of elements of Q and K turned by angles that depend on where their token
// stands in its sequence.
#include <algorithm>
#include <string>
#include <utility>

#include "plan/ops/attention_shape.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

class RotateOp final : public Op {
 public:
  RotateOp(Buffer qkv, std::int64_t cols, std::int64_t turned_heads, std::int64_t head_dim,
           SharedMatrix cos_sin)
      : Op("rotate", {qkv}),
        cols_(cols),
        turned_heads_(turned_heads),
        head_dim_(head_dim),
        cos_sin_(std::move(cos_sin)) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, cols_,
        [this](const simd::RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          const float* x = row_of(frame[inputs[0]], row);
          if (x != y) std::copy(x, x + frame[output].cols, y);
          const float* angles = cos_sin_.row(frame.args.sequence_positions[row]);
          k.rotate(y, angles, static_cast<std::size_t>(cos_sin_.cols / 2),
                   static_cast<std::size_t>(turned_heads_), static_cast<std::size_t>(head_dim_));
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const std::int64_t cols_;
  const std::int64_t turned_heads_;  // those of Q, then those of K; V stays as it is
  const std::int64_t head_dim_;
  const SharedMatrix cos_sin_;
};

}  // namespace

Buffer Graph::rotate(Buffer qkv, const AttentionShape& heads, SharedMatrix cos_sin) {
  const BufferShape s = shape(qkv);
  require_attention_input("rotate", s, heads);
  require(cos_sin.data && cos_sin.rows > 0 && cos_sin.cols > 0 && cos_sin.cols % 2 == 0 &&
              cos_sin.cols <= heads.head_dim,
          "rotate: cos_sin must have an even number of columns, at most head_dim, here " +
              std::to_string(heads.head_dim) + ", got " + shape_text(cos_sin));
  lower_limit(limits_.sequence_position, cos_sin.rows);
  return append(std::make_shared<RotateOp>(qkv, s.cols, heads.q_heads + heads.kv_heads,
                                           heads.head_dim, std::move(cos_sin)),
                s);
}

}  // namespace fbg
