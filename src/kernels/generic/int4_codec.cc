// The codec of weights of 4 bits in groups: an exact sum for each group, scaled and added; then the
// offset. See Int4 (fbg/core/types.h).
#include <cmath>

#include "core/float16.h"
#include "core/int4.h"
#include "kernels/weight_codec.h"

namespace fbg::kernels {

void read_int4(const PackedFormat&, const std::byte* group, std::int64_t column, std::int64_t r,
               void* element) noexcept {
  *static_cast<std::int8_t*>(element) = static_cast<std::int8_t>(int4_value(group, column, r));
}

Value dot_int4(const TileArgs& args, std::int64_t i, std::int64_t j, Value sum) noexcept {
  const PackedFormat format = packed_format(args.key->gemm_type);
  const std::int64_t column = args.col % format.panel_columns + j;  // from the first panel on
  const std::int64_t place = column % format.panel_columns;
  const bool has_offsets = args.key->group_offsets;
  const float* group_sums = args.int4.group_sums;
  for (const BlockPair& pair : args.blocks()) {
    const auto* a =
        reinterpret_cast<const std::uint8_t*>(static_cast<const std::byte*>(pair.a) + i * pair.lda);
    const std::byte* group = static_cast<const std::byte*>(pair.b) +
                             column / format.panel_columns * pair.b_panel_stride -
                             args.col % format.panel_columns * format.b_column_group();
    for (std::int64_t g = 0; g < pair.groups; ++g) {
      std::int32_t exact = 0;
      for (std::int64_t k = 0; k < format.kr; ++k)
        exact += std::int32_t{a[g * format.kr + k]} * int4_value(group, place, k);
      sum.f =
          std::fma(static_cast<float>(exact), to_float(int4_scale(group, place, format.kr)), sum.f);
      if (has_offsets) {
        sum.f = std::fma(group_sums[i], to_float(int4_offset(group, place, format.kr)), sum.f);
        group_sums += args.int4.ld_group_sums / static_cast<std::int64_t>(sizeof(float));
      }
      group += format.b_group(has_offsets);
    }
  }
  return sum;
}

}  // namespace fbg::kernels
