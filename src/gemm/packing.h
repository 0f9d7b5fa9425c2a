// How A reaches the kernels: in place where possible, otherwise packed, widened or interleaved in
// the workspace of a thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fbg/core/isa.h"
#include "fbg/core/types.h"
#include "fbg/gemm/detail/driver.h"
#include "kernels/microkernel.h"

namespace fbg {

// Lays out a workspace, part by part. Without memory, it only counts bytes.
class WorkspaceLayout {
 public:
  explicit WorkspaceLayout(std::byte* base) : base_(reinterpret_cast<std::uintptr_t>(base)) {}
  template <class T>
  void place(T*& part, std::int64_t bytes) {
    part = reinterpret_cast<T*>(base_ + static_cast<std::uintptr_t>(bytes_));
    bytes_ += round_up(bytes, 64);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::uintptr_t base_;
  std::int64_t bytes_ = 0;
};

// Places of the k-groups of a block of A, in the order of k: in one place or, where A is read in
// place and K is not a multiple of the k-group, the last group of each row in a second place.
struct RowPlaces {
  static constexpr std::size_t kMost = 2;

  std::array<BlockPair, kMost> pairs;
  std::size_t count = 0;
  bool interleaved = false;                                      // two rows at a time
  void add(const BlockPair& pair) { pairs.at(count++) = pair; }  // ends the program if full
  std::span<BlockPair> blocks() { return std::span(pairs).first(count); }
  std::span<const BlockPair> blocks() const { return std::span(pairs).first(count); }
};

struct Packing {
  // The memory of a block of rows.
  struct Space {
    ABlock block;
    std::byte* wide;         // A in a wider type, for kernels that read that (PackedFormat::wide_a)
    std::byte* interleaved;  // src/gemm/interleave.h
    std::byte* tail;         // the last k-group of each row, if it has a place of its own
    float* group_sums;       // of rows of A, for offsets of 4-bit weights: [groups][rows]
  };

  Space lay_out(WorkspaceLayout& layout) const;
  RowPlaces pack(const RowSource& a, Range block_rows, const Space& space) const noexcept;
  // The part that belongs to a range of k-groups.
  RowPlaces part(const RowPlaces& whole, Range range) const noexcept;

  PackedFormat format, wide;  // of the operands in memory, and as kernels read them
  Features features;
  std::int64_t k, groups, panel_bytes;
  std::int64_t ld;                // bytes between packed rows
  std::int64_t rows;              // of a block, at most: mc
  std::int64_t interleaved_rows;  // blocks of more are interleaved; 0: none are
  std::int64_t block_groups;      // Geometry::block_groups
  bool row_offsets, group_sums;   // whether kernels read them

 private:
  std::int64_t group_bytes() const { return wide.a_group(); }
  bool is_aligned(const std::byte* data, std::int64_t ld) const noexcept;
};

}  // namespace fbg
