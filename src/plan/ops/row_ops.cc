// Ops that compute a row from the same row of their input: LayerNorm, activations, normalisation.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

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
        output, context.features,
        [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
          k.layer_norm(row_of(frame[inputs[0]], row), gamma_.data.get(), beta_.data.get(), eps_,
                       static_cast<std::size_t>(gamma_.cols), row_of(frame[output], row));
        });
  }

 private:
  const SharedMatrix gamma_;
  SharedMatrix beta_;
  const float eps_;
};

class GegluOp final : public Op {
 public:
  explicit GegluOp(Buffer x) : Op("geglu", {x}) {}

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context.features,
                         [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
                           const float* x = row_of(frame[inputs[0]], row);
                           const std::int64_t n = frame[output].cols;
                           k.geglu(x, x + n, static_cast<std::size_t>(n),
                                   row_of(frame[output], row));
                         });
  }
};

class TanhOp final : public Op {
 public:
  explicit TanhOp(Buffer x) : Op("tanh", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context.features,
                         [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
                           k.tanh(row_of(frame[inputs[0]], row),
                                  static_cast<std::size_t>(frame[output].cols),
                                  row_of(frame[output], row));
                         });
  }
};

// y = x / max(|x|, 1e-12), the length summed in double precision.
class NormalizeOp final : public Op {
 public:
  explicit NormalizeOp(Buffer x) : Op("normalize", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    return make_row_step(output, context.features,
                         [this](const RowKernels&, const Frame& frame, std::int64_t row) {
                           const std::int64_t n = frame[output].cols;
                           const float* x = row_of(frame[inputs[0]], row);
                           double squares = 0;
                           for (std::int64_t i = 0; i < n; ++i)
                             squares += static_cast<double>(x[i]) * x[i];
                           const double length = std::max(std::sqrt(squares), 1e-12);
                           float* y = row_of(frame[output], row);
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

Buffer Graph::geglu(Buffer x) {
  BufferShape s = shape(x);
  require_floats("geglu", s);
  require(s.cols % 2 == 0,
          "geglu: x must have an even number of columns, got " + std::to_string(s.cols));
  s.cols /= 2;
  return append(std::make_shared<GegluOp>(x), s);
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
