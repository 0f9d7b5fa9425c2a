// Rotary positions: pairs of elements of Q and K turned by angles that depend on where their token
// stands in its sequence.
#include <algorithm>
#include <string>

#include "plan/ops/attention_shape.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

// Rotary positions (Su et al., 2021, arXiv:2104.09864): of the first n elements of each head of Q
// and K in a row of qkv, elements i and i + n / 2 are turned by an angle.
class RotateOp final : public Op {
 public:
  explicit RotateOp(Fields& f) : Op("rotate", f) {
    in_place = true;
    shape = shape_of(qkv_);
    require_attention_input("rotate", shape, heads_);
    require(cos_sin_.data && cos_sin_.rows > 0 && cos_sin_.cols > 0 && cos_sin_.cols % 2 == 0 &&
                cos_sin_.cols <= heads_.head_dim,
            "rotate: table must have an even number of columns, at most head_dim, here " +
                std::to_string(heads_.head_dim) + ", got " + shape_text(cos_sin_));
    limits.sequence_position = cos_sin_.rows;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        *this, context,
        [this](const simd::RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          const float* x = row_of(frame[qkv_], row);
          if (x != y) std::copy(x, x + frame[output].cols, y);
          const float* angles = cos_sin_.row(frame.args.sequence_positions[row]);
          k.rotate(y, angles, static_cast<std::size_t>(cos_sin_.cols / 2),
                   static_cast<std::size_t>(heads_.q_heads + heads_.kv_heads),
                   static_cast<std::size_t>(heads_.head_dim));
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const Buffer qkv_ = input("qkv");
  const AttentionShape heads_ = field("heads");
  // (L, n), n even and at most head_dim: for each sequence position the cosines of n / 2 angles,
  // then their sines. Sequence positions must be less than L.
  const SharedMatrix cos_sin_ = fields().table("table");
};

}  // namespace

Buffer kinds::rotate(Graph& graph, Fields& f) { return append_as<RotateOp>(graph, f); }

}  // namespace fbg
