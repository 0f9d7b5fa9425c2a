// Ops that treat every row alone: embedding, LayerNorm, rotation, activations, normalisation.
// Threads take equal ranges of rows; a row is one call of a row kernel, or two.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "plan/ops/ops.h"
#include "simd/rows.h"

namespace fbg {
namespace {

using simd::RowKernels;

// A step that calls function(kernels, frame, row) for each row of its output.
template <class Function>
class RowStep final : public Step {
 public:
  RowStep(Buffer output, Function function)
      : output_(output),
        kernels_(simd::row_kernels(active_features())),
        function_(std::move(function)) {}

  void run(const Frame& frame, std::byte*, int thread_id, int num_threads) const noexcept override {
    const Range rows = thread_rows(frame[output_].rows, thread_id, num_threads);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) function_(kernels_, frame, row);
  }

 private:
  const Buffer output_;
  const RowKernels& kernels_;
  const Function function_;
};

template <class Function>
std::unique_ptr<Step> make_row_step(Buffer output, Function function) {
  return std::make_unique<RowStep<Function>>(output, std::move(function));
}

float* row_of(const MatrixView<float>& view, std::int64_t row) {
  return view.data + row * view.row_stride;
}

class EmbeddingOp final : public Op {
 public:
  EmbeddingOp(SharedMatrix word, SharedMatrix position, SharedMatrix type)
      : Op("embedding", {}),
        word_(std::move(word)),
        position_(std::move(position)),
        type_(std::move(type)) {}

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
      const RunArgs& args = frame.args;
      const float* const word = word_.row(args.ids[row]);
      const float* const position =
          position_.data ? position_.row(args.position_ids[row]) : nullptr;
      const float* const type = type_.data ? type_.row(args.types[row]) : nullptr;
      const auto n = static_cast<std::size_t>(word_.cols);
      if (position || type)
        k.add_rows(word, position ? position : type, position ? type : nullptr, n,
                   row_of(frame[output], row));
      else
        std::copy_n(word, n, row_of(frame[output], row));
    });
  }

 private:
  const SharedMatrix word_, position_, type_;
};

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

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
      k.layer_norm(row_of(frame[inputs[0]], row), gamma_.data.get(), beta_.data.get(), eps_,
                   static_cast<std::size_t>(gamma_.cols), row_of(frame[output], row));
    });
  }

 private:
  const SharedMatrix gamma_;
  SharedMatrix beta_;
  const float eps_;
};

class RotateOp final : public Op {
 public:
  RotateOp(Buffer qkv, std::int64_t num_heads, SharedMatrix cos_sin)
      : Op("rotate", {qkv}), num_heads_(num_heads), cos_sin_(std::move(cos_sin)) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
      const float* x = row_of(frame[inputs[0]], row);
      float* y = row_of(frame[output], row);
      // Heads of Q and K follow each other; V stays as it is.
      const std::int64_t turned = 2 * num_heads_ * cos_sin_.cols;
      k.rotate(x, cos_sin_.row(frame.args.sequence_positions[row]),
               static_cast<std::size_t>(cos_sin_.cols / 2),
               static_cast<std::size_t>(2 * num_heads_), y);
      if (x != y) std::copy(x + turned, x + frame[output].cols, y + turned);
    });
  }

 private:
  const std::int64_t num_heads_;
  const SharedMatrix cos_sin_;
};

class GegluOp final : public Op {
 public:
  explicit GegluOp(Buffer x) : Op("geglu", {x}) {}

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
      const float* x = row_of(frame[inputs[0]], row);
      const std::int64_t n = frame[output].cols;
      k.geglu(x, x + n, static_cast<std::size_t>(n), row_of(frame[output], row));
    });
  }
};

class TanhOp final : public Op {
 public:
  explicit TanhOp(Buffer x) : Op("tanh", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels& k, const Frame& frame, std::int64_t row) {
      const MatrixView<float>& y = frame[output];
      k.tanh(row_of(frame[inputs[0]], row), static_cast<std::size_t>(y.cols), row_of(y, row));
    });
  }
};

// y = x / max(|x|, 1e-12), the length summed in double precision.
class NormalizeOp final : public Op {
 public:
  explicit NormalizeOp(Buffer x) : Op("normalize", {x}) { in_place = true; }

  std::unique_ptr<Step> prepare(const Capacity&, const Formats&) const override {
    return make_row_step(output, [this](const RowKernels&, const Frame& frame, std::int64_t row) {
      const std::int64_t n = frame[output].cols;
      const float* x = row_of(frame[inputs[0]], row);
      double squares = 0;
      for (std::int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
      const double length = std::max(std::sqrt(squares), 1e-12);
      float* y = row_of(frame[output], row);
      for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] / length);
    });
  }
};

}  // namespace

std::shared_ptr<Op> make_embedding(SharedMatrix word, SharedMatrix position, SharedMatrix type) {
  return std::make_shared<EmbeddingOp>(std::move(word), std::move(position), std::move(type));
}

std::shared_ptr<Op> make_layer_norm(Buffer x, SharedMatrix gamma, SharedMatrix beta, float eps) {
  return std::make_shared<LayerNormOp>(x, std::move(gamma), std::move(beta), eps);
}

std::shared_ptr<Op> make_rotate(Buffer qkv, std::int64_t num_heads, SharedMatrix cos_sin) {
  return std::make_shared<RotateOp>(qkv, num_heads, std::move(cos_sin));
}

std::shared_ptr<Op> make_geglu(Buffer x) { return std::make_shared<GegluOp>(x); }

std::shared_ptr<Op> make_tanh(Buffer x) { return std::make_shared<TanhOp>(x); }

std::shared_ptr<Op> make_normalize(Buffer x) { return std::make_shared<NormalizeOp>(x); }

}  // namespace fbg
