// Whether operands fit what the stages of a kernel are specialized for.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/microkernel.h"

namespace fbg::test {

// Whether what is rounded is within int32 where a kernel relies on it; of others, it may make
// anything.
inline bool fits_specialization(KernelKey generic, TileArgs args, std::int64_t elements) {
  if (generic.num_stages == 0) return true;
  const int last = generic.num_stages - 1;
  StageCode& code = generic.stages[static_cast<std::size_t>(last)];
  if (!code.specialization.bounded) return true;
  const bool is_float = code.in == ValueType::float32;
  const float scale = !is_float && generic.folds() ? 1.0f : args.stages[last].f0;
  std::vector<float> reals(static_cast<std::size_t>(elements));
  args.c = reinterpret_cast<std::byte*>(reals.data());
  args.ldc = args.columns * 4;
  args.key = &generic;
  if (is_float)
    generic.num_stages = static_cast<std::uint8_t>(last);
  else
    code = {StageKind::dequantize, code.in, ValueType::float32};
  generic.caching = Caching::fetches_b;
  find_kernel(generic)(&args);
  return std::ranges::all_of(reals, [&](float x) { return std::abs(x / scale) < 0x1p31f; });
}

}  // namespace fbg::test
