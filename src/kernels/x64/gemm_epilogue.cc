// The epilogue of a microkernel of products.
#include "kernels/x64/epilogue.h"
#include "kernels/x64/gemm_code.h"

namespace fbg::kernels {

// All registers of the K loop except those of C are free by now.
void GemmCode::run_pipeline() {
  if (key_.accumulator == Accumulator::int16 || reads_pointers() || nibbles() ||
      fetches_in_k_loop())
    load_c_registers();
  if (key_.masked) prepare_mask();
  emit_epilogue(*this, key_, {args_, c_, ldc_, starts_corrected()});
}

}  // namespace fbg::kernels
