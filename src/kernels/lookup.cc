// Kernels of embedding tables by key.
#include "kernels/lookup.h"

#include "kernels/cache.h"

namespace fbg::kernels {

Isa lookup_isa(Features features) noexcept {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::neon})
    if ((features & isa_features(isa)) == isa_features(isa) && has_lookup(isa)) return isa;
  return Isa::generic;
}

std::string lookup_name(const LookupKey& key) {
  constexpr const char* kFormats[] = {"f32", "f16", "bf16", "u8", "u4", "u2"};
  constexpr const char* kModes[] = {"sum", "mean", "max"};
  const auto at = [](const auto& names, auto i) { return names[static_cast<int>(i)]; };
  std::string name = std::string("lookup_") + isa_name(key.isa) + "_" + at(kFormats, key.format);
  if (is_integer(key.format)) name += key.scale == RowScale::float16 ? "_half" : "_float";
  name += std::string("_") + at(kModes, key.mode) + "_" + std::to_string(key.columns);
  if (key.weighted) name += "_weighted";
  name += key.index == IndexType::int64 ? "_int64" : "_int32";
  return name + "_ahead" + std::to_string(key.prefetch);
}

LookupFunction find_lookup(const LookupKey& key) {
  return find_or_generate<LookupFunction>(
      KernelKind::lookup, key, key.isa, [&] { return lookup_name(key); },
      [&] { return generate_lookup(key); });
}

}  // namespace fbg::kernels
