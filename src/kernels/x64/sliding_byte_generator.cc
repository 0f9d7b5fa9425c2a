// The sliding kernel (kernels/sliding.h) of bytes, of AVX-512 with VNNI, in reading order: the
// lanes of a column, multiply-adds, results.
//
// The order of the instructions matters, since results take a chain of slow ones. The sums that a
// column completes come first, then those that go on; then the next column is read, if registers
// allow; then results are computed step by step for all vectors together.
#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/x64/sliding_loop.h"

namespace fbg::kernels {
namespace {

using Xbyak::Zmm;

class SlidingByteGenerator final : public SlidingLoop {
 public:
  explicit SlidingByteGenerator(const SlidingKey& key)
      : SlidingLoop(key),
        keeps_constants_(key.spare() >= 0),
        reads_ahead_(keeps_constants_ && key.source == SlidingSource::rows && key.rows <= 4 &&
                     key.output != ValueType::acc) {}

 private:
  Vec temp(int i) const { return vec(num_sums() + i); }
  // Constants of 8-bit results: in registers of their own, or loaded when they are wanted.
  Vec high() const { return keeps_constants_ ? vec(31) : temp(0); }
  Vec zero_points() const { return keeps_constants_ ? vec(30) : temp(1); }
  Vec order() const { return keeps_constants_ ? vec(29) : temp(2); }  // of two vectors' results
  // The scale and the shift of float_bits, which has no such bounds and zero points.
  Vec scale() const { return high(); }
  Vec shift() const { return zero_points(); }
  // What stays in registers if there are enough: the sums to start from, and the first weights.
  Vec start_sum(int v) const { return vec(num_sums() + key_.temporaries() + v); }
  Vec weight(int i) const { return start_sum(key_.vectors + i); }

  void load_constants() override {
    if (key_.masked) kmovq(k1, arg(offsetof(SlidingArgs, mask)));
    if (keeps_constants_) load_result_constants();
    if (!key_.keeps_start()) return;
    for (int v = 0; v < key_.vectors; ++v) vmovups(start_sum(v), ptr[start_ + v * 64]);
    for (int i = 0; i < key_.kept_weights(); ++i) vmovups(weight(i), ptr[weights_ + i * 64]);
  }

  void load_result_constants() {
    if (key_.output == ValueType::acc) return;
    if (key_.vectors == 2) {
      mov(row_, 0x0705030106040200);
      vmovq(Xbyak::Xmm(order().getIdx()), row_);
      vpmovzxbq(order(), Xbyak::Xmm(order().getIdx()));
    }
    if (key_.float_bits) return;
    vbroadcastss(high(), arg(offsetof(SlidingArgs, high)));
    if (key_.vectors > 1) vpbroadcastd(zero_points(), arg(offsetof(SlidingArgs, zero_points)));
  }

  void read_ahead() override {
    if (reads_ahead_) read_rows(0);
  }

  void start(int place) override {
    for (int line = 0; line < key_.lines; ++line)
      for (int v = 0; v < key_.vectors; ++v) {
        if (key_.keeps_start())
          vmovaps(sum(place, line, v), start_sum(v));
        else
          vmovups(sum(place, line, v), ptr[start_ + v * 64]);
      }
  }

  // Row r of the column: bytes, or one in each word or lane where a block is narrow.
  void load_row(const Vec& to, int r) {
    find_row(r);
    const auto target = key_.masked ? to | k1 | T_z : to;
    const Address from = ptr[row_ + move_];
    if (key_.vectors == 4)
      vmovdqu8(target, from);
    else if (key_.vectors == 2)
      vpmovzxbw(target, from);
    else
      vpmovzxbd(target, from);
  }

  void add_column(int x) override {
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
    const int place = place_of(x, kx);
    if (place < 0) return;
    const int at = ((line * key_.sources() + source) * key_.taps + kx) * key_.vectors + v;
    if (at < key_.kept_weights())
      vpdpbusd(sum(place, line, v), d, weight(at));
    else
      vpdpbusd(sum(place, line, v), d, ptr[weights_ + at * 64]);
  }

  void finish(int place) override {
    if (key_.output != ValueType::acc) {
      convert(place);
      if (key_.vectors == 2) return store_lines(place);
    }
    for (int line = 0; line < key_.lines; ++line) {
      if (key_.output == ValueType::acc)
        store_sums(place, line, result(line));
      else
        store_bytes(place, line, result(line));
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
    if (!keeps_constants_) load_result_constants();
    if (key_.float_bits) {
      mov(row_, arg(offsetof(SlidingArgs, shift)));
      for (int v = 0; v < key_.vectors; ++v) {
        vmovups(scale(), ptr[scale_ + v * 64]);
        vmovups(shift(), ptr[row_ + v * 64]);
        for (int line = 0; line < key_.lines; ++line)
          vfmadd213ps(sum(place, line, v), scale(), shift());
      }
    } else {
      for_all([&](const Vec& s, int) { vcvtdq2ps(s, s); });
      for_all([&](const Vec& s, int v) { vmulps(s, s, ptr[scale_ + v * 64]); });
    }
    if (key_.vectors == 1) {  // a NaN gives the second source: low
      const Address low = ptr_b[args_ + offsetof(SlidingArgs, low)];
      for_all([&](const Vec& s, int) { vmaxps(s, s, low); });
    }
    // A NaN, of the second source, stays: it becomes the least int32.
    if (!key_.float_bits) for_all([&](const Vec& s, int) { vminps(s, high(), s); });
    for_all([&](const Vec& s, int) { vcvtps2dq(s, s); });
  }

  Address masked(const Address& address) const { return key_.masked ? address | k1 : address; }

  // Sums as words that saturate, two vectors in one.
  void pack_words(int place, int line, int v) {
    const Vec words = sum(place, line, v);
    vpackssdw(words, words, sum(place, line, v + 1));
    if (!key_.float_bits) vpaddsw(words, words, zero_points());
  }

  void pack_bytes(const Vec& to, const Vec& other) {
    if (key_.output == ValueType::int8)
      vpacksswb(to, to, other);
    else
      vpackuswb(to, to, other);
  }

  // Of one or four vectors.
  void store_bytes(int place, int line, const Xbyak::RegExp& to) {
    const Vec first = sum(place, line, 0);
    if (key_.vectors == 1) {
      if (key_.float_bits) return vpmovusdb(masked(ptr[to]), Zmm(first.getIdx()));
      vpaddd(first, first, ptr_b[args_ + offsetof(SlidingArgs, zero_point)]);
      return vpmovdb(masked(ptr[to]), Zmm(first.getIdx()));
    }
    for (int v = 0; v < key_.vectors; v += 2) pack_words(place, line, v);
    pack_bytes(first, sum(place, line, 2));
    vmovdqu8(masked(ptr[to]), first);
  }

  // Two vectors of each line: both lines are packed together, and their 64 bits sorted by line.
  void store_lines(int place) {
    for (int line = 0; line < key_.lines; ++line) pack_words(place, line, 0);
    const Zmm bytes(sum(place, 0, 0).getIdx());
    pack_bytes(bytes, sum(place, key_.lines - 1, 0));
    vpermq(bytes, Zmm(order().getIdx()), bytes);
    const Xbyak::Ymm half(bytes.getIdx());
    vmovdqu8(masked(ptr[result(0)]), half);
    if (key_.lines == 1) return;
    vextracti64x4(half, bytes, 1);
    vmovdqu8(masked(ptr[result(1)]), half);
  }

  const bool keeps_constants_;
  const bool reads_ahead_;      // the next column is read before results are written
  std::array<int, 4> lanes_{};  // temporary registers of the column
};

}  // namespace

std::vector<std::uint8_t> generate_sliding_bytes(const SlidingKey& key) {
  SlidingByteGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
