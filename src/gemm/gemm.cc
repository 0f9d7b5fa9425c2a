// GemmBase: the loops behind a pointer, so that headers of programs need not know them.
#include "fbg/gemm/gemm.h"

#include <algorithm>

#include "gemm/driver.h"

namespace fbg {

GemmBase::GemmBase(const ProductTypes& types, const PackedMatrix& b, const PipelineView& pipeline,
                   std::int64_t max_m, Features features, const Blocking& blocking)
    : driver_(std::make_shared<GemmDriver>(types, b, pipeline, max_m, features, blocking)) {
  if (b.is_narrow())
    narrow_ =
        std::make_shared<GemmDriver>(types, b, pipeline, max_m, b.with_weights(features), blocking);
}

const GemmDriver& GemmBase::driver(const PackedMatrix& b) const noexcept {
  return narrow_ && b.is_narrow() ? *narrow_ : *driver_;
}

ValueType GemmBase::output_type() const { return driver_->output_type(); }
Features GemmBase::features() const { return driver_->features(); }
std::string GemmBase::kernel_name() const { return (narrow_ ? narrow_ : driver_)->kernel_name(); }
std::string GemmBase::kernel_name(std::int64_t rows, int num_threads) const {
  return (narrow_ ? narrow_ : driver_)->kernel_name(rows, num_threads);
}
std::size_t GemmBase::nbytes() const noexcept {
  return driver_->nbytes() + (narrow_ ? narrow_->nbytes() : 0);
}
std::size_t GemmBase::workspace_bytes(int num_threads) const noexcept {
  return std::max(driver_->workspace_bytes(num_threads),
                  narrow_ ? narrow_->workspace_bytes(num_threads) : 0);
}
bool GemmBase::serves(const PackedMatrix& b) const noexcept { return driver_->serves(b); }
void GemmBase::run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline,
                   OutputView c, std::byte* workspace, int thread_id,
                   int num_threads) const noexcept {
  driver(b).run(a, b, pipeline, c, workspace, thread_id, num_threads);
}

}  // namespace fbg
