// Lanewise kernels by key.
#include "kernels/lanewise.h"

#include "kernels/cache.h"

namespace fbg::kernels {

int lanewise_depth(GemmType gemm_type, Features features) noexcept {
  if (!is_integer(gemm_type)) return 1;
  return features & (feature::avx512_vnni | feature::avx_vnni | feature::neon_dot) ? 4 : 2;
}

std::string lanewise_name(const LanewiseKey& key) {
  std::string name = kernel_name(key.tile);
  name.replace(0, 4, "lanewise");
  if (key.depth == 2) name += "_pairs";
  name += "_taps" + std::to_string(key.taps);
  if (key.shortens) name += "_shortens";
  if (key.step > 1) name += "_step" + std::to_string(key.step);
  if (key.dilation > 1) name += "_dilation" + std::to_string(key.dilation);
  if (key.spreads) name += "_spread";
  if (key.left > 0) name += "_left" + std::to_string(key.left);
  if (key.right > 0) name += "_right" + std::to_string(key.right);
  return name;
}

TileFunction find_lanewise(const LanewiseKey& key) {
  return find_or_generate<TileFunction>(
      KernelKind::lanewise, key, key.tile.isa, [&] { return lanewise_name(key); },
      [&] { return generate_lanewise(key); });
}

}  // namespace fbg::kernels
