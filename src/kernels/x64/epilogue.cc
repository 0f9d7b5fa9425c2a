// Emits the stages of the pipeline and the stores, vector by vector.
#include "kernels/x64/epilogue.h"

#include <cstddef>

#include "kernels/x64/stage_emitters.h"

namespace fbg::kernels {

void emit_epilogue(SimdAssembler& as, const KernelKey& key, const EpilogueRegisters& registers) {
  const StageOperands operands{as.rbx, as.r8, as.r9, as.r10, as.r11, as.r12, as.r13};
  const auto load = [&](const Xbyak::Reg64& to, std::size_t offset) {
    as.mov(to, as.ptr[registers.args + static_cast<int>(offset)]);
  };
  load(operands.stages, offsetof(TileArgs, stages));
  if (!key.column_terms) {
    load(operands.a_scale, offsetof(TileArgs, a_scale));
    load(operands.a_zero_point, offsetof(TileArgs, a_zero_point));
    load(operands.row_terms, offsetof(TileArgs, row_terms));
    load(operands.b_zero_point, offsetof(TileArgs, b_zero_point));
  }
  load(operands.b_scale, offsetof(TileArgs, b_scale));
  load(operands.col_offsets, offsetof(TileArgs, col_offsets));

  const int first_free = key.rows * key.vectors;
  StageContext ctx{registers.args,
                   operands,
                   as.rax,
                   as.rsi,
                   as.rdx,
                   {first_free, first_free + 1, first_free + 2},
                   0,
                   0,
                   false,
                   key.streams,
                   key.correct_a,
                   key.correct_b,
                   key.column_terms};
  int spare = first_free + static_cast<int>(ctx.temps.size());
  for (int s = 0; s < key.num_stages; ++s)
    spare = emit_kept_tables(as, key.stages[s], spare, as.num_vectors());
  for (int i = 0; i < key.rows; ++i) {
    ctx.row = i;
    for (int v = 0; v < key.vectors; ++v) {
      const SimdAssembler::Vec sum = as.vec(i * key.vectors + v);
      ctx.column_bytes = v * as.vector_bytes();
      ctx.masked = key.masked && v == key.vectors - 1;
      for (int s = 0; s < key.num_stages; ++s)
        if (!key.column_terms || !is_column_term(key, s))
          emit_stage(as, key.stages[s], s, sum, ctx);
      emit_store(as, key.output(), registers.c, v * as.lanes(), sum, ctx);
    }
    const int last = key.num_stages - 1;
    if (last >= 0 && key.stages[last].kind == StageKind::row_range)
      emit_row_range(as, last, i * key.vectors, key.vectors, ctx);
    if (i + 1 < key.rows) as.add(registers.c, registers.ldc);
  }
}

}  // namespace fbg::kernels
