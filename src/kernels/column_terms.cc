// The terms of columns (fbg/kernels/microkernel.h), before the kernels that are given them run.
#include <algorithm>
#include <cstddef>

#include "fbg/kernels/microkernel.h"

namespace fbg {
namespace {

std::span<const StageCode> stages_of(const KernelKey& key) {
  return {key.stages.data(), key.num_stages};
}

bool scales(const StageCode& code) {
  return code.kind == StageKind::dequantize ||
         (code.kind == StageKind::requantize && code.in != ValueType::float32);
}

}  // namespace

bool takes_column_terms(const KernelKey& key) noexcept { return key.correct_a && !key.correct_b; }

bool is_column_term(const KernelKey& key, int s) noexcept {
  const std::span<const StageCode> stages = stages_of(key);
  const auto at = static_cast<std::size_t>(s);
  if (stages[at].kind != StageKind::bias || stages[at].in == ValueType::float32) return false;
  // A bias after an integer ReLU does not commute with the correction.
  for (const StageCode& before : stages.first(at))
    if (before.kind != StageKind::bias && before.kind != StageKind::correct_zero_points)
      return false;
  return true;
}

void fill_column_terms(const KernelKey& key, const StageArgs* stages, float a_scale,
                       std::int32_t a_zero_point, const float* b_scale,
                       const std::int32_t* col_offsets, Range cols, std::int64_t padded,
                       const ColumnTerms& terms) noexcept {
  std::fill(terms.offset + cols.size(), terms.offset + padded, 0);
  std::fill(terms.scale + cols.size(), terms.scale + padded, 0.0f);
  const auto zero_point = static_cast<std::uint32_t>(a_zero_point);
  for (std::int64_t j = 0; j < cols.size(); ++j)
    terms.offset[j] =
        static_cast<std::int32_t>(zero_point * static_cast<std::uint32_t>(col_offsets[j]));
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& code = key.stages[static_cast<std::size_t>(s)];
    if (is_column_term(key, s)) {
      const auto* const bias = static_cast<const std::int32_t*>(stages[s].data) + cols.begin;
      for (std::int64_t j = 0; j < cols.size(); ++j)
        terms.offset[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(terms.offset[j]) -
                                                    static_cast<std::uint32_t>(bias[j]));
    }
    if (!scales(code)) continue;
    const bool divides = code.kind == StageKind::requantize;
    for (std::int64_t j = 0; j < cols.size(); ++j) {
      const float product = a_scale * b_scale[j];
      terms.scale[j] = divides ? product / stages[s].f0 : product;
    }
  }
}

}  // namespace fbg
