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
  constexpr const char* kFormats[] = {"f32", "f16", "bf16", "u8", "u4", "u2", "e4m3"};
  constexpr const char* kModes[] = {"sum", "mean", "max"};
  const std::string columns = std::to_string(key.columns);
  const std::string ahead = (key.far ? "far" : "ahead") + std::to_string(key.prefetch);
  const char* scale = key.scale == RowScale::float16 ? "half" : "float";
  const char* parts[] = {isa_name(key.isa),
                         kFormats[static_cast<int>(key.format)],
                         row_parameters(key.format) ? scale : "",
                         kModes[static_cast<int>(key.mode)],
                         columns.c_str(),
                         key.weighted ? "weighted" : "",
                         key.index == IndexType::int64 ? "int64" : "int32",
                         ahead.c_str(),
                         key.output == ValueType::float32 ? "" : value_type_name(key.output)};
  std::string name = "lookup";
  for (const char* part : parts)
    if (*part) (name += '_') += part;
  return name;
}

LookupFunction find_lookup(const LookupKey& key) {
  return find_or_generate<LookupFunction>(
      KernelKind::lookup, key, key.isa, [&] { return lookup_name(key); },
      [&] { return generate_lookup(key); });
}

}  // namespace fbg::kernels
