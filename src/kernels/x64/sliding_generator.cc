// The sliding kernel (kernels/sliding.h) of AVX-512 with VNNI, in reading order: columns, the lanes
// of a column, multiply-adds, results.
//
// Sums change places from column to column. Code for as many columns as it takes for every output
// pixel to be in its first place again stands in a loop; the columns before the first result of a
// row stand before it.
//
// The order of the instructions matters, since results take a chain of slow ones. The sums that a
// column completes come first, then those that go on; then the next column is read, if registers
// allow; then results are computed step by step for all vectors together.
#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/sliding.h"
#include "kernels/x64/simd_assembler.h"

namespace fbg::kernels {
namespace {

using Xbyak::Address;
using Xbyak::Reg64;
using Vec = SimdAssembler::Vec;
using Xbyak::Ymm;
using Xbyak::Zmm;

class SlidingGenerator : public SimdAssembler {
 public:
  explicit SlidingGenerator(const SlidingKey& key)
      : SimdAssembler(16, isa_features(key.isa)),
        key_(key),
        places_((key.taps + key.step - 1) / key.step),
        first_temp_(places_ * key.lines * key.vectors),
        keeps_constants_(first_temp_ + kTemporaries + kConstants <= num_vectors()),
        reads_ahead_(keeps_constants_ && key.source == SlidingSource::rows && key.rows <= 4 &&
                     key.output != ValueType::acc) {}

  void generate() {
    for (const Reg64& r : saved_) push(r);
    load_arguments();
    for (int place = 0; place < places_; ++place) start(place);
    const int before = key_.taps - 1, period = places_ * key_.step;
    Xbyak::Label loop, end;
    std::vector<Xbyak::Label> done(static_cast<std::size_t>(places_));
    if (reads_ahead_) read_rows(0);
    for (int x = 0; x < before; ++x) {
      add_column(x);
      advance();
    }
    L(loop);
    for (int x = before; x < before + period; ++x) {
      add_column(x);
      const bool finishes = (x - before) % key_.step == 0;
      const int place = (x - before) / key_.step % places_;
      if (finishes) {
        dec(pixels_);
        jz(done[static_cast<std::size_t>(place)], T_NEAR);
      }
      advance();
      if (!finishes) continue;
      finish(place);
      add(c_, pixel_);
      start(place);
    }
    jmp(loop, T_NEAR);
    for (int place = 0; place < places_; ++place) {
      L(done[static_cast<std::size_t>(place)]);
      finish(place);
      if (place < places_ - 1) jmp(end, T_NEAR);
    }
    L(end);
    for (int i = 3; i >= 0; --i) pop(saved_[i]);
    vzeroupper();
    ret();
    L(next_segment_);
    add(segment_, static_cast<int>(sizeof(SlidingSegment)));
    begin_segment();
    ret();
  }

 private:
  // Registers by role (System V: rdi holds the arguments).
  const Reg64 saved_[4] = {rbx, r12, r13, r14};
  const Reg64 args_ = rdi, segment_ = rsi, columns_ = rcx, offset_ = rdx, weights_ = r8;
  const Reg64 start_ = r9, scale_ = r10, c_ = r11, pixel_ = r12, pixels_ = r13, line_ = r14;
  const Reg64 row_ = rax, move_ = rbx;
  static constexpr int kTemporaries = 5, kConstants = 3;

  Vec sum(int place, int line, int v) const {
    return vec((place * key_.lines + line) * key_.vectors + v);
  }
  Vec temp(int i) const { return vec(first_temp_ + i); }
  // Constants of 8-bit results: in registers of their own, or loaded when they are wanted.
  Vec high() const { return keeps_constants_ ? vec(31) : temp(0); }
  Vec zero_points() const { return keeps_constants_ ? vec(30) : temp(1); }
  Vec zeros() const { return keeps_constants_ ? vec(29) : temp(2); }
  Address arg(std::size_t offset) { return ptr[args_ + static_cast<int>(offset)]; }

  void load_arguments() {
    mov(segment_, arg(offsetof(SlidingArgs, segments)));
    mov(weights_, arg(offsetof(SlidingArgs, weights)));
    mov(start_, arg(offsetof(SlidingArgs, start)));
    mov(scale_, arg(offsetof(SlidingArgs, scale)));
    mov(c_, arg(offsetof(SlidingArgs, c)));
    mov(pixel_, arg(offsetof(SlidingArgs, pixel)));
    mov(pixels_, arg(offsetof(SlidingArgs, pixels)));
    mov(line_, arg(offsetof(SlidingArgs, line)));
    if (key_.masked) kmovq(k1, arg(offsetof(SlidingArgs, mask)));
    if (keeps_constants_) load_constants();
    begin_segment();
  }

  void load_constants() {
    if (key_.output == ValueType::acc) return;
    vbroadcastss(high(), arg(offsetof(SlidingArgs, high)));
    if (key_.vectors == 1) return;
    vpbroadcastd(zero_points(), arg(offsetof(SlidingArgs, zero_points)));
    if (key_.vectors == 2) zero(zeros());
  }

  void begin_segment() {
    mov(columns_, ptr[segment_ + offsetof(SlidingSegment, columns)]);
    mov(offset_, arg(offsetof(SlidingArgs, channel)));
  }

  void advance() {
    Xbyak::Label same;
    add(offset_, ptr[segment_ + offsetof(SlidingSegment, stride)]);
    dec(columns_);
    jnz(same);
    call(next_segment_);
    L(same);
    if (reads_ahead_) read_rows(0);
  }

  void start(int place) {
    for (int line = 0; line < key_.lines; ++line)
      for (int v = 0; v < key_.vectors; ++v) vmovups(sum(place, line, v), ptr[start_ + v * 64]);
  }

  // Row r of the column: bytes, or one in each word or lane where a block is narrow.
  void load_row(const Vec& to, int r) {
    mov(row_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, rows) + r * 8)]);
    mov(move_, ptr[segment_ + static_cast<int>(offsetof(SlidingSegment, moves) + r * 8)]);
    and_(move_, offset_);
    const auto target = key_.masked ? to | k1 | T_z : to;
    const Address from = ptr[row_ + move_];
    if (key_.vectors == 4)
      vmovdqu8(target, from);
    else if (key_.vectors == 2)
      vpmovzxbw(target, from);
    else
      vpmovzxbd(target, from);
  }

  void add_column(int x) {
    if (key_.source == SlidingSource::quads) {
      for (int r = 0; r < key_.rows; ++r) add_quads(x, r);
      return;
    }
    for (int group = 0; group * 4 < key_.rows; ++group) {
      if (!reads_ahead_) read_rows(group);
      // The last tap, which completes an output pixel, comes first.
      for (int kx = key_.taps - 1; kx >= 0; --kx)
        for (int line = 0; line < key_.lines; ++line)
          for (int v = 0; v < key_.vectors; ++v) add_tap(x, kx, line, group, v, temp(lanes_[v]));
    }
  }

  // The lanes of four rows of the column as temp(lanes_[v]).
  void read_rows(int group) {
    const int rows = std::min(key_.rows - group * 4, 4);
    for (int r = 0; r < rows; ++r) load_row(temp(r), group * 4 + r);
    if (key_.vectors == 4)
      interleave(rows);
    else
      combine(rows);
  }

  // Unpacks bytes of up to four rows. What stands in for missing rows meets weights of 0.
  void interleave(int rows) {
    const int second = rows > 1, third = 2, fourth = rows > 3 ? 3 : 2;
    vpunpckhbw(temp(4), temp(0), temp(second));
    vpunpcklbw(temp(0), temp(0), temp(second));
    int low = 0, high = 4;
    if (rows > 2) {
      vpunpckhbw(temp(1), temp(third), temp(fourth));
      vpunpcklbw(temp(2), temp(third), temp(fourth));
      low = 2;
      high = 1;
    }
    vpunpckhwd(temp(3), temp(0), temp(low));
    vpunpcklwd(temp(0), temp(0), temp(low));
    vpunpcklwd(temp(2), temp(4), temp(high));
    vpunpckhwd(temp(4), temp(4), temp(high));
    lanes_ = {0, 3, 2, 4};
  }

  // The same of rows that were widened while they were loaded.
  void combine(int rows) {
    lanes_ = {0, 1, 0, 0};
    if (key_.vectors == 1) {
      for (int r = 1; r < rows; ++r) {
        vpslld(temp(r), temp(r), 8 * r);
        vpord(temp(0), temp(0), temp(r));
      }
      return;
    }
    for (int r = 0; r + 1 < rows; r += 2) {
      vpsllw(temp(r + 1), temp(r + 1), 8);
      vpord(temp(r), temp(r), temp(r + 1));
    }
    const int other = rows > 2 ? 2 : 0;
    vpunpckhwd(temp(1), temp(0), temp(other));
    vpunpcklwd(temp(0), temp(0), temp(other));
  }

  // Dword q of each 128 bits, repeated there: four channels of the group, or of four groups.
  void add_quads(int x, int r) {
    load_row(temp(0), r);
    for (int lane = 0; lane < 4; ++lane) {
      vpshufd(temp(1), temp(0), lane * 0x55);
      // The vectors whose groups have channels 4 * lane ... of 128 bits.
      const int quad = lane % key_.quads, first = lane - quad;
      for (int kx = key_.taps - 1; kx >= 0; --kx)
        for (int v = first; v < first + key_.quads; ++v)
          add_tap(x, kx, 0, r * key_.quads + quad, v, temp(1));
    }
  }

  void add_tap(int x, int kx, int line, int source, int v, const Vec& d) {
    if (kx > x || (x - kx) % key_.step != 0) return;
    const int at = ((line * key_.sources() + source) * key_.taps + kx) * key_.vectors + v;
    vpdpbusd(sum((x - kx) / key_.step % places_, line, v), d, ptr[weights_ + at * 64]);
  }

  void finish(int place) {
    if (key_.output != ValueType::acc) convert(place);
    for (int line = 0; line < key_.lines; ++line) {
      // Only two lines at most: c, and c + line.
      const Xbyak::RegExp to = line ? c_ + line_ : Xbyak::RegExp(c_);
      if (key_.output == ValueType::acc)
        store_sums(place, line, to);
      else
        store_bytes(place, line, to);
    }
  }

  // In the order of the channels: the 128 bits of four (or two) vectors transposed.
  void store_sums(int place, int line, const Xbyak::RegExp& to) {
    const auto s = [&](int v) { return Zmm(sum(place, line, v).getIdx()); };
    const auto t = [&](int i) { return Zmm(temp(i).getIdx()); };
    if (key_.vectors == 1) return vmovups(ptr[to], s(0));
    vshufi32x4(t(0), s(0), s(1), 0x44);
    vshufi32x4(t(1), s(0), s(1), 0xee);
    if (key_.vectors == 2) {
      for (int i = 0; i < 2; ++i) {
        vshufi32x4(t(i), t(i), t(i), 0xd8);
        vmovups(ptr[to + i * 64], t(i));
      }
      return;
    }
    vshufi32x4(t(2), s(2), s(3), 0x44);
    vshufi32x4(t(3), s(2), s(3), 0xee);
    for (int i = 0; i < 4; ++i) {
      vshufi32x4(t(4), t(i / 2), t(2 + i / 2), i % 2 ? 0xdd : 0x88);
      vmovups(ptr[to + i * 64], t(4));
    }
  }

  // Sums as clamped integers; above only, where packing saturates below.
  void convert(int place) {
    const auto for_all = [&](auto emit) {
      for (int line = 0; line < key_.lines; ++line)
        for (int v = 0; v < key_.vectors; ++v) emit(sum(place, line, v), v);
    };
    if (!keeps_constants_) load_constants();
    for_all([&](const Vec& s, int) { vcvtdq2ps(s, s); });
    for_all([&](const Vec& s, int v) { vmulps(s, s, ptr[scale_ + v * 64]); });
    if (key_.vectors == 1) {  // a NaN gives the second source: low
      const Address low = ptr_b[args_ + offsetof(SlidingArgs, low)];
      for_all([&](const Vec& s, int) { vmaxps(s, s, low); });
    }
    // A NaN, of the second source, stays: it becomes the least int32.
    for_all([&](const Vec& s, int) { vminps(s, high(), s); });
    for_all([&](const Vec& s, int) { vcvtps2dq(s, s); });
  }

  void store_bytes(int place, int line, const Xbyak::RegExp& to) {
    const auto s = [&](int v) { return sum(place, line, v); };
    const bool is_signed = key_.output == ValueType::int8;
    const auto masked = [&](const Address& address) {
      return key_.masked ? address | k1 : address;
    };
    if (key_.vectors == 1) {
      vpaddd(s(0), s(0), ptr_b[args_ + offsetof(SlidingArgs, zero_point)]);
      return vpmovdb(masked(ptr[to]), Zmm(s(0).getIdx()));
    }
    for (int v = 0; v < key_.vectors; v += 2) vpackssdw(s(v), s(v), s(v + 1));
    for (int v = 0; v < key_.vectors; v += 2) vpaddsw(s(v), s(v), zero_points());
    if (key_.vectors == 4) {
      is_signed ? vpacksswb(s(0), s(0), s(2)) : vpackuswb(s(0), s(0), s(2));
      return vmovdqu8(masked(ptr[to]), s(0));
    }
    if (is_signed) return vpmovswb(masked(ptr[to]), Zmm(s(0).getIdx()));
    vpmaxsw(s(0), s(0), zeros());
    vpmovuswb(masked(ptr[to]), Zmm(s(0).getIdx()));
  }

  const SlidingKey key_;
  const int places_;  // of output pixels whose sums are in registers
  const int first_temp_;
  const bool keeps_constants_;
  const bool reads_ahead_;      // the next column is read before results are written
  std::array<int, 4> lanes_{};  // temporary registers of the column
  Xbyak::Label next_segment_;
};

}  // namespace

std::vector<std::uint8_t> generate_sliding(const SlidingKey& key) {
  if (!fits_sliding(key)) return {};
  SlidingGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
