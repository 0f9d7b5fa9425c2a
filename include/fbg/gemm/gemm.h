// C = pipeline(A * B): start reading here.
//
//   for each block of mc rows            A packed into the workspace (or read in place)
//     for each block of nc columns       whole C, unless K is cut
//       for each block of kc             whole K, unless it is long: A's mc x kc stay in the L2
//         for each column group of B     nr columns: stays in L1/L2 while the rows pass by
//           for each row tile            mr rows, heights balanced
//             microkernel                K loop, then the pipeline, while the tile is in registers
//
// Where K is cut, a scratch block of mc x nc keeps the sums between one kc and the next, and the
// pipeline runs with the last kc. Storing and loading a float does not change it, so the results
// have the bits of one uncut sum. The two inner loops are shared with other products
// (src/gemm/tile_loop.h).
//
// Once a Gemm exists, it creates no threads, allocates nothing and throws nothing: the caller
// provides the workspace and calls run() once per thread with its thread_id. Results do not depend
// on the number of threads, on the tile, or on the other rows of the matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fbg/core/types.h"
#include "fbg/gemm/blocking.h"
#include "fbg/gemm/detail/driver.h"
#include "fbg/gemm/pack_a.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/gemm/pipeline.h"
#include "fbg/kernels/output.h"

namespace fbg {

// The largest K for which int32 sums are exact: without stages, and with stages, which may correct
// for arbitrary zero points of both operands.
inline constexpr std::int64_t kMaxDepthRaw = 65793;
inline constexpr std::int64_t kMaxDepthCorrected = 33025;

// P is a Pipeline<...>, or a RuntimePipeline, whose stages are known only when the program runs.
// Or it is a gated pipeline: C then has half of the columns of B, which must be whole panels, and
// is computed for a few columns of both halves at a time.
template <PackAModel A, class Acc, class P = RuntimePipeline>
class Gemm : GemmDriver {
 public:
  static_assert(std::is_same_v<typename A::Element, typename Acc::A>,
                "Gemm: the packer gives other elements than the accumulator multiplies: uint8 for "
                "Int32, Int16 and Int4, float or the 16-bit type of the weights for others");
  static_assert(
      pipeline_accepts<P>(is_integer(Acc::kind) ? ValueType::acc : ValueType::float32),
      "Gemm: the first stage does not take what the product gives: integer sums, which "
      "need Dequantize, Requantize or CorrectZeroPoints first, or float32, which need none");
  static_assert(A::kHasScale || !is_integer(Acc::kind) || !pipeline_needs_scales<P>(),
                "Gemm: Dequantize and Requantize need scales of A: take PackAWithRowOffset or "
                "PackAWithQuantRowOffset, for PackA has none");

  // Types the pipeline, checks K and generates every kernel that a run of at most max_m rows can
  // need. Kernels and packing are chosen for `features`; a later limit does not change this Gemm.
  // No blocking changes a bit of a result.
  // Throws std::invalid_argument; std::runtime_error where executable memory is denied.
  Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
       Features features = active_features(), const Blocking& blocking = {})
      : GemmDriver({Acc::kind, A::kHasScale, a_shift<A>()}, b, pipeline_view(pipeline), max_m,
                   features, blocking) {}

  using GemmDriver::features, GemmDriver::kernel_name, GemmDriver::nbytes, GemmDriver::output_type,
      GemmDriver::workspace_bytes;

  // Whether runs may have this matrix: that of the constructor, or one of the same shape that
  // stores the same kinds of parameters.
  bool serves(const PackedB<Acc>& b) const noexcept { return GemmDriver::serves(b); }

  // Computes the share of thread_id; the parts of all threads make C. `a` has at most max_m rows.
  // `b` is a matrix that it serves; any other ends the program, because kernels would read what
  // that does not have. Subnormal numbers are kept, except inside of a FloatEnvironment that
  // flushes them. `pipeline` is that of the constructor, with the parameters of this call.
  // `workspace` is 64-byte aligned and shared by all.
  void run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c, std::byte* workspace,
           int thread_id, int num_threads) const noexcept {
    GemmDriver::run(row_source(a), b, pipeline_view(pipeline), c, workspace, thread_id,
                    num_threads);
  }
};

}  // namespace fbg
