// Sums that are kept on the stack while registers hold those of a part of K, and the K loop of
// float16:
//
//   for each kHalfDepth k
//     for each k          two accumulators of float16 for each sum: even and odd k
//       half[row][v] = fma(A[row], B[v], half[row][v])
//     sum[row][v] = fma(float(half[row][v]), scale[row], sum[row][v]);  half = 0
#include <cstddef>

#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

// The sums start at those in memory, which initialize_accumulators() has loaded, or at 0.
void GemmCode::start_sums() {
  mov(scratch_, rsp);
  sub(rsp, sums_bytes() + 64);
  and_(rsp, -64);
  mov(ptr[rsp + sums_bytes()], scratch_);
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) vmovups(float_sum(i, v), acc(i, v));
  for (int i = 0; i < first_b_; ++i) zero(vec(i));
}

void GemmCode::load_sums() {
  for (int i = 0; i < rows_; ++i)
    for (int v = 0; v < vectors_; ++v) vmovups(acc(i, v), float_sum(i, v));
  mov(rsp, ptr[rsp + sums_bytes()]);
}

void GemmCode::halves_k_loop() {
  Xbyak::Label next, done;
  mov(groups_left_, groups_);
  L(next);
  test(groups_left_, groups_left_);
  jz(done, T_NEAR);
  mov(groups_.cvt32(), kHalfDepth);
  cmp(groups_, groups_left_);
  cmovg(groups_, groups_left_);
  sub(groups_left_, groups_);
  k_loop();
  add_halves();
  jmp(next, T_NEAR);
  L(done);
}

// Adds the sums of float16 to those on the stack, and starts them again. All registers behind them
// are free.
void GemmCode::add_halves() {
  const Vec scale = vec(first_a_);
  mov(sums_, arg(offsetof(TileArgs, a_scale)));
  for (int i = 0; i < rows_; ++i) {
    vbroadcastss(scale, ptr[sums_ + i * 4]);
    for (int v = 0; v < vectors_; v += 2) {
      const Vec low = sum(i, v, 0), high = sum(i, v, 1);
      vaddph(low, low, high);
      if (v + 1 < vectors_) vextractf64x4(Xbyak::Ymm(high.getIdx()), Xbyak::Zmm(low.getIdx()), 1);
      for (int part = 0; part < 2 && v + part < vectors_; ++part) {
        const Vec& x = part ? high : low;
        vcvtph2psx(x, Xbyak::Ymm(x.getIdx()));
        vfmadd213ps(x, scale, float_sum(i, v + part));
        vmovups(float_sum(i, v + part), x);
      }
      zero(low), zero(high);
    }
  }
}

}  // namespace fbg::kernels
