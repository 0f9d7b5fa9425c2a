// The end of every microkernel: the output pipeline on each vector of the tile, then the store.
#pragma once

#include "kernels/microkernel.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {

// General registers that the epilogue is given; it overwrites some of rax, rbx, rdx, rsi and r8 to
// r13.
struct EpilogueRegisters {
  Xbyak::Reg64 args;       // the TileArgs
  Xbyak::Reg64 c, ldc;     // row 0 of C, which moves on, and the bytes between rows
  bool corrected = false;  // the folded offsets were subtracted from the sums before
};

// Whether it overwrites a general register.
bool epilogue_overwrites(const KernelKey& key, const Xbyak::Reg64& r);

// The sums of row i and vector v are in vector register i * key.vectors + v; the registers after
// them are free, but for that of the column mask, which is set where the key is masked.
void emit_epilogue(SimdAssembler& as, const KernelKey& key, const EpilogueRegisters& registers);

}  // namespace fbg::kernels
