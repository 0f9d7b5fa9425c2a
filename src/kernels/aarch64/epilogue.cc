// Emits the stages of the pipeline and the stores, vector by vector.
#include "kernels/aarch64/epilogue.h"

#include <algorithm>
#include <cstddef>

#include "kernels/aarch64/stage_emitter.h"

namespace fbg::kernels {
namespace {

constexpr int kSlotBytes = kMaxSlots * NeonAssembler::kVectorBytes;

}  // namespace

void emit_epilogue(NeonAssembler& as, const KernelKey& key, int first) {
  const EpilogueRegisters r;
  const auto load = [&](const NeonAssembler::XReg& to, std::size_t offset) {
    as.ldr(to, at(r.args, offset));
  };
  load(r.c, offsetof(TileArgs, c));
  load(r.ldc, offsetof(TileArgs, ldc));
  load(r.stages, offsetof(TileArgs, stages));
  if (!key.folds()) {
    load(r.a_scale, offsetof(TileArgs, a_scale));
    load(r.a_zero_point, offsetof(TileArgs, a_zero_point));
    load(r.row_terms, offsetof(TileArgs, row_terms));
    load(r.b_zero_point, offsetof(TileArgs, b_zero_point));
  }
  load(r.b_scale, offsetof(TileArgs, b_scale));
  load(r.column_offsets, offsetof(TileArgs, col_offsets));
  if (key.masked) {
    load(r.rest, offsetof(TileArgs, columns));
    as.sub(r.rest, r.rest, (key.vectors - 1) * NeonAssembler::kLanes);
  }

  // Room for the values that stages save; what is pushed there does not matter.
  const NeonAssembler::Vec any = as.vec(first + key.rows * key.vectors);
  const bool saves = std::ranges::any_of(
      key.pipeline(), [](const StageCode& code) { return code.kind == StageKind::save; });
  if (saves) as.stp(any.d, any.d, aarch64::pre_ptr(aarch64::sp, -kSlotBytes));

  const int first_free = first + key.rows * key.vectors, last = key.num_stages - 1;
  for (int i = 0; i < key.rows; ++i) {
    StagePosition position{i, 0, false};
    for (int v = 0; v < key.vectors; ++v) {
      const NeonAssembler::Vec sum = as.vec(first + i * key.vectors + v);
      position.vector = v;
      position.partial = key.masked && v == key.vectors - 1;
      for (int s = 0; s < key.num_stages; ++s)
        if (!is_folded(key, s)) emit_stage(as, key, position, s, first_free, sum);
      StageEmitter(as, key, position, 0, first_free).store(sum, key.output());
    }
    if (last >= 0 && writes_extents(key.stages[static_cast<std::size_t>(last)].kind))
      StageEmitter(as, key, position, last, first_free).row_range(first + i * key.vectors);
    if (i + 1 < key.rows) as.add(r.c, r.c, r.ldc);
  }
  if (saves) as.ldp(any.d, as.vec(first_free + 1).d, aarch64::post_ptr(aarch64::sp, kSlotBytes));
}

}  // namespace fbg::kernels
