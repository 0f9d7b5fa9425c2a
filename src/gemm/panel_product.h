// C = A * B for float operands stored as kernels read them: the rows of A in place, B in
// panels. It packs nothing, has no pipeline and is the work of one thread: for products inside of
// an op, such as those of attention, which has just made the operands.
#pragma once

#include <cstdint>

#include "fbg/core/types.h"
#include "gemm/kernel_table.h"

namespace fbg {

// The kernels of such products. The GEMM type's k-groups must be 32-bit words: one float (Float32),
// or two bfloat16 (BFloat16). Any number of columns that equals `columns` modulo whole panels can
// be computed. Throws std::runtime_error where executable memory is denied.
KernelTable panel_kernels(GemmType gemm_type, const Geometry& geometry, std::int64_t columns);

// `a` has unit column stride, and its columns are words. panels[p][depth][32] are words; the
// product takes the first a.cols of the depth. Not to be called inside a KernelScope.
void multiply_panels(const KernelTable& kernels, const MatrixView<const float>& a,
                     const float* panels, std::int64_t depth, const MatrixView<float>& c) noexcept;

}  // namespace fbg
