// The loops of Gemm (fbg/gemm/gemm.h). The documentation of its functions is that of GemmBase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/gemm/detail/product.h"
#include "gemm/kernel_table.h"
#include "gemm/partition.h"
#include "kernels/microkernel.h"

namespace fbg {

class GemmDriver {
 public:
  // With feature::narrow_weights, it serves narrow weights alone.
  GemmDriver(const ProductTypes& types, const PackedMatrix& b, const PipelineView& pipeline,
             std::int64_t max_m, Features features, const Blocking& blocking);

  ValueType output_type() const { return result_; }
  Features features() const { return features_; }
  std::string kernel_name(std::int64_t rows, int num_threads) const;
  std::string kernel_name() const { return kernel_name(max_m_, 1); }
  std::size_t nbytes() const noexcept;
  std::size_t workspace_bytes(int num_threads) const noexcept {
    return static_cast<std::size_t>(num_threads) * thread_workspace_;
  }
  bool serves(const PackedMatrix& b) const noexcept {
    return b.rows() == k_ && b.cols() == n_ && (b.scale() != nullptr) == has_scale_ &&
           (b.header().has_zero_point != 0) == has_zero_point_ &&
           (b.is_narrow() || !geometry_.narrow);
  }
  void run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline, OutputView c,
           std::byte* workspace, int thread_id, int num_threads) const noexcept;
  // Computes a share of C, in the workspace of one thread.
  void run(const RowSource& a, const PackedMatrix& b, const PipelineView& pipeline, OutputView c,
           std::byte* workspace, const Share& share) const noexcept;

 private:
  struct Workspace {
    ABlock block;
    std::byte* wide;  // A in a wider type, for kernels that read that (PackedFormat::wide_a)
    // Interleaved operands (src/gemm/interleave.h): B of one column group.
    std::byte *interleaved_a, *interleaved_b;
    std::byte* tail;       // the last k-group of each row, if it has a place of its own (AOperand)
    float* group_sums;     // of rows of A, for offsets of 4-bit weights: [groups][mc]
    Value* partial;        // raw sums: of mc x nc between blocks of k; for int16, of one tile
    Value* tile;           // the tile that a kernel leaves to functors
    std::byte* gated;      // columns a of A * B, and beside them b, that a gated pipeline combines
    std::byte* pipelined;  // of PipelinedTiles
    std::int64_t bytes;    // of all of these
  };
  // Places of the k-groups of a block of A, in the order of k: in one place or, where A is read in
  // place and K is not a multiple of the k-group, the last group of each row in a second place.
  static constexpr std::size_t kMaxPlaces = 2;
  struct AOperand {
    std::array<BlockPair, kMaxPlaces> pairs;
    std::size_t num_pairs = 0;
    bool interleaved = false;                                          // two rows at a time
    void add(const BlockPair& pair) { pairs.at(num_pairs++) = pair; }  // ends the program if full
    std::span<BlockPair> blocks() { return std::span(pairs).first(num_pairs); }
    std::span<const BlockPair> blocks() const { return std::span(pairs).first(num_pairs); }
  };
  // A block of k: the k-groups `groups` of A and of B.
  struct DepthBlock {
    Range groups;
    AOperand a;
    Sums sums;
    bool streams;
  };
  // What the loops of a thread share.
  struct Run {
    const Workspace& w;
    const PackedMatrix& b;
    const PipelineView& pipeline;
  };

  // Where packed B has a column's k-group.
  const std::byte* panel(const PackedMatrix& b, std::int64_t col, std::int64_t group) const {
    return b.panels() + column_offset(col) + group * group_bytes_;
  }
  std::int64_t column_offset(std::int64_t col) const {
    return col / kPanelColumns * panel_bytes_ + col % kPanelColumns * column_bytes_;
  }
  // The sums of the block of k that completes them: K may be cut into several blocks, or is whole.
  Sums last_sums() const { return cuts_ ? Sums::last : Sums::whole; }
  bool is_int16() const { return gemm_type_ == GemmType::int16; }
  void make_kernels(const KernelKey& whole, std::int64_t max_m);
  void prepare_gate();
  Workspace lay_out(std::byte* base) const noexcept;
  AOperand pack(const RowSource& a, Range rows, const Run& run) const noexcept;
  bool is_aligned(const std::byte* data, std::int64_t ld) const noexcept;
  void unshift(Range rows, Range cols, const PackedMatrix& b, OutputView c) const noexcept;
  // The blocks of k, each of at most max_groups k-groups, in units that are not divided; the
  // k-groups of such a range; and the least max_groups that leaves K whole.
  std::int64_t depth_unit() const noexcept;
  BalancedSplit split_depth(std::int64_t max_groups) const noexcept;
  Range depth_range(Range units) const noexcept;
  std::int64_t all_groups() const noexcept;
  DepthBlock cut(const AOperand& a, Range groups, Sums sums) const noexcept;
  std::int64_t gated_columns(std::int64_t rows) const noexcept;
  template <class Multiply>
  void run_gated(Range rows, Range cols, std::int64_t nc, const Run& run, OutputView c,
                 Multiply multiply) const noexcept;
  template <bool kPipelined, bool kInt16>
  void run_block(Range rows, Range cols, const DepthBlock& depth, const std::byte* next_panel,
                 TileArgs args, const Run& run, OutputView c) const noexcept;

  GemmType gemm_type_;
  PackedFormat format_;  // of the operands in memory
  Features features_;
  Blocking blocking_;
  // The sizes of B.
  std::int64_t n_, k_;
  std::int64_t whole_groups_, groups_, group_bytes_, panel_bytes_, column_bytes_;
  bool has_scale_, has_zero_point_;
  std::int32_t a_shift_;
  Geometry geometry_;
  Geometry interleaved_geometry_{};                 // of interleaved operands
  std::array<KernelTable, 4> kernels_;              // by Sums
  std::array<KernelTable, 4> interleaved_kernels_;  // the same, of interleaved operands
  KernelTable streaming_;      // the last one's, for a C that no cache will hold
  ValueType output_, result_;  // of tiles, of C
  std::int64_t max_m_;
  std::int64_t mc_, nc_, kc_, ld_;
  std::int64_t a_group_bytes_;    // of a k-group of A as kernels read it
  BalancedSplit depths_, uncut_;  // of K: where it is cut, and whole
  std::size_t thread_workspace_;
  std::int64_t gated_bytes_ = 0;
  bool cuts_, row_offsets_, group_sums_, streams_;
  bool interleaves_;       // whether operands of several row tiles are interleaved
  bool functors_, gates_;  // what follows the stages of kernels
  bool pipelines_tiles_;   // whether tall tiles are pipelined
};

// Sets `sums` (rows x ld) to the products of the outliers in the columns `cols` of B with a tile of
// A, whose k are in the block pairs one after the other.
void multiply_outliers(const Outliers& outliers, Range cols, std::span<const BlockPair> pairs,
                       std::int64_t rows, std::int64_t ld, Value* sums) noexcept;

}  // namespace fbg
