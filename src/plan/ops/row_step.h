// The step of ops that treat every row alone: threads take equal ranges of rows, and each row is
// one call of a function, which mostly calls a row kernel.
#pragma once

#include <memory>
#include <utility>

#include "plan/ops/ops.h"
#include "simd/rows.h"

namespace fbg {

// Calls function(kernels, frame, row) for each row of the output.
template <class Function>
class RowStep final : public Step {
 public:
  RowStep(Buffer output, Features features, Function function)
      : output_(output), kernels_(simd::row_kernels(features)), function_(std::move(function)) {}

  void run(const Frame& frame, std::byte*, int thread_id, int num_threads) const noexcept override {
    const Range rows = thread_rows(frame[output_].rows, thread_id, num_threads);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) function_(kernels_, frame, row);
  }

 private:
  const Buffer output_;
  const simd::RowKernels& kernels_;
  const Function function_;
};

template <class Function>
std::unique_ptr<Step> make_row_step(Buffer output, Features features, Function function) {
  return std::make_unique<RowStep<Function>>(output, features, std::move(function));
}

inline float* row_of(const BufferView& view, std::int64_t row) {
  return reinterpret_cast<float*>(view.data + row * view.row_bytes);
}

}  // namespace fbg
