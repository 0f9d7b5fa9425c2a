// The table of kernel families: which GEMM type runs on which ISA, with what tiles, on operands
// in which packed format, and where its code comes from. Drivers ask choose_geometry() and
// find_kernel() (kernels/microkernel.h), which read nothing else.
//
// Each architecture has rows of its own and an assembler behind them:
//
//   src/kernels/x64/      families.cc has the rows for AVX2 to AVX-512, generated with Xbyak
//   src/kernels/aarch64/  families.cc has the rows for NEON, generated with its encoder
//   src/kernels/generic/  gemm.cc has a row per GEMM type, of portable C++, on every machine;
//                         no_assembler.cc takes the place of both on other architectures
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "kernels/microkernel.h"

namespace fbg::kernels {

// A vector register file.
struct VectorFile {
  int lanes;      // 32-bit lanes of a register
  int registers;  // how many there are
};

// What limits the size of a tile: rows * vectors accumulators, b_registers for each vector of B,
// a_registers for each row of A and `spare` registers must fit into the register file.
struct TileBudget {
  int b_registers;
  int spare;  // broadcasts of A, and temporaries
  int max_rows;
  int a_registers = 0;
  int one_panel_rows = 0;       // tiles of up to so many rows span one panel, though more would fit
  int interleaved_vectors = 0;  // of a tile of interleaved operands; 0: there are no such kernels
};

// How a kernel sums over k.
enum class Summing : std::uint8_t {
  one_accumulator,
  two_accumulators,  // even and odd k-groups apart where the tile is small, to hide the latency
  spilled,           // in int16, added to int32 sums in memory before they can overflow
};

// What a matrix unit (AMX) does instead of vector instructions: it computes the raw sums of blocks
// of k-groups. The vector kernels of the same GEMM type add the rest of K, run the stages and
// store the results. The default is that there is no matrix unit.
struct MatrixUnit {
  int block_groups = 1;         // k-groups that it multiplies at a time
  std::int64_t min_groups = 0;  // of a product that is deep enough for it
  int vector_rows = 0;          // tiles of C of up to this many rows are left to the vector kernels
};

struct GemmFamily;

// The position-independent code of the kernel; empty if the family has no such kernel.
using GenerateGemm = std::vector<std::uint8_t> (*)(const GemmFamily& family, const KernelKey& key);

// A row of the table. Either `generate` makes the code of a key, or `compiled` serves every key.
struct GemmFamily {
  GemmType gemm_type;
  Isa isa;
  Features needs;
  VectorFile vectors;
  TileBudget tile;
  PackedFormat format;
  Summing summing;
  GenerateGemm generate = nullptr;
  TileFunction compiled = nullptr;
  MatrixUnit unit{};

  bool narrow() const { return (needs & feature::narrow_weights) != 0; }
};

// The rows that the assembler of this architecture generates; of one GEMM type, best first.
std::span<const GemmFamily> generated_families() noexcept;
// Whether kernels for a set of features look bytes up in a table of 256 in less time than a pass of
// its own takes: by two permutations of AVX512-VBMI, which no set of features includes, as results
// are the same without.
bool looks_up_bytes(Features features) noexcept;
// The rows of portable C++, which need no feature.
std::span<const GemmFamily> generic_families() noexcept;

// The row of a GEMM type on exactly this ISA, for narrow weights or for all; null where there is
// none.
const GemmFamily* find_family(GemmType gemm_type, Isa isa, bool narrow = false) noexcept;

}  // namespace fbg::kernels
