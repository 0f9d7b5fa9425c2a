// RowRange: the least and greatest value of each row as a side result of the pipeline.
#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {

// As RowRange::widen, with the least and greatest of the vectors. fmin and fmax give a NaN if
// either operand is one: it passes into both values, and stays where it is there already.
void StageEmitter::row_range(int first) {
  using namespace Xbyak_aarch64;
  const Vec &lo = t0_, &hi = t1_, &spare = t2_, &old_hi = t3_;
  const XReg &target = r_.scratch, &old = r_.scratch2, &wide = r_.scratch3, now = as_.x14;
  const WReg failed = as_.w15;
  NeonAssembler::Label retry, done;
  row_pointer(target);
  if (at_.partial) {  // lanes without a column repeat the first, which has one
    as_.load_lane_numbers(lo);
    as_.dup(hi.s4, WReg(r_.rest.getIdx()));
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
  as_.fminv(as_.single(lo), lo.s4);
  as_.fmaxv(as_.single(hi), hi.s4);
  as_.zero(spare);
  as_.fadd(lo.s4, lo.s4, spare.s4);  // -0 becomes +0
  as_.fadd(hi.s4, hi.s4, spare.s4);

  as_.L(retry);
  as_.ldr(old, as_.at(target, 0));
  as_.fmov(as_.dword(spare), old);
  as_.mov(as_.single(old_hi), spare.s4[1]);
  as_.fmax(as_.single(old_hi), as_.single(hi), as_.single(old_hi));
  as_.fmin(as_.single(spare), as_.single(lo), as_.single(spare));
  as_.ins(spare.s4[1], old_hi.s4[0]);
  as_.fmov(wide, as_.dword(spare));
  as_.cmp(wide, old);
  as_.b(EQ, done);
  as_.ldxr(now, ptr(target, 0));
  as_.cmp(now, old);
  as_.b(NE, retry);  // another thread was here; the reservation is replaced by the next one
  as_.stxr(failed, wide, ptr(target, 0));
  as_.cbnz(failed, retry);
  as_.L(done);
}

}  // namespace fbg::kernels
