// Which microkernels a test may ask for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gemm/interleave.h"
#include "helpers/operand_filler.h"
#include "kernels/microkernel.h"

namespace fbg::test {

class TileKeys : public OperandFiller {
 public:
  using OperandFiller::OperandFiller;

  const bool loads_c = gemm_type != GemmType::int16;  // else `sums` take its place
  const ValueType start = integer ? ValueType::acc : ValueType::float32;

  KernelKey make_key(int rows, int vectors, bool masked, bool goes_on,
                     const std::vector<Stage>& stages, bool b_has_zero_point) const {
    KernelKey key{};
    key.gemm_type = gemm_type;
    key.isa = isa;
    key.narrow = geometry.narrow;
    key.rows = static_cast<std::uint8_t>(rows);
    key.vectors = static_cast<std::uint8_t>(vectors);
    key.masked = masked;
    const TypedPipeline typed = type_pipeline(stages, start);
    key.num_stages = static_cast<std::uint8_t>(typed.count);
    key.stages = typed.codes;
    key.sums = sums_of(!goes_on, !is_int4(gemm_type) || !stages.empty());
    key.group_offsets = is_int4(gemm_type) && b_has_zero_point;
    for (int s = 0; s < typed.count; ++s)
      if (corrects_sums(typed.codes[s]))
        key.corrections = b_has_zero_point ? Corrections::both : Corrections::a;
    return key;
  }

  // Whether there are kernels that read A through pointers. A matrix unit has none, and the
  // pointers of more rows do not fit the registers.
  bool has_indirect() const {
    return geometry.block_groups == 1 && !is_int4(gemm_type) && gemm_type != GemmType::float16;
  }
  int max_indirect_rows() const { return std::min(geometry.max_rows, 12); }

  // Groups of int4 weights are deep: as many as have about the k of so many groups of 4.
  std::int64_t in_groups(std::int64_t groups) const {
    return is_int4(gemm_type) ? ceil_div(groups * 4, geometry.format.kr) : groups;
  }
};

}  // namespace fbg::test
