// The epilogue of a microkernel: the output pipeline on each vector of the tile, then the store.
#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

// All registers of the K loop except those of C are free by now.
StageOperands GemmCode::load_operands() {
  const StageOperands operands{rbx, r8, r9, r10, r11, r12, r13};
  mov(operands.stages, arg(offsetof(TileArgs, stages)));
  mov(operands.a_scale, arg(offsetof(TileArgs, a_scale)));
  mov(operands.a_zero_point, arg(offsetof(TileArgs, a_zero_point)));
  mov(operands.row_terms, arg(offsetof(TileArgs, row_terms)));
  mov(operands.b_scale, arg(offsetof(TileArgs, b_scale)));
  mov(operands.b_zero_point, arg(offsetof(TileArgs, b_zero_point)));
  mov(operands.col_offsets, arg(offsetof(TileArgs, col_offsets)));
  return operands;
}

void GemmCode::run_pipeline() {
  if (key_.accumulator == Accumulator::int16 || key_.indirect) load_c_registers();
  if (key_.masked) prepare_mask();
  const int first_free = rows_ * vectors_;
  StageContext ctx{args_,
                   load_operands(),
                   scratch_,
                   rsi,
                   rdx,
                   {first_free, first_free + 1, first_free + 2},
                   0,
                   0,
                   false,
                   key_.streams,
                   key_.correct_a,
                   key_.correct_b};
  int spare = first_free + static_cast<int>(ctx.temps.size());
  for (int s = 0; s < key_.num_stages; ++s)
    spare = emit_kept_tables(*this, key_.stages[s], spare, num_vectors());
  for (int i = 0; i < rows_; ++i) {
    ctx.row = i;
    for (int v = 0; v < vectors_; ++v) {
      ctx.column_bytes = v * vector_bytes();
      ctx.masked = is_partial(v);
      for (int s = 0; s < key_.num_stages; ++s)
        emit_stage(*this, key_.stages[s], s, acc(i, v), ctx);
      emit_store(*this, key_.output(), c_, v * lanes(), acc(i, v), ctx);
    }
    const int last = key_.num_stages - 1;
    if (last >= 0 && key_.stages[last].kind == StageKind::row_range)
      emit_row_range(*this, last, i * vectors_, vectors_, ctx);
    if (i + 1 < rows_) add(c_, ldc_);
  }
}

}  // namespace fbg::kernels
