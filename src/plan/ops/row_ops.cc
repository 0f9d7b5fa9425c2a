// Ops that compute a row from the same row of their inputs: norms, gates, sums, normalisation.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "plan/ops/attention_shape.h"
#include "plan/ops/gate.h"
#include "plan/ops/row_step.h"

namespace fbg {
namespace {

using simd::RowKernels;

class LayerNormOp final : public Op {
 public:
  LayerNormOp(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps)
      : Op("layer_norm", {x}), gamma_(std::move(gamma)), beta_(std::move(beta)), eps_(eps) {
    in_place = true;
    if (!beta_.data) {
      auto zeros = std::make_shared<std::vector<float>>(static_cast<std::size_t>(gamma_.cols));
      beta_ = {{zeros, zeros->data()}, 1, gamma_.cols};
    }
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, gamma_.cols,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          k.layer_norm(row_of(frame[inputs[0]], row), gamma_.data.get(), beta_.data.get(), eps_,
                       static_cast<std::size_t>(gamma_.cols), y);
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const SharedMatrix gamma_;
  SharedMatrix beta_;
  const float eps_;
};

class RmsNormOp final : public Op {
 public:
  RmsNormOp(Buffer x, SharedMatrix gamma, float eps)
      : Op("rms_norm", {x}), gamma_(std::move(gamma)), eps_(eps) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, gamma_.cols,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          k.rms_norm(row_of(frame[inputs[0]], row), gamma_.data.get(), eps_,
                     static_cast<std::size_t>(gamma_.cols), y);
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const SharedMatrix gamma_;
  const float eps_;
};

class NormHeadsOp final : public Op {
 public:
  NormHeadsOp(Buffer qkv, const AttentionShape& shape, SharedMatrix q_gamma, SharedMatrix k_gamma,
              float eps)
      : Op("norm_heads", {qkv}),
        shape_(shape),
        q_gamma_(std::move(q_gamma)),
        k_gamma_(std::move(k_gamma)),
        eps_(eps) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, shape_.columns(),
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          const float* x = row_of(frame[inputs[0]], row);
          const std::int64_t normed = shape_.q_heads + shape_.kv_heads, d = shape_.head_dim;
          for (std::int64_t head = 0; head < normed; ++head) {
            const SharedMatrix& gamma = head < shape_.q_heads ? q_gamma_ : k_gamma_;
            k.rms_norm(x + head * d, gamma.data.get(), eps_, static_cast<std::size_t>(d),
                       y + head * d);
          }
          if (x != y) std::copy(x + normed * d, x + frame[output].cols, y + normed * d);
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const AttentionShape shape_;
  const SharedMatrix q_gamma_, k_gamma_;
  const float eps_;
};

class AddOp final : public Op {
 public:
  AddOp(Buffer a, Buffer b) : Op("add", {a, b}) { in_place = true; }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          k.add(row_of(frame[inputs[0]], row), row_of(frame[inputs[1]], row),
                static_cast<std::size_t>(frame[output].cols), y);
        });
  }
};

class GatedOp final : public Op {
 public:
  GatedOp(Buffer x, Gate gate, std::int64_t cols)
      : Op(gate_name(gate), {x}), gate_(gate), cols_(cols) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context, cols_,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          const float* x = row_of(frame[inputs[0]], row);
          gate_kernel(k, gate_)(x, x + cols_, static_cast<std::size_t>(cols_), y);
        });
  }
  bool can_write_bfloat16() const override { return true; }

 private:
  const Gate gate_;
  const std::int64_t cols_;  // columns of the output
};

class TanhOp final : public Op {
 public:
  explicit TanhOp(Buffer x) : Op("tanh", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(
        output, context,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row, float* y) {
          k.tanh(row_of(frame[inputs[0]], row), static_cast<std::size_t>(frame[output].cols), y);
        });
  }
};

// y = x / max(|x|, 1e-12), the length summed in double precision.
class NormalizeOp final : public Op {
 public:
  explicit NormalizeOp(Buffer x) : Op("normalize", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context,
                         [this](const RowKernels&, const Frame& frame, std::int64_t row, float* y) {
                           const std::int64_t n = frame[output].cols;
                           const float* x = row_of(frame[inputs[0]], row);
                           double squares = 0;
                           for (std::int64_t i = 0; i < n; ++i)
                             squares += static_cast<double>(x[i]) * x[i];
                           const double length = std::max(std::sqrt(squares), 1e-12);
                           for (std::int64_t i = 0; i < n; ++i)
                             y[i] = static_cast<float>(x[i] / length);
                         });
  }
};

}  // namespace

Buffer Graph::layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps) {
  const BufferShape s = shape(x);
  require_floats("layer_norm", s);
  require_vector(gamma, s.cols, "layer_norm: gamma");
  if (beta.data) require_vector(beta, s.cols, "layer_norm: beta");
  return append(std::make_shared<LayerNormOp>(x, std::move(gamma), std::move(beta), eps), s);
}

Buffer Graph::rms_norm(Buffer x, SharedMatrix gamma, float eps) {
  const BufferShape s = shape(x);
  require_floats("rms_norm", s);
  require_vector(gamma, s.cols, "rms_norm: gamma");
  return append(std::make_shared<RmsNormOp>(x, std::move(gamma), eps), s);
}

Buffer Graph::norm_heads(Buffer qkv, const AttentionShape& heads, SharedMatrix q_gamma,
                         SharedMatrix k_gamma, float eps) {
  const BufferShape s = shape(qkv);
  require_attention_input("norm_heads", s, heads);
  require_vector(q_gamma, heads.head_dim, "norm_heads: q_gamma");
  require_vector(k_gamma, heads.head_dim, "norm_heads: k_gamma");
  return append(
      std::make_shared<NormHeadsOp>(qkv, heads, std::move(q_gamma), std::move(k_gamma), eps), s);
}

Buffer Graph::add(Buffer a, Buffer b) {
  require_floats("add", shape(a));
  require(shape(a) == shape(b), "add: a and b must have the same shape");
  return append(std::make_shared<AddOp>(a, b), shape(a));
}

Buffer Graph::gated(Buffer x, Gate gate) {
  BufferShape s = shape(x);
  require_floats("gated", s);
  require(s.cols % 2 == 0,
          "gated: x must have an even number of columns, got " + std::to_string(s.cols));
  s.cols /= 2;
  return append(std::make_shared<GatedOp>(x, gate, s.cols), s);
}

Buffer Graph::tanh(Buffer x) {
  require_floats("tanh", shape(x));
  return append(std::make_shared<TanhOp>(x), shape(x));
}

Buffer Graph::normalize(Buffer x) {
  require_floats("normalize", shape(x));
  return append(std::make_shared<NormalizeOp>(x), shape(x));
}

}  // namespace fbg
