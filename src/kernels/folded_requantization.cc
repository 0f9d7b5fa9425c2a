// Folds requantization (kernels/microkernel.h) before the kernels run that read the results.
#include <algorithm>
#include <cstddef>

#include "kernels/microkernel.h"

namespace fbg {

bool is_folded(const KernelKey& key, int s) noexcept {
  if (!key.folds()) return false;
  const std::span<const StageCode> stages = key.pipeline();
  const auto at = static_cast<std::size_t>(s);
  if (stages[at].binary.operand != OperandKind::columns) return false;
  // A bias after an integer ReLU does not commute with the correction.
  return std::ranges::all_of(stages.first(at + 1), is_foldable);
}

void fold_requantization(const KernelKey& key, const StageArgs* stages, float a_scale,
                         std::int32_t a_zero_point, const float* b_scale,
                         const std::int32_t* col_offsets, Range cols, std::int64_t padded,
                         const FoldedRequantization& folded) noexcept {
  std::fill(folded.offset + cols.size(), folded.offset + padded, 0);
  std::fill(folded.scale + cols.size(), folded.scale + padded, 0.0f);
  const auto zero_point = static_cast<std::uint32_t>(a_zero_point);
  for (std::int64_t j = 0; j < cols.size(); ++j)
    folded.offset[j] =
        static_cast<std::int32_t>(zero_point * static_cast<std::uint32_t>(col_offsets[j]));
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& code = key.stages[static_cast<std::size_t>(s)];
    if (is_folded(key, s)) {
      const auto* const bias = static_cast<const std::int32_t*>(stages[s].data) + cols.begin;
      for (std::int64_t j = 0; j < cols.size(); ++j)
        folded.offset[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(folded.offset[j]) -
                                                     static_cast<std::uint32_t>(bias[j]));
    }
    if (!scales_sums(code)) continue;
    for (std::int64_t j = 0; j < cols.size(); ++j) {
      const float product = a_scale * b_scale[j];
      folded.scale[j] = gives_bytes(code) ? product / stages[s].f0 : product;
    }
  }
}

}  // namespace fbg
