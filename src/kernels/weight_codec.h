// What each family does with single weights: round them, read them from a panel, and multiply them
// in the portable kernel, whose results define those of all other kernels. The layout of panels is
// data (PackedFormat in fbg/core/types.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fbg/core/types.h"
#include "fbg/kernels/output.h"
#include "kernels/microkernel.h"

namespace fbg::kernels {

struct WeightCodec {
  // n floats as elements, rounded half to even. Null where weights are quantized with a scale.
  void (*round)(const float* x, std::size_t n, void* elements) noexcept;
  // Element r of a column in a k-group of a panel.
  void (*read)(const PackedFormat& format, const std::byte* group, std::int64_t column,
               std::int64_t r, void* element) noexcept;
  // Adds the products of row i of A with column j of a tile to `sum`, in the order of k.
  Value (*dot)(const TileArgs& args, std::int64_t i, std::int64_t j, Value sum) noexcept;
};

// Read weights of 4 bits, whatever the size of their groups (int4_codec.cc).
void read_int4(const PackedFormat& format, const std::byte* group, std::int64_t column,
               std::int64_t r, void* element) noexcept;
Value dot_int4(const TileArgs& args, std::int64_t i, std::int64_t j, Value sum) noexcept;

const WeightCodec& weight_codec(GemmType family) noexcept;

}  // namespace fbg::kernels
