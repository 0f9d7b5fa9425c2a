// Elements of 8, 16 and 32 bits in memory: the operands that stages read, and the results stored.
#include <cstddef>

#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {

namespace {

// The valid elements of a partial vector, byte by byte between `memory` and the red zone below the
// stack pointer.
void copy_partial(SimdAssembler& as, const Xbyak::Address& memory, int size,
                  const StageContext& ctx, bool to_memory) {
  Xbyak::Label next;
  as.lea(ctx.scratch3, memory);
  as.mov(ctx.scratch2, as.ptr[ctx.args + static_cast<int>(offsetof(TileArgs, columns))]);
  as.sub(ctx.scratch2, ctx.column_bytes / 4);
  if (size == 2) as.add(ctx.scratch2, ctx.scratch2);
  const auto stack = as.byte[as.rsp + ctx.scratch2 - 65];
  const auto element = as.byte[ctx.scratch3 + ctx.scratch2 - 1];
  as.L(next);
  as.mov(ctx.scratch.cvt8(), to_memory ? stack : element);
  as.mov(to_memory ? element : stack, ctx.scratch.cvt8());
  as.dec(ctx.scratch2);
  as.jnz(next);
}

}  // namespace

// scratch = row i of the stage's matrix
void StageEmitter::load_row_pointer() {
  as_.mov(ctx_.scratch, stage_field(offsetof(StageArgs, data)));
  as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, row)]);
  if (ctx_.row) as_.add(ctx_.scratch2, ctx_.row);
  as_.imul(ctx_.scratch2, stage_field(offsetof(StageArgs, ld)));
  as_.add(ctx_.scratch, ctx_.scratch2);
}

// The vector's columns in a row of elements of that size, which scratch points to.
Xbyak::Address StageEmitter::element(int size) {
  if (pointer_) return as_.ptr[*pointer_ + ctx_.column_bytes / 4 * size];
  as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, col)]);
  return as_.ptr[ctx_.scratch + ctx_.scratch2 * size + ctx_.column_bytes / 4 * size];
}

// Elements of 8 or 16 bits as 32-bit lanes: integers, or floats of their value.
void StageEmitter::load_narrow(const Vec& to, const Xbyak::Address& from, ValueType type) {
  if (!ctx_.masked) return widen(to, from, type);
  if (!as_.is_zmm()) {
    copy_partial(as_, from, static_cast<int>(value_size(type)), ctx_, false);
    return widen(to, as_.ptr[as_.rsp - 64], type);
  }
  const Xbyak::Xmm bytes(to.getIdx());
  const Xbyak::Ymm words(to.getIdx());
  if (value_size(type) == 1) {
    as_.vmovdqu8(bytes | as_.k1 | as_.T_z, from);
    return widen(to, bytes, type);
  }
  as_.vmovdqu16(words | as_.k1 | as_.T_z, from);
  widen(to, words, type);
}

void StageEmitter::widen(const Vec& to, const Xbyak::Operand& from, ValueType type) {
  switch (type) {
    case ValueType::uint8:
      as_.vpmovzxbd(to, from);
      break;
    case ValueType::int8:
      as_.vpmovsxbd(to, from);
      break;
    case ValueType::float16:
      as_.vcvtph2ps(to, from);
      break;
    default:  // bfloat16
      as_.vpmovzxwd(to, from);
      as_.vpslld(to, to, 16);
  }
}

void emit_store(SimdAssembler& as, ValueType type, const Xbyak::Reg64& row, int column,
                const SimdAssembler::Vec& x, const StageContext& ctx) {
  using Xbyak::Xmm;
  using Xbyak::Ymm;
  if (value_size(type) == 4) {
    if (ctx.key.caching == Caching::streams_c && !ctx.masked)
      as.vmovntps(as.ptr[row + column * 4], x);
    else
      as.store(as.ptr[row + column * 4], x, ctx.masked);
    return;
  }
  // 32-bit lanes hold values in the range of the type; what is above its size is dropped.
  const int size = static_cast<int>(value_size(type));
  const auto to = as.ptr[row + column * size];
  if (as.is_zmm()) {
    const auto target = ctx.masked ? to | as.k1 : to;
    size == 1 ? as.vpmovdb(target, x) : as.vmovdqu16(target, Ymm(x.getIdx()));
    return;
  }
  const Xmm low(x.getIdx()), high(ctx.temps);
  as.vextracti128(high, Ymm(x.getIdx()), 1);
  if (size == 2)
    as.vpackusdw(low, low, high);
  else
    as.vpackssdw(low, low, high);
  if (type == ValueType::int8) as.vpacksswb(low, low, low);
  if (type == ValueType::uint8) as.vpackuswb(low, low, low);
  if (!ctx.masked) {
    size == 2 ? as.vmovdqu(to, low) : as.vmovq(to, low);
    return;
  }
  as.vmovdqu(as.ptr[as.rsp - 64], low);
  copy_partial(as, to, size, ctx, true);
}

}  // namespace fbg::kernels
