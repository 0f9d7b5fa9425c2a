// RowRange: the least and greatest value of each row as a side result of the pipeline.
#include "kernels/x64/stage_emitter.h"

namespace fbg::kernels {

// As RowRange::widen, with the least and greatest of the vectors.
void StageEmitter::row_range(int first, int vectors) {
  using Xbyak::Xmm;
  const Vec &lo = t0_, &hi = t1_, &spare = t2_;
  const Xmm pair(lo.getIdx()), xhi(hi.getIdx()), xspare(spare.getIdx());
  const auto old = as_.rax, wide = ctx_.scratch3, target = ctx_.scratch2;
  Xbyak::Label nan, retry, done;
  load_row_pointer();
  as_.mov(target, ctx_.scratch);
  skip_if_within(first, vectors, target, done);

  // Start from one element, so that every lane always holds an element of the row. A NaN sticks
  // to lo: vminps gives the second source for it.
  as_.vbroadcastss(lo, Xmm(first));
  as_.vmovaps(hi, lo);
  for (int v = 0; v < vectors; ++v) {
    const Vec x = as_.vec(first + v);
    if (ctx_.masked && v == vectors - 1) as_.keep_valid(x, lo);
    as_.vminps(lo, x, lo);
    as_.vmaxps(hi, x, hi);
    as_.blend_nan(lo, x, x, spare);
  }
  as_.jump_if_nan(lo, spare, ctx_.scratch, nan);
  as_.reduce(lo, spare, true);
  as_.reduce(hi, spare, false);
  as_.vunpcklps(pair, pair, xhi);
  as_.zero(spare);
  as_.vaddps(pair, pair, xspare);  // -0 becomes +0

  as_.mov(old, as_.ptr[target]);
  as_.L(retry);
  as_.vmovq(xspare, old);
  as_.vminps(xhi, pair, xspare);  // a NaN that is there, the second source, stays
  as_.vmaxps(xspare, pair, xspare);
  as_.vinsertps(xspare, xspare, xhi, 0);
  as_.vmovq(wide, xspare);
  as_.cmp(wide, old);
  as_.je(done, as_.T_NEAR);
  as_.lock();
  as_.cmpxchg(as_.ptr[target], wide);  // compares with rax, and loads it where it differs
  as_.jne(retry);
  as_.jmp(done, as_.T_NEAR);
  as_.L(nan);
  as_.mov(wide, 0x7fc000007fc00000);
  as_.mov(as_.ptr[target], wide);
  as_.L(done);
}

// Jumps to `done` when no element lies outside the extent at `target`: as a row goes on, few
// tiles widen it any more. Whatever involves a NaN is outside.
void StageEmitter::skip_if_within(int first, int vectors, const Xbyak::Reg64& target,
                                  const Xbyak::Label& done) {
  constexpr int kNotGreaterEqual = 9, kNotLessEqual = 6;
  const Vec &lo = t0_, &hi = t1_, &outside = t2_;
  const auto any = ctx_.scratch.cvt32(), some = ctx_.scratch3.cvt32();
  as_.vbroadcastss(lo, as_.ptr[target]);
  as_.vbroadcastss(hi, as_.ptr[target + 4]);
  as_.is_zmm() ? as_.kxorw(as_.k2, as_.k2, as_.k2) : as_.xor_(any, any);
  for (int v = 0; v < vectors; ++v) {
    const Vec x = as_.vec(first + v);
    const bool partial = ctx_.masked && v == vectors - 1;
    for (const bool below : {true, false}) {
      const int wrong = below ? kNotGreaterEqual : kNotLessEqual;
      if (as_.is_zmm()) {
        as_.vcmpps(partial ? as_.k3 | as_.k1 : as_.k3, x, below ? lo : hi, wrong);
        as_.korw(as_.k2, as_.k2, as_.k3);
      } else {
        as_.vcmpps(outside, x, below ? lo : hi, wrong);
        if (partial) as_.keep_valid_bits(outside);
        as_.vmovmskps(some, outside);
        as_.or_(any, some);
      }
    }
  }
  as_.is_zmm() ? as_.kortestw(as_.k2, as_.k2) : as_.test(any, any);
  as_.jz(done, as_.T_NEAR);
}

void emit_row_range(SimdAssembler& as, int stage, int first, int vectors, const StageContext& ctx) {
  StageEmitter(as, ctx, stage).row_range(first, vectors);
}

}  // namespace fbg::kernels
