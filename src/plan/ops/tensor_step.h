// Code that ops of tensors share: shapes of their buffers, checks, and how threads divide a range.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "plan/ops/ops.h"

namespace fbg {

using Extents = std::vector<std::int64_t>;

inline BufferShape tensor_shape(std::int64_t bytes) {
  return {RowKind::tensor, bytes, ValueType::uint8};
}

// The same of floats, which the plan may hold as bfloat16.
inline BufferShape tensor_of_floats(std::int64_t elements) {
  return {RowKind::tensor, elements, ValueType::float32};
}
// Lets a stage read a matrix of bfloat16 in the place of floats.
inline void narrow_matrix(Stage& stage) {
  stage.wanted = ValueType::bfloat16;
  stage.args.ld /= 2;
}

// Of a tensor as the graph describes it.
inline std::int64_t tensor_bytes(const Graph& graph, Buffer x) {
  const BufferShape shape = graph.shape(x);
  return shape.cols * value_size(shape.type);
}

// `x` must be a tensor of that size.
inline void require_bytes(const Graph& graph, Buffer x, std::int64_t bytes, const char* what) {
  const std::int64_t own = tensor_bytes(graph, x);
  require(graph.shape(x).rows == RowKind::tensor && own == bytes,
          std::string(what) + " must be a tensor of " + std::to_string(bytes) + " bytes, got " +
              std::to_string(own));
}

// The product of positive extents; throws if one is not positive, or the product is too large.
inline std::int64_t checked_product(std::span<const std::int64_t> extents, const char* what) {
  std::size_t product = 1;
  for (const std::int64_t extent : extents) {
    require(extent >= 1,
            std::string(what) + " must have extents of at least 1, got " + std::to_string(extent));
    product = checked_bytes(product, static_cast<std::size_t>(extent));
  }
  return static_cast<std::int64_t>(product);
}
inline std::int64_t checked_product(std::initializer_list<std::int64_t> extents, const char* what) {
  return checked_product(std::span(extents.begin(), extents.size()), what);
}

// A step that calls function(frame, scratch, units) for the share that a thread has of `units`.
template <class Function>
class UnitStep final : public Step {
 public:
  UnitStep(std::int64_t units, std::size_t scratch_bytes, Function function)
      : units_(units), scratch_bytes_(scratch_bytes), function_(std::move(function)) {}

  std::size_t scratch_bytes() const noexcept override { return scratch_bytes_; }
  void run(const Frame& frame, std::byte* scratch, int thread_id,
           int num_threads) const noexcept override {
    const Range units = thread_rows(units_, thread_id, num_threads);
    if (units.size() > 0) function_(frame, scratch, thread_id, units);
  }

 private:
  const std::int64_t units_;
  const std::size_t scratch_bytes_;
  const Function function_;
};

template <class Function>
std::unique_ptr<Step> make_unit_step(std::int64_t units, std::size_t scratch_bytes,
                                     Function function) {
  return std::make_unique<UnitStep<Function>>(units, scratch_bytes, std::move(function));
}

}  // namespace fbg
