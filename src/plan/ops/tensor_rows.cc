// Softmax, LayerNorm and RMSNorm of the rows of a tensor.
#include <cstring>
#include <utility>
#include <vector>

#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

class SoftmaxOp final : public Op {
 public:
  SoftmaxOp(Buffer x, std::int64_t rows, std::int64_t cols)
      : Op("softmax", {x}), rows_(rows), cols_(cols) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    return make_unit_step(
        rows_, 0, [this, &kernels](const Frame& frame, std::byte*, int, Range rows) {
          const auto n = static_cast<std::size_t>(cols_);
          for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const auto* x = reinterpret_cast<const float*>(frame[inputs[0]].data) + i * cols_;
            auto* y = reinterpret_cast<float*>(frame[output].data) + i * cols_;
            if (x != y) std::memcpy(y, x, n * sizeof(float));
            kernels.softmax(y, n, 1.0f);
          }
        });
  }

 private:
  const std::int64_t rows_, cols_;
};

class LayerNormRowsOp final : public Op {
 public:
  LayerNormRowsOp(Buffer x, std::int64_t rows, SharedMatrix gamma, SharedMatrix beta, float eps)
      : Op("layer_norm", {x}),
        rows_(rows),
        gamma_(std::move(gamma)),
        beta_(std::move(beta)),
        eps_(eps) {
    in_place = true;
    if (!beta_.data) {
      auto zeros = std::make_shared<std::vector<float>>(static_cast<std::size_t>(gamma_.cols));
      beta_ = {{zeros, zeros->data()}, 1, gamma_.cols};
    }
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    return make_unit_step(
        rows_, 0, [this, &kernels](const Frame& frame, std::byte*, int, Range rows) {
          const std::int64_t n = gamma_.cols;
          for (std::int64_t i = rows.begin; i < rows.end; ++i)
            kernels.layer_norm(reinterpret_cast<const float*>(frame[inputs[0]].data) + i * n,
                               gamma_.data.get(), beta_.data.get(), eps_,
                               static_cast<std::size_t>(n),
                               reinterpret_cast<float*>(frame[output].data) + i * n);
        });
  }

 private:
  const std::int64_t rows_;
  const SharedMatrix gamma_;
  SharedMatrix beta_;
  const float eps_;
};

class RmsNormRowsOp final : public Op {
 public:
  RmsNormRowsOp(Buffer x, std::int64_t rows, SharedMatrix gamma, float eps)
      : Op("rms_norm", {x}), rows_(rows), gamma_(std::move(gamma)), eps_(eps) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const simd::RowKernels& kernels = simd::kernels(context.features).rows;
    return make_unit_step(
        rows_, 0, [this, &kernels](const Frame& frame, std::byte*, int, Range rows) {
          const std::int64_t n = gamma_.cols;
          for (std::int64_t i = rows.begin; i < rows.end; ++i)
            kernels.rms_norm(reinterpret_cast<const float*>(frame[inputs[0]].data) + i * n,
                             gamma_.data.get(), eps_, static_cast<std::size_t>(n),
                             reinterpret_cast<float*>(frame[output].data) + i * n);
        });
  }

 private:
  const std::int64_t rows_;
  const SharedMatrix gamma_;
  const float eps_;
};

std::int64_t require_rows(const Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols,
                          const char* what) {
  const std::int64_t extents[] = {rows, cols, 4};
  const std::int64_t bytes = checked_product(extents, what);
  require_bytes(graph, x, bytes, what);
  return bytes;
}

}  // namespace

Buffer softmax_rows(Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols) {
  const std::int64_t bytes = require_rows(graph, x, rows, cols, "softmax: x");
  return append_op(graph, std::make_shared<SoftmaxOp>(x, rows, cols), tensor_shape(bytes));
}

Buffer layer_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma,
                       SharedMatrix beta, float eps) {
  const std::int64_t bytes = require_rows(graph, x, rows, gamma.cols, "layer_norm: x");
  if (beta.data) require_vector(beta, gamma.cols, "layer_norm: beta");
  return append_op(
      graph, std::make_shared<LayerNormRowsOp>(x, rows, std::move(gamma), std::move(beta), eps),
      tensor_shape(bytes));
}

Buffer rms_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma, float eps) {
  const std::int64_t bytes = require_rows(graph, x, rows, gamma.cols, "rms_norm: x");
  return append_op(graph, std::make_shared<RmsNormRowsOp>(x, rows, std::move(gamma), eps),
                   tensor_shape(bytes));
}

}  // namespace fbg
