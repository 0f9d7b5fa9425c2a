// The stages that sliding kernels run themselves.
#include <algorithm>

#include "conv/sliding_blocks.h"

namespace fbg {
namespace {

bool adds_columns(const StageCode& code) {
  return code.binary.operation == Operation::add && code.binary.operand == OperandKind::columns;
}

// Whether kernels can write the results themselves: integers are corrected and requantized.
bool writes_bytes(const KernelKey& key) {
  const auto stages = key.pipeline();
  if (!key.folds() || stages.empty()) return false;
  // Kernels of pairs have no look-ups.
  if (stages.back().specialization.looked_up &&
      kernels::sliding_bytes(isa_features(key.isa)) == kernels::SlidingSource::pairs)
    return false;
  return std::ranges::all_of(stages.first(stages.size() - 1), is_foldable) &&
         scales_sums(stages.back()) && gives_bytes(stages.back());
}

// The same for floats: a value for each column is added, then bounds are applied, and then results
// may become bfloat16.
bool writes_floats(const KernelKey& key, bool bfloat16) {
  auto stages = key.pipeline();
  if (!stages.empty() && adds_columns(stages.front())) stages = stages.subspan(1);
  if (bfloat16 && !stages.empty() && stages.back().out == ValueType::bfloat16)
    stages = stages.first(stages.size() - 1);
  return stages.empty() ||
         (stages.size() == 1 && stage_row(stages.front().kind).bounds != StageBounds::open);
}

}  // namespace

bool sliding_writes(const KernelKey& key, bool bfloat16) {
  return is_integer(key.gemm_type) ? writes_bytes(key) : writes_floats(key, bfloat16);
}

kernels::SlidingKey sliding_kind(const KernelKey& tile) {
  kernels::SlidingKey kind{};
  kind.tile = tile;
  kind.source = is_integer(tile.gemm_type) ? kernels::sliding_bytes(isa_features(tile.isa))
                                           : kernels::SlidingSource::floats;
  return kind;
}

void set_sliding_stages(const KernelKey& key, const StageArgs* stages, kernels::SlidingArgs& args) {
  if (is_integer(key.gemm_type)) {
    const StageArgs& last = stages[key.num_stages - 1];
    args.low = last.f1;
    args.high = last.f2;
    args.zero_point = last.i0;
    args.table = last.data;
    args.zero_points =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(last.i0) & 0xffff) * 0x10001u);
    return;
  }
  for (int s = 0; s < key.num_stages; ++s) {
    const StageCode& code = key.stages[static_cast<std::size_t>(s)];
    const StageRow& row = stage_row(code.kind);
    if (adds_columns(code)) args.start = stages[s].data;
    if (row.bounds == StageBounds::open) continue;
    args.low = stages[s].f0;
    args.high = stages[s].f1;
  }
}

}  // namespace fbg
