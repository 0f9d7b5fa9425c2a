// The lanewise kernel, in reading order: registers by role, sums over sources, output pipeline.
//
//   for each source r                             row and channel, if the kernel spreads
//     w[kx] = W_r[kx]                             in registers where they fit
//     for each pixel x under the tile
//       u = U_r[x]                                one load
//       for each kx that x is under: acc[(x - kx * dilation) / step] += u . w[kx]
//
// The loops over pixels and taps are unrolled: what remains is one addition per pixel to move along
// the image. Sums of one output are taken in the order of sources and taps.
#include <algorithm>
#include <cstddef>

#include "kernels/lanewise.h"
#include "kernels/table.h"
#include "kernels/x64/epilogue.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Vec = SimdAssembler::Vec;

class LanewiseGenerator : public SimdAssembler {
 public:
  explicit LanewiseGenerator(const LanewiseKey& key)
      : SimdAssembler(find_family(key.tile.gemm_type, key.tile.isa)->vectors.lanes,
                      isa_features(key.tile.isa)),
        key_(key),
        rows_(key.tile.rows),
        vectors_(key.tile.vectors),
        has_vnni_((isa_features(key.tile.isa) & (feature::avx512_vnni | feature::avx_vnni)) != 0),
        sums_(rows_ * vectors_),
        // Weights stay in registers where two are left: a pixel, and a product to be added.
        keeps_weights_(sums_ + key.taps * vectors_ + 2 <= num_vectors()) {}

  // In addition to the sums, a tile needs three registers: one for a pixel and two for the
  // pipeline. AVX2 needs another one for the mask.
  static int max_rows(Isa isa, int taps, int vectors) {
    const bool wide = isa_features(isa) & feature::avx512;
    const int registers = num_vectors(wide ? 16 : 8);
    const int most = (registers - (wide ? 3 : 4)) / vectors;
    // Weights stay in registers too, beside a pixel and a product, if that leaves enough sums to
    // hide the latency.
    const int kept = (registers - 2 - taps * vectors) / vectors, least = wide ? 12 : 6;
    return std::min({kept * vectors >= least ? kept : most, most, kMaxRows});
  }

  bool fits() const {
    return sums_ + 3 + (key_.tile.masked && !is_zmm()) <= num_vectors() &&
           key_.tile.rows <= kMaxRows;
  }

  void generate() {
    for (const Reg64& r : saved_) push(r);
    for (int i = 0; i < sums_; ++i) zero(vec(i));
    add_sources();
    run_pipeline();
    for (int i = 5; i >= 0; --i) pop(saved_[i]);
    vzeroupper();
    ret();
    emit_data();
  }

 private:
  static constexpr int kMaxRows = 16;

  // Registers by role (System V: rdi holds the arguments).
  const Reg64 saved_[6] = {rbx, rbp, r12, r13, r14, r15};
  const Reg64 args_ = rdi, u_ = rsi, lda_ = rdx, w_ = rcx, tap_ = rbx;
  const Reg64 row_ = r8, channels_ = r9;  // of kernels that spread
  const Reg64 pair_ = r12, pairs_left_ = r13, c_ = r14, ldc_ = r15, scratch_ = rax;

  Vec acc(int row, int v) const { return vec(row * vectors_ + v); }
  Vec weight(int kx, int v) const { return vec(sums_ + kx * vectors_ + v); }
  Vec pixel() const { return vec(num_vectors() - 1); }
  Vec product() const { return vec(num_vectors() - 2); }
  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }

  void add_sources() {
    Xbyak::Label next, done;
    mov(pair_, arg(offsetof(TileArgs, pairs)));
    mov(pairs_left_, arg(offsetof(TileArgs, num_pairs)));
    const auto field = [&](std::size_t offset) { return ptr[pair_ + static_cast<int>(offset)]; };
    L(next);
    test(pairs_left_, pairs_left_);
    jz(done, T_NEAR);
    mov(u_, field(offsetof(BlockPair, a)));
    mov(lda_, field(offsetof(BlockPair, lda)));
    mov(w_, field(offsetof(BlockPair, b)));
    if (key_.spreads) {
      mov(row_, u_);
      mov(channels_, field(offsetof(BlockPair, groups)));
      add_channels();
    } else {
      mov(tap_, field(offsetof(BlockPair, b_panel_stride)));
      Xbyak::Label shorter, added;
      if (key_.shortens) {
        cmp(qword[pair_ + static_cast<int>(offsetof(BlockPair, groups))], 0);
        jne(shorter, T_NEAR);
      }
      add_source(key_.taps);
      if (key_.shortens) {
        jmp(added, T_NEAR);
        L(shorter);
        add_source(key_.taps - 1);
        L(added);
      }
    }
    add(pair_, static_cast<int>(sizeof(BlockPair)));
    dec(pairs_left_);
    jmp(next, T_NEAR);
    L(done);
  }

  // Loops over all channels of a row, of which there is at least one.
  void add_channels() {
    Xbyak::Label next;
    L(next);
    if (keeps_weights_)
      for (int kx = 0; kx < key_.taps; ++kx)
        for (int v = 0; v < vectors_; ++v) vmovups(weight(kx, v), spread_weight(kx, v));
    add_pixels(key_.taps);
    add(row_, 4);
    add(w_, key_.taps * vectors_ * vector_bytes());
    mov(u_, row_);
    dec(channels_);
    jnz(next, T_NEAR);
  }

  void add_source(int taps) {
    if (keeps_weights_) {
      for (int kx = 0; kx < taps; ++kx) {
        for (int v = 0; v < vectors_; ++v) vmovups(weight(kx, v), ptr[w_ + v * vector_bytes()]);
        if (kx + 1 < taps) add(w_, tap_);
      }
    } else {
      // Taps are addressed as w + kx * stride: one register for each odd multiple.
      mov(r8, w_);
      for (int kx = 1; kx < taps; ++kx) lea(tap_pointer(kx), ptr[tap_pointer(kx - 1) + tap_]);
    }
    add_pixels(taps);
  }

  void add_pixels(int taps) {
    const int last = key_.last_pixel(taps) - key_.right;
    for (int x = key_.left; x <= last; ++x) {
      if (key_.uses(x, taps))
        for (int v = 0; v < vectors_; ++v) add_pixel(x, v, taps);
      if (x < last) add(u_, lda_);
    }
  }

  Reg64 tap_pointer(int kx) const {
    const Reg64 pointers[7] = {r8, r9, r10, r11, rbp, r14, r15};
    return pointers[kx];
  }

  Address spread_weight(int kx, int v) { return ptr[w_ + (kx * vectors_ + v) * vector_bytes()]; }

  void add_pixel(int x, int v, int taps) {
    if (!key_.spreads)
      vmovups(pixel(), ptr[u_ + v * vector_bytes()]);
    else if (v == 0)
      vbroadcastss(pixel(), ptr[u_]);
    for (int kx = 0; kx < taps; ++kx) {
      const int row = key_.target(x, kx);
      if (row < 0) continue;
      if (keeps_weights_)
        dot(acc(row, v), weight(kx, v));
      else if (key_.spreads)
        dot(acc(row, v), spread_weight(kx, v));
      else
        dot(acc(row, v), ptr[tap_pointer(kx) + v * vector_bytes()]);
    }
  }

  void dot(const Vec& sum, const Xbyak::Operand& w) {
    const auto encoding = is_zmm() ? Xbyak::EvexEncoding : Xbyak::VexEncoding;
    if (key_.depth == 1) {
      vfmadd231ps(sum, pixel(), w);
    } else if (key_.depth == 4) {
      vpdpbusd(sum, pixel(), w, encoding);
    } else if (has_vnni_) {
      vpdpwssd(sum, pixel(), w, encoding);
    } else {
      vpmaddwd(product(), pixel(), w);
      vpaddd(sum, sum, product());
    }
  }

  // Whatever the sums kept in registers, but for C, is free by now.
  void run_pipeline() {
    const KernelKey& key = key_.tile;
    mov(c_, arg(offsetof(TileArgs, c)));
    mov(ldc_, arg(offsetof(TileArgs, ldc)));
    if (key.masked) {
      mov(rcx, arg(offsetof(TileArgs, columns)));
      sub(rcx, (vectors_ - 1) * lanes());
      set_mask(rcx, scratch_, num_vectors() - 1);
    }
    emit_epilogue(*this, key, {args_, c_, ldc_});
  }

  const LanewiseKey key_;
  const int rows_, vectors_;
  const bool has_vnni_;
  const int sums_;
  const bool keeps_weights_;
};

}  // namespace

bool has_lanewise(Isa isa) noexcept { return isa != Isa::generic; }

int lanewise_max_rows(int, Isa isa, int taps, int vectors) noexcept {
  return LanewiseGenerator::max_rows(isa, taps, vectors);
}

std::vector<std::uint8_t> generate_lanewise(const LanewiseKey& key) {
  LanewiseGenerator generator(key);
  if (!generator.fits()) return {};
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
