// RowRange: the least and greatest value of each row as a side result of the pipeline.
#include <limits>

#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {

// As RowRange::widen, with the least and greatest of the vectors. fmin and fmax give a NaN if
// either operand is one: it passes into both values, as the one that RowRange has, and stays where
// it is there already.
void StageEmitter::row_range(int first) {
  const Vec &lo = t0_, &hi = t1_, &spare = t2_, &old_hi = t3_;
  const XReg &target = r_.scratch, &old = r_.scratch2, &wide = r_.scratch3, now(14);
  const WReg failed(15);
  NeonAssembler::Label retry, done;
  row_pointer(target);
  if (at_.partial) {  // lanes without a column repeat the first, which has one
    as_.load_lane_numbers(lo);
    as_.dup(hi.s4, WReg(r_.rest));
    as_.cmgt(hi.s4, hi.s4, lo.s4);
    const Vec last = as_.vec(first + key_.vectors - 1);
    as_.dup(lo.s4, last.s4[0]);
    as_.bif(last.b16, lo.b16, hi.b16);
  }
  as_.copy(lo, as_.vec(first));
  as_.copy(hi, lo);
  for (int v = 1; v < key_.vectors; ++v) {
    as_.fmin(lo.s4, lo.s4, as_.vec(first + v).s4);
    as_.fmax(hi.s4, hi.s4, as_.vec(first + v).s4);
  }
  as_.fminv(lo.s, lo.s4);
  as_.fmaxv(hi.s, hi.s4);
  const Vec &number = t2_, &nan = t3_;
  as_.fcmeq(number.s4, lo.s4, lo.s4);
  as_.load_constant(nan, std::numeric_limits<float>::quiet_NaN());
  as_.bif(lo.b16, nan.b16, number.b16);
  as_.bif(hi.b16, nan.b16, number.b16);
  as_.zero(spare);
  as_.fadd(lo.s4, lo.s4, spare.s4);  // -0 becomes +0
  as_.fadd(hi.s4, hi.s4, spare.s4);

  as_.L(retry);
  as_.ldr(old, at(target, 0));
  as_.fmov(spare.d, old);
  as_.mov(old_hi.s, spare.s4[1]);
  as_.fmax(old_hi.s, hi.s, old_hi.s);
  as_.fmin(spare.s, lo.s, spare.s);
  as_.ins(spare.s4[1], old_hi.s4[0]);
  as_.fmov(wide, spare.d);
  as_.cmp(wide, old);
  as_.b(as_.EQ, done);
  as_.ldxr(now, target);
  as_.cmp(now, old);
  as_.b(as_.NE, retry);  // another thread was here; the reservation is replaced by the next one
  as_.stxr(failed, wide, target);
  as_.cbnz(failed, retry);
  as_.L(done);
}

}  // namespace fbg::kernels
