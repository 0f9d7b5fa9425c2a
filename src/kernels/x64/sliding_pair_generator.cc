// The sliding kernel (kernels/sliding.h) of bytes for CPUs without VNNI on vectors of 512 bits, in
// reading order: lanes, multiply-adds, results.
//
// Bytes are widened to int16, and a lane holds those of two rows. vpmaddwd adds their two products
// exactly, whatever the weights are: vpmaddubsw, which multiplies bytes, would saturate.
#include <cstddef>

#include "kernels/x64/sliding_loop.h"

namespace fbg::kernels {
namespace {

class SlidingPairGenerator final : public SlidingLoop {
 public:
  explicit SlidingPairGenerator(const SlidingKey& key)
      : SlidingLoop(key), has_dot_(isa_features(key.tile.isa) & feature::avx_vnni) {
    if (key.inside && key.rows <= kRowRegisters) keep_rows(0, key.rows);
  }

 private:
  Vec temp(int i) const { return vec(num_sums() + i); }
  // The lanes of a source, of vector v. What is left between them is for products.
  Vec lanes_of(int v) const { return temp(2 * v); }
  Vec product() const { return temp(1); }

  void load_constants() override {}

  void start(int place) override {
    for_each_sum(place,
                 [&](const Vec& s, int, int v) { vmovups(s, ptr[start_ + v * vector_bytes()]); });
  }

  bool is_used(int pair) const {
    for (int line = 0; line < key_.lines(); ++line)
      if (key_.uses(line, pair)) return true;
    return false;
  }

  void add_column(int x) override {
    for (int pair = 0; pair < key_.sources(); ++pair) {
      if (!is_used(pair)) continue;
      build_lanes(pair);
      // The last tap, which completes an output pixel, comes first.
      for (int kx = key_.taps - 1; kx >= 0; --kx)
        for (int line = 0; line < key_.lines(); ++line)
          for (int v = 0; v < key_.vectors(); ++v) add_tap(x, kx, line, pair, v);
    }
  }

  // The upper half of a lane without a second row meets a weight of 0.
  void build_lanes(int pair) {
    const int first = 2 * pair;
    const bool both = first + 1 < key_.rows;
    if (key_.vectors() == 1) return build_vector(first, both);
    vpmovzxbw(temp(0), ptr[pixel(first)]);
    if (both) vpmovzxbw(temp(1), ptr[pixel(first + 1)]);
    const Vec second = both ? temp(1) : temp(0);
    vpunpckhwd(lanes_of(1), temp(0), second);
    vpunpcklwd(lanes_of(0), temp(0), second);
  }

  void build_vector(int first, bool both) {
    const Vec lanes = lanes_of(0), second = temp(1);
    if (both && !is_zmm()) {
      const Xbyak::Xmm bytes(lanes.getIdx()), others(second.getIdx());
      vmovq(bytes, ptr[pixel(first)]);
      vmovq(others, ptr[pixel(first + 1)]);
      vpunpcklbw(bytes, bytes, others);
      vpmovzxbw(lanes, bytes);
      return;
    }
    vpmovzxbd(lanes, ptr[pixel(first)]);
    if (!both) return;
    vpmovzxbd(second, ptr[pixel(first + 1)]);
    vpslld(second, second, 16);
    bit_or(lanes, lanes, second);
  }

  void add_tap(int x, int kx, int line, int pair, int v) {
    const int place = place_of(x, kx);
    if (place < 0 || !key_.uses(line, pair)) return;
    const int at = ((line * key_.sources() + pair) * key_.taps + kx) * key_.vectors() + v;
    const Address weight = ptr[weights_ + at * vector_bytes()];
    if (has_dot_) return vpdpwssd(sum(place, line, v), lanes_of(v), weight, Xbyak::VexEncoding);
    vpmaddwd(product(), lanes_of(v), weight);
    vpaddd(sum(place, line, v), sum(place, line, v), product());
  }

  void finish(int place) override {
    if (!key_.writes_results()) {
      for (int line = 0; line < key_.lines(); ++line) store_sums(place, line);
      return;
    }
    convert(place);
    for (int line = 0; line < key_.lines(); line += 2) store_lines(place, line);
  }

  // Stores sums in the order of the channels.
  void store_sums(int place, int line) {
    const Vec low = sum(place, line, 0), high = sum(place, line, key_.vectors() - 1);
    const auto to = [&](int i) { return ptr[result(line) + i * vector_bytes()]; };
    if (key_.vectors() == 1) return vmovups(to(0), low);
    for (const int i : {0, 1}) {
      if (is_zmm()) {
        const Xbyak::Zmm parts(temp(0).getIdx());
        vshufi32x4(parts, Xbyak::Zmm(low.getIdx()), Xbyak::Zmm(high.getIdx()), i ? 0xee : 0x44);
        vshufi32x4(parts, parts, parts, 0xd8);
      } else {
        const Xbyak::Ymm parts(temp(0).getIdx());
        vperm2i128(parts, Xbyak::Ymm(low.getIdx()), Xbyak::Ymm(high.getIdx()), i ? 0x31 : 0x20);
      }
      vmovups(to(i), temp(0));
    }
  }

  // Converts sums to integers, which are clamped only above, because packing saturates below.
  void convert(int place) {
    const Vec constant = temp(0);
    if (key_.float_bits) {
      for (int v = 0; v < key_.vectors(); ++v) {
        vmovups(constant, ptr[scale_ + 2 * v * vector_bytes()]);
        for (int line = 0; line < key_.lines(); ++line)
          vfmadd213ps(sum(place, line, v), constant, ptr[scale_ + (2 * v + 1) * vector_bytes()]);
      }
    } else {
      vbroadcastss(constant, arg(offsetof(SlidingArgs, high)));
      scale_sums(place);
      bound_sums(place, constant);
    }
    round_sums(place);
  }

  // Packs line `line` and the next one, if there is one, together; sorts the bytes by lines, and
  // stores them.
  void store_lines(int place, int line) {
    const bool both = line + 1 < key_.lines();
    const Vec first = sum(place, line, 0), second = sum(place, both ? line + 1 : line, 0);
    if (!key_.float_bits) vpbroadcastd(temp(0), arg(offsetof(SlidingArgs, zero_points)));
    const auto add_zero_point = [&](const Vec& words) {
      if (!key_.float_bits) vpaddsw(words, words, temp(0));
    };
    if (key_.vectors() == 2) {
      for (int i = 0; i <= both; ++i) {
        const Vec words = sum(place, line + i, 0);
        vpackssdw(words, words, sum(place, line + i, 1));
        add_zero_point(words);
      }
      pack_bytes(first, second);
    } else {
      vpackssdw(first, first, second);
      add_zero_point(first);
      pack_bytes(first, first);
    }
    sort_lines(first);
    store(first, line, both);
  }

  // Packed bytes alternate between the two lines, every four channels or every eight.
  void sort_lines(const Vec& bytes) {
    const Vec order = temp(0);
    if (key_.vectors() == 2 && !is_zmm())
      return vpermq(Xbyak::Ymm(bytes.getIdx()), Xbyak::Ymm(bytes.getIdx()), 0xd8);
    vmovups(order, ptr[rip + order_]);
    if (is_zmm())
      vpermd(Xbyak::Zmm(bytes.getIdx()), Xbyak::Zmm(order.getIdx()), Xbyak::Zmm(bytes.getIdx()));
    else
      vpermd(Xbyak::Ymm(bytes.getIdx()), Xbyak::Ymm(order.getIdx()), Xbyak::Ymm(bytes.getIdx()));
  }

  // The bytes of a line are 8, 16 or 32.
  void store(const Vec& bytes, int line, bool both) {
    const int bits = key_.vectors() * lanes() * 8;
    const Xbyak::Xmm xmm(bytes.getIdx());
    const Xbyak::Ymm ymm(bytes.getIdx());
    const Address to = ptr[result(line)], next = ptr[result(line + 1)];
    if (bits == 64) {
      vmovq(to, xmm);
      if (both) vmovhps(next, xmm);
    } else if (bits == 128) {
      vmovups(to, xmm);
      if (both) is_zmm() ? vextracti32x4(next, ymm, 1) : vextracti128(next, ymm, 1);
    } else {
      vmovups(to, ymm);
      if (both) vextracti64x4(next, Xbyak::Zmm(bytes.getIdx()), 1);
    }
  }

  // The tables hold dwords: those of the first line, then those of the second.
  void emit_tables() override {
    align(64);
    L(order_);
    for (int i = 0; i < lanes(); ++i) {
      const int in_line = key_.vectors() == 2 ? lanes() / 2 : lanes() / 4;
      const int line = i / in_line % 2, at = i % in_line;
      const int from = key_.vectors() == 2 ? at / 2 * 4 + line * 2 + at % 2 : at * 4 + line;
      dd(static_cast<std::uint32_t>(from));
    }
  }

  const bool has_dot_;  // one instruction multiplies and adds
  Xbyak::Label order_;
};

}  // namespace

std::vector<std::uint8_t> generate_sliding_pairs(const SlidingKey& key) {
  SlidingPairGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
