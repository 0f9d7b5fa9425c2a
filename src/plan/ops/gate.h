// Gates f(a) * b as the stage after a product whose rows are a, b end to end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fbg/gemm/pipeline.h"
#include "plan/fields.h"
#include "simd/rows.h"

namespace fbg {

// The function f of a gated layer, f(a) * b (Shazeer, 2020, arXiv:2002.05202).
enum class Gate : std::uint8_t { gelu, gelu_tanh, silu, relu };
inline std::span<const Choice<Gate>> choices(Gate) {
  static constexpr Choice<Gate> kGates[] = {{"gelu", Gate::gelu},
                                            {"gelu_tanh", Gate::gelu_tanh},
                                            {"silu", Gate::silu},
                                            {"relu", Gate::relu}};
  return kGates;
}

inline const char* gate_name(Gate gate) {
  constexpr const char* kNames[] = {"geglu", "geglu_tanh", "swiglu", "reglu"};
  return kNames[static_cast<std::size_t>(gate)];
}

// y[0..n) = f(a[0..n)) * b[0..n)
using GateKernel = void (*)(const float* a, const float* b, std::size_t n, float* y);

inline GateKernel gate_kernel(const simd::RowKernels& kernels, Gate gate) {
  switch (gate) {
    case Gate::gelu:
      return kernels.geglu;
    case Gate::gelu_tanh:
      return kernels.geglu_tanh;
    case Gate::silu:
      return kernels.swiglu;
    case Gate::relu:
      return kernels.reglu;
  }
  return nullptr;
}

// A GatedPipeline that ends in float32 or bfloat16.
class GatedStages {
 public:
  GatedStages(std::span<const Stage> stages, const simd::RowKernels& kernels, Gate gate,
              ValueType output)
      : stages_(stages), kernels_(kernels), gate_(gate_kernel(kernels, gate)), output_(output) {}

  std::span<const Stage> kernel_stages() const noexcept { return stages_; }
  ValueType output() const noexcept { return output_; }

  void gate(const float* a, const float* b, std::int64_t n, std::byte* y) const noexcept {
    const auto count = static_cast<std::size_t>(n);
    if (output_ == ValueType::float32) return gate_(a, b, count, reinterpret_cast<float*>(y));
    alignas(64) float row[kMaxGatedColumns];
    gate_(a, b, count, row);
    kernels_.float_to_bfloat16(row, count, reinterpret_cast<std::uint16_t*>(y));
  }

 private:
  const std::span<const Stage> stages_;
  const simd::RowKernels& kernels_;
  const GateKernel gate_;
  const ValueType output_;
};

}  // namespace fbg
