// The end of every microkernel: the output pipeline on each vector of the tile, then the store.
#pragma once

#include "kernels/aarch64/neon_assembler.h"
#include "kernels/microkernel.h"

namespace fbg::kernels {

// The number of vector registers after the sums that the epilogue needs, and the first of four that
// hold tables; v0 is free as well.
inline constexpr int kEpilogueTemps = 3, kEpilogueTable = 28;

// The sums of row i and vector v are in vector register first + i * key.vectors + v, first > 0. x0
// holds the TileArgs; all other registers are free.
void emit_epilogue(NeonAssembler& as, const KernelKey& key, int first);

}  // namespace fbg::kernels
