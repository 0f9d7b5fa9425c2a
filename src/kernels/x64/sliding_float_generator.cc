// The sliding kernel (kernels/sliding.h) of float32, in reading order: columns, multiply-adds,
// results. Rows of a column stay in registers; each weight is loaded once for all lines.
#include "kernels/x64/sliding_loop.h"

namespace fbg::kernels {
namespace {

class SlidingFloatGenerator final : public SlidingLoop {
 public:
  explicit SlidingFloatGenerator(const SlidingKey& key)
      : SlidingLoop(key), weight_(num_sums() + key.rows * key.vectors) {}

 private:
  Vec row(int r, int v) const { return vec(num_sums() + r * key_.vectors + v); }
  bool is_partial(int v) const { return key_.masked && v == key_.vectors - 1; }

  void load_constants() override {
    if (!key_.masked) return;
    mov(row_, arg(offsetof(SlidingArgs, last)));
    set_mask(row_, move_, num_vectors() - 1);
  }

  void start(int place) override {
    for (int line = 0; line < key_.lines; ++line)
      for (int v = 0; v < key_.vectors; ++v) zero(sum(place, line, v));
  }

  void add_column(int x) override {
    for (int r = 0; r < key_.rows; ++r) {
      find_row(r);
      for (int v = 0; v < key_.vectors; ++v)
        load(row(r, v), ptr[row_ + move_ + v * vector_bytes()], is_partial(v));
    }
    for (int kz = 0; kz < key_.planes; ++kz)
      for (int ky = 0; ky < key_.height; ++ky)
        for (int kx = 0; kx < key_.taps; ++kx)
          if (const int place = place_of(x, kx); place >= 0) add_tap(place, kz, ky, kx);
  }

  void add_tap(int place, int kz, int ky, int kx) {
    const int plane = key_.rows / key_.planes;
    for (int v = 0; v < key_.vectors; ++v) {
      const int at = ((kz * key_.height + ky) * key_.taps + kx) * key_.vectors + v;
      const Address weight = ptr[weights_ + at * vector_bytes()];
      if (key_.lines == 1) {
        vfmadd231ps(sum(place, 0, v), row(kz * plane + ky, v), weight);
        continue;
      }
      vmovups(vec(weight_), weight);
      for (int line = 0; line < key_.lines; ++line)
        vfmadd231ps(sum(place, line, v), row(kz * plane + ky + line * key_.line_step, v),
                    vec(weight_));
    }
  }

  // The stages are those of the pipeline, instruction by instruction: a NaN stays.
  void finish(int place) override {
    const Vec bound = vec(weight_);
    const auto for_all = [&](auto emit) {
      for (int line = 0; line < key_.lines; ++line)
        for (int v = 0; v < key_.vectors; ++v) emit(sum(place, line, v), v);
    };
    if (key_.bias)
      for (int v = 0; v < key_.vectors; ++v) {
        load(bound, ptr[start_ + v * vector_bytes()], is_partial(v));
        for (int line = 0; line < key_.lines; ++line)
          vaddps(sum(place, line, v), sum(place, line, v), bound);
      }
    if (key_.low) {
      vbroadcastss(bound, arg(offsetof(SlidingArgs, low)));
      for_all([&](const Vec& s, int) { vmaxps(s, bound, s); });
    }
    if (key_.high) {
      vbroadcastss(bound, arg(offsetof(SlidingArgs, high)));
      for_all([&](const Vec& s, int) { vminps(s, bound, s); });
    }
    for (int line = 0; line < key_.lines; ++line)
      for (int v = 0; v < key_.vectors; ++v)
        store(ptr[result(line) + v * vector_bytes()], sum(place, line, v), is_partial(v));
  }

  const int weight_;  // a register for a weight or a constant
};

}  // namespace

std::vector<std::uint8_t> generate_sliding_floats(const SlidingKey& key) {
  SlidingFloatGenerator generator(key);
  generator.generate();
  return generator.code();
}

}  // namespace fbg::kernels
