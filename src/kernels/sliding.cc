// Sliding kernels by key, and what they cost.
#include "kernels/sliding.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "kernels/cache.h"

namespace fbg::kernels {
namespace {

constexpr int kTemporaries[5] = {0, 4, 4, 0, 5};  // registers by the number of vectors

// Output pixels whose sums are alive at a time.
int live_pixels(const SlidingKey& key) { return (key.taps + key.step - 1) / key.step; }

}  // namespace

bool has_sliding(Features features) noexcept {
  return (features & feature::avx512) && (features & feature::avx512_vnni);
}

bool fits_sliding(const SlidingKey& key) noexcept {
  const int sums = live_pixels(key) * key.vectors * key.lines;
  return sums + kTemporaries[key.vectors] <= 32 && key.rows <= kMaxSlidingRows;
}

double sliding_cost(const SlidingKey& key) noexcept {
  constexpr double kInterleave[5] = {0, 10, 10, 0, 8}, kFinish[5] = {0, 9, 13, 0, 21};
  const double dots = key.weights();
  double column = 0;  // of a window, for `lines` output rows
  if (key.source == SlidingSource::rows)
    column = (key.rows + 3) / 4 * kInterleave[key.vectors];
  else
    column = key.rows * 4;
  return dots + column * key.step / key.lines + kFinish[key.vectors];
}

std::string sliding_name(const SlidingKey& key) {
  const auto number = [](int n) { return std::to_string(n); };
  std::string name = "sliding_int32_u8_s8_";
  name += key.source == SlidingSource::rows ? "rows" : "quads" + number(key.quads) + "_rows";
  name += number(key.rows) + "_taps" + number(key.taps) + "_" + number(key.lines) + "x" +
          number(key.vectors * 16) + "_" + isa_name(key.isa);
  if (key.step > 1) name += "_step" + number(key.step);
  if (key.masked) name += "_masked";
  return name + "_" + value_type_name(key.output);
}

SlidingFunction find_sliding(const SlidingKey& key) {
  const std::string_view bytes = key_bytes(key);
  const void* code = find(KernelKind::sliding, bytes);
  if (!code) {
    const std::string name = sliding_name(key);
    code =
        generate(KernelKind::sliding, bytes, key.isa, name, [&] { return generate_sliding(key); });
    if (!code) throw std::runtime_error("no generator for kernel " + name);
  }
  return reinterpret_cast<SlidingFunction>(const_cast<void*>(code));
}

}  // namespace fbg::kernels
