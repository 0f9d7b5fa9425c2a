// All functions of this folder for one instruction set, and the choice of that set. Each source
// defines one table of functions, is written once on Highway, and is compiled for each target.
#pragma once

#include "fbg/core/isa.h"
#include "simd/bytes.h"
#include "simd/elementwise.h"
#include "simd/lanes.h"
#include "simd/rows.h"
#include "simd/search.h"
#include "simd/weights.h"
#include "simd/windows.h"
#include "simd/winograd.h"

namespace fbg::simd {

struct Kernels {
  const char* target;  // "generic", "avx2", "avx512" or "neon": asserted by tests
  bool fused;          // multiply and add round once, as in the portable and generated kernels

  const ByteKernels& bytes;
  const ConversionKernels& conversions;
  const ElementwiseKernels& elementwise;
  const LaneKernels& lanes;
  const RowKernels& rows;
  const SearchKernels& search;
  const WeightKernels& weights;
  const WindowKernels& windows;
  const WinogradKernels& winograd;
};

// The kernels for a set of features (avx512 > avx2 > generic).
const Kernels& kernels(Features features) noexcept;

}  // namespace fbg::simd
