// One function per stage; each follows the formula of its scalar face in fbg/output.h, operation by
// operation, so that both give the same bits.
#include "kernels/x64/stage_emitters.h"

#include <cstddef>
#include <iterator>

#include "core/gelu_coefficients.h"
#include "core/tanh_coefficients.h"

namespace fbg::kernels {
namespace {

using Vec = SimdAssembler::Vec;

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

class StageEmitter {
 public:
  StageEmitter(SimdAssembler& as, const StageContext& ctx, int stage)
      : as_(as),
        ctx_(ctx),
        t0_(as.vec(ctx.temps[0])),
        t1_(as.vec(ctx.temps[1])),
        t2_(as.vec(ctx.temps[2])),
        stage_offset_(static_cast<int>(stage * static_cast<int>(sizeof(StageArgs)))) {}

  // x - zA_i * colsum_j + row_term_i * zB_j
  void correct(const Vec& x) {
    if (ctx_.correct_b) {
      as_.vpbroadcastd(t0_, row(ctx_.operands.row_terms));
      as_.vpmulld(t0_, t0_, column(ctx_.operands.b_zero_point));
      as_.vpaddd(x, x, t0_);
    }
    if (ctx_.correct_a) {
      as_.vpbroadcastd(t0_, row(ctx_.operands.a_zero_point));
      as_.vpmulld(t0_, t0_, column(ctx_.operands.col_offsets));
      as_.vpsubd(x, x, t0_);
    }
  }

  // t0 = sA_i * sB_j
  void scale_product() {
    as_.vbroadcastss(t0_, row(ctx_.operands.a_scale));
    as_.vmulps(t0_, t0_, column(ctx_.operands.b_scale));
  }

  void dequantize(const Vec& x) {
    as_.vcvtdq2ps(x, x);
    scale_product();
    as_.vmulps(x, x, t0_);
  }

  // x + bias_j
  void bias(const Vec& x, bool integer) {
    as_.mov(ctx_.scratch, stage_field(offsetof(StageArgs, data)));
    add_words(x, element(4), integer);
  }

  // x + residual_ij
  void add(const Vec& x, ValueType type) {
    load_row_pointer();
    if (type == ValueType::float32) return add_words(x, element(4), false);
    load_narrow(t0_, element(static_cast<int>(value_size(type))), type);
    if (value_size(type) == 1) {
      as_.vcvtdq2ps(t0_, t0_);
      broadcast_stage(t1_, offsetof(StageArgs, f1));
      as_.vsubps(t0_, t0_, t1_);
      broadcast_stage(t1_, offsetof(StageArgs, f0));
      as_.vmulps(t0_, t1_, t0_);
    }
    as_.vaddps(x, x, t0_);
  }

  void relu(const Vec& x, bool integer) {
    as_.zero(t0_);
    if (integer)
      as_.vpmaxsd(x, x, t0_);
    else
      as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays
  }

  // y = max(x, 0) - g(u): see core/gelu_coefficients.h
  void gelu(const Vec& x) {
    // x waits in the red zone below the stack pointer, and so does u on AVX2, whose look-ups need a
    // register more.
    const auto saved = as_.ptr[as_.rsp - 64], saved_u = as_.ptr[as_.rsp - 128];
    const Vec &index = t0_, &u = t1_, &g = t2_, &c = x, &spare = t1_;
    as_.vmovups(saved, x);
    if (as_.is_zmm()) {
      constexpr int kLeastMagnitude = 0b1010;  // without its sign; a NaN of x comes back below
      as_.vrangeps(u, x, as_.constant(kGeluClamp), kLeastMagnitude);
    } else {
      as_.bit_and(u, x, as_.constant(0x7fffffffu));
      as_.vminps(u, u, as_.constant(kGeluClamp));
    }
    as_.load_constant(c, kGeluScale);
    as_.load_constant(index, kGeluRounder);
    as_.vfmadd231ps(index, u, c);
    as_.vsubps(g, index, as_.constant(kGeluRounder));
    as_.vfmsub213ps(u, c, g);
    if (!as_.is_zmm()) {
      as_.vmovups(saved_u, u);
      as_.vpslld(g, index, 28);
      as_.bit_or(index, index, g);
    }
    std::size_t j = std::size(kGeluTable) - 1;
    as_.look_up(g, index, kGeluTable[j], spare);
    while (j-- > 0) {
      as_.look_up(c, index, kGeluTable[j], spare);
      if (as_.is_zmm())
        as_.vfmadd213ps(g, u, c);
      else
        as_.vfmadd132ps(g, c, saved_u);
    }
    as_.zero(u);
    as_.vmaxps(x, u, saved);
    as_.vsubps(x, x, g);
  }

  // tanh(x): see core/tanh_coefficients.h
  void tanh(const Vec& x) {
    const Vec &u = t0_, &p = t1_, &q = t2_;
    constexpr int n = static_cast<int>(std::size(kTanhP));
    clamp(x, -kTanhClamp, kTanhClamp);
    as_.vmulps(u, x, x);
    as_.load_constant(p, kTanhP[n - 1]);
    as_.load_constant(q, kTanhQ[n - 1]);
    for (int i = n - 2; i >= 0; --i) {
      as_.vfmadd213ps(p, u, as_.constant(kTanhP[i]));
      as_.vfmadd213ps(q, u, as_.constant(kTanhQ[i]));
    }
    as_.vmulps(x, x, p);
    as_.vdivps(x, x, q);
    clamp(x, -1.0f, 1.0f);
  }

  void sigmoid(const Vec& x) {
    as_.vmulps(x, x, as_.constant(0.5f));
    tanh(x);
    as_.load_constant(t0_, 0.5f);
    as_.vfmadd213ps(x, t0_, as_.constant(0.5f));
  }

  void gelu_tanh(const Vec& x) {
    // Half of x waits in the red zone below the stack pointer: registers are short on AVX2.
    const auto half = as_.ptr[as_.rsp - 64];
    as_.vmulps(t0_, x, as_.constant(0.5f));
    as_.vmovups(half, t0_);
    as_.vmulps(t0_, x, x);
    as_.load_constant(t1_, GeluTanh::kCubic);
    as_.vfmadd213ps(t0_, t1_, as_.constant(GeluTanh::kLinear));
    as_.vmulps(x, x, t0_);
    tanh(x);
    as_.vmovups(t0_, half);
    as_.vfmadd213ps(x, t0_, t0_);
  }

  void clip(const Vec& x) {
    broadcast_stage(t0_, offsetof(StageArgs, f0));
    as_.vmaxps(x, t0_, x);  // a NaN in x, the second source, stays; and so below
    broadcast_stage(t0_, offsetof(StageArgs, f1));
    as_.vminps(x, t0_, x);
  }

  void scale(const Vec& x) {
    broadcast_stage(t0_, offsetof(StageArgs, f0));
    as_.vmulps(x, x, t0_);
  }

  // The lower half of x becomes the 16-bit floats; of AVX2, x 32-bit lanes whose low half they are.
  void cast(const Vec& x, ValueType type) {
    const Vec half = as_.is_zmm() ? Vec(Xbyak::Ymm(x.getIdx())) : Xbyak::Xmm(x.getIdx());
    if (type == ValueType::float16) {
      as_.vcvtps2ph(half, x, 0);  // 0: half to even
      if (!as_.is_zmm()) as_.vpmovzxwd(x, half);
      return;
    }
    Xbyak::Label by_hand, done;
    if (as_.converts_bfloat16()) {  // the instruction takes denormals for zeros
      constexpr int kDenormal = 0x20;
      as_.vfpclassps(as_.k2, x, kDenormal);
      as_.kortestw(as_.k2, as_.k2);
      as_.jnz(by_hand, as_.T_NEAR);
      as_.vcvtneps2bf16(half, x);
      as_.jmp(done, as_.T_NEAR);
    }
    as_.L(by_hand);
    // bits + 0x7fff + (bits >> 16 & 1), and a NaN made quiet instead: see core/float16.h
    as_.vpsrld(t0_, x, 16);
    as_.bit_and(t0_, t0_, as_.constant(1u));
    as_.vpaddd(t0_, t0_, as_.constant(0x7fffu));
    as_.vpaddd(t0_, t0_, x);
    as_.bit_or(t1_, x, as_.constant(0x400000u));
    as_.blend_nan(t0_, x, t1_, t2_);
    as_.vpsrld(x, t0_, 16);
    if (as_.is_zmm()) as_.vpmovdw(half, x);
    as_.L(done);
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
    broadcast_stage(t0_, offsetof(StageArgs, f1));
    as_.vmaxps(x, x, t0_);  // a NaN gives the second source: the lowest
    broadcast_stage(t0_, offsetof(StageArgs, f2));
    as_.vminps(x, x, t0_);
    as_.vcvtps2dq(x, x);  // rounds half to even, as FloatEnvironment sees to
    broadcast_stage(t0_, offsetof(StageArgs, i0));
    as_.vpaddd(x, x, t0_);
  }

  // As RowRange::widen, with the least and greatest of the vectors.
  void row_range(int first, int vectors) {
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

 private:
  // Jumps to `done` when no element lies outside the extent at `target`: as a row goes on, few
  // tiles widen it any more. Whatever involves a NaN is outside.
  void skip_if_within(int first, int vectors, const Xbyak::Reg64& target,
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

  // scratch = row i of the stage's matrix
  void load_row_pointer() {
    as_.mov(ctx_.scratch, stage_field(offsetof(StageArgs, data)));
    as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, row)]);
    if (ctx_.row) as_.add(ctx_.scratch2, ctx_.row);
    as_.imul(ctx_.scratch2, stage_field(offsetof(StageArgs, ld)));
    as_.add(ctx_.scratch, ctx_.scratch2);
  }

  // min(max(x, lo), hi); a NaN in x, the second source, stays.
  void clamp(const Vec& x, float lo, float hi) {
    as_.load_constant(t0_, hi);
    as_.vminps(x, t0_, x);
    as_.load_constant(t0_, lo);
    as_.vmaxps(x, t0_, x);
  }

  // The vector's columns in a row of elements of that size, which scratch points to.
  Xbyak::Address element(int size) {
    as_.mov(ctx_.scratch2, as_.ptr[ctx_.args + offsetof(TileArgs, col)]);
    return as_.ptr[ctx_.scratch + ctx_.scratch2 * size + ctx_.column_bytes / 4 * size];
  }

  void add_words(const Vec& x, const Xbyak::Address& operand, bool integer) {
    if (ctx_.masked) as_.load(t0_, operand, true);
    if (integer)
      ctx_.masked ? as_.vpaddd(x, x, t0_) : as_.vpaddd(x, x, operand);
    else
      ctx_.masked ? as_.vaddps(x, x, t0_) : as_.vaddps(x, x, operand);
  }

  // Elements of 8 or 16 bits as 32-bit lanes: integers, or floats of their value.
  void load_narrow(const Vec& to, const Xbyak::Address& from, ValueType type) {
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

  void widen(const Vec& to, const Xbyak::Operand& from, ValueType type) {
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

  Xbyak::Address stage_field(std::size_t offset) {
    return as_.ptr[ctx_.operands.stages + stage_offset_ + static_cast<int>(offset)];
  }
  void broadcast_stage(const Vec& v, std::size_t field) { as_.vbroadcastss(v, stage_field(field)); }
  Xbyak::Address row(const Xbyak::Reg64& base) { return as_.ptr[base + ctx_.row * 4]; }
  Xbyak::Address column(const Xbyak::Reg64& base) { return as_.ptr[base + ctx_.column_bytes]; }

  SimdAssembler& as_;
  const StageContext& ctx_;
  Vec t0_, t1_, t2_;
  int stage_offset_;
};

}  // namespace

int emit_kept_tables(SimdAssembler& as, const StageCode& code, int first, int end) {
  if (code.kind == StageKind::gelu && as.is_zmm())
    for (const auto& table : kGeluTable)
      if (first < end) as.keep_table(as.vec(first++), table);
  return first;
}

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
      emit.bias(x, integer);
      break;
    case StageKind::relu:
      emit.relu(x, integer);
      break;
    case StageKind::gelu:
      emit.gelu(x);
      break;
    case StageKind::gelu_tanh:
      emit.gelu_tanh(x);
      break;
    case StageKind::tanh:
      emit.tanh(x);
      break;
    case StageKind::sigmoid:
      emit.sigmoid(x);
      break;
    case StageKind::clip:
      emit.clip(x);
      break;
    case StageKind::scale:
      emit.scale(x);
      break;
    case StageKind::cast:
      emit.cast(x, code.out);
      break;
    case StageKind::add:
      emit.add(x, code.operand);
      break;
    case StageKind::requantize:
      if (code.in == ValueType::acc) emit.correct(x);
      emit.requantize(x, code);
      break;
    case StageKind::row_range:  // x passes; see emit_row_range
      break;
  }
}

void emit_row_range(SimdAssembler& as, int stage, int first, int vectors, const StageContext& ctx) {
  StageEmitter(as, ctx, stage).row_range(first, vectors);
}

void emit_store(SimdAssembler& as, ValueType type, const Xbyak::Reg64& row, int column,
                const Vec& x, const StageContext& ctx) {
  using Xbyak::Xmm;
  using Xbyak::Ymm;
  if (value_size(type) == 4) {
    if (ctx.streams && !ctx.masked)
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
  const Xmm low(x.getIdx()), high(ctx.temps[0]);
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
