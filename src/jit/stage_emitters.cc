// One function per stage; each follows the formula of its scalar face in fbg/output.h, operation by
// operation, so that both give the same bits.
#include "jit/stage_emitters.h"

#include <cstddef>
#include <iterator>

#include "core/gelu_coefficients.h"

namespace fbg::jit {
namespace {

using Vec = SimdAssembler::Vec;

class StageEmitter {
 public:
  StageEmitter(SimdAssembler& as, const StageContext& ctx, int stage)
      : as_(as),
        ctx_(ctx),
        t0_(as.vec(ctx.temps[0])),
        t1_(as.vec(ctx.temps[1])),
        t2_(as.vec(ctx.temps[2])),
        stage_offset_(static_cast<int>(stage * static_cast<int>(sizeof(StageArgs)))) {}

  // x - zA_i * colsum_j + (K * zA_i - rowsum_i) * zB_j
  void correct(const Vec& x) {
    if (ctx_.correct_b) {
      load_pointer(ctx_.scratch, offsetof(TileArgs, a_zero_point));
      as_.mov(ctx_.scratch.cvt32(), as_.dword[ctx_.scratch + ctx_.row * 4]);
      as_.imul(ctx_.scratch.cvt32(), as_.dword[ctx_.args + offsetof(TileArgs, depth)]);
      load_pointer(ctx_.scratch2, offsetof(TileArgs, row_offsets));
      as_.sub(ctx_.scratch.cvt32(), as_.dword[ctx_.scratch2 + ctx_.row * 4]);
      as_.vmovd(Xbyak::Xmm(t0_.getIdx()), ctx_.scratch.cvt32());
      as_.vpbroadcastd(t0_, Xbyak::Xmm(t0_.getIdx()));
      load_pointer(ctx_.scratch, offsetof(TileArgs, b_zero_point));
      as_.vpmulld(t0_, t0_, column(ctx_.scratch));
      as_.vpaddd(x, x, t0_);
    }
    if (ctx_.correct_a) {
      load_pointer(ctx_.scratch, offsetof(TileArgs, a_zero_point));
      as_.vpbroadcastd(t0_, as_.ptr[ctx_.scratch + ctx_.row * 4]);
      load_pointer(ctx_.scratch, offsetof(TileArgs, col_offsets));
      as_.vpmulld(t0_, t0_, column(ctx_.scratch));
      as_.vpsubd(x, x, t0_);
    }
  }

  // t0 = sA_i * sB_j
  void scale_product() {
    load_pointer(ctx_.scratch, offsetof(TileArgs, a_scale));
    as_.vbroadcastss(t0_, as_.ptr[ctx_.scratch + ctx_.row * 4]);
    load_pointer(ctx_.scratch, offsetof(TileArgs, b_scale));
    as_.vmulps(t0_, t0_, column(ctx_.scratch));
  }

  void dequantize(const Vec& x) {
    as_.vcvtdq2ps(x, x);
    scale_product();
    as_.vmulps(x, x, t0_);
  }

  // The operand of this stage at the vector's columns: bias_j, or a row of a matrix.
  void add_operand(const Vec& x, bool matrix, bool integer) {
    load_stage(ctx_.scratch, offsetof(StageArgs, data));
    if (matrix) {
      as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, row)]);
      if (ctx_.row) as_.add(ctx_.scratch2, ctx_.row);
      load_pointer(ctx_.scratch3, offsetof(TileArgs, stages));
      as_.imul(ctx_.scratch2,
               as_.ptr[ctx_.scratch3 + stage_offset_ + static_cast<int>(offsetof(StageArgs, ld))]);
      as_.add(ctx_.scratch, ctx_.scratch2);
    }
    as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, col)]);
    const auto operand = as_.ptr[ctx_.scratch + ctx_.scratch2 * 4 + ctx_.column_bytes];
    if (ctx_.masked) as_.load(t0_, operand, true);
    if (integer)
      ctx_.masked ? as_.vpaddd(x, x, t0_) : as_.vpaddd(x, x, operand);
    else
      ctx_.masked ? as_.vaddps(x, x, t0_) : as_.vaddps(x, x, operand);
  }

  void relu(const Vec& x, bool integer) {
    as_.zero(t0_);
    if (integer)
      as_.vpmaxsd(x, x, t0_);
    else
      as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays
  }

  // y = max(x, 0) - t * q(u): see core/gelu_coefficients.h
  void gelu(const Vec& x) {
    const Vec &t = t0_, &u = t1_, &q = t2_;
    constexpr int n = static_cast<int>(std::size(kGeluPoly));
    if (as_.is_zmm())
      as_.vpandd(t, x, as_.constant(0x7fffffffu));
    else
      as_.vpand(t, x, as_.constant(0x7fffffffu));
    as_.load_constant(u, kGeluClamp);
    as_.vminps(t, u, t);  // a NaN in t, the second source, stays
    as_.vmovaps(u, t);
    as_.load_constant(q, kGeluScale);
    as_.vfmadd213ps(u, q, as_.constant(-1.0f));
    as_.load_constant(q, kGeluPoly[n - 1]);
    for (int i = n - 2; i >= 0; --i) as_.vfmadd213ps(q, u, as_.constant(kGeluPoly[i]));
    as_.zero(u);
    as_.vmaxps(x, u, x);
    as_.vfnmadd231ps(x, t, q);
  }

  void requantize(const Vec& x, const StageCode& code) {
    if (code.in == ValueType::float32) {
      broadcast_stage(t0_, offsetof(StageArgs, f0));
      as_.vdivps(x, x, t0_);
    } else {
      as_.vcvtdq2ps(x, x);
      scale_product();
      broadcast_stage(t1_, offsetof(StageArgs, f0));
      as_.vdivps(t0_, t0_, t1_);
      as_.vmulps(x, x, t0_);
    }
    broadcast_stage(t1_, offsetof(StageArgs, f1));
    as_.load_constant(t0_, Requantize::lowest(code.out));
    as_.vsubps(t0_, t0_, t1_);
    as_.vmaxps(x, x, t0_);  // a NaN gives the second source: the lowest
    as_.load_constant(t0_, Requantize::highest(code.out));
    as_.vsubps(t0_, t0_, t1_);
    as_.vminps(x, x, t0_);
    as_.vcvtps2dq(x, x);  // rounds half to even, as FloatEnvironment sees to
    as_.vcvtps2dq(t1_, t1_);
    as_.vpaddd(x, x, t1_);
  }

 private:
  void load_pointer(const Xbyak::Reg64& reg, std::size_t offset) {
    as_.mov(reg, as_.ptr[ctx_.args + static_cast<int>(offset)]);
  }
  void load_stage(const Xbyak::Reg64& reg, std::size_t field) {
    load_pointer(reg, offsetof(TileArgs, stages));
    as_.mov(reg, as_.ptr[reg + stage_offset_ + static_cast<int>(field)]);
  }
  void broadcast_stage(const Vec& v, std::size_t field) {
    load_pointer(ctx_.scratch, offsetof(TileArgs, stages));
    as_.vbroadcastss(v, as_.ptr[ctx_.scratch + stage_offset_ + static_cast<int>(field)]);
  }
  Xbyak::Address column(const Xbyak::Reg64& base) { return as_.ptr[base + ctx_.column_bytes]; }

  SimdAssembler& as_;
  const StageContext& ctx_;
  Vec t0_, t1_, t2_;
  int stage_offset_;
};

}  // namespace

void emit_stage(SimdAssembler& as, const StageCode& code, int stage, const Vec& x,
                const StageContext& ctx) {
  StageEmitter emit(as, ctx, stage);
  const bool integer = code.in != ValueType::float32;
  switch (code.kind) {
    case StageKind::correct_zero_points:
      emit.correct(x);
      break;
    case StageKind::dequantize:
      if (code.in == ValueType::acc) emit.correct(x);
      emit.dequantize(x);
      break;
    case StageKind::bias:
      emit.add_operand(x, false, integer);
      break;
    case StageKind::relu:
      emit.relu(x, integer);
      break;
    case StageKind::gelu:
      emit.gelu(x);
      break;
    case StageKind::add:
      emit.add_operand(x, true, false);
      break;
    case StageKind::requantize:
      if (code.in == ValueType::acc) emit.correct(x);
      emit.requantize(x, code);
      break;
  }
}

void emit_store(SimdAssembler& as, ValueType type, const Xbyak::Reg64& row, int column,
                const Vec& x, const StageContext& ctx) {
  using Xbyak::Xmm;
  using Xbyak::Ymm;
  if (value_size(type) == 4) {
    as.store(as.ptr[row + column * 4], x, ctx.masked);
    return;
  }
  const bool is_signed = type == ValueType::int8;
  if (as.is_zmm()) {  // lanes are in range: truncation keeps them
    const auto to = as.ptr[row + column];
    ctx.masked ? as.vpmovdb(to | as.k1, x) : as.vpmovdb(to, x);
    return;
  }
  const Xmm low(x.getIdx()), t(ctx.temps[0]);
  as.vextracti128(t, Ymm(x.getIdx()), 1);
  as.vpackssdw(low, low, t);
  if (is_signed)
    as.vpacksswb(low, low, low);
  else
    as.vpackuswb(low, low, low);
  if (!ctx.masked) {
    as.vmovq(as.ptr[row + column], low);
    return;
  }
  // A partial vector, byte by byte: shift each out of a general register.
  Xbyak::Label next;
  as.vmovq(ctx.scratch, low);
  as.mov(ctx.scratch2, as.ptr[ctx.args + static_cast<int>(offsetof(TileArgs, columns))]);
  as.sub(ctx.scratch2, column);
  as.lea(ctx.scratch3, as.ptr[row + column]);
  as.L(next);
  as.mov(as.byte[ctx.scratch3], ctx.scratch.cvt8());
  as.shr(ctx.scratch, 8);
  as.inc(ctx.scratch3);
  as.dec(ctx.scratch2);
  as.jnz(next);
}

}  // namespace fbg::jit
