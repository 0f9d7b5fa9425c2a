// Lanewise kernels by key.
#include "kernels/lanewise.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "kernels/cache.h"

namespace fbg::kernels {

int lanewise_depth(Accumulator accumulator, Features features) noexcept {
  if (!is_integer(accumulator)) return 1;
  return features & (feature::avx512_vnni | feature::avx_vnni) ? 4 : 2;
}

bool has_lanewise(Isa isa) noexcept { return isa != Isa::generic; }

int lanewise_max_rows(Isa isa, int taps, int vectors) noexcept {
  const bool wide = isa_features(isa) & feature::avx512;
  // The pipeline needs three registers beside the sums, and on AVX2 one for the mask.
  const int most = (wide ? 32 - 3 : 16 - 4) / vectors;
  // Weights stay in registers too, beside a pixel and a product, if that leaves enough sums to hide
  // the latency.
  const int kept = ((wide ? 30 : 14) - taps * vectors) / vectors, least = wide ? 12 : 6;
  return std::min({kept * vectors >= least ? kept : most, most, 16});
}

std::string lanewise_name(const LanewiseKey& key) {
  std::string name = kernel_name(key.tile);
  name.replace(0, 4, "lanewise");
  name += "_taps" + std::to_string(key.taps);
  if (key.step > 1) name += "_step" + std::to_string(key.step);
  if (key.dilation > 1) name += "_dilation" + std::to_string(key.dilation);
  return name;
}

TileFunction find_lanewise(const LanewiseKey& key) {
  const std::string_view bytes = key_bytes(key);
  const void* code = find(KernelKind::lanewise, bytes);
  if (!code) {
    const std::string name = lanewise_name(key);
    code = generate(KernelKind::lanewise, bytes, key.tile.isa, name,
                    [&] { return generate_lanewise(key); });
    if (!code) throw std::runtime_error("no generator for kernel " + name);
  }
  return reinterpret_cast<TileFunction>(const_cast<void*>(code));
}

}  // namespace fbg::kernels
