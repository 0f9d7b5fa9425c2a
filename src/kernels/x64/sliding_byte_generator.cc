// The sliding kernel (kernels/sliding.h) of bytes for AVX-512 with VNNI, in reading order: the
// lanes of a column, multiply-adds, results. Lanes are built from rows of the image, or loaded from
// memory, where another kernel has stored them.
//
// The order of the instructions matters, because a result needs several slow instructions that wait
// for each other. The sums that a column completes are computed first, then the others; then the
// next column is read, if there are registers for it; then each step towards the results is taken
// for all vectors before the next step. The epilogue of other kernels finishes one vector after the
// other.
#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/x64/sliding_loop.h"
#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {
namespace {

using Xbyak::Zmm;

class SlidingByteGenerator final : public SlidingLoop {
 public:
  explicit SlidingByteGenerator(const SlidingKey& key)
      : SlidingLoop(key),
        keeps_constants_(key.spare() >= 0),
        reads_ahead_(keeps_constants_ && key.source == SlidingSource::rows && key.sources() == 1 &&
                     key.writes_results() && !(key.looks_up() && key.vectors() == 1)) {
    if (key.inside && rows_read() <= kRowRegisters) keep_rows(first_read(), rows_read());
  }

 private:
  Vec temp(int i) const { return vec(num_sums() + i); }
  Zmm zmm(const Vec& v) const { return Zmm(v.getIdx()); }
  // Permutations that build lanes: of words for two vectors; of dwords and then bytes for one.
  Vec words() const { return temp(3); }
  Vec dwords() const { return temp(2); }
  Vec bytes() const { return temp(3); }
  // Constants for 8-bit results: in registers of their own, or loaded when they are needed.
  Vec high() const { return keeps_constants_ ? vec(31) : temp(0); }
  Vec zero_points() const { return keeps_constants_ ? vec(30) : temp(1); }
  Vec order() const { return keeps_constants_ ? vec(29) : temp(2); }  // of two vectors' results
  // The scale and the shift with float_bits, which needs no bounds and no zero points.
  Vec scale() const { return high(); }
  Vec shift() const { return zero_points(); }
  // What stays in registers if there are enough: the sums to start from, and the first weights.
  Vec start_sum(int v) const { return vec(num_sums() + key_.temporaries() + v); }
  Vec weight(int i) const { return start_sum(key_.vectors() + i); }

  void load_constants() override {
    if (key_.tile.masked) kmovq(k1, arg(offsetof(SlidingArgs, mask)));
    if (uses_lanes()) {
      xor_(lanes_offset_.cvt32(), lanes_offset_.cvt32());
      for (int source = 0; source < key_.sources(); ++source)
        if (!reads_image() || source == key_.built)
          mov(lanes_register(source),
              arg(offsetof(SlidingArgs, lanes) + static_cast<std::size_t>(source) * 8));
    }
    if (key_.source == SlidingSource::rows && reads_image()) {
      if (key_.vectors() == 2) vmovups(words(), ptr[rip + orders_]);
      if (key_.vectors() == 1) vmovups(dwords(), ptr[rip + orders_]);
      if (key_.vectors() == 1) vmovups(bytes(), ptr[rip + orders_ + 64]);
    }
    if (key_.mode == SlidingMode::builds) return;
    if (keeps_constants_) load_result_constants();
    if (!key_.keeps_start()) return;
    for (int v = 0; v < key_.vectors(); ++v) vmovups(start_sum(v), ptr[start_ + v * 64]);
    for (int i = 0; i < key_.kept_weights(); ++i) vmovups(weight(i), ptr[weights_ + i * 64]);
  }

  void load_result_constants() {
    if (!key_.writes_results()) return;
    if (key_.vectors() == 2) vmovups(order(), ptr[rip + orders_ + 128]);
    if (key_.float_bits) return;
    vbroadcastss(high(), arg(offsetof(SlidingArgs, high)));
    if (key_.vectors() > 1) vpbroadcastd(zero_points(), arg(offsetof(SlidingArgs, zero_points)));
  }

  void read_ahead() override {
    if (reads_ahead_) find_lanes(0);
  }

  bool uses_lanes() const { return key_.mode != SlidingMode::whole; }
  bool reads_image() const { return key_.mode != SlidingMode::loads; }

  void next_column() override {
    if (reads_image()) next_pixel();
    if (uses_lanes()) add(lanes_offset_, key_.vectors() * 64);
  }

  void start(int place) override {
    for_each_sum(place, [&](const Vec& s, int, int v) {
      key_.keeps_start() ? vmovaps(s, start_sum(v)) : vmovups(s, ptr[start_ + v * 64]);
    });
  }

  // Rows of the image that a kernel reads.
  int rows_read() const {
    return key_.mode == SlidingMode::builds ? rows_of(key_.built) : reads_image() ? key_.rows : 0;
  }
  int first_read() const { return key_.mode == SlidingMode::builds ? first_row(key_.built) : 0; }
  int first_row(int source) const {
    const int of_plane = key_.sources() / key_.planes;
    return source / of_plane * (key_.rows / key_.planes) + source % of_plane * 4;
  }
  int rows_of(int source) const {
    const int of_plane = key_.sources() / key_.planes;
    return std::min(key_.rows / key_.planes - source % of_plane * 4, 4);
  }

  // The register of a source in memory. Kernels that build lanes have no sums to start.
  Reg64 lanes_register(int source) const { return reads_image() ? start_ : free_register(source); }

  template <class V>
  V valid(const V& to) const {
    return key_.tile.masked ? V(to | k1 | T_z) : to;
  }

  void add_column(int x) override {
    if (key_.source == SlidingSource::quads) {
      for (int r = 0; r < key_.rows; ++r) add_quads(x, r);
      return;
    }
    if (key_.mode == SlidingMode::builds) return find_lanes(key_.built);
    for (int source = 0; source < key_.sources(); ++source) {
      if (!reads_ahead_) find_lanes(source);
      // The last tap, which completes an output pixel, comes first.
      for (int kx = key_.taps - 1; kx >= 0; --kx)
        for (int line = 0; line < key_.lines(); ++line)
          for (int v = 0; v < key_.vectors(); ++v) add_tap(x, kx, line, source, v, temp(lanes_[v]));
    }
  }

  // The lanes of a source as temp(lanes_[v]).
  void find_lanes(int source) {
    const bool loads = key_.mode == SlidingMode::loads;
    if (!loads) build_lanes(source);
    if (!uses_lanes()) return;
    if (loads) lanes_ = {0, 1, 2, 3};
    for (int v = 0; v < key_.vectors(); ++v) {
      const Address at = ptr[lanes_register(source) + lanes_offset_ + v * 64];
      loads ? vmovups(temp(v), at) : vmovups(at, temp(lanes_[v]));
    }
  }

  // Elements of lanes that stand for missing rows meet weights of 0.
  void build_lanes(int source) {
    const int first = first_row(source), rows = rows_of(source);
    if (key_.vectors() == 4) {
      for (int r = 0; r < rows; ++r) vmovdqu8(valid(zmm(temp(r))), ptr[pixel(first + r)]);
      unpack_four(rows);
    } else if (key_.vectors() == 2) {
      load_pair(temp(0), first, rows);
      if (rows > 2) load_pair(temp(1), first + 2, rows - 2);
      unpack_two(rows > 2 ? temp(1) : temp(0));
    } else {
      load_quarters(first, rows);
    }
  }

  // Unpacks bytes of up to four rows.
  void unpack_four(int rows) {
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

  // Row r, and the next one in the upper half.
  void load_pair(const Vec& to, int r, int rows) {
    const Xbyak::Ymm half(to.getIdx()), other(temp(2).getIdx());
    vmovdqu8(valid(half), ptr[pixel(r)]);
    if (rows == 1) return;
    if (key_.tile.masked) {  // by bytes
      vmovdqu8(valid(other), ptr[pixel(r + 1)]);
      vinserti64x4(zmm(to), zmm(to), other, 1);
    } else {
      vinserti64x4(zmm(to), zmm(to), ptr[pixel(r + 1)], 1);
    }
  }

  // Lanes of the rows 0, 2, 1, 3 of temp(0), which has the rows 0 and 1, and `other`.
  void unpack_two(const Vec& other) {
    vpunpckhbw(temp(2), temp(0), other);
    vpunpcklbw(temp(0), temp(0), other);
    vpermw(zmm(temp(0)), zmm(words()), zmm(temp(0)));
    vpermw(zmm(temp(1)), zmm(words()), zmm(temp(2)));
    lanes_ = {0, 1, 0, 0};
  }

  // Lanes of 16 channels: each row is a quarter of a vector.
  void load_quarters(int first, int rows) {
    const Xbyak::Xmm quarter(temp(0).getIdx()), other(temp(1).getIdx());
    vmovdqu8(valid(quarter), ptr[pixel(first)]);
    for (int r = 1; r < rows; ++r) {
      if (key_.tile.masked) {
        vmovdqu8(valid(other), ptr[pixel(first + r)]);
        vinserti32x4(zmm(temp(0)), zmm(temp(0)), other, r);
      } else {
        vinserti32x4(zmm(temp(0)), zmm(temp(0)), ptr[pixel(first + r)], r);
      }
    }
    vpermd(zmm(temp(0)), zmm(dwords()), zmm(temp(0)));
    vpshufb(temp(0), temp(0), bytes());
    lanes_ = {};
  }

  // Dword q of each 128 bits, repeated there: four channels of the group, or of four groups.
  void add_quads(int x, int r) {
    vmovdqu8(valid(zmm(temp(0))), ptr[pixel(r)]);
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
    const int at = ((line * key_.sources() + source) * key_.taps + kx) * key_.vectors() + v;
    if (at < key_.kept_weights())
      vpdpbusd(sum(place, line, v), d, weight(at));
    else
      vpdpbusd(sum(place, line, v), d, ptr[weights_ + at * 64]);
  }

  void finish(int place) override {
    if (key_.writes_results()) convert(place);
    if (key_.looks_up()) mov(scale_, arg(offsetof(SlidingArgs, table)));
    store_results(place);
    if (key_.looks_up()) mov(scale_, arg(offsetof(SlidingArgs, scale)));
  }

  void store_results(int place) {
    if (key_.writes_results() && key_.vectors() == 2) return store_lines(place);
    for (int line = 0; line < key_.lines(); ++line) {
      if (!key_.writes_results())
        store_sums(place, line, result(line));
      else
        store_bytes(place, line, result(line));
    }
  }

  // Stores sums in the order of the channels: the 128-bit parts of two or four vectors are
  // transposed.
  void store_sums(int place, int line, const Xbyak::RegExp& to) {
    const auto s = [&](int v) { return zmm(sum(place, line, v)); };
    const auto t = [&](int i) { return zmm(temp(i)); };
    if (key_.vectors() == 1) return vmovups(ptr[to], s(0));
    vshufi32x4(t(0), s(0), s(1), 0x44);
    vshufi32x4(t(1), s(0), s(1), 0xee);
    if (key_.vectors() == 2) {
      for (int i = 0; i < 2; ++i) vmovups(ptr[to + i * 64], t(i));
      return;
    }
    vshufi32x4(t(2), s(2), s(3), 0x44);
    vshufi32x4(t(3), s(2), s(3), 0xee);
    for (int i = 0; i < 4; ++i) {
      vshufi32x4(t(4), t(i / 2), t(2 + i / 2), i % 2 ? 0xdd : 0x88);
      vmovups(ptr[to + i * 64], t(4));
    }
  }

  // Converts sums to integers. They are clamped only above if packing saturates below.
  void convert(int place) {
    if (!keeps_constants_) load_result_constants();
    if (key_.float_bits) {
      for (int v = 0; v < key_.vectors(); ++v) {
        vmovups(scale(), ptr[scale_ + v * 128]);
        vmovups(shift(), ptr[scale_ + v * 128 + 64]);
        for (int line = 0; line < key_.lines(); ++line)
          vfmadd213ps(sum(place, line, v), scale(), shift());
      }
    } else {
      scale_sums(place);
    }
    if (key_.vectors() == 1) {  // a NaN gives the second source: low
      const Address low = ptr_b[args_ + offsetof(SlidingArgs, low)];
      for_each_sum(place, [&](const Vec& s, int, int) { vmaxps(s, s, low); });
    }
    if (!key_.float_bits) bound_sums(place, high());
    round_sums(place);
  }

  Address masked(const Address& address) const { return key_.tile.masked ? address | k1 : address; }

  // Packs the sums of two vectors into one vector of words, with saturation.
  void pack_words(int place, int line, int v) {
    const Vec words = sum(place, line, v);
    vpackssdw(words, words, sum(place, line, v + 1));
    if (!key_.float_bits) vpaddsw(words, words, zero_points());
  }

  // Looks the bytes of a vector up, if these are places in a table, to which scale_ points here.
  void look_up(const Vec& x, const Vec& lower, const Vec& upper) {
    if (key_.looks_up()) emit_look_up(*this, zmm(x), zmm(lower), zmm(upper), scale_);
  }

  // Stores the bytes of one or four vectors.
  void store_bytes(int place, int line, const Xbyak::RegExp& to) {
    const Vec first = sum(place, line, 0);
    if (key_.vectors() == 1) {
      if (!key_.float_bits) vpaddd(first, first, ptr_b[args_ + offsetof(SlidingArgs, zero_point)]);
      if (key_.looks_up()) {
        const Xbyak::Xmm bytes(first.getIdx());
        key_.float_bits ? vpmovusdb(bytes, zmm(first)) : vpmovdb(bytes, zmm(first));
        look_up(first, temp(0), temp(1));
        return vmovdqu8(masked(ptr[to]), bytes);
      }
      return key_.float_bits ? vpmovusdb(masked(ptr[to]), zmm(first))
                             : vpmovdb(masked(ptr[to]), zmm(first));
    }
    for (int v = 0; v < key_.vectors(); v += 2) pack_words(place, line, v);
    pack_bytes(first, sum(place, line, 2));
    look_up(first, sum(place, line, 1), sum(place, line, 2));
    vmovdqu8(masked(ptr[to]), first);
  }

  // Stores two vectors of each line: both lines are packed together, and their dwords are sorted.
  void store_lines(int place) {
    for (int line = 0; line < key_.lines(); ++line) pack_words(place, line, 0);
    const Zmm bytes = zmm(sum(place, 0, 0));
    pack_bytes(bytes, sum(place, key_.lines() - 1, 0));
    vpermd(bytes, zmm(order()), bytes);
    look_up(bytes, sum(place, 0, 1), temp(2));
    const Xbyak::Ymm half(bytes.getIdx());
    vmovdqu8(masked(ptr[result(0)]), half);
    if (key_.lines() == 1) return;
    vextracti64x4(half, bytes, 1);
    vmovdqu8(masked(ptr[result(1)]), half);
  }

  // What words(), dwords(), bytes() and order() hold.
  void emit_tables() override {
    align(64);
    L(orders_);
    if (key_.vectors() == 2) {
      for (int i = 0; i < 32; ++i)  // word i % 2 of a lane: of the rows 0 and 2, or 1 and 3
        dw(static_cast<std::uint16_t>(i % 2 * 16 + i / 2));
    } else {
      for (int i = 0; i < 16; ++i) dd(static_cast<std::uint32_t>(i % 4 * 4 + i / 4));
    }
    for (int i = 0; i < 64; ++i) db(i % 4 * 4 + i % 16 / 4);
    for (int i = 0; i < 16; ++i) {  // four channels of a line
      const int line = i / 8, quad = i % 8, v = quad / 2 % 2, part = quad / 4 * 2 + quad % 2;
      dd(static_cast<std::uint32_t>(part * 4 + line * 2 + v));
    }
  }

  const Reg64 lanes_offset_ = line_;  // of the column in SlidingArgs::lanes
  const bool keeps_constants_;
  const bool reads_ahead_;      // the next column is read before results are written
  std::array<int, 4> lanes_{};  // temporary registers of the column
  Xbyak::Label orders_;
};

}  // namespace

std::vector<std::uint8_t> generate_sliding_bytes(const SlidingKey& key) {
  SlidingByteGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
