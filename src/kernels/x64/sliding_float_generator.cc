// The sliding kernel (kernels/sliding.h) of float32, in reading order: columns, multiply-adds,
// results.
//
// In a depthwise convolution, the rows of a column stay in registers, and each weight is loaded
// once for all lines. In a convolution with groups, rows are read one after the other, and so are
// their channels: channel i of a group is spread over all lanes of the group, each of which
// multiplies it by a weight of its own.
#include <vector>

#include "kernels/x64/sliding_loop.h"

namespace fbg::kernels {
namespace {

using Xbyak::Zmm;

class SlidingFloatGenerator final : public SlidingLoop {
 public:
  explicit SlidingFloatGenerator(const SlidingKey& key)
      : SlidingLoop(key),
        // After the rows that registers hold, and in groups the second register for a channel.
        weight_(num_sums() + (key.inputs > 1 ? key.vectors() + 1 : key.rows * key.vectors())) {}

 private:
  void emit_tables() override {
    if (key_.orders() > 0) emit_orders();
  }
  Vec row(int r, int v) const { return vec(num_sums() + r * key_.vectors() + v); }
  bool is_partial(int v) const { return key_.tile.masked && v == key_.vectors() - 1; }

  void load_constants() override {
    for (int i = 0; i < key_.orders(); ++i) vmovups(order(i), ptr[rip + orders_ + i * 64]);
    if (!key_.tile.masked) return;
    mov(row_, arg(offsetof(SlidingArgs, last)));
    set_mask(row_, move_, num_vectors() - 1);
  }

  void start(int place) override {
    for_each_sum(place, [&](const Vec& s, int, int) { zero(s); });
  }

  void add_column(int x) override {
    if (key_.inputs > 1) {
      for (int r = 0; r < key_.rows; ++r) add_groups(x, r);
      return;
    }
    for (int r = 0; r < key_.rows; ++r) {
      find_row(r);
      for (int v = 0; v < key_.vectors(); ++v) load_row(row(r, v), v);
    }
    for (int kz = 0; kz < key_.planes; ++kz)
      for (int ky = 0; ky < key_.height; ++ky)
        for (int kx = 0; kx < key_.taps; ++kx)
          if (const int place = place_of(x, kx); place >= 0) add_tap(place, kz, ky, kx);
  }

  void load_row(const Vec& to, int v) {
    if (!key_.halves) return load(to, ptr[row_ + move_ + v * vector_bytes()], is_partial(v));
    const Address from = ptr[row_ + move_ + v * vector_bytes() / 2];
    is_partial(v) ? vpmovzxwd(to | k1 | T_z, from) : vpmovzxwd(to, from);
    vpslld(to, to, 16);
  }

  void add_tap(int place, int kz, int ky, int kx) {
    const int plane = key_.rows / key_.planes;
    for (int v = 0; v < key_.vectors(); ++v) {
      const int at = ((kz * key_.height + ky) * key_.taps + kx) * key_.vectors() + v;
      const Address weight = ptr[weights_ + at * vector_bytes()];
      if (key_.lines() == 1) {
        vfmadd231ps(sum(place, 0, v), row(kz * plane + ky, v), weight);
        continue;
      }
      vmovups(vec(weight_), weight);
      for (int line = 0; line < key_.lines(); ++line)
        vfmadd231ps(sum(place, line, v), row(kz * plane + ky + line * key_.line_step, v),
                    vec(weight_));
    }
  }

  // Row r of column x in all channels of the groups, for the output rows that it belongs to.
  void add_groups(int x, int r) {
    const int plane = key_.rows / key_.planes, kz = r / plane;
    find_row(r);
    if (key_.inputs < lanes())
      for (int v = 0; v < key_.vectors(); ++v)
        load(row(0, v), ptr[row_ + move_ + v * vector_bytes()], is_partial(v));
    for (int i = 0; i < key_.inputs; ++i)
      for (int v = 0; v < key_.vectors(); ++v) {
        const Vec d = vec(weight_ - (i * key_.vectors() + v) / key_.spread() % 2);
        if (v % key_.spread() == 0) spread_channel(d, i, v);
        for (int line = 0; line < key_.lines(); ++line) {
          const int ky = r % plane - line * key_.line_step;
          if (ky < 0 || ky >= key_.height) continue;
          for (int kx = key_.taps - 1; kx >= 0; --kx) {
            const int place = place_of(x, kx);
            if (place < 0) continue;
            const int source = (kz * key_.height + ky) * key_.inputs + i;
            const int at = (source * key_.taps + kx) * key_.vectors() + v;
            vfmadd231ps(sum(place, line, v), d, ptr[weights_ + at * vector_bytes()]);
          }
        }
      }
  }

  // d = channel i of the group of each lane of vector v.
  void spread_channel(const Vec& d, int i, int v) {
    if (key_.inputs >= lanes())
      vbroadcastss(d, ptr[row_ + move_ + v * vector_bytes() + i * 4]);
    else if (key_.orders() > 0)
      vpermps(Zmm(d.getIdx()), Zmm(order(i).getIdx()), row(0, v));
    else
      vpermilps(d, row(0, v), key_.inputs == 4 ? i * 0x55 : i == 0 ? 0xa0 : 0xf5);
  }

  // The lane that each lane of spread_channel takes, in the last registers.
  Vec order(int i) const { return vec(num_vectors() - 1 - i); }
  void emit_orders() {
    align(64);
    L(orders_);
    for (int i = 0; i < key_.orders(); ++i)
      for (int lane = 0; lane < lanes(); ++lane)
        dd(static_cast<std::uint32_t>(lane / key_.inputs * key_.inputs + i));
  }

  // The same instructions as in the epilogue of other kernels, but each for all vectors before the
  // next one. A NaN stays.
  void finish(int place) override {
    const Vec bound = vec(weight_);
    for (const StageCode& stage : key_.tile.pipeline()) {
      const StageRow& row = stage_row(stage.kind);
      if (stage.binary.operand == OperandKind::columns) add_columns(place, bound);
      if (row.bounds == StageBounds::open) continue;
      vbroadcastss(bound, arg(offsetof(SlidingArgs, low)));
      for_each_sum(place, [&](const Vec& s, int, int) { vmaxps(s, bound, s); });
      if (row.bounds != StageBounds::both) continue;
      vbroadcastss(bound, arg(offsetof(SlidingArgs, high)));
      bound_sums(place, bound);
    }
    for (int line = 0; line < key_.lines(); ++line) {
      if (line == 1) mov(row_, c_);
      if (line > 0) add(row_, line_);
      const Reg64& to = line > 0 ? row_ : c_;
      for (int v = 0; v < key_.vectors(); ++v) {
        const Vec s = sum(place, line, v);
        if (key_.writes_results() && key_.tile.output() == ValueType::bfloat16)
          store_half(to, s, v);
        else
          store(ptr[to + v * vector_bytes()], s, is_partial(v));
      }
    }
  }

  void store_half(const Reg64& row, const Vec& x, int v) {
    const Vec scratch = vec(weight_);
    to_bfloat16(x, scratch, scratch, scratch);
    const Address to = ptr[row + v * vector_bytes() / 2];
    vmovdqu16(is_partial(v) ? to | k1 : to, Xbyak::Ymm(x.getIdx()));
  }

  void add_columns(int place, const Vec& values) {
    for (int v = 0; v < key_.vectors(); ++v) {
      load(values, ptr[start_ + v * vector_bytes()], is_partial(v));
      for (int line = 0; line < key_.lines(); ++line)
        vaddps(sum(place, line, v), sum(place, line, v), values);
    }
  }

  const int weight_;  // a register for a weight, a channel or a constant
  Xbyak::Label orders_;
};

}  // namespace

std::vector<std::uint8_t> generate_sliding_floats(const SlidingKey& key) {
  SlidingFloatGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
