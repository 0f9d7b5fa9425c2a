// C = pipeline(A * B): start reading here.
//
//   for each block of mc rows            A packed into the workspace (or read in place)
//     for each block of nc columns       whole C, unless K is cut
//       for each block of kc             whole K, unless it is long: A's mc x kc stay in the L2
//         for each column group of B     nr columns: stays in L1/L2 while the rows pass by
//           for each row tile            mr rows, heights balanced
//             microkernel                K loop, then the pipeline, while the tile is in registers
//
// Where K is cut, sums wait in a scratch block of mc x nc between one kc and the next, and the last
// one runs the pipeline. A float stored and loaded again is the same, so the bits are those of one
// uncut chain.
//
// The core creates no thread, allocates nothing and throws nothing once a Gemm exists: the caller
// brings the workspace and calls run() once per thread with its thread_id. A result does not depend
// on the number of threads, on the tile, or on what other rows are in the matrix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fbg/core/float_environment.h"
#include "fbg/core/types.h"
#include "fbg/gemm/blocking.h"
#include "fbg/gemm/pack_a.h"
#include "fbg/gemm/pack_b.h"
#include "fbg/gemm/pipeline.h"
#include "fbg/kernels/microkernel.h"
#include "fbg/kernels/output.h"

namespace fbg {

// Where results go; ld counts bytes.
struct OutputView {
  void* data;
  std::int64_t ld;
};

// The part of C that one thread computes.
struct Share {
  Range rows, cols;
};

// How many of num_threads lie along the rows of C, and the rest along its columns: what costs
// least.
int choose_row_parts(std::int64_t rows, std::int64_t cols, int num_threads) noexcept;

// Cuts C into a grid of num_threads parts, row_parts of them along its rows (a number that does not
// divide the threads is chosen anew); columns are cut only between panels of B.
Share thread_share(std::int64_t rows, std::int64_t cols, int thread_id, int num_threads,
                   int row_parts = 0) noexcept;

// Microkernels of one (accumulator, ISA, pipeline), by tile height, vectors and mask. All of them
// are generated here, so that running never does.
class KernelTable {
 public:
  KernelTable() = default;
  // Tiles of min_rows or more; max_m bounds the number of rows of any later run.
  KernelTable(const Geometry& geometry, KernelKey key, std::int64_t n, std::int64_t min_rows,
              std::int64_t max_m);
  TileFunction find(std::int64_t rows, std::int64_t vectors, bool masked) const noexcept {
    return kernels_[index(rows, vectors, masked)].run;
  }
  const KernelKey& key(std::int64_t rows, std::int64_t vectors, bool masked) const noexcept {
    return kernels_[index(rows, vectors, masked)].key;
  }
  std::size_t nbytes() const noexcept { return kernels_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    KernelKey key;
    TileFunction run = nullptr;
  };
  static std::size_t index(std::int64_t rows, std::int64_t vectors, bool masked) noexcept {
    return static_cast<std::size_t>(((rows - 1) * 8 + (vectors - 1)) * 2 + masked);
  }
  std::vector<Entry> kernels_;
};

// Largest K for which int32 sums are exact: without stages, and with any (which may correct for
// zero points, arbitrary ones on both sides).
inline constexpr std::int64_t kMaxDepthRaw = 65793;
inline constexpr std::int64_t kMaxDepthCorrected = 33025;

// P is a Pipeline<...>, or stages that only the run time knows.
template <PackAModel A, class Acc, class P = RuntimePipeline>
class Gemm {
 public:
  static_assert(std::is_same_v<typename A::Element, typename Acc::A>);
  static_assert(pipeline_accepts<P>(is_integer(Acc::kind) ? ValueType::acc : ValueType::float32),
                "a stage does not accept the type that the stage before it gives");

  // Types the pipeline, checks K and generates every kernel that M <= max_m can need, for the
  // features that are active now: a later limit does not change this Gemm. No blocking changes a
  // bit of a result.
  // Throws std::invalid_argument; std::runtime_error where executable memory is denied.
  Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
       Features features = active_features(), const Blocking& blocking = {});

  ValueType output_type() const { return output_; }

  // Name of the kernel of the largest tile, which computes most of a C of max_m rows.
  std::string kernel_name() const;

  // Bytes of memory that the Gemm itself takes; kernels are shared by all.
  std::size_t nbytes() const noexcept;

  // Bytes of workspace for all threads of a run of at most max_m rows.
  std::size_t workspace_bytes(int num_threads) const noexcept {
    return static_cast<std::size_t>(num_threads) * thread_workspace_;
  }

  // Computes the share of thread_id; the parts of all threads make C. `a` has at most max_m rows.
  // `b` is the matrix of the constructor or one like it: same shape, scales and zero points present
  // or absent alike. `pipeline` is that of the constructor, with the parameters of this call.
  // `workspace` is 64-byte aligned and shared by all.
  void run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c, std::byte* workspace,
           int thread_id, int num_threads) const noexcept;

 private:
  struct Workspace {
    ABlock block;
    std::byte* wide;     // A as uint16, where kernels want it so
    std::byte* tail;     // last k-group of each row, where A is read in place and K is not whole
    Value* partial;      // raw sums: mc x nc from one block of k to the next; a tile's, for int16
    Value* tile;         // what a kernel leaves to functors
    std::int64_t bytes;  // of all that
  };
  // Where the rows of a block of A lie: K's last group may be in a second place.
  struct AOperand {
    std::array<BlockPair, 2> pairs;
    int num_pairs;
  };
  // A block of k: k-groups [begin, end) of A and of B.
  struct DepthBlock {
    Range groups;
    AOperand a;
    bool first, last, streams;
  };
  static std::int64_t packed_ld(std::int64_t k) {
    const std::int64_t ld = round_up(ceil_div(k, Acc::format.kr) * Acc::format.a_group(), 64);
    return ld % 4096 == 0 ? ld + 64 : ld;
  }
  // Where packed B has a column's k-group.
  static const std::byte* panel(const PackedB<Acc>& b, std::int64_t col, std::int64_t group) {
    constexpr PackedFormat format = Acc::format;
    return b.panels() + col / format.panel_columns * b.panel_bytes() + group * format.b_group() +
           col % format.panel_columns * format.b_column_group();
  }
  Workspace lay_out(std::byte* base) const noexcept;
  AOperand pack(const A& a, Range rows, const Workspace& w, const PackedB<Acc>& b) const noexcept;
  void unshift(Range rows, Range cols, const PackedB<Acc>& b, OutputView c) const noexcept;
  DepthBlock cut(const AOperand& a, Range groups, bool first, bool last) const noexcept;
  void run_block(Range rows, Range cols, const DepthBlock& depth, const std::byte* next_panel,
                 TileArgs args, const Workspace& w, const PackedB<Acc>& b, const P& pipeline,
                 OutputView c) const noexcept;

  Blocking blocking_;
  Geometry geometry_;
  std::array<KernelTable, 4> kernels_;  // of blocks of k: whether it is the first, the last
  KernelTable streaming_;               // the last one's, for a C that no cache will hold
  ValueType output_;
  std::int64_t tallest_;  // rows of that tile
  std::int64_t n_, k_, mc_, nc_, kc_, ld_;
  std::int64_t a_group_bytes_;  // of a k-group of A as kernels read it
  std::size_t thread_workspace_;
  bool cuts_, row_offsets_, streams_;
};

}  // namespace fbg

#include "fbg/gemm/detail/driver.h"
