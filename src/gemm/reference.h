// The portable microkernel: the `generic` ISA and the oracle of every test.
#pragma once

#include "fbg/kernels/microkernel.h"

namespace fbg {

// Any geometry, any pipeline; reads the tile's shape and stages from args->key.
TileFunction reference_kernel(Accumulator accumulator) noexcept;

}  // namespace fbg
