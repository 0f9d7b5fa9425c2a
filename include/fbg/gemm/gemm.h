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
// (tile_loop.h).
//
// Once a Gemm exists, it creates no threads, allocates nothing and throws nothing: the caller
// provides the workspace and calls run() once per thread with its thread_id. Results do not depend
// on the number of threads, on the tile, or on the other rows of the matrix.
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
#include "fbg/gemm/kernel_table.h"
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

// The number of parts into which num_threads threads divide the rows of C at the least cost. The
// threads of a part divide its columns among themselves.
int choose_row_parts(std::int64_t rows, std::int64_t cols, int num_threads) noexcept;

// Cuts C into a grid of num_threads parts, row_parts of them along its rows. A number of row parts
// that does not divide num_threads is replaced by choose_row_parts(). Columns are cut only between
// panels of B.
Share thread_share(std::int64_t rows, std::int64_t cols, int thread_id, int num_threads,
                   int row_parts = 0) noexcept;

// The largest K for which int32 sums are exact: without stages, and with stages, which may correct
// for arbitrary zero points of both operands.
inline constexpr std::int64_t kMaxDepthRaw = 65793;
inline constexpr std::int64_t kMaxDepthCorrected = 33025;

// P is a Pipeline<...>, or a RuntimePipeline, whose stages are known only when the program runs.
// Or it is a gated pipeline: C then has half of the columns of B, which must be whole panels, and
// is computed for a few columns of both halves at a time.
template <PackAModel A, class Acc, class P = RuntimePipeline>
class Gemm {
 public:
  static_assert(std::is_same_v<typename A::Element, typename Acc::A>);
  static_assert(pipeline_accepts<P>(is_integer(Acc::kind) ? ValueType::acc : ValueType::float32),
                "a stage does not accept the type that the stage before it gives");

  // Types the pipeline, checks K and generates every kernel that a run of at most max_m rows can
  // need. Kernels and packing are chosen for `features`; a later limit does not change this Gemm.
  // No blocking changes a bit of a result.
  // Throws std::invalid_argument; std::runtime_error where executable memory is denied.
  Gemm(const PackedB<Acc>& b, const P& pipeline, std::int64_t max_m,
       Features features = active_features(), const Blocking& blocking = {});

  ValueType output_type() const { return result_; }
  // The features that its kernels and its packing were chosen for.
  Features features() const { return features_; }

  // Name of the kernel of the largest tile, which computes most of a C of max_m rows.
  std::string kernel_name() const;

  // Bytes of memory that the Gemm itself takes; kernels are shared by all.
  std::size_t nbytes() const noexcept;

  // Bytes of workspace for all threads of a run of at most max_m rows.
  std::size_t workspace_bytes(int num_threads) const noexcept {
    return static_cast<std::size_t>(num_threads) * thread_workspace_;
  }

  // Whether runs may have this matrix: that of the constructor, or one of the same shape that
  // stores the same kinds of parameters.
  bool serves(const PackedB<Acc>& b) const noexcept {
    return b.rows() == k_ && b.cols() == n_ && (b.scale() != nullptr) == has_scale_ &&
           (b.header().has_zero_point != 0) == has_zero_point_;
  }

  // Computes the share of thread_id; the parts of all threads make C. `a` has at most max_m rows.
  // `b` is a matrix that it serves; any other ends the program, because kernels would read what
  // that does not have. `pipeline` is that of the constructor, with the parameters of this call.
  // `workspace` is 64-byte aligned and shared by all.
  void run(const A& a, const PackedB<Acc>& b, const P& pipeline, OutputView c, std::byte* workspace,
           int thread_id, int num_threads) const noexcept;

 private:
  struct Workspace {
    ABlock block;
    std::byte* wide;  // A in a wider type, for kernels that read it so (PackedFormat::wide_a)
    std::byte *a_pairs, *b_pairs;  // operands in pairs (fbg/gemm/pairs.h): B of one column group
    std::byte* tail;     // the last k-group of each row, if it has a place of its own (AOperand)
    float* group_sums;   // of rows of A, for offsets of 4-bit weights: [groups][mc]
    Value* partial;      // raw sums: of mc x nc between blocks of k; for int16, of one tile
    Value* tile;         // the tile that a kernel leaves to functors
    std::byte* gated;    // columns a of A * B, and beside them b, that a gated pipeline combines
    std::byte* chain;    // of a TileChain
    std::int64_t bytes;  // of all of these
  };
  // Where the k-groups of a block of A lie, in the order of k: in one place or, where A is read in
  // place and K is not a multiple of the k-group, the last group of each row in a second place.
  static constexpr std::size_t kMaxPlaces = 2;
  // Functors read the results of a tile before the next one is computed, and so do int16 sums.
  static constexpr bool kChains = !kHasFunctor<P> && Acc::kind != Accumulator::int16;
  struct AOperand {
    std::array<BlockPair, kMaxPlaces> pairs;
    std::size_t num_pairs = 0;
    bool in_pairs = false;                                             // in pairs of rows
    void add(const BlockPair& pair) { pairs.at(num_pairs++) = pair; }  // ends the program if full
    std::span<BlockPair> blocks() { return std::span(pairs).first(num_pairs); }
    std::span<const BlockPair> blocks() const { return std::span(pairs).first(num_pairs); }
  };
  // A block of k: the k-groups `groups` of A and of B.
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
    return b.panels() + col / format.panel_columns * b.panel_bytes() + group * b.group_bytes() +
           col % format.panel_columns * format.b_column_group();
  }
  Workspace lay_out(std::byte* base) const noexcept;
  AOperand pack(const A& a, Range rows, const Workspace& w, const PackedB<Acc>& b) const noexcept;
  bool is_aligned(const typename Acc::A* data, std::int64_t ld) const noexcept;
  void unshift(Range rows, Range cols, const PackedB<Acc>& b, OutputView c) const noexcept;
  // The blocks of k, each of at most max_groups k-groups, in units that are not divided; the
  // k-groups of such a range; and the least max_groups that leaves K whole.
  std::int64_t depth_unit() const {
    return geometry_.pair_vectors > 0 ? 2 : geometry_.block_groups;
  }
  BalancedSplit split_depth(std::int64_t groups, std::int64_t max_groups) const {
    const std::int64_t unit = depth_unit();
    return BalancedSplit::split(std::max<std::int64_t>(ceil_div(groups, unit), 1),
                                max_groups / unit);
  }
  Range depth_range(Range units, std::int64_t groups) const {
    const std::int64_t unit = depth_unit();
    return {units.begin * unit, std::min(units.end * unit, groups)};
  }
  std::int64_t all_groups(const PackedB<Acc>& b) const {
    return round_up(std::max<std::int64_t>(b.groups(), 1), depth_unit());
  }
  DepthBlock cut(const AOperand& a, Range groups, bool first, bool last) const noexcept;
  // Columns of a gated C that are computed together: as many as kGatedBytes hold of both parts of A
  // * B, which an L2 of 1 MiB keeps beside a block of A.
  static constexpr std::int64_t kGatedBytes = 256 << 10;
  std::int64_t gated_columns(std::int64_t rows) const {
    const std::int64_t columns =
        kGatedBytes / (rows * 2 * static_cast<std::int64_t>(sizeof(float)));
    const std::int64_t whole = columns / kPanelColumns * kPanelColumns;
    return std::clamp<std::int64_t>(whole, kPanelColumns,
                                    std::max<std::int64_t>(n_ / 2, kPanelColumns));
  }
  static std::int64_t gated_ld(std::int64_t columns) {  // bytes
    return 2 * columns * static_cast<std::int64_t>(sizeof(float)) + 64;
  }
  void check_gated(const P& pipeline);
  template <class Multiply>
  void run_gated(Range rows, Range cols, std::int64_t nc, const Workspace& w, const PackedB<Acc>& b,
                 const P& pipeline, OutputView c, Multiply multiply) const noexcept;
  template <bool kChained>
  void run_block(Range rows, Range cols, const DepthBlock& depth, const std::byte* next_panel,
                 TileArgs args, const Workspace& w, const PackedB<Acc>& b, const P& pipeline,
                 OutputView c) const noexcept;

  Features features_;
  Blocking blocking_;
  Geometry geometry_;
  Geometry pair_geometry_{};                 // of operands in pairs
  std::array<KernelTable, 4> kernels_;       // of blocks of k: whether it is the first, the last
  std::array<KernelTable, 4> pair_kernels_;  // the same, of operands in pairs
  KernelTable streaming_;                    // the last one's, for a C that no cache will hold
  ValueType output_, result_;                // of tiles, of C
  std::int64_t tallest_;                     // rows of that tile
  std::int64_t n_, k_, mc_, nc_, kc_, ld_;
  std::int64_t a_group_bytes_;  // of a k-group of A as kernels read it
  std::size_t thread_workspace_;
  std::int64_t gated_bytes_ = 0;
  bool cuts_, row_offsets_, group_sums_, streams_;
  bool pairs_;                       // whether operands of several row tiles are in pairs
  bool has_scale_, has_zero_point_;  // of B
};

}  // namespace fbg

#include "fbg/gemm/detail/driver.h"
