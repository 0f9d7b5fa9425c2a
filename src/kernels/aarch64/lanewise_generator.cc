// The lanewise kernel for NEON, in the order of the one of x64 (../x64/lanewise_generator.cc):
// registers by role, sums over sources, output pipeline. A vector has four output channels. There
// are registers enough for the weights of a source beside the sums, so that one load of a pixel
// serves all taps.
#include <algorithm>
#include <cstddef>

#include "kernels/aarch64/epilogue.h"
#include "kernels/aarch64/neon_assembler.h"
#include "kernels/lanewise.h"

namespace fbg::kernels {
namespace {

using aarch64::at;

// How a vector of U is multiplied by one of W and added to the sums.
enum class LaneDot : std::uint8_t {
  fma,    // fmla
  usdot,  // four products u8 x s8
  sdot,   // on U - 128, to which 128 times the sums of W are added
  pairs,  // smlal and smlal2, each for two lanes of two int16: sums take two registers
};

LaneDot lane_dot(int depth, Isa isa) {
  if (depth < 4) return depth == 1 ? LaneDot::fma : LaneDot::pairs;
  return isa_features(isa) & feature::neon_i8mm ? LaneDot::usdot : LaneDot::sdot;
}

class LanewiseGenerator : public NeonAssembler {
 public:
  explicit LanewiseGenerator(const LanewiseKey& key)
      : key_(key),
        rows_(key.tile.rows),
        vectors_(key.tile.vectors),
        dot_(lane_dot(key.depth, key.tile.isa)),
        first_weight_(kFirstSum + rows_ * vectors_ * registers_of_sum(dot_)),
        first_column_sum_(first_weight_ + key.taps * vectors_) {}

  static int max_rows(LaneDot dot, int taps, int vectors) {
    const int others = kFirstSum + taps * vectors + (dot == LaneDot::sdot ? vectors + 1 : 0);
    const int most = (kVectors - others) / registers_of_sum(dot) / vectors;
    constexpr int kEpilogueSums = kEpilogueTable - kEpilogueTemps - kFirstSum;
    return std::min({most, kEpilogueSums / vectors, kMaxRows});
  }

  bool fits() const {
    return rows_ <= max_rows(dot_, key_.taps, vectors_) && (dot_ == LaneDot::fma || !key_.spreads);
  }

  void generate() {
    save_registers();
    for (int i = kFirstSum; i < first_weight_; ++i) zero(vec(i));
    if (shifts()) {
      movi(sign().b16, 0x80);
      for (int v = 0; v < vectors_; ++v) zero(column_sum(v));
    }
    add_sources();
    complete_sums();
    emit_epilogue(*this, key_.tile, kFirstSum);
    restore_registers();
    ret();
    emit_data();
  }

 private:
  static constexpr int kMaxRows = 16, kFirstSum = 1;
  static int registers_of_sum(LaneDot dot) { return dot == LaneDot::pairs ? 2 : 1; }

  // Registers by role (AAPCS64: x0 holds the arguments).
  const XReg args_{0}, pair_{1}, pairs_left_{2}, u_{3}, lda_{4}, w_{5}, tap_{6};
  const XReg row_{7}, channels_{8};  // of kernels that spread

  Vec pixel() const { return vec(0); }
  // A sum, or a half of it: of lanes 0 and 1, and of lanes 2 and 3.
  Vec acc(int row, int v, int half = 0) const {
    return vec(kFirstSum + (row * vectors_ + v) * registers_of_sum(dot_) + half);
  }
  Vec weight(int kx, int v) const { return vec(first_weight_ + kx * vectors_ + v); }
  Vec column_sum(int v) const { return vec(first_column_sum_ + v); }  // -128 times the sum of W
  Vec sign() const { return vec(kVectors - 1); }                      // 0x80 in every byte
  bool shifts() const { return dot_ == LaneDot::sdot; }

  void add_sources() {
    Label next, done;
    ldr(pair_, at(args_, offsetof(TileArgs, pairs)));
    ldr(pairs_left_, at(args_, offsetof(TileArgs, num_pairs)));
    L(next);
    cbz(pairs_left_, done);
    ldr(u_, at(pair_, offsetof(BlockPair, a)));
    ldr(lda_, at(pair_, offsetof(BlockPair, lda)));
    ldr(w_, at(pair_, offsetof(BlockPair, b)));
    if (key_.spreads) {
      add_channels();
    } else {
      ldr(tap_, at(pair_, offsetof(BlockPair, b_panel_stride)));
      Label whole, added;
      if (key_.shortens) {
        ldr(channels_, at(pair_, offsetof(BlockPair, groups)));
        cbz(channels_, whole);
        add_source(key_.taps - 1);
        b(added);
        L(whole);
      }
      add_source(key_.taps);
      L(added);
    }
    add(pair_, pair_, sizeof(BlockPair));
    sub(pairs_left_, pairs_left_, 1);
    b(next);
    L(done);
  }

  void add_source(int taps) {
    for (int kx = 0; kx < taps; ++kx) {
      for (int v = 0; v < vectors_; ++v) load_weight(kx, v, v * kVectorBytes);
      if (kx + 1 < taps) add(w_, w_, tap_);
    }
    add_pixels(taps);
  }

  // Loops over all channels of a row, of which there is at least one.
  void add_channels() {
    Label next;
    add(row_, u_, 0);
    ldr(channels_, at(pair_, offsetof(BlockPair, groups)));
    L(next);
    for (int kx = 0; kx < key_.taps; ++kx)
      for (int v = 0; v < vectors_; ++v) load_weight(kx, v, (kx * vectors_ + v) * kVectorBytes);
    add_pixels(key_.taps);
    add(row_, row_, 4);
    add(u_, row_, 0);
    add(w_, w_, key_.taps * vectors_ * kVectorBytes);
    subs(channels_, channels_, 1);
    b(NE, next);
  }

  void load_weight(int kx, int v, int offset) {
    ldr(weight(kx, v).q, at(w_, offset));
    if (shifts()) sdot(column_sum(v).s4, weight(kx, v).b16, sign().b16);
  }

  // The sums of all weights are those of every output pixel: where U is shifted, pixels that are
  // left out are shifted zeros.
  void add_pixels(int taps) {
    const int last = key_.last_pixel(taps) - key_.right;
    for (int x = 0; x <= key_.last_pixel(taps); ++x) {
      const bool inside = x >= key_.left && x <= last;
      for (int v = 0; v < vectors_ && key_.uses(x, taps); ++v) {
        if (inside)
          add_pixel(x, v, taps, load_pixel(v));
        else if (shifts())
          add_pixel(x, v, taps, sign());
      }
      if (inside && x < last) add(u_, u_, lda_);
    }
  }

  Vec load_pixel(int v) {
    if (!key_.spreads)
      ldr(pixel().q, at(u_, v * kVectorBytes));
    else if (v == 0)
      ldr(pixel().s, at(u_, 0));
    if (shifts()) eor(pixel().b16, pixel().b16, sign().b16);
    return pixel();
  }

  void add_pixel(int x, int v, int taps, const Vec& u) {
    for (int kx = 0; kx < taps; ++kx)
      if (const int row = key_.target(x, kx); row >= 0) dot(row, v, u, weight(kx, v));
  }

  void dot(int row, int v, const Vec& u, const Vec& w) {
    const Vec sum = acc(row, v);
    switch (dot_) {
      case LaneDot::fma:
        return key_.spreads ? fmla(sum.s4, w.s4, u.s4[0]) : fmla(sum.s4, u.s4, w.s4);
      case LaneDot::usdot:
        return usdot(sum.s4, u.b16, w.b16);
      case LaneDot::sdot:
        return sdot(sum.s4, u.b16, w.b16);
      case LaneDot::pairs:
        smlal(sum.s4, u.h4, w.h4);
        return smlal2(acc(row, v, 1).s4, u.h8, w.h8);
    }
  }

  // Sums as the pipeline takes them, one register after the other.
  void complete_sums() {
    for (int row = 0; row < rows_; ++row)
      for (int v = 0; v < vectors_; ++v) {
        const Vec sum = acc(row, v);
        if (shifts()) sub(sum.s4, sum.s4, column_sum(v).s4);
        if (dot_ == LaneDot::pairs)
          addp(vec(kFirstSum + row * vectors_ + v).s4, sum.s4, acc(row, v, 1).s4);
      }
  }

  const LanewiseKey key_;
  const int rows_, vectors_;
  const LaneDot dot_;
  const int first_weight_, first_column_sum_;
};

}  // namespace

bool has_lanewise(Isa isa) noexcept { return isa != Isa::generic; }

int lanewise_max_rows(int depth, Isa isa, int taps, int vectors) noexcept {
  return LanewiseGenerator::max_rows(lane_dot(depth, isa), taps, vectors);
}

std::vector<std::uint8_t> generate_lanewise(const LanewiseKey& key) {
  LanewiseGenerator generator(key);
  if (!generator.fits()) return {};
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
