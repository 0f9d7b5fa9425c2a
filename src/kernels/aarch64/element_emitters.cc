// Elements of 8, 16 and 32 bits in memory: the operands that stages read, and the results stored.
#include <bit>
#include <cstddef>

#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {

// Row i of the stage's matrix.
void StageEmitter::row_pointer(const XReg& to) {
  as_.ldr(to, at(r_.stages, stage_offset_ + offsetof(StageArgs, data)));
  as_.ldr(r_.scratch2, at(r_.args, offsetof(TileArgs, row)));
  if (at_.row) as_.add(r_.scratch2, r_.scratch2, at_.row);
  as_.ldr(r_.scratch3, at(r_.stages, stage_offset_ + offsetof(StageArgs, ld)));
  as_.madd(to, r_.scratch2, r_.scratch3, to);
}

// The vector's columns of a row of elements of `size` bytes, which scratch points to.
void StageEmitter::load_elements(const Vec& to, int size) {
  const int bytes = at_.vector * NeonAssembler::kLanes * size;
  const int shift = std::countr_zero(static_cast<unsigned>(size));
  as_.ldr(r_.scratch2, at(r_.args, offsetof(TileArgs, col)));
  as_.add(r_.scratch, r_.scratch, r_.scratch2, shift);
  if (at_.partial) {
    as_.add(r_.scratch, r_.scratch, bytes);
    return as_.load_partial(to, r_.scratch, size, r_.rest);
  }
  const auto from = at(r_.scratch, bytes);
  if (size == 4) return as_.ldr(to.q, from);
  if (size == 2) return as_.ldr(to.d, from);
  as_.ldr(to.s, from);
}

void StageEmitter::store(const Vec& x, ValueType type) {
  const int size = static_cast<int>(value_size(type));
  const int bytes = at_.vector * NeonAssembler::kLanes * size;
  // 32-bit lanes hold values in the range of the type; what is above its size is dropped. The
  // stage RowRange, which reads the vectors again, has results of 32 bits.
  if (size < 4) as_.xtn(x.h4, x.s4);
  if (size < 2) as_.xtn(x.b8, x.h8);
  if (at_.partial) {
    as_.add(r_.scratch, r_.c, bytes);
    return as_.store_partial(r_.scratch, x, size, r_.rest);
  }
  const auto to = at(r_.c, bytes);
  if (size == 4) return as_.str(x.q, to);
  if (size == 2) return as_.str(x.d, to);
  as_.str(x.s, to);
}

}  // namespace fbg::kernels
