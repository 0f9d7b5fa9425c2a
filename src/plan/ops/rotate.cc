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
  RotateOp(Buffer qkv, std::int64_t turned_heads, SharedMatrix cos_sin)
      : Op("rotate", {qkv}), turned_heads_(turned_heads), cos_sin_(std::move(cos_sin)) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context.features,
                         [this](const simd::RowKernels& k, const Frame& frame, std::int64_t row) {
                           const float* x = row_of(frame[inputs[0]], row);
                           float* y = row_of(frame[output], row);
                           k.rotate(x, cos_sin_.row(frame.args.sequence_positions[row]),
                                    static_cast<std::size_t>(cos_sin_.cols / 2),
                                    static_cast<std::size_t>(turned_heads_), y);
                           const std::int64_t turned = turned_heads_ * cos_sin_.cols;
                           if (x != y) std::copy(x + turned, x + frame[output].cols, y + turned);
                         });
  }

 private:
  const std::int64_t turned_heads_;  // those of Q, then those of K; V stays as it is
  const SharedMatrix cos_sin_;
};

}  // namespace

Buffer Graph::rotate(Buffer qkv, const AttentionShape& heads, SharedMatrix cos_sin) {
  const BufferShape s = shape(qkv);
  require_attention_input("rotate", s, heads);
  require(
      heads.head_dim % 2 == 0 && cos_sin.data && cos_sin.rows > 0 && cos_sin.cols == heads.head_dim,
      "rotate: cos_sin must have head_dim columns, an even number, here " +
          std::to_string(heads.head_dim) + ", got " + shape_text(cos_sin));
  lower_limit(limits_.sequence_position, cos_sin.rows);
  return append(std::make_shared<RotateOp>(qkv, heads.q_heads + heads.kv_heads, std::move(cos_sin)),
                s);
}

}  // namespace fbg
