// Norms of rows, and softmax, the one whose results sum up to 1: rows of tokens or
// sequences, or those of a tensor, end to end.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "plan/ops/row_step.h"
#include "plan/ops/tensor_step.h"

namespace fbg {
namespace {

using simd::RowKernels;

class RowsOp : public Op {
 public:
  Halves reads_bfloat16(std::size_t, Features) const override {
    return in_tensor_ > 0 ? Halves::widened : Halves::no;
  }
  bool can_write_bfloat16() const override { return true; }

 protected:
  RowsOp(const char* op_name, Fields& f) : Op(op_name, f) { in_place = true; }

  // Rows of x have so many columns.
  void set_columns(std::int64_t cols) {
    const BufferShape x = shape_of(x_);
    const std::string what = name + ": x";
    if (x.rows == RowKind::tensor) {
      const std::int64_t bytes = tensor_bytes(fields().graph(), x_), row = 4 * cols;
      require(cols >= 1 && bytes % row == 0, what + " must consist of rows of " +
                                                 std::to_string(row) + " bytes, got " +
                                                 std::to_string(bytes));
      in_tensor_ = bytes / row;
      shape = tensor_of_floats(bytes / 4);
    } else {
      require_floats(name.c_str(), x);
      shape = x;
    }
  }

  // function(kernels, x, y) of each row.
  template <class Function>
  std::unique_ptr<Step> step(const PrepareContext& context, Function function) const {
    const bool narrow = context.type(x_) == ValueType::bfloat16;
    const std::int64_t cols = in_tensor_ > 0 ? shape.cols / in_tensor_ : 0;
    return make_row_step(
        *this, context,
        [this, narrow, cols, function](const RowKernels& k, const Frame& frame, std::int64_t row,
                                       float* y) {
          if (in_tensor_ == 0) return function(k, row_of(frame[x_], row), y);
          const std::byte* const x = frame[x_].data;
          if (!narrow) return function(k, reinterpret_cast<const float*>(x) + row * cols, y);
          k.bfloat16_to_float(reinterpret_cast<const std::uint16_t*>(x) + row * cols,
                              static_cast<std::size_t>(cols), y);
          function(k, y, y);
        },
        in_tensor_);
  }

  const Buffer x_ = input("x");

 private:
  std::int64_t in_tensor_ = 0;  // rows, if x is a tensor
};

// rms_norm: x / sqrt(mean of x^2 + eps) * gamma (Zhang and Sennrich, 2019, arXiv:1910.07467).
// normalize: x / max(|x|, 1e-12), the length summed in double precision.
enum class Norm : std::uint8_t { layer_norm, rms_norm, normalize, softmax, log_softmax };
constexpr Choice<Norm> kNorms[] = {{"layer_norm", Norm::layer_norm},
                                   {"rms_norm", Norm::rms_norm},
                                   {"normalize", Norm::normalize},
                                   {"softmax", Norm::softmax},
                                   {"log_softmax", Norm::log_softmax}};
std::span<const Choice<Norm>> choices(Norm) { return kNorms; }

class NormOp final : public RowsOp {
 public:
  explicit NormOp(Fields& f) : RowsOp("norm", f) {
    name = width_ < gamma_.cols ? "norm_heads" : kNorms[static_cast<std::size_t>(norm_)].name;
    const bool has_weights = norm_ == Norm::layer_norm || norm_ == Norm::rms_norm;
    const BufferShape x = shape_of(x_);
    row_ = x.rows != RowKind::tensor ? x.cols : has_weights ? gamma_.cols : width_;
    set_columns(row_);
    if (!has_weights) require(!gamma_.data && !beta_.data, name + ": takes no weights");
    if (has_weights && width_ == gamma_.cols)
      require_vector(gamma_, row_, (name + ": gamma").c_str());
    else if (has_weights)
      require(norm_ == Norm::rms_norm && width_ >= 1 && gamma_.cols % width_ == 0 &&
                  gamma_.cols <= row_,
              name + ": gamma must have whole heads of " + std::to_string(width_) +
                  " columns, at most " + std::to_string(row_) + ", got " + shape_text(gamma_));
    if (beta_.data) require_vector(beta_, row_, (name + ": beta").c_str());
    if (norm_ == Norm::layer_norm && !beta_.data) {
      auto zeros = std::make_shared<std::vector<float>>(static_cast<std::size_t>(row_));
      beta_ = {{zeros, zeros->data()}, 1, row_};
    }
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const auto n = static_cast<std::size_t>(row_);
    switch (norm_) {
      case Norm::layer_norm:
        return step(context, [this, n](const RowKernels& k, const float* x, float* y) {
          k.layer_norm(x, gamma_.data.get(), beta_.data.get(), eps_, n, y);
        });
      case Norm::rms_norm:
        return step(context, [this](const RowKernels& k, const float* x, float* y) {
          for (std::int64_t i = 0; i < gamma_.cols; i += width_)
            k.rms_norm(x + i, gamma_.data.get() + i, eps_, static_cast<std::size_t>(width_), y + i);
          if (x != y) std::copy(x + gamma_.cols, x + row_, y + gamma_.cols);
        });
      case Norm::normalize:
        break;
      case Norm::softmax:
        return step(context, [n](const RowKernels& k, const float* x, float* y) {
          if (x != y) std::memcpy(y, x, n * sizeof(float));
          k.softmax(y, n, 1.0f);
        });
      case Norm::log_softmax:
        return step(context,
                    [n](const RowKernels& k, const float* x, float* y) { k.log_softmax(x, n, y); });
    }
    return step(context, [n](const RowKernels&, const float* x, float* y) {
      double squares = 0;
      for (std::size_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
      const double length = std::max(std::sqrt(squares), 1e-12);
      for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] / length);
    });
  }

 private:
  const Norm norm_ = field("function");
  const SharedMatrix gamma_ = fields().vector("gamma");
  SharedMatrix beta_ = fields().vector("beta");  // an empty one adds nothing
  const float eps_ = field("eps", 0.0f);
  // Of heads, each of which is a row with weights of its own; what follows them stays as it is. Of
  // a tensor without weights, the columns of a row.
  const std::int64_t width_ = field("width", gamma_.cols);
  std::int64_t row_ = 0;
};

}  // namespace

Buffer kinds::norm(Graph& graph, Fields& f) { return append_as<NormOp>(graph, f); }

}  // namespace fbg
