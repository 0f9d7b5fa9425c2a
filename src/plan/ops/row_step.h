// The step of ops that treat every row alone: threads take equal ranges of rows, and each row is
// one call of a function, which mostly calls a row kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "fbg/core/types.h"
#include "plan/ops/ops.h"
#include "simd/kernels.h"

namespace fbg {

// Calls function(kernels, frame, row, y) for each row of the output, where y is that row. The rows
// of a tensor, `in_tensor` of them, follow each other. Where the plan holds the output as bfloat16,
// y is a row of floats in scratch, which is rounded afterwards.
template <class Function>
class RowStep final : public Step {
 public:
  RowStep(const Op& op, const PrepareContext& context, Function function, std::int64_t in_tensor)
      : output_(op.output),
        kernels_(simd::kernels(context.features).rows),
        function_(std::move(function)),
        in_tensor_(in_tensor),
        cols_(in_tensor > 0 ? op.shape.cols / in_tensor : op.shape.cols) {
    if (context.type(output_) != ValueType::bfloat16) return;
    floats_ = round_up(cols_, 16);
    scratch_bytes_ = static_cast<std::size_t>(floats_ * context.capacity.threads) * sizeof(float);
  }

  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }

  void run(const Frame& frame, std::byte* scratch, int thread_id,
           int num_threads) const noexcept override {
    const BufferView& y = frame[output_];
    const Range rows = thread_rows(in_tensor_ > 0 ? in_tensor_ : y.rows, thread_id, num_threads);
    const std::int64_t row_bytes = in_tensor_ > 0 ? cols_ * (floats_ > 0 ? 2 : 4) : y.row_bytes;
    float* const floats = reinterpret_cast<float*>(scratch) + thread_id * floats_;
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      std::byte* const to = y.data + row * row_bytes;
      if (floats_ == 0) {
        function_(kernels_, frame, row, reinterpret_cast<float*>(to));
        continue;
      }
      function_(kernels_, frame, row, floats);
      kernels_.float_to_bfloat16(floats, static_cast<std::size_t>(cols_),
                                 reinterpret_cast<std::uint16_t*>(to));
    }
  }

 private:
  const Buffer output_;
  const simd::RowKernels& kernels_;
  const Function function_;
  const std::int64_t in_tensor_, cols_;
  std::int64_t floats_ = 0;  // of a row in scratch
  std::size_t scratch_bytes_ = 0;
};

template <class Function>
std::unique_ptr<Step> make_row_step(const Op& op, const PrepareContext& context, Function function,
                                    std::int64_t in_tensor = 0) {
  return std::make_unique<RowStep<Function>>(op, context, std::move(function), in_tensor);
}

inline float* row_of(const BufferView& view, std::int64_t row) {
  return reinterpret_cast<float*>(view.data + row * view.row_bytes);
}

}  // namespace fbg
