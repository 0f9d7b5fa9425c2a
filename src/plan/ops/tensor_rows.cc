// Softmax, LayerNorm and RMSNorm of the rows of a tensor.
#include <cstring>
#include <utility>
#include <vector>

#include "plan/ops/tensor_step.h"
#include "simd/kernels.h"

namespace fbg {
namespace {

using simd::RowKernels;

// A function of each row: function(kernels, x, n, y). Rows that the plan holds as bfloat16 become
// floats in scratch.
template <class Function>
class RowsOp final : public Op {
 public:
  RowsOp(const char* op_name, Buffer x, std::int64_t rows, std::int64_t cols, Function function)
      : Op(op_name, {x}), rows_(rows), cols_(cols), function_(std::move(function)) {
    in_place = true;
  }

  std::unique_ptr<Step> prepare(const PrepareContext& context) const override {
    const RowKernels& kernels = simd::kernels(context.features).rows;
    const bool narrow_x = context.type(inputs[0]) == ValueType::bfloat16;
    const bool narrow_y = context.type(output) == ValueType::bfloat16;
    const std::int64_t floats = narrow_x || narrow_y ? round_up(cols_, 16) : 0;
    return make_unit_step(
        rows_, static_cast<std::size_t>(floats * context.capacity.threads) * sizeof(float),
        [this, &kernels, narrow_x, narrow_y, floats](const Frame& frame, std::byte* scratch,
                                                     int thread_id, Range rows) {
          const auto n = static_cast<std::size_t>(cols_);
          float* const own = reinterpret_cast<float*>(scratch) + thread_id * floats;
          for (std::int64_t at = rows.begin * cols_; at < rows.end * cols_; at += cols_) {
            const std::byte* const x = frame[inputs[0]].data;
            std::byte* const y = frame[output].data;
            const float* from = reinterpret_cast<const float*>(x) + at;
            if (narrow_x) {
              kernels.bfloat16_to_float(reinterpret_cast<const std::uint16_t*>(x) + at, n, own);
              from = own;
            }
            function_(kernels, from, n, narrow_y ? own : reinterpret_cast<float*>(y) + at);
            if (narrow_y)
              kernels.float_to_bfloat16(own, n, reinterpret_cast<std::uint16_t*>(y) + at);
          }
        });
  }
  Halves reads_bfloat16(std::size_t, Features) const override { return Halves::widened; }
  bool can_write_bfloat16() const override { return true; }

 private:
  const std::int64_t rows_, cols_;
  const Function function_;
};

template <class Function>
Buffer append_rows(Graph& graph, const char* name, Buffer x, std::int64_t rows, std::int64_t cols,
                   Function function) {
  const std::int64_t extents[] = {rows, cols, 4};
  const std::string what = std::string(name) + ": x";
  const std::int64_t bytes = checked_product(extents, what.c_str());
  require_bytes(graph, x, bytes, what.c_str());
  return append_op(graph,
                   std::make_shared<RowsOp<Function>>(name, x, rows, cols, std::move(function)),
                   tensor_of_floats(bytes / 4));
}

}  // namespace

Buffer softmax_rows(Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols) {
  return append_rows(graph, "softmax", x, rows, cols,
                     [](const RowKernels& kernels, const float* from, std::size_t n, float* to) {
                       if (from != to) std::memcpy(to, from, n * sizeof(float));
                       kernels.softmax(to, n, 1.0f);
                     });
}

Buffer log_softmax_rows(Graph& graph, Buffer x, std::int64_t rows, std::int64_t cols) {
  return append_rows(graph, "log_softmax", x, rows, cols,
                     [](const RowKernels& kernels, const float* from, std::size_t n, float* to) {
                       kernels.log_softmax(from, n, to);
                     });
}

Buffer layer_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma,
                       SharedMatrix beta, float eps) {
  const std::int64_t cols = gamma.cols;
  if (beta.data) {
    require_vector(beta, cols, "layer_norm: beta");
  } else {
    auto zeros = std::make_shared<std::vector<float>>(static_cast<std::size_t>(cols));
    beta = {{zeros, zeros->data()}, 1, cols};
  }
  return append_rows(graph, "layer_norm", x, rows, cols,
                     [gamma = std::move(gamma), beta = std::move(beta), eps](
                         const RowKernels& kernels, const float* from, std::size_t n, float* to) {
                       kernels.layer_norm(from, gamma.data.get(), beta.data.get(), eps, n, to);
                     });
}

Buffer rms_norm_rows(Graph& graph, Buffer x, std::int64_t rows, SharedMatrix gamma, float eps) {
  const std::int64_t cols = gamma.cols;
  return append_rows(graph, "rms_norm", x, rows, cols,
                     [gamma = std::move(gamma), eps](const RowKernels& kernels, const float* from,
                                                     std::size_t n, float* to) {
                       kernels.rms_norm(from, gamma.data.get(), eps, n, to);
                     });
}

}  // namespace fbg
